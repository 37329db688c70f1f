"""Numbers that stand in a page unbound, because the author chose them: its settings.

The front matter lists them: `settings: [0, 1, 4, 8, 10000]`. Every other number in the page's
prose, tables and mathematics has to be bound, so a result cannot slip in unchecked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from scripts.book.numbers import bindings
from scripts.book.tables import bound_tables
from scripts.book.text import line_of, outside_code

NUMERAL = r"(?:\d+(?:[.,]\d+)*|\.\d+)"
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
      | <[a-zA-Z/][^>]*>              # a tag
    """,
    re.M | re.X,
)


@dataclass(frozen=True)
class Stray:
    """A number that is neither bound nor one of the page's settings."""

    start: int
    end: int
    printed: str

    def message(self, text: str) -> str:
        """Return the line and what may be done."""
        return (
            f"line {line_of(text, self.start)}: {self.printed} is not bound:"
            f" write {{{{ {self.printed} = expression }}}}, or list it under `settings:`"
        )


def front_matter(text: str) -> dict[str, Any]:
    """Return the front matter of a page."""
    match = re.match(r"\A---\n(.*?)\n---\n", text, re.S)
    return (yaml.safe_load(match[1]) or {}) if match else {}


def strays(text: str) -> Iterator[Stray]:
    """Yield the numbers of a page that nothing checks."""
    allowed = {str(number) for number in front_matter(text).get("settings", [])}
    checked = [(b.start, b.end) for b in bindings(text)]
    checked += [
        (cell.start, cell.start + len(cell.text))
        for table in bound_tables(text)
        for row in table.rows
        for cell in row
    ]
    for start, end, _ in outside_code(text):
        checked += [match.span() for match in ADDRESS.finditer(text, start, end)]
    for start, end, in_mathematics in outside_code(text):
        token_of = IN_MATHEMATICS if in_mathematics else IN_PROSE
        for token in token_of.finditer(text, start, end):
            inside = any(a <= token.start() < b for a, b in checked)
            if not inside and token[0] not in allowed:
                yield Stray(token.start(), token.end(), token[0])
