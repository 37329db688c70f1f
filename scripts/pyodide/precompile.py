"""Compiles the modules that Python loads at every start in the browser.

scripts/pyodide/compile.mjs runs this under Pyodide, because bytecode must come from the same Python
version that loads it.
"""

from __future__ import annotations

import marshal
import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import MAGIC_NUMBER
from typing import Any, cast

# Modules that nearly every example needs, directly or through posenc.
LOADED = ("session", "difflib", "json", "numpy.ma", "numpy.random", "numpy.typing")
PLACES = ("/lib/python312.zip/", "/lib/python3.12/site-packages/numpy/")
HEADER = MAGIC_NUMBER + b"\1\0\0\0" + bytes(8)  # never checked against the source


def bytecode_of_sources() -> dict[str, bytes]:
    """Return the content of the .pyc file for each source that was loaded, by the source's path."""
    for name in LOADED:
        import_module(name)
    specs = [getattr(module, "__spec__", None) for module in sys.modules.values()]
    return {spec.origin: HEADER + code(spec) for spec in specs if spec and from_source(spec)}


def from_source(spec: ModuleSpec) -> bool:
    """Return whether a module was loaded from a source file that the page fetches."""
    origin = spec.origin or ""
    return origin.endswith(".py") and origin.startswith(PLACES)


def code(spec: ModuleSpec) -> bytes:
    """Return the marshalled code of a module."""
    return marshal.dumps(cast("Any", spec.loader).get_code(spec.name))
