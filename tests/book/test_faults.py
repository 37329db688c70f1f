"""Faults planted in copies of the book: each must be reported, with its place and its kind."""

from __future__ import annotations

import logging
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from mkdocs.__main__ import cli

from scripts import ROOT
from scripts.book import pages
from scripts.book.chapters import chapter_of
from scripts.book.check import problems
from scripts.book.evaluate import Checked, corrections
from scripts.book.numbers import NUMBER, bindings, evaluate, example_bindings
from scripts.book.sessions import sessions
from scripts.book.settings import accepted, sections, settings, strays
from scripts.book.tables import Cell, bound_tables, named_columns
from scripts.book.text import apply_corrections, line_of, spans
from scripts.book.units import UNITS
from scripts.examples import planted_faults
from tests.selection import slow_except

CHAPTER = chapter_of("chapters/by-hand/index.md").pages
BY_HAND = "chapters/by-hand/four-positions.md"
SPECIMEN = (ROOT / "scripts" / "examples" / "specimen.md").read_text("utf-8")
ACCEPTED = settings(SPECIMEN)


@dataclass(frozen=True)
class Page:
    """A page to break, and the names that its sessions define."""

    text: str
    names: dict[str, Any]


@pytest.fixture(scope="module", params=["specimen", *CHAPTER])
def book_page(request: pytest.FixtureRequest) -> Page:
    text = SPECIMEN if request.param == "specimen" else pages.text(request.param)
    names: dict[str, Any] = {}
    assert corrections(text, names) == []
    return Page(text, names)


def stated_results(text: str) -> Iterator[tuple[int, int]]:
    """Yield every stretch of a page that states a result: bound numbers, cells, outputs."""
    for binding in [*bindings(text), *example_bindings(text)]:
        yield binding.printed_start, binding.printed_start + len(binding.printed)
    for cell in (cell for table in bound_tables(text) for row in table.rows for cell in row):
        if re.fullmatch(NUMBER, cell.text):  # a table refuses a number that nothing computes
            yield cell.start, cell.start + len(cell.text)
    for session in sessions(text):
        yield session.printed_start, session.end


def result_digits(text: str) -> list[int]:
    """Return the places of all digits of a page that state a result."""
    return sorted({n for a, b in stated_results(text) for n in range(a, b) if text[n].isdigit()})


def with_digit_changed(text: str, place: int) -> str:
    return text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :]


def pieces(text: str) -> list[tuple[int, int]]:
    """Return the stretches of a page that stand alone: fences, and all else between blank lines."""
    fences = [(span.start, span.end) for span in spans(text) if span.kind == "fence"]
    blocks = [match.span() for match in re.finditer(r"(?:(?!\n[ ]*\n).)+", text, re.S)]
    return fences + blocks


def test_every_changed_digit_is_noticed(book_page: Page) -> None:
    """Change each digit of each result, one at a time, and check the piece of the page around."""
    digits, stretches = result_digits(book_page.text), pieces(book_page.text)
    unnoticed = []
    for place in digits:
        start, end = next(s for s in stretches if s[0] <= place < s[1])
        if not is_noticed(book_page.text[start:end], place - start, book_page.names):
            unnoticed.append(book_page.text[place - 20 : place + 20])
    assert unnoticed == []


def test_the_first_chapter_states_many_results() -> None:
    """The test above must not pass for lack of digits."""
    assert sum(len(result_digits(pages.text(path))) for path in CHAPTER) > 1000


def is_noticed(piece: str, place: int, names: dict[str, Any]) -> bool:
    """Return whether the check of a piece of a page sees that the digit at a place has changed.

    Sessions are not run again: they printed the page's output, and the check compares texts.
    """
    broken = with_digit_changed(piece, place)
    before, after = list(sessions(piece)), list(sessions(broken))
    if before:
        same_code = [b.source for b in before] == [a.source for a in after]
        return same_code and [b.printed for b in before] != [a.printed for a in after]
    checked: list[Checked] = [*bound_tables(broken), *bindings(broken), *example_bindings(broken)]
    found = [c for item in checked for c in item.corrections(broken, names)]
    return any(correction.start <= place < correction.end for correction in found)


def test_update_mends_every_changed_digit(book_page: Page) -> None:
    broken = book_page.text
    for place in result_digits(broken):
        broken = with_digit_changed(broken, place)
    assert broken != book_page.text
    assert apply_corrections(broken, corrections(broken)) == book_page.text


def swapped_headings(text: str, first: Cell, second: Cell) -> str:
    """Return a page in which two headings of a table have changed places."""
    first_end, second_end = first.start + len(first.text), second.start + len(second.text)
    between, rest = text[first_end : second.start], text[second_end:]
    return f"{text[: first.start]}{second.text}{between}{first.text}{rest}"


def test_two_swapped_headings_are_noticed(book_page: Page) -> None:
    """Swap each heading of each bound table with the next one that its expression computes."""
    for n, table in enumerate(bound_tables(book_page.text)):
        columns, _ = named_columns(evaluate(table.expression, book_page.names))
        assert columns, f"{table.expression} names no columns"
        for first, second in pairwise(table.head[len(table.head) - len(columns) :]):
            broken = swapped_headings(book_page.text, first, second)
            assert len([*bound_tables(broken)][n].corrections(broken, book_page.names)) == 2


def test_a_number_in_another_unit_is_noticed(book_page: Page) -> None:
    """Give each number with a unit every other unit of its kind."""
    for bound in (b for b in bindings(book_page.text) if b.unit):
        kind, size = UNITS[bound.unit.strip().removesuffix("s")]
        for unit, (other_kind, other_size) in UNITS.items():
            if kind == other_kind and size != other_size:
                exchanged = replace(bound, unit=f" {unit}")
                assert exchanged.corrections(book_page.text, book_page.names), exchanged


SAMPLE = 200  # digits of each page that are changed, where it has so many


def visible_digits(text: str) -> Iterator[tuple[int, str]]:
    """Yield the digits that a reader sees, and the numbers they are in, found line by line.

    This is independent of the book's parsers. It goes through the lines, and skips front matter,
    comments, addresses, expressions and typed code.
    """
    place, fence, above = 0, "", text.startswith("---\n")
    for number, line in enumerate(text.splitlines(keepends=True)):
        bare = line.strip()
        if above:
            above = number == 0 or bare != "---"
        elif bare.startswith(("```", "~~~")):
            fence = "" if fence else bare.strip("`~").strip() or "text"
        elif fence in {"pycon", "console"}:
            if not bare.startswith((">>>", "...", "$ ")):
                yield from numerals(line, place)
        elif not fence and not bare.startswith(("<!--", "--src--", "///")):
            yield from numerals(PASSED_OVER.sub(lambda m: " " * len(m[0]), line), place)
        place += len(line)


PASSED_OVER = re.compile(
    r"""\]\([^)]*\) | \{\ [.#][^}]*\} | \[[@^][^\]]*\] | ^[ ]*\{.*\}$ | \#\#.*$
      | (?<=[0-9])(?:°|\ [A-Za-z]+)?\ =\ (?:(?!\}\}).)*(?:\}\}|$) | ^[^{|]*\}\}(?=[^}]) | <[^>]*>
      | (?:float|np\.|\w+_)\ ?\d[\d.]* | [A-Za-z]\d+\.\d+  # Qwen2.5 is a name, and v0.1""",
    re.VERBOSE,
)


def numerals(line: str, place: int) -> Iterator[tuple[int, str]]:
    for match in re.finditer(r"(?<![A-Za-z\d])[\d.,]*\d", line):
        for n in range(*match.span()):
            if line[n].isdigit():
                yield place + n, match[0].strip(",.")


@pytest.mark.parametrize("path", slow_except(CHAPTER, pages.written_pages()))
def test_no_digit_is_overlooked(path: str) -> None:
    """Every digit that a reader sees is a checked result or an accepted setting.

    A changed setting differs from the one accepted for its section.
    """
    text = pages.text(path)
    checked, listed, stretches = set(result_digits(text)), accepted(path), sections(text)
    own = {s: [setting for setting in listed if setting.section == s.name] for s in stretches}
    assert not [s for s in stretches if list(strays(text[s.start : s.end], own[s]))]
    digits = [*visible_digits(text)]
    sample = digits if path in CHAPTER else digits[:: max(1, len(digits) // SAMPLE)]
    overlooked = []
    for place, number in sample:
        if place not in checked:
            section = next(s for s in stretches if s.start <= place < s.end)
            broken = with_digit_changed(text, place)[section.start : section.end]
            if not list(strays(broken, own[section])):
                overlooked.append(f"line {line_of(text, place)}: {number}")
    assert not overlooked


@pytest.mark.parametrize("fault", planted_faults.FAULTS)
def test_a_planted_fault_is_reported_once(fault: str) -> None:
    assert problems(SPECIMEN, ACCEPTED) == []
    assert len(problems(planted_faults.plant(SPECIMEN, fault), ACCEPTED)) == 1


@pytest.mark.parametrize("fault", planted_faults.FAULTS)
def test_the_message_of_a_fault_fits_on_a_phone(fault: str) -> None:
    [problem] = problems(planted_faults.plant(SPECIMEN, fault), ACCEPTED)
    lines = planted_faults.wrap(problem)
    assert max(map(len, lines)) <= planted_faults.WIDTH
    assert " ".join(lines).split() == problem.split()
    for value in re.findall(r"'[^']*'", problem):  # a value is never broken
        assert any(value in line for line in lines)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("The sine of pair 0", "The cosine of pair 0"),  # a sentence that says something else
        ("The hand of pair", "The slow hand of pair"),
        (" radians. In a step", " degrees. In a step"),  # a unit without a number
        ("points straight up", "points straight down"),
    ],
)
def test_a_wrong_word_goes_unnoticed(right: str, wrong: str) -> None:
    """As the page *How this book is checked* says, no machine checks words."""
    assert SPECIMEN.count(right) == 1
    assert problems(SPECIMEN.replace(right, wrong), ACCEPTED) == []


@pytest.mark.slow
def test_a_changed_digit_names_page_line_and_both_values(tmp_path: Path) -> None:
    """Run pytest on a page of a copy of the project, in a folder with a space in its name."""
    copy, page = tmp_path / "a copy", f"docs/{BY_HAND}"
    for folder in ("docs", "posenc", "scripts", "tests"):
        shutil.copytree(ROOT / folder, copy / folder)
    for file in ROOT.glob("*.*"):
        if file.is_file():
            shutil.copy(file, copy)
    (copy / "node_modules").symlink_to(ROOT / "node_modules")
    before, right, after = pages.text(BY_HAND).partition("| 1 | 0.841 |")
    assert right
    (copy / page).write_text(f"{before}| 1 | 0.842 |{after}", "utf-8")
    command = [sys.executable, "-m", "pytest", page, "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1, done.stdout + done.stderr
    line = 1 + before.count("\n")
    assert BY_HAND in done.stdout
    assert f"line {line}: the page says '0.842'\n  the package says '0.841'\n" in done.stdout
    assert "1 failed" in done.stdout


# A book of one page, built with the book's own settings

SMALL = """# One page

The root of $\\sqrt{d/2}$, as [the problem](#the-problem) has it; [again](page.md).

--src-- posenc.embeddings.sinusoidal.PositionalEncoding nodoc

Checked by `test_shift_matrix_moves_every_row`
{ .checked }

## The problem

None.
"""


def build_one_page(place: Path, page: str) -> Result:
    """Build a book of this one page with mkdocs' command, in this process."""
    config = {
        "INHERIT": str(ROOT / "mkdocs.yml"),
        "docs_dir": str(place / "docs"),
        "site_dir": str(place / "site"),
        "hooks": [],
        "nav": ["page.md"],
        "plugins": [],
        "theme": {"custom_dir": str(ROOT / "scripts" / "site" / "theme")},
        "watch": [],
    }
    (place / "docs").mkdir()
    (place / "docs" / "page.md").write_text(page, "utf-8")
    (place / "mkdocs.yml").write_text(yaml.safe_dump(config), "utf-8")
    return CliRunner().invoke(cli, ["build", "--strict", "-f", str(place / "mkdocs.yml")])


@pytest.fixture(autouse=True)
def _no_traces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo what mkdocs' command does to warnings and logging."""
    log = logging.getLogger("mkdocs")
    monkeypatch.setattr("mkdocs.__main__._enable_warnings", lambda: None)
    monkeypatch.setattr(log, "handlers", [*log.handlers])
    monkeypatch.setattr(log, "propagate", log.propagate)
    monkeypatch.setattr(log, "level", log.level)


def test_a_page_without_a_fault_is_built(tmp_path: Path) -> None:
    done = build_one_page(tmp_path, SMALL)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "site" / "page" / "index.html").is_file()


@pytest.mark.parametrize(
    ("right", "wrong", "reason"),
    [
        ("PositionalEncoding", "Encoding", "defines no Encoding"),
        (r"\sqrt{d/2}", r"\sqrt{d/2", "BadTeXError"),
        ("(page.md)", "(gone.md)", "gone.md"),
        ("(#the-problem)", "(#gone)", "#gone"),
        ("test_shift_matrix_moves_every_row", "test_gone", "test_gone"),
    ],
    ids=["renamed symbol", "TeX", "link to a page", "link to a heading", "test"],
)
def test_a_fault_stops_the_build(right: str, wrong: str, reason: str, tmp_path: Path) -> None:
    """The message names the page and the reason."""
    assert SMALL.count(right) == 1
    done = build_one_page(tmp_path, SMALL.replace(right, wrong))
    assert done.exit_code != 0
    message = f"{done.output}{done.exception!r}"
    assert "page.md" in message
    assert reason in message
