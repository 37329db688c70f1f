"""Imports of other people's code, whose warnings are not ours: pytest makes errors of all it hears.

What a library warns of while it is imported is a matter between it and those it uses. What a module
of this checkout warns of stays an error, and so does what a library says of how we call it.
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


class Theirs(PathFinder):
    """Finds the modules that are not of this checkout, and has them loaded without a warning."""

    @classmethod
    def find_spec(
        cls, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return what loads a module of somebody else, or None for what others are to find."""
        spec = super().find_spec(fullname, path, target)
        if spec is None or spec.loader is None or is_ours(spec.origin):
            return None
        loader: Any = spec.loader
        loader.exec_module = quiet(loader.exec_module)
        return spec


def is_ours(origin: str | None) -> bool:
    """Return whether a module's file belongs to this checkout, in which `.venv` stands too."""
    path = Path(origin or "")
    return path.is_relative_to(ROOT) and "site-packages" not in path.parts


def quiet(load: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
    """Return what loads a module and keeps its warnings."""

    def loading(module: ModuleType) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            load(module)

    return loading


def listen() -> None:
    """From now on, import what is not ours without its warnings."""
    if Theirs not in sys.meta_path:
        sys.meta_path.insert(sys.meta_path.index(PathFinder), Theirs)
