"""Numbers that stand in a page unbound, because the author chose them: its settings.

The front matter lists them: `settings: [0, 1, 4, 8, 10000]`. Every other number in the page's
prose, tables and mathematics has to be bound. A setting that the page does not use is an error too,
since each is a result that could slip in. What looks like a session and is not run is reported here
as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from scripts.book.numbers import NUMBER, bindings
from scripts.book.sessions import sessions
from scripts.book.tables import bound_tables
from scripts.book.text import FRONT, line_of, outside_code, spans

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
      | \b(?:[Cc]hapter|[Ss]ection|Table|Figure|Exercise|Theorem)\ [\d.]+
      | <[a-zA-Z/][^<>\n]*>           # a tag
    """,
    re.M | re.X,
)


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


def settings(text: str) -> list[str]:
    """Return the numbers that a page lists as its settings."""
    front = FRONT.match(text)
    matter: dict[str, Any] = yaml.safe_load(front["matter"]) if front else {}
    return [str(number) for number in (matter or {}).get("settings", [])]


def strays(text: str) -> Iterator[Stray]:
    """Yield what nothing checks: numbers, sessions that are not run, settings that are not used."""
    allowed, used = settings(text), set()
    for start, end in _numerals(text):
        used.add(text[start:end])
        if text[start:end] not in allowed:
            advice = "is not bound: write {{ %s = expression }}, or list it under `settings:`"
            yield Stray(start, end, advice % text[start:end])
    if unused := [number for number in allowed if number not in used]:
        place = text.index("settings:")
        advice = f"lists {', '.join(unused)}, which the page does not use"
        yield Stray(place, place + len("settings:"), advice)
    claimed = [(session.start, session.end) for session in sessions(text)]
    claimed += [(span.start, span.end) for span in spans(text) if span.kind == "comment"]
    for prompt in PROMPT.finditer(text):
        if not any(start <= prompt.start() < end for start, end in claimed):
            yield Stray(*prompt.span(), "looks like a session, and nothing runs it")


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
    for start, end, in_mathematics in outside_code(text):
        for token in (IN_MATHEMATICS if in_mathematics else IN_PROSE).finditer(text, start, end):
            if not any(a <= token.start() < b for a, b in checked):
                yield token.span()
