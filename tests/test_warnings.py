"""What other people's code warns of on import is theirs; what ours warns of is an error."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

WARNS = "import warnings; warnings.warn('it is about to go', DeprecationWarning)"


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a library that warns when it is imported and when it is called."""
    (tmp_path / "library_that_warns.py").write_text(f"{WARNS}\ndef old():\n    {WARNS}\n")
    monkeypatch.syspath_prepend(tmp_path)
    return "library_that_warns"


def test_what_a_library_warns_of_on_import_is_no_error(theirs: str) -> None:
    assert importlib.import_module(theirs).old


def test_what_a_library_warns_of_when_called_is_an_error(theirs: str) -> None:
    with pytest.raises(DeprecationWarning, match="about to go"):
        importlib.import_module(theirs).old()


def test_what_our_own_module_warns_of_on_import_is_an_error(tmp_path: Path) -> None:
    ours = Path(__file__).parent / "claims"
    assert ours
