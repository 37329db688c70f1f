"""Each exercise can be solved, its starter fails, and wrong answers are told apart."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from scripts.book import pages
from scripts.practise.judge import AGAIN, Report, report
from scripts.practise.read import (
    FOLDER,
    GROUPS,
    Exercise,
    ExerciseError,
    apply_diff,
    defined_names,
    exercises,
    read_exercise,
)
from scripts.site.markdown_copies import copy

ALL = exercises()
WRONG = [(one, message, code) for one in ALL for message, code in one.wrong]
each = pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)


def crosses(found: Report) -> list[str]:
    """Return the sentences that do not hold."""
    return [says for holds, says in found.lines if not holds]


@each
def test_the_solution_passes(one: Exercise) -> None:
    found = report(one.data, one.solution)
    assert found.is_solved, found
    assert [says for _, says in found.lines] == [says for says, _ in one.checks]


@each
def test_the_starter_fails(one: Exercise) -> None:
    assert not report(one.data, one.starter).is_solved


@pytest.mark.parametrize(
    ("one", "message", "code"),
    WRONG,
    ids=[f"{one.name}-{n}" for one in ALL for n in range(len(one.wrong))],
)
def test_each_wrong_answer_gets_the_message_meant_for_it(
    one: Exercise, message: str, code: str
) -> None:
    found = crosses(report(one.data, code))
    assert found
    assert found[0].endswith(f" {message}")
    assert all(says.endswith((message, AGAIN)) for says in found)


@each
def test_an_exercise_has_enough_wrong_answers_and_distinct_messages(one: Exercise) -> None:
    messages = [message for message, _ in one.wrong]
    assert len(messages) >= 3
    assert len(set(messages)) == len(messages)
    assert len({says for says, _ in one.checks}) == len(one.checks) >= 3
    assert len(one.hints) >= 2


@each
def test_what_is_given_is_not_for_the_reader_to_write(one: Exercise) -> None:
    """An answer may use it, and the starter does not show it again."""
    given = set(defined_names(one.given))
    assert not given & {*defined_names(one.starter), *defined_names(one.solution)}


@each
def test_what_is_said_to_be_given_is_given(one: Exercise) -> None:
    said = re.findall(r"`(\w+)`\s+is\s+given", one.statement)
    assert said == defined_names(one.given)


def test_the_table_is_given_to_the_shift() -> None:
    (shift,) = (one for one in ALL if one.name == "shift")
    assert defined_names(shift.given) == ["table"]
    assert report(shift.data, f"{shift.solution}\ntable([1], 2)").is_solved


def test_there_are_enough_exercises_of_each_kind() -> None:
    counted = Counter(one.group for one in ALL)
    assert len(ALL) >= 30
    assert set(counted) == set(GROUPS)
    assert min(counted.values()) >= 4
    assert sum(one.torch for one in ALL) >= 5
    assert sum(not one.torch for one in ALL) >= 26
    assert len({one.title for one in ALL}) == len({one.name for one in ALL}) == len(ALL)


@each
def test_hints_do_not_contain_the_solution(one: Exercise) -> None:
    """No hint has a line that the solution needs and the starter lacks, if it is of any length."""
    new = set(map(bare, one.solution.splitlines())) - set(map(bare, one.starter.splitlines()))
    said = bare(" ".join(one.hints))
    assert [line for line in new if len(line) > 25 and line in said] == []


def bare(line: str) -> str:
    """Return a line without spaces."""
    return re.sub(r"\s", "", line)


@each
def test_only_an_exercise_for_the_notebook_imports_torch(one: Exercise) -> None:
    imported = {
        alias.name.split(".")[0]
        for node in ast.walk(ast.parse(one.solution))
        for alias in getattr(node, "names", [])
        if isinstance(alias, ast.alias) and not isinstance(node, ast.ImportFrom)
    }
    assert imported <= ({"torch", "math"} if one.torch else {"numpy", "math"})
    assert ("torch" in imported) == one.torch


@each
def test_the_section_of_an_exercise_exists(one: Exercise) -> None:
    path, _, anchor = one.section.partition("#")
    text = pages.text(path)
    assert re.search(
        rf"#{re.escape(anchor)}\b|^::: {re.escape(anchor.rpartition('.')[0])}", text, re.M
    )


def test_the_markdown_copy_of_a_page_has_nothing_but_text() -> None:
    copied = copy("practise/sines.md") + copy("practise/index.md")
    assert "```python\nimport numpy" in copied
    assert not re.search(r"```\w+ \{|<div|<p|class=", copied)


def test_a_diff_that_does_not_fit_is_refused() -> None:
    assert apply_diff("a\nb\n", "-a\n+c\n+d\n") == "c\nd\nb\n"
    with pytest.raises(ExerciseError, match="must have these lines once"):
        apply_diff("a\na\n", "-a\n")
    with pytest.raises(ExerciseError, match="other than"):
        apply_diff("a\n", " a\n")


def test_a_file_without_a_part_is_refused(tmp_path: Path) -> None:
    text = (FOLDER / "one-row.md").read_text("utf-8")
    for broken in (text.replace("## Hints", "## Hint"), text.replace("---\n", "", 1)):
        (tmp_path / "broken.md").write_text(broken, "utf-8")
        with pytest.raises(ExerciseError, match=r"broken\.md"):
            read_exercise(tmp_path / "broken.md")
