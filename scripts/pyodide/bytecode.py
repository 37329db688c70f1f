"""What a page's Python loads at its start, compiled by that very Python.

scripts/pyodide/compile.mjs runs this under Pyodide: what another Python compiles would not fit.
"""

from __future__ import annotations

import marshal
import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import MAGIC_NUMBER
from typing import Any, cast

# What nearly every example needs, itself or by way of posenc.
LOADED = ("session", "numpy.ma", "numpy.random", "numpy.typing")
PLACES = ("/lib/python312.zip/", "/lib/python3.12/site-packages/numpy/")
HEADER = MAGIC_NUMBER + b"\1\0\0\0" + bytes(8)  # not to be compared with its source


def compiled() -> dict[str, bytes]:
    """Return what stands in for each source that has been read, under the path of that source."""
    for name in LOADED:
        import_module(name)
    specs = [getattr(module, "__spec__", None) for module in sys.modules.values()]
    return {spec.origin: HEADER + code(spec) for spec in specs if spec and from_source(spec)}


def from_source(spec: ModuleSpec) -> bool:
    """Return whether a module comes from a source that the page fetches; many are built in."""
    origin = spec.origin or ""
    return origin.endswith(".py") and origin.startswith(PLACES)


def code(spec: ModuleSpec) -> bytes:
    """Return the code of a module."""
    return marshal.dumps(cast("Any", spec.loader).get_code(spec.name))
