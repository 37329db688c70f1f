"""Reads the exercises: one Markdown file each, in `exercises/`.

    ---
    title: One row of the table
    group: sines
    section: chapters/by-hand/clocks.md#the-formula
    ---
    What to write, in Markdown.

    ## Given
    A fence of Python that runs before an answer, if the answer needs helpers. Most have none.

    ## Starter
    A fence of Python: what the editor shows first.

    ## Hints
    A list.

    ## Solution
    A fence of Python.

    ## Checks
    A fence of Python: a comment that says what is checked, then a program whose last line is an
    expression. An answer passes if its value is that of the solution.

    ## Wrong answers
    For each, a paragraph with the message meant for it, then a fence: the whole answer in Python,
    or a diff, whose lines `-` are replaced in the solution by the lines `+` after them.

Any answer that computes the same as a wrong answer gets its message, however it is written; two
that no check tells apart fail `tests/practise`. What no wrong answer explains is compared in
general by judge.py.

An exercise with `needs: torch` is solved in the notebook. `tolerance` is the relative difference
that still counts as equal, 1e-9 if not given.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent / "exercises"
# The groups in the order of their pages: the name of the page, its title, and what it is about.
GROUPS = ("sines", "rotation", "biases", "length", "masks", "bugs")
GIVEN = "Given"
PARTS = ("Starter", "Hints", "Solution", "Checks", "Wrong answers")

HEAD = re.compile(r"\A---\n(?P<about>.*?)^---\n(?P<body>.*)\Z", re.M | re.S)
PART = re.compile(r"^## (.+)\n", re.M)
FENCE = re.compile(r"^```(?P<language>python|diff)\n(?P<code>.*?)^```$", re.M | re.S)
ITEM = re.compile(r"^(?:-|\d+\.) ", re.M)
CHECK = re.compile(r"^# (?P<says>.+(?:\n# .+)*)\n(?P<code>(?:(?!# ).*\n)+)", re.M)
HUNK = re.compile(r"(?P<old>(?:^-.*\n)+)(?P<new>(?:^\+.*\n)*)", re.M)


class ExerciseError(ValueError):
    """The file of an exercise is malformed."""


@dataclass(frozen=True)
class Exercise:
    """An exercise, as its file has it."""

    name: str
    title: str
    group: str
    section: str
    statement: str
    given: str  # what runs before an answer
    starter: str
    hints: tuple[str, ...]
    solution: str
    checks: tuple[tuple[str, str], ...]  # what is checked, and the program
    wrong: tuple[tuple[str, str], ...]  # the message, and the whole answer
    torch: bool
    tolerance: float

    @property
    def data(self) -> dict[str, Any]:
        """Return what `judge` needs, as JSON can hold it."""
        return {
            "defines": defined_names(self.starter),
            "given": self.given,
            "solution": self.given + self.solution,
            "checks": self.checks,
            "wrong": [(message, self.given + code) for message, code in self.wrong],
            "tolerance": self.tolerance,
        }


@cache
def exercises() -> tuple[Exercise, ...]:
    """Return all exercises, in the order of their groups and, within one, of `order`."""
    found = [(order(path), read_exercise(path)) for path in sorted(FOLDER.glob("*.md"))]
    ranked = sorted(found, key=lambda pair: (GROUPS.index(pair[1].group), pair[0]))
    return tuple(exercise for _, exercise in ranked)


def order(path: Path) -> int:
    """Return the place of an exercise within its group."""
    return int(_parts(path)[0]["order"])


def read_exercise(path: Path) -> Exercise:
    """Return the exercise of a file."""
    about, statement, parts = _parts(path)
    if about["group"] not in GROUPS:
        raise ExerciseError(f"{path.name}: group must be one of {GROUPS}; got {about['group']!r}")
    solution = _code(path, parts["Solution"])
    return Exercise(
        name=path.stem,
        title=about["title"],
        group=about["group"],
        section=about["section"],
        statement=statement,
        given=_code(path, parts[GIVEN]) if GIVEN in parts else "",
        starter=_code(path, parts["Starter"]),
        hints=tuple(_flat(hint) for hint in ITEM.split(parts["Hints"])[1:]),
        solution=solution,
        checks=tuple(_checks(path, _code(path, parts["Checks"]))),
        wrong=tuple(_wrong_answers(path, parts["Wrong answers"], solution)),
        torch=about.get("needs") == "torch",
        tolerance=float(about.get("tolerance", 1e-9)),
    )


def defined_names(code: str) -> list[str]:
    """Return the functions and classes that a program defines."""
    kinds = ast.FunctionDef, ast.ClassDef
    return [node.name for node in ast.parse(code).body if isinstance(node, kinds)]


def apply_diff(code: str, diff: str) -> str:
    """Return code with the lines `-` of a diff replaced by the lines `+` that follow them.

    Examples:
        >>> apply_diff("a = 1\\nb = 2\\n", "-b = 2\\n+b = 3\\n")
        'a = 1\\nb = 3\\n'
    """
    if HUNK.sub("", diff).strip():
        raise ExerciseError(f"a diff has lines other than - and +: {diff!r}")
    for hunk in HUNK.finditer(diff):
        old, new = (re.sub(r"^[-+]", "", hunk[part], flags=re.M) for part in ("old", "new"))
        place = re.compile(f"^{re.escape(old)}", re.M)
        if len(place.findall(code)) != 1:
            raise ExerciseError(f"the solution must have these lines once: {old!r}")
        code = place.sub(new.replace("\\", r"\\"), code)
    return code


def _parts(path: Path) -> tuple[dict[str, Any], str, dict[str, str]]:
    """Return the front matter of a file, its statement, and its further parts by their names."""
    found = HEAD.match(path.read_text(encoding="utf-8"))
    if found is None:
        raise ExerciseError(f"{path.name} has no front matter")
    statement, *rest = PART.split(found["body"])
    if tuple(rest[::2]) not in (PARTS, (GIVEN, *PARTS)):
        raise ExerciseError(f"{path.name}: the parts must be {PARTS}; got {tuple(rest[::2])}")
    return (
        yaml.safe_load(found["about"]),
        statement.strip(),
        dict(zip(rest[::2], rest[1::2], strict=True)),
    )


def _code(path: Path, part: str) -> str:
    """Return the code of a part that is one fence."""
    fences = [fence["code"] for fence in FENCE.finditer(part)]
    if len(fences) != 1:
        raise ExerciseError(f"{path.name}: a part must have one fence of Python: {part!r}")
    return fences[0]


def _checks(path: Path, code: str) -> Iterator[tuple[str, str]]:
    """Yield what each check says, and its program."""
    if CHECK.sub("", code).strip():
        raise ExerciseError(f"{path.name}: a check is a comment and a program: {code!r}")
    for check in CHECK.finditer(code):
        yield _flat(check["says"].replace("\n# ", " ")), check["code"].strip() + "\n"


def _wrong_answers(path: Path, part: str, solution: str) -> Iterator[tuple[str, str]]:
    """Yield the message meant for each wrong answer, and the answer."""
    place = 0
    for fence in FENCE.finditer(part):
        message = _flat(part[place : fence.start()])
        if not message:
            raise ExerciseError(f"{path.name}: a wrong answer needs a message: {fence['code']!r}")
        code = fence["code"]
        yield message, apply_diff(solution, code) if fence["language"] == "diff" else code
        place = fence.end()


def _flat(text: str) -> str:
    """Return a text in one line."""
    return " ".join(text.split())
