"""The notebook has all exercises, and its cells pass and fail as the page does."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import nbformat
import pytest

from scripts.practise.read import Exercise, exercises
from scripts.site import practise

ALL = exercises()
TORCH = [one for one in ALL if one.torch]


@cache
def notebook() -> Any:
    return practise.notebook()


@cache
def cells() -> dict[str, tuple[str, str]]:
    """Return the cell of each exercise, and the cell that checks it."""
    code = [cell for cell in notebook().cells if cell.cell_type == "code"]
    answers = [n for n, cell in enumerate(code) if "exercise" in cell.metadata]
    return {code[n].metadata["exercise"]: (code[n].source, code[n + 1].source) for n in answers}


def run_cells(one: Exercise, answer: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Run the notebook's cells of an exercise with an answer; return what the check prints."""
    names: dict[str, Any] = {"__name__": "__main__"}
    (setup,) = [cell for cell in notebook().cells if cell.metadata.get("jupyter")]
    for source in (setup.source, answer, cells()[one.name][1]):
        exec(compile(source, "<cell>", "exec"), names)
    return capsys.readouterr().out


def test_notebook_is_valid_and_has_every_exercise_in_order() -> None:
    nbformat.validate(notebook())
    assert list(cells()) == [one.name for one in ALL]
    assert all(cells()[one.name] == (one.starter.rstrip(), f'check("{one.name}")') for one in ALL)
    assert nbformat.writes(practise.notebook()) == nbformat.writes(notebook())


@pytest.mark.parametrize("one", TORCH, ids=lambda one: one.name)
def test_notebook_checks_what_the_page_checks(
    one: Exercise, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cells(one, one.solution, capsys).count("✓") == len(one.checks)
    with pytest.raises(AssertionError, match="not yet"):
        run_cells(one, one.starter, capsys)
    for message, code in one.wrong:
        with pytest.raises(AssertionError) as error:
            run_cells(one, code, capsys)
        assert message in str(error.value)


def test_notebook_has_no_page_language_and_no_relative_links() -> None:
    words = "\n".join(cell.source for cell in notebook().cells if cell.cell_type == "markdown")
    assert "{{" not in words
    assert "](../" not in words
    assert "](#" not in words
    assert "begins with\n0.141" in words


def test_pages_fetch_no_exercise_that_they_cannot_check() -> None:
    known = json.loads(practise.data())
    assert set(known["exercises"]) == {one.name for one in ALL if not one.torch}
    assert known["judge"].startswith('"""Judges an answer')
