"""Numbers that stand in a page unbound, because the author chose them: its settings.

The front matter lists them once more, section by section, in the order in which they stand:

    settings:
      the-formula: 0 1 2 10000

Every other number in the page's prose, tables and mathematics has to be bound. So each digit of a
page either is computed or stands in two places, and one that is changed in one of them is found.
What looks like a session and is not run is reported here as well, and a unit beside a binding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from scripts.book.data import front_matter
from scripts.book.numbers import NUMBER, bindings
from scripts.book.sessions import sessions
from scripts.book.tables import bound_tables
from scripts.book.text import line_of, outside_code, spans
from scripts.book.units import UNITS

# Whatever a reader takes for a number: 6283, 60,611, 1e-5, 3/4, 5%, 8².
NUMERAL = r"(?:\d[\d_]*(?:[.,]\d+)*|\.\d+)(?:[eE][-+−]?\d+)?(?:/\d+)?[%‰½¼¾²³⁰-⁹]*"
IN_MATHEMATICS = re.compile(NUMERAL)
# In prose a number is not part of a name: neither float64 nor T5 is one.
IN_PROSE = re.compile(rf"(?<![\w.]){NUMERAL}")
# Places whose digits are addresses, not statements.
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
UNIT = re.compile(rf"°|\s+(?:{'|'.join(UNITS)})s?\b")
PROMPT = re.compile(r"^[ >\t]*(?:>>> |\$ \w).*$", re.M)


@dataclass(frozen=True)
class Stray:
    """Something in a page that nothing checks, and what its author may do about it."""

    start: int
    end: int
    advice: str

    def message(self, text: str) -> str:
        """Return the line, what stands there and what may be done."""
        return f"line {line_of(text, self.start)}: {text[self.start : self.end]} {self.advice}"


@dataclass(frozen=True)
class Section:
    """A stretch of a page from one heading to the next, by the heading's address or words."""

    name: str
    start: int
    end: int


def settings(text: str) -> dict[str, list[str]]:
    """Return the numbers that a page lists as its settings, by section."""
    listed: dict[str, Any] = front_matter(text).get("settings", {})
    return {str(name): str(numbers).split() for name, numbers in listed.items()}


def sections(text: str) -> list[Section]:
    """Return the sections of a page; what stands above the first heading is called top."""
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


def with_settings(text: str) -> str:
    """Return a page that a program wrote, with the settings that it needs in its front matter."""
    numerals, lines = list(_numerals(text)), ["settings:"]
    for section in sections(text):
        inside = [text[a:b] for a, b in numerals if section.start <= a < section.end]
        lines += [f"  {section.name}: {' '.join(inside)}"] * bool(inside)
    return text.replace("\n---\n", "\n" + "\n".join(lines) + "\n---\n", 1)


def strays(text: str) -> Iterator[Stray]:
    """Yield what nothing checks: numbers, sessions that are not run, settings that are not used."""
    listed, numerals = settings(text), list(_numerals(text))
    for section in sections(text):
        inside = [(a, b) for a, b in numerals if section.start <= a < section.end]
        yield from _unsettled(text, section, inside, listed.pop(section.name, []))
    for name in listed:
        yield _in_front_matter(text, name, "is no section of this page")
    yield from _loose_units(text)
    claimed = [(session.start, session.end) for session in sessions(text)]
    claimed += [(span.start, span.end) for span in spans(text) if span.kind == "comment"]
    for prompt in PROMPT.finditer(text):
        if not any(start <= prompt.start() < end for start, end in claimed):
            yield Stray(*prompt.span(), "looks like a session, and nothing runs it")


def _loose_units(text: str) -> Iterator[Stray]:
    """Yield the bound numbers whose unit stands beside the binding, where nothing compares it."""
    for binding in bindings(text):
        unit = UNIT.match(text, binding.end)
        if unit and not binding.unit and not binding.in_mathematics:
            bound = (
                f"{{{{ {binding.printed}{unit[0]} = {binding.expression} in {unit[0].strip()} }}}}"
            )
            yield Stray(*unit.span(), f"is a unit that nothing compares: write {bound}")


def _unsettled(
    text: str, section: Section, numerals: list[tuple[int, int]], listed: list[str]
) -> Iterator[Stray]:
    """Yield where the unbound numbers of a section and its settings part ways."""
    found = [text[start:end] for start, end in numerals]
    line = f"{section.name}: {' '.join(found)}"
    matcher = SequenceMatcher(None, listed, found, autojunk=False)
    for what, a, b, c, d in matcher.get_opcodes():
        if what in {"insert", "replace"}:
            for start, end in numerals[c:d]:
                advice = (
                    f"is not bound: write {{{{ {text[start:end]} = expression }}}},"
                    f" or list it in the settings, `{line}`"
                )
                yield Stray(start, end, advice)
        elif what == "delete":
            says = f"lists {' '.join(listed[a:b])}, where the page has `{line}`"
            yield _in_front_matter(text, section.name, says)


def _in_front_matter(text: str, name: str, advice: str) -> Stray:
    """Return something that is wrong with the settings of a section."""
    place = text.index(f"{name}:", text.index("settings:"))
    return Stray(place, place + len(name), advice)


def _numerals(text: str) -> Iterator[tuple[int, int]]:
    """Yield the numbers of a page that no expression computes."""
    checked = [(b.start, b.end) for b in bindings(text)]
    checked += [
        (cell.start, cell.start + len(cell.text))
        for table in bound_tables(text)
        for row in table.rows
        for cell in row
        if re.fullmatch(NUMBER, cell.text)  # the table itself says where no expression computes one
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
