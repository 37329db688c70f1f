"""Ignores warnings of other libraries during their import, since pytest turns warnings into errors.

Such warnings concern a library and its own dependencies. Warnings of this checkout's modules stay
errors, and so do warnings about how we call a library.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from scripts import ROOT as ROOT


class SilentFinder(PathFinder):
    """Finds modules from outside this checkout, and loads them without warnings."""

    @classmethod
    def find_spec(
        cls, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module from outside, or None to leave it to other finders."""
        spec = super().find_spec(fullname, path, target)
        if spec is None or spec.loader is None or is_ours(spec.origin):
            return None
        loader: Any = spec.loader
        loader.exec_module = quiet(loader.exec_module)
        return spec


def is_ours(origin: str | None) -> bool:
    """Return whether a file belongs to this checkout and not to a `.venv` inside it."""
    path = Path(origin or "")
    return path.is_relative_to(ROOT) and "site-packages" not in path.parts


def quiet(load: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
    """Return a loader that ignores the warnings of its module."""

    def loading(module: ModuleType) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            load(module)

    return loading


def silence_import_warnings() -> None:
    """Install the finder."""
    if SilentFinder not in sys.meta_path:
        sys.meta_path.insert(sys.meta_path.index(PathFinder), SilentFinder)
