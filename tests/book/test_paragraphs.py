"""Each concept has one home: no two pages share a paragraph, or nearly."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import combinations

from scripts.book import pages
from scripts.book.citations import WHOLE
from scripts.book.numbers import BINDING
from scripts.book.text import spans, without_front_matter

LEAST = 12  # words; shorter paragraphs may repeat
SHINGLE = 4  # words in a row
NEAR = 0.25  # of the shingles of both paragraphs together, or twice as much of the shorter one's
FORM = "What catches it"  # plates of the museum say this in the same words
CODE = re.compile(r"^(?: *(?:\||>>>|<!--|///|--src--|#+ |\{ |!!!|\?\?\?))", re.M)
# Not prose: alt texts, formulas, addresses, citations, attributes, tags.
NO_PROSE = re.compile(
    r"!\[[^\]]*\]|\$\$.*?\$\$|\$[^$]*\$|\]\([^)]*\)|\[\^\w+\]|\{ ?[.#:][^}]*\}|<[^<>]*>"
)

Shingles = frozenset[tuple[str, ...]]


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a page, without listings, tables, captions' frames and headings."""
    text = without_front_matter(text)
    for span in reversed(list(spans(text))):
        if span.kind in {"fence", "comment"}:
            text = f"{text[: span.start]}\n\n{text[span.end :]}"
    blocks = re.split(r"\n\s*\n|\n(?=[ ]*(?:[-*]|\d+\.) )", text)
    return [" ".join(block.split()) for block in blocks if not CODE.match(block)]


def shingles(paragraph: str) -> Shingles:
    """Return all runs of words in a paragraph; a bound number is a word."""
    bare = NO_PROSE.sub(" ", BINDING.sub(lambda bound: bound["printed"], paragraph))
    words = re.findall(r"\w+", bare.lower())
    if len(words) < LEAST or WHOLE.search(paragraph) or paragraph.startswith(FORM):
        return frozenset()
    return frozenset(tuple(words[n : n + SHINGLE]) for n in range(len(words) - SHINGLE + 1))


def are_near_copies(one: Shingles, other: Shingles) -> bool:
    """Return whether two paragraphs share enough runs of words to count as copies."""
    both = len(one & other)
    return both > NEAR * len(one | other) or both > 2 * NEAR * min(len(one), len(other))


def shared_paragraphs(book: dict[str, str]) -> list[tuple[str, str, str]]:
    """Return the paragraphs that two pages share, with the pages' names.

    Two are compared only where they have a shingle in common.
    """
    found: dict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
    texts = {
        name: [(paragraph, runs) for paragraph in paragraphs(text) if (runs := shingles(paragraph))]
        for name, text in book.items()
    }
    for name, known in texts.items():
        for n, (_, runs) in enumerate(known):
            for run in runs:
                found[run].append((name, n))
    pairs = {pair for places in found.values() for pair in combinations(places, 2)}
    return [
        (a, b, texts[a][n][0])
        for (a, n), (b, m) in sorted(pairs)
        if a != b and are_near_copies(texts[a][n][1], texts[b][m][1])
    ]


def written_pages() -> dict[str, str]:
    """Return the pages that are written by hand, by their names."""
    return {page: pages.text(page) for page in pages.written_pages()}


def test_no_two_pages_share_a_paragraph() -> None:
    assert shared_paragraphs(written_pages()) == []


def test_copied_and_nearly_copied_paragraphs_are_found() -> None:
    book = written_pages()
    planted = next(p for p in paragraphs(book["chapters/by-hand/clocks.md"]) if "minute hand" in p)
    nearly = planted.replace("moves visibly", "is seen to move").replace("Think", "You may think")
    for copy in (planted, nearly):
        broken = {**book, "chapters/prove-it/index.md": f"# Prove it\n\n{copy}\n"}
        found = shared_paragraphs(broken)
        assert ("chapters/by-hand/clocks.md", "chapters/prove-it/index.md", planted) in found


def test_common_terms_and_short_paragraphs_are_not_copies() -> None:
    one = "The shortest wavelength is six positions at every width, and the longest grows with it."
    other = "Of all wavelengths the longest belongs to the last pair, which hardly turns."
    assert shared_paragraphs({"a.md": one, "b.md": other}) == []
    assert (
        shared_paragraphs({"a.md": "Attention reads a bag.", "b.md": "Attention reads a bag."})
        == []
    )
