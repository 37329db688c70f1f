"""What each citation of a page is for, compared with `docs/data/cited.yml`.

The file says of every work at which places the book cites it, and behind which words:

    devlin2019:
      chapters/by-hand.md#learned: [BERT has 512 such rows]

Both ways: a citation whose words the file does not have is reported, and words behind which no
citation of that work stands. So one that is exchanged for another is found. And where a sentence
prints a fact of `facts.yml`, the citation next to it has to be the fact's source.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from scripts import DATA
from scripts.book.citations import NOTE, facts, references
from scripts.book.data import load
from scripts.book.numbers import BINDING, bindings
from scripts.book.settings import Stray, sections
from scripts.book.text import outside_code

# Where what a citation is for cannot go on: a new paragraph, list item or row, and a new sentence.
BREAK = re.compile(r"\n[ ]*(?=\n|[-*+>|][ ]|\d+\.[ ])|(?:(?<=[.?!:])|(?<=[.?!]\*))\s+(?=[^a-z\s])")
FACT = re.compile(r"""\bfact\(["']([\w-]+)["']\)""")
MARKUP = re.compile(
    r"\]\([^)]*\)|\]\[[^\]]*\]|\{[.#:][^}]*\}|<[^<>]*>|^\s*(?:[-*+>]|\d+\.)\s|[*`\[\]$]", re.M
)
ADVISED = 8  # words of the line that a message proposes


@dataclass(frozen=True)
class Citation:
    """A citation, where it stands, its section, and the words of its sentence before it."""

    start: int
    end: int
    work: str
    section: str
    words: str
    sources: tuple[str, ...]  # of the facts that the sentence prints before it

    @property
    def proposed(self) -> str:
        """Return the last words before it, of one cell of a table, as the file may have them."""
        words = self.words.rpartition(" | ")[2].strip(".,;:| ")
        return " ".join(words.split()[-ADVISED:])


@cache
def cited() -> dict[str, dict[str, list[str]]]:
    """Return behind which words every work is cited, by work and by place."""
    data: dict[str, dict[str, list[str]]] = load(DATA / "cited.yml")
    for work, places in data.items():
        if work not in references():
            raise KeyError(f"cited.yml: docs/data/references.yml has no {work!r}")
        for place, words in places.items():
            if not isinstance(words, list) or not all(isinstance(w, str) and w for w in words):
                raise TypeError(f"cited.yml: {work}, {place} needs a list of words, has {words!r}")
    return data


def citations(text: str) -> Iterator[Citation]:
    """Yield the citations of a page, in order; two that stand together are for the same words."""
    bound = list(bindings(text))
    notes = sorted(
        (note for a, b, _ in outside_code(text) for note in NOTE.finditer(text, a, b)),
        key=lambda note: note.start(),
    )
    stretches = list(sections(text))
    breaks = [0, *(found.end() for found in BREAK.finditer(_without_bindings(text)))]
    begin = last = 0
    cited_last = ""
    for note in notes:
        if text[last : note.start()].strip():  # not right behind another one
            begin = max(last, breaks[bisect_right(breaks, note.start()) - 1])
        ended, last = last, note.end()
        section = next(s for s in stretches if s.start <= note.start() < s.end)
        before = [b.expression for b in bound if begin <= b.start < note.start()]
        yield Citation(
            *note.span(),
            note["key"],
            section.name,
            plain(text[begin : note.start()]),
            _sources(" ".join(before), cited_last if begin == ended else ""),
        )
        cited_last = note["key"]


def _sources(expressions: str, already: str) -> tuple[str, ...]:
    """Return the works of the facts in expressions, without one cited before in the sentence.

    A fact may also be from lines of a text that this book reworks, which nobody cites.
    """
    named = (facts()[name]["source"] for name in FACT.findall(expressions) if name in facts())
    return tuple(
        dict.fromkeys(source for source in named if source in references() and source != already)
    )


def _without_bindings(text: str) -> str:
    """Return a text of the same length in which no expression ends a sentence."""
    return BINDING.sub(lambda bound: "0" * len(bound[0]), text)


def plain(text: str) -> str:
    """Return words without markup, each bound number as it is printed."""
    text = BINDING.sub(lambda bound: bound["printed"] + (bound["unit"] or ""), NOTE.sub("", text))
    return " ".join(MARKUP.sub("", text).split())


def miscited(text: str, page: str = "") -> Iterator[Stray]:
    """Yield the citations of a page, a path below docs/, that are not for what they should be."""
    found = list(citations(text))
    for citation in found:
        if citation.sources and citation.work not in citation.sources:
            says = f"stands behind a fact that is from {' and '.join(citation.sources)}"
            yield Stray(citation.start, citation.end, says)
        if page and not any(words in citation.words for words in _listed(citation, page)):
            line = f"{citation.work}: {page}#{citation.section}: [{citation.proposed}]"
            advice = f"is not known to be for these words: read it, and put into cited.yml {line}"
            yield Stray(citation.start, citation.end, advice)
    yield from _left_over(found, page)


def _listed(citation: Citation, page: str) -> list[str]:
    """Return the words behind which a work may be cited in the section of a citation."""
    return cited().get(citation.work, {}).get(f"{page}#{citation.section}", [])


def _left_over(found: list[Citation], page: str) -> Iterator[Stray]:
    """Yield the words of the file behind which the page does not cite that work."""
    for work, places in cited().items():
        for place, listed in places.items():
            where, _, section = place.partition("#")
            if where != page:
                continue
            behind = [c.words for c in found if (c.work, c.section) == (work, section)]
            for words in listed:
                if not any(words in sentence for sentence in behind):
                    yield Stray(0, 0, f"cited.yml has {work} in {section} for {words!r}")
