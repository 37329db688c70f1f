"""Compares each citation of a page with `docs/data/cited.yml`.

For every work the file lists the sections that cite it, and the words before each citation:

    devlin2019:
      chapters/by-hand/alternatives.md#learned: [BERT has 512 such rows]

A citation whose words the file does not list is reported, and so are listed words that no citation
of that work follows. This detects a citation that was exchanged for another. If a sentence prints a
fact from `facts.yml`, the citation next to it must be the fact's source.
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

# The words that a citation is for end here: at a new paragraph, list item, table row or sentence.
BREAK = re.compile(r"\n[ ]*(?=\n|[-*+>|][ ]|\d+\.[ ])|(?:(?<=[.?!:])|(?<=[.?!]\*))\s+(?=[^a-z\s])")
FACT = re.compile(r"""\bfact\(["']([\w-]+)["']\)""")
MARKUP = re.compile(
    r"\]\([^)]*\)|\]\[[^\]]*\]|\{[.#:][^}]*\}|<[^<>]*>|^\s*(?:[-*+>]|\d+\.)\s|[*`\[\]$]", re.M
)
ADVISED = 8  # words of the line that a message proposes


@dataclass(frozen=True)
class Citation:
    """A citation: its position, its work and section, and the words before it in its sentence."""

    start: int
    end: int
    work: str
    section: str
    words: str
    sources: tuple[str, ...]  # works of the facts that the sentence prints before it

    @property
    def proposed(self) -> str:
        """Return the last words before it, within one table cell, to propose for the file."""
        words = self.words.rpartition(" | ")[2].strip(".,;:| ")
        return " ".join(words.split()[-ADVISED:])


@cache
def cited() -> dict[str, dict[str, list[str]]]:
    """Return the words before which every work is cited, by work and section."""
    data: dict[str, dict[str, list[str]]] = load(DATA / "cited.yml")
    for work, places in data.items():
        if work not in references():
            raise KeyError(f"cited.yml: docs/data/references.yml has no {work!r}")
        for place, words in places.items():
            if not isinstance(words, list) or not all(isinstance(w, str) and w for w in words):
                raise TypeError(f"cited.yml: {work}, {place} needs a list of words, has {words!r}")
    return data


def citations(text: str) -> Iterator[Citation]:
    """Yield the citations of a page, in order; adjacent ones are for the same words."""
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
        if text[last : note.start()].strip():  # not right after another one
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
    """Return the works of the facts in expressions, without one cited earlier in the sentence.

    A fact may also come from one of the texts that this book reworks, which are not cited.
    """
    named = (facts()[name]["source"] for name in FACT.findall(expressions) if name in facts())
    return tuple(
        dict.fromkeys(source for source in named if source in references() and source != already)
    )


def _without_bindings(text: str) -> str:
    """Return a text of the same length in which no expression ends a sentence."""
    return BINDING.sub(lambda bound: "0" * len(bound[0]), text)


def plain(text: str) -> str:
    """Return text without markup, with each bound number as printed."""
    text = BINDING.sub(lambda bound: bound["printed"] + (bound["unit"] or ""), NOTE.sub("", text))
    return " ".join(MARKUP.sub("", text).split())


def miscited(text: str, page: str = "") -> Iterator[Stray]:
    """Yield the wrong citations of a page, a path relative to docs/, and the missing ones."""
    found = list(citations(text))
    for citation in found:
        if citation.sources and citation.work not in citation.sources:
            advice = f"follows a fact from {' and '.join(citation.sources)}: cite that instead"
            yield Stray(citation.start, citation.end, advice)
        if page and not any(words in citation.words for words in _listed_phrases(citation, page)):
            line = f"{citation.work}: {page}#{citation.section}: [{citation.proposed}]"
            advice = f"is not listed for these words: read the work, then add to cited.yml: {line}"
            yield Stray(citation.start, citation.end, advice)
    yield from _uncited_phrases(found, page)


def _listed_phrases(citation: Citation, page: str) -> list[str]:
    """Return the words listed for the work of a citation in its section."""
    return cited().get(citation.work, {}).get(f"{page}#{citation.section}", [])


def _uncited_phrases(found: list[Citation], page: str) -> Iterator[Stray]:
    """Yield the words listed in the file that no citation of their work follows."""
    for work, places in cited().items():
        for place, listed in places.items():
            where, _, section = place.partition("#")
            if where != page:
                continue
            behind = [c.words for c in found if (c.work, c.section) == (work, section)]
            for words in listed:
                if not any(words in sentence for sentence in behind):
                    advice = f"cited.yml lists {work} in {section} for {words!r}: cite or remove it"
                    yield Stray(0, 0, advice)
