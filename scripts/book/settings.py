"""Settings: the numbers of a page that its author chose and that no expression computes.

Every other number in the prose, tables and mathematics of a written page must be bound to an
expression; those of a page that is made from data are its data.
`docs/data/settings/` has a file for each page, with one line for each setting, in page order: the
section, the number, and the words around it when it was accepted, separated by tabs.

    the-formula	10000	whose wavelengths grow up to 2π · 10000

`make update` writes these files and prints what it accepts. Checking a page compares the sections
and numbers, and writes nothing. So a digit that changes either disagrees with its expression or
shows in `git diff`. The check also reports sessions that are not run, and units outside a binding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path

from scripts import DATA
from scripts.book import pages
from scripts.book.numbers import NUMBER, bindings
from scripts.book.sessions import sessions
from scripts.book.tables import bound_tables
from scripts.book.text import line_of, outside_code, spans
from scripts.book.units import UNITS

FOLDER = DATA / "settings"
BEFORE, AFTER = 40, 20  # characters quoted around a number, and up to the end of the word

# Anything that reads as a number: 6283, 60,611, 1e-5, 3/4, 5%, 8².
NUMERAL = r"(?:\d[\d_]*(?:[.,]\d+)*|\.\d+)(?:[eE][-+−]?\d+)?(?:/\d+)?[%‰½¼¾²³⁰-⁹]*"
IN_MATHEMATICS = re.compile(NUMERAL)
# In prose, digits within a name such as float64 or T5 are not a number.
IN_PROSE = re.compile(rf"(?<![\w.]){NUMERAL}")
# Digits in these places belong to addresses.
ADDRESS = re.compile(
    r"""\]\([^)\s]*(?:\s"[^"]*")?\)   # the target of a link
      | \[[\^@][^\]]+\]               # a citation
      | \{[:.#][^}]*\}                # attributes
      | ^///.*$                       # the number of a table or a figure
      | <[a-zA-Z/][^<>\n]*>           # a tag
    """,
    re.M | re.X,
)

HEADING = re.compile(
    r"""^\#+\ +(?P<words>[^{\n]*?)\ *(?:\{[^}\n]*\#(?P<id>[\w-]+)[^}\n]*\})?\ *$
      | ^<h\d\ id="(?P<raw>[\w-]+)">""",
    re.M | re.X,
)
BREAK = re.compile(r"\n(?=[ ]*(?:\n|[-*+>|#][ ]|\d+\.[ ]))")  # between paragraphs, items or rows
UNIT = re.compile(rf"°|\s+(?:{'|'.join(UNITS)})s?\b")
PROMPT = re.compile(r"^[ >\t]*(?:>>> |\$ \w).*$", re.M)


@dataclass(frozen=True)
class Stray:
    """Something in a page that nothing checks, and what its author can do about it."""

    start: int
    end: int
    advice: str

    def message(self, text: str) -> str:
        """Return the line number, the text in question, if any, and the advice."""
        about = [text[self.start : self.end], self.advice]
        return f"line {line_of(text, self.start)}: {' '.join(filter(None, about))}"


@dataclass(frozen=True)
class Section:
    """The part of a page from one heading to the next, named by the heading's id or else words."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Setting:
    """An unbound number, equal to another if its section and its digits are the same."""

    section: str
    number: str
    words: str = field(default="", compare=False)  # around it
    start: int = field(default=0, compare=False)  # where it is in the page

    def __str__(self) -> str:
        """Return the setting as `make update` prints it."""
        return f"{self.number} in {self.section}: {self.words}"


def sections(text: str) -> list[Section]:
    """Return the sections of a page; the part above the first heading is called top."""
    headings = [
        heading
        for start, end, in_mathematics in outside_code(text)
        if not in_mathematics
        for heading in HEADING.finditer(text, start, end)
    ]
    names = ["top", *(found["id"] or found["raw"] or found["words"] for found in headings)]
    starts = [0, *(heading.start() for heading in headings)]
    return [
        Section(*found)
        for found in zip(names, starts, [*starts[1:], len(text)], strict=True)
        if found[0] != "top" or text[: found[2]].strip()
    ]


def settings(text: str) -> list[Setting]:
    """Return the unbound numbers of a page, in order."""
    numerals = list(_numerals(text))
    return [
        Setting(section.name, text[a:b], _words_around(text, a, b), a)
        for section in sections(text)
        for a, b in numerals
        if section.start <= a < section.end
    ]


def accepted(page: str) -> list[Setting]:
    """Return the settings accepted for a page, a path relative to docs/.

    A malformed line gives a setting that no page has, so the check reports it.
    """
    file = _file(page)
    lines = file.read_text("utf-8").splitlines() if file.is_file() else []
    parts = ([*line.split("\t"), "", ""] for line in lines)
    return [Setting(section, number, words) for section, number, words, *_ in parts]


def accept(page: str, text: str) -> list[str]:
    """Write the settings of a page to its file, and return one message for each change.

    A setting accepted before keeps its line, even if the words around it have changed, so that
    `git diff` shows only what is accepted or dropped.
    """
    old, new = accepted(page), settings(text)
    kept: list[Setting] = []
    changes = []
    for what, a, b, c, d in _differences(old, new):
        kept += old[a:b] if what == "equal" else new[c:d]
        if what != "equal":
            changes += [f"dropped the setting {setting}" for setting in old[a:b]]
            changes += [f"accepted the setting {setting}" for setting in new[c:d]]
    if changes:
        file = _file(page)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{s.section}\t{s.number}\t{s.words}\n" for s in kept), "utf-8")
        if not kept:
            file.unlink()
    return changes


def orphans() -> list[Path]:
    """Return the files of settings whose page does not exist."""
    known = {_file(page) for page in pages.written_pages()}
    return sorted(path for path in FOLDER.rglob("*") if path.is_file() and path not in known)


def strays(text: str, accepted: Sequence[Setting] | None = ()) -> Iterator[Stray]:
    """Yield what nothing checks: numbers neither bound nor accepted, units, sessions not run.

    `accepted` is None for a made page, whose numbers need not be accepted.
    """
    yield from _unaccepted_numbers(text, accepted) if accepted is not None else ()
    yield from _loose_units(text)
    claimed = [(session.start, session.end) for session in sessions(text)]
    claimed += [(span.start, span.end) for span in spans(text) if span.kind == "comment"]
    for prompt in PROMPT.finditer(text):
        if not any(start <= prompt.start() < end for start, end in claimed):
            yield Stray(*prompt.span(), "looks like a session, but nothing runs it")


def _file(page: str) -> Path:
    """Return the file that lists the settings of a page."""
    return FOLDER / f"{page.removesuffix('.md')}.tsv"


def _differences(
    old: Sequence[Setting], new: Sequence[Setting]
) -> Sequence[tuple[str, int, int, int, int]]:
    """Return the steps from old to new settings, as difflib's opcodes."""
    return SequenceMatcher(None, old, new, autojunk=False).get_opcodes()


def _unaccepted_numbers(text: str, accepted: Sequence[Setting]) -> Iterator[Stray]:
    """Yield the unbound numbers that are not accepted, and the accepted ones that are missing."""
    found = settings(text)
    for what, a, b, c, d in _differences(accepted, found):
        if what == "delete":
            place = found[c - 1].start if c else 0
            advice = (
                f"settings are missing from here on, {'; '.join(map(str, accepted[a:b]))}: put them"
                " back, or drop them with `make update` and check `git diff`"
            )
            yield Stray(place, place, advice)
        elif what != "equal":
            yield from map(_not_accepted, found[c:d])


def _not_accepted(setting: Setting) -> Stray:
    """Return what to do about an unbound number."""
    advice = (
        f"is not bound: write {{{{ {setting.number} = expression }}}},"
        " or accept it as a setting with `make update` and check `git diff`"
    )
    return Stray(setting.start, setting.start + len(setting.number), advice)


def _loose_units(text: str) -> Iterator[Stray]:
    """Yield the units after a binding, which are not checked."""
    for binding in bindings(text):
        unit = UNIT.match(text, binding.end)
        if unit and not binding.unit and not binding.in_mathematics:
            bound = (
                f"{{{{ {binding.printed}{unit[0]} = {binding.expression} in {unit[0].strip()} }}}}"
            )
            yield Stray(*unit.span(), f"is a unit outside the binding: write {bound}")


def _words_around(text: str, start: int, end: int) -> str:
    """Return some words before and after a number, in the same paragraph, item or table row."""
    first = text.rfind(" ", 0, max(0, start - BEFORE)) + 1
    last = text.find(" ", end + AFTER)
    before = BREAK.split(text[first:start])[-1]
    after = BREAK.split(text[end : last if last > 0 else None])[0]
    return " ".join(f"{before}{text[start:end]}{after}".split())


def _numerals(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of the numbers that no expression computes."""
    checked = [(b.start, b.end) for b in bindings(text)]
    checked += [
        (cell.start, cell.start + len(cell.text))
        for table in bound_tables(text)
        for row in table.rows
        for cell in row
        if re.fullmatch(NUMBER, cell.text)  # checking the table reports cells with no expression
    ]
    for start, end, _ in outside_code(text):
        checked += [match.span() for match in ADDRESS.finditer(text, start, end)]
    places = {place for start, end in checked for place in range(start, end)}
    stretches = [
        *outside_code(text),
        *((s.start, s.end, False) for s in spans(text) if s.kind == "code"),
    ]
    for start, end, in_mathematics in sorted(stretches):
        for token in (IN_MATHEMATICS if in_mathematics else IN_PROSE).finditer(text, start, end):
            if token.start() not in places:
                yield token.span()
