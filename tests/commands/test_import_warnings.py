"""Warnings of other libraries on import are ignored; warnings of our own code are errors."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from tests import import_warnings
from tests.import_warnings import ROOT, is_ours

pytestmark = pytest.mark.filterwarnings("error")

WARNS = "import warnings; warnings.warn('soon gone', DeprecationWarning)"


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a library that warns when it is imported and when it is called."""
    name = f"library_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(f"{WARNS}\ndef old():\n    {WARNS}\n")
    monkeypatch.syspath_prepend(tmp_path)
    return name


def test_library_warning_on_import_is_ignored(library: str) -> None:
    assert importlib.import_module(library).old


def test_library_warning_in_a_call_is_an_error(library: str) -> None:
    old = importlib.import_module(library).old
    with pytest.raises(DeprecationWarning, match="soon gone"):
        old()


def test_own_warning_on_import_is_an_error(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_warnings, "ROOT", tmp_path)
    with pytest.raises(DeprecationWarning, match="soon gone"):
        importlib.import_module(library)


def test_packages_installed_inside_the_checkout_are_not_ours() -> None:
    assert is_ours(str(ROOT / "posenc" / "rotary.py"))
    assert not is_ours(str(ROOT / ".venv/lib/python3.14/site-packages/torch/jit.py"))
    assert not is_ours("/usr/lib/python3.14/ast.py")
    assert not is_ours(None)  # a package without a file of its own
