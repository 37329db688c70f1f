"""Faults planted in copies of the book: each must be reported, with its place and its kind."""

from __future__ import annotations

import logging
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from mkdocs.__main__ import cli

from scripts import ROOT
from scripts.book import numbers, pages, tables
from scripts.book.chapters import chapter_of
from scripts.book.check import problems
from scripts.book.evaluate import Checked, corrections, names
from scripts.book.numbers import NUMBER, Binding, bindings, evaluate, example_bindings
from scripts.book.sessions import sessions
from scripts.book.settings import accepted, sections, settings, strays
from scripts.book.tables import BoundTable, Cell, bound_tables, named_columns
from scripts.book.text import apply_corrections, line_of, spans
from scripts.book.units import UNITS
from scripts.examples import planted_faults
from tests.selection import slow_except

CHAPTER = chapter_of("chapters/by-hand/index.md").pages
# Broken a digit at a time: chapter 1, and with `make test-all` every page.
BROKEN = slow_except(CHAPTER, pages.paths())
BY_HAND = "docs/chapters/by-hand/four-positions.md"
SAMPLE = 200  # digits of each page that are changed, where it has so many
SPECIMEN = (ROOT / "scripts" / "examples" / "specimen.md").read_text("utf-8")
ACCEPTED = settings(SPECIMEN)


def stated_results(text: str) -> Iterator[tuple[int, int]]:
    """Yield every stretch of a page that states a result: bound numbers, cells, outputs."""
    for binding in [*bindings(text), *example_bindings(text)]:
        yield binding.printed_start, binding.printed_start + len(binding.printed)
    for cell in (cell for table in bound_tables(text) for row in table.rows for cell in row):
        if re.fullmatch(NUMBER, cell.text):  # a table refuses a number that nothing computes
            yield cell.start, cell.start + len(cell.text)
    for session in sessions(text):
        yield session.printed_start, session.end


def worked_digits(text: str) -> list[int]:
    """Return the places of all digits of a page that state a result."""
    return sorted({n for a, b in stated_results(text) for n in range(a, b) if text[n].isdigit()})


def sampled_places(page: str, places: list[Any]) -> list[Any]:
    """Return all places of chapter 1, and of another page 200 or more, spread evenly."""
    return places if page in CHAPTER else places[:: max(1, len(places) // SAMPLE)]


def with_digits_changed(text: str) -> str:
    """Return a page in which every digit of every result is another one."""
    for place in worked_digits(text):
        text = with_digit_changed(text, place)
    return text


@cache  # running a page is slow
def repaired_page(page: str) -> tuple[str, dict[str, Any]]:
    """Return an updated page of which every digit was changed, and the names it defines."""
    text = pages.text(page)
    broken = with_digits_changed(text)
    said = {session.start: session.printed for session in sessions(text)}
    known: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        for run in skippable_functions(text):
            patch.setattr(f"scripts.book.sessions.{run}", lambda typed, *_: said[typed.start])
        return apply_corrections(broken, corrections(broken, known)), known


def skippable_functions(text: str) -> Iterator[str]:
    """Yield the functions that need not run the sessions of a page: its own output is used instead.

    The page's own check runs and compares them. Here a session is run only for the names that it
    defines, if a number or a table of the page is computed from them; a command defines none.
    """
    yield "_run_command"
    computed: list[Binding | BoundTable]
    computed = [*bindings(text), *example_bindings(text), *bound_tables(text)]
    asked = " ".join(one.expression for one in computed)
    typed = " ".join(session.source for session in sessions(text))
    if words(asked) & words(typed) <= names().keys():
        yield "_run_python"


def words(code: str) -> set[str]:
    """Return every word of code that could be a name."""
    return set(re.findall(r"[^\W\d]\w*", code))


def evaluate_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cache the value of each expression while the digits of one page are changed."""
    values: dict[str, Any] = {}

    def kept(expression: str, names: dict[str, Any]) -> Any:
        if expression not in values:
            values[expression] = evaluate(expression, names)
        return values[expression]

    monkeypatch.setattr(numbers, "evaluate", kept)
    monkeypatch.setattr(tables, "evaluate", kept)


def with_digit_changed(text: str, place: int) -> str:
    return text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :]


def pieces(text: str) -> list[tuple[int, int]]:
    """Return the stretches of a page that stand alone: fences, and all else between blank lines."""
    fences = [(span.start, span.end) for span in spans(text) if span.kind == "fence"]
    blocks = [match.span() for match in re.finditer(r"(?:(?!\n[ ]*\n).)+", text, re.S)]
    return fences + blocks


@pytest.mark.parametrize("path", BROKEN)
def test_every_changed_digit_is_noticed(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Change each digit of each result, one at a time, and have it checked."""
    text = pages.text(path)
    digits, stretches = worked_digits(text), pieces(text)
    _, known = repaired_page(path)
    evaluate_once(monkeypatch)  # from here on no name changes
    unnoticed = []
    for place in sampled_places(path, digits):
        start, end = next(s for s in stretches if s[0] <= place < s[1])
        if not is_noticed(text[start:end], place - start, known):
            unnoticed.append(place)
    assert not unnoticed, [text[place - 20 : place + 20] for place in unnoticed]


def test_the_first_chapter_states_many_results() -> None:
    """The test above must not pass for lack of digits."""
    assert sum(len(worked_digits(pages.text(path))) for path in CHAPTER) > 1000


def is_noticed(piece: str, place: int, known: dict[str, Any]) -> bool:
    """Return whether the check of a piece of a page sees that the digit at a place has changed.

    Sessions are not run again: they printed the page's output, and the check compares texts.
    Everything else is computed again.
    """
    broken = with_digit_changed(piece, place)
    before, after = list(sessions(piece)), list(sessions(broken))
    if before:
        same_code = [b.source for b in before] == [a.source for a in after]
        return same_code and [b.printed for b in before] != [a.printed for a in after]
    checked: list[Checked] = [*bound_tables(broken), *bindings(broken), *example_bindings(broken)]
    found = [c for item in checked for c in item.corrections(broken, known)]
    return any(correction.start <= place < correction.end for correction in found)


def swapped_headings(head: list[Cell], text: str, one: int, other: int) -> str:
    """Return a page in which two headings of a table have changed places."""
    first, last = head[one], head[other]
    ends = first.start + len(first.text), last.start + len(last.text)
    between = text[ends[0] : last.start]
    return f"{text[: first.start]}{last.text}{between}{first.text}{text[ends[1] :]}"


@pytest.mark.parametrize("path", BROKEN)
def test_two_swapped_headings_are_noticed(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Swap each heading of each bound table with the next one that its expression computes."""
    text, (_, known) = pages.text(path), repaired_page(path)
    evaluate_once(monkeypatch)
    for n, table in enumerate(bound_tables(text)):
        names, _ = named_columns(numbers.evaluate(table.expression, known))
        assert names, f"{table.expression} names no columns"
        for place in range(len(table.head) - len(names), len(table.head) - 1):
            broken = swapped_headings(table.head, text, place, place + 1)
            again = [*bound_tables(broken)][n]
            if "{{" in broken[table.head[place].start :].partition("\n")[0]:
                with pytest.raises(ValueError, match="column is named"):
                    again.corrections(broken, known)
            else:
                assert len(again.corrections(broken, known)) == 2


@pytest.mark.parametrize("path", BROKEN)
def test_a_number_in_another_unit_is_noticed(path: str) -> None:
    """Give each number with a unit every other unit of its kind: each must be reported."""
    text, (_, known) = pages.text(path), repaired_page(path)
    for bound in (b for b in bindings(text) if b.unit):
        kind, size = UNITS[bound.unit.strip().removesuffix("s")]
        for unit, (other, its_size) in UNITS.items():
            if kind == other and size != its_size:
                exchanged = replace(bound, unit=f" {unit}")
                assert exchanged.corrections(text, known), f"{bound.printed}{bound.unit}: {unit}"


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
    checked, listed = set(worked_digits(text)), accepted(path)
    stretches = sections(text)
    own = {s: [setting for setting in listed if setting.section == s.name] for s in stretches}
    assert not [s for s in stretches if list(strays(text[s.start : s.end], own[s]))]
    overlooked = []
    for place, number in sampled_places(path, list(visible_digits(text))):
        if place not in checked:
            section = next(s for s in stretches if s.start <= place < s.end)
            broken = with_digit_changed(text, place)[section.start : section.end]
            if not list(strays(broken, own[section])):
                overlooked.append(f"line {line_of(text, place)}: {number}")
    assert not overlooked


@pytest.mark.parametrize("path", BROKEN)
def test_update_mends_every_changed_digit(path: str) -> None:
    """Change every digit of every result at once: an update gives the page back as it was."""
    text = pages.text(path)
    assert with_digits_changed(text) != text or not worked_digits(text)
    assert repaired_page(path)[0] == text


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


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """Return a copy of the project that a test may break."""
    copy = tmp_path / "a copy"
    unwanted = shutil.ignore_patterns(".git", ".venv", "node_modules", "__pycache__", ".*_cache")

    def ignore(folder: str, names: list[str]) -> set[str]:
        built = {"site"} if folder == str(ROOT) else set()
        return unwanted(folder, names) | built

    shutil.copytree(ROOT, copy, ignore=ignore)
    (copy / "node_modules").symlink_to(ROOT / "node_modules")
    return copy


def run(book: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, *arguments]
    return subprocess.run(words, cwd=book, capture_output=True, text=True, timeout=120)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def test_a_changed_digit_names_page_line_and_both_values(book: Path) -> None:
    page = book / BY_HAND
    edit(page, "| 1 | 0.841 |", "| 1 | 0.842 |")
    line = page.read_text("utf-8").split("| 1 | 0.842 |")[0].count("\n") + 1
    done = run(book, "-m", "pytest", BY_HAND, "-p", "no:cacheprovider")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "chapters/by-hand/four-positions.md" in done.stdout
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


def stops_the_build(place: Path, old: str, new: str, *says: str) -> None:
    """Break the page; the build must stop and name the page and the reason."""
    assert SMALL.count(old) == 1
    done = build_one_page(place, SMALL.replace(old, new))
    assert done.exit_code != 0
    for said in ("page.md", *says):
        assert said in f"{done.output}{done.exception!r}"


def test_a_page_without_a_fault_is_built(tmp_path: Path) -> None:
    done = build_one_page(tmp_path, SMALL)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "site" / "page" / "index.html").is_file()


def test_a_renamed_symbol_stops_the_build(tmp_path: Path) -> None:
    stops_the_build(tmp_path, "PositionalEncoding", "Encoding", "defines no Encoding")


def test_broken_tex_stops_the_build(tmp_path: Path) -> None:
    stops_the_build(tmp_path, r"\sqrt{d/2}", r"\sqrt{d/2", "BadTeXError")


@pytest.mark.parametrize("there", ["(page.md)", "(#the-problem)"])
def test_a_dead_link_stops_the_build(there: str, tmp_path: Path) -> None:
    gone = there.replace("page", "gone").replace("the-problem", "gone")
    stops_the_build(tmp_path, there, gone, gone.strip("()"))


def test_a_cited_test_that_is_gone_stops_the_build(tmp_path: Path) -> None:
    stops_the_build(tmp_path, "test_shift_matrix_moves_every_row", "test_gone", "test_gone")
