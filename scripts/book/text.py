"""Separates the prose of a page from code, mathematics and comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest

FRONT = re.compile(r"\A---\n(?P<matter>.*?)\n---\n", re.DOTALL)
# A paragraph ends at an empty line, or before a list item, a quotation or a table row.
IN_PARAGRAPH = r"(?:(?!\n[ ]*(?:\n|[-*+>|#][ ]|\d+\.[ ])).)+?"
SPANS = re.compile(
    rf"""
      (?P<front> {FRONT.pattern} )
    | (?P<fence> ^(?P<margin>[ ]*)(?P<ticks>`{{3,}}(?=[^`\n]*\n)|~{{3,}})[^\n]*\n
                 .*? ^(?P=margin)(?P=ticks)[ ]*$ )
    | (?P<comment> <!--.*?--> )
    | (?P<code> (?<![\\`])(?P<mark>`+)(?!`) {IN_PARAGRAPH} (?<!`)(?P=mark)(?!`) )
    | (?P<display> \$\$ .+? \$\$ )
    | (?P<math> (?<![\\$])\$(?![\s$]) {IN_PARAGRAPH} (?<![\\\s])\$ )
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
MATHEMATICS = {"display", "math"}


@dataclass(frozen=True)
class Span:
    """A part of a page that is not prose."""

    kind: str  # front, fence, comment, code, display or math
    start: int
    end: int


@lru_cache(maxsize=8)  # called by every parser for the same page
def spans(text: str) -> tuple[Span, ...]:
    """Return the parts of `text` that are not prose, in order and without overlap."""
    kinds = ("front", "fence", "comment", "code", "display", "math")
    return tuple(
        Span(next(kind for kind in kinds if match[kind]), match.start(), match.end())
        for match in SPANS.finditer(text)
    )


def outside_code(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield (start, end, in mathematics) of everything that is prose or mathematics."""
    place = 0
    for span in spans(text):
        if place < span.start:
            yield place, span.start, False
        if span.kind in MATHEMATICS:
            yield span.start, span.end, True
        place = span.end
    if place < len(text):
        yield place, len(text), False


def without_front_matter(text: str) -> str:
    """Return a page with its front matter replaced by empty lines, which keeps line numbers."""
    return FRONT.sub(lambda front: "\n" * front[0].count("\n"), text)


def line_of(text: str, place: int) -> int:
    """Return the line number, from 1, of the character at `place`."""
    return text.count("\n", 0, place) + 1


@dataclass(frozen=True)
class Correction:
    """A difference between the text of a page and the correct text."""

    start: int
    end: int
    says: str
    should: str
    about: str

    def message(self, text: str) -> str:
        """Return a message with the line, the page's text, the package's, and the expression."""
        line, says, should = line_of(text, self.start), self.says, self.should
        if "\n" in says + should:  # an output: show its first line that differs
            pairs = zip_longest(says.split("\n"), should.split("\n"), fillvalue="")
            offset, (says, should) = next(
                (found for found in enumerate(pairs) if len(set(found[1])) > 1), (0, (says, should))
            )
            line += offset
        return (
            f"line {line}: the page says {says!r}\n"
            f"  the package says {should!r}\n"
            f"  from {self.about}"
        )


def apply_corrections(text: str, corrections: list[Correction]) -> str:
    """Return `text` with every correction made."""
    for correction in sorted(corrections, key=lambda c: c.start, reverse=True):
        text = text[: correction.start] + correction.should + text[correction.end :]
    return text
