"""The book's terms, from `docs/data/glossary.yml`, marked where a page first uses them.

A marked term is a link to its entry in reference/glossary.md, and has the entry's two
sentences in `aria-description`, which a style sheet shows on hover and focus. Nothing else on the
page changes: no text is added, so copies of the page and what the search shows of it stay as they
are.

Only prose is marked: no headings, links, code, formulas, tables, captions, quotations or folds. A
term that a page emphasises or links as a whole before any other use is explained there, so it is
not marked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from os.path import relpath
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.extensions import Extension
from markdown.extensions.toc import slugify
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString

from scripts import DATA
from scripts.book import pages
from scripts.book.data import load

FILE = DATA / "glossary.yml"
PAGE = "reference/glossary.md"
UNMARKED = (PAGE, "trust/claims.md", "trust/sources.md", "chapters/formula-sheet.md")

PROSE = {"p", "li", "dd"}
EXPLAINS = {"em", "strong", "a"}
SKIPPED = {
    *("h1", "h2", "h3", "h4", "h5", "h6", "em", "strong", "a", "autoref"),
    *("code", "pre", "sup", "table", "figure", "details", "fieldset"),
}
SKIPPED_CLASSES = {
    *("arithmatex", "footnote", "question"),
    *("admonition-title", "checked", "way", "wrong"),
}


@dataclass(frozen=True)
class Term:
    """A term: its forms in the text, two sentences on it, and the place that explains it.

    `unless` has phrases in which a form means something else, and pages on which it always does;
    `also` has what others call it.
    """

    name: str
    words: tuple[str, ...]
    says: str
    at: str
    unless: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    @property
    def anchor(self) -> str:
        """Return the address of its entry on the page of terms."""
        return slugify(self.name, "-")


def terms(path: Path = FILE) -> tuple[Term, ...]:
    """Return all terms, sorted by name."""
    return _read(path, path.stat().st_mtime_ns)


@cache
def _read(path: Path, changed: int) -> tuple[Term, ...]:
    return tuple(_term(name, entry) for name, entry in load(path, "glossary").items())


def _term(name: str, entry: dict[str, Any]) -> Term:
    words, unless, also = (tuple(entry.get(key, ())) for key in ("words", "not", "also"))
    return Term(name, words, entry["says"].replace("'", "’"), entry["at"], unless, also)


def by_form(found: Iterable[Term]) -> dict[str, Term | None]:
    """Return terms by their forms, with and without a capital; None for phrases that are not."""
    forms = {form: term for term in found for word in term.words for form in _cases(word)}
    others = {form: None for term in found for phrase in term.unless for form in _cases(phrase)}
    return forms | others


def _cases(word: str) -> tuple[str, str]:
    """Return a word as it is, and with a capital."""
    return word, word[0].upper() + word[1:]


@cache
def pattern(forms: frozenset[str]) -> re.Pattern[str]:
    """Return a pattern that finds the forms of terms as whole words, the longest first."""
    longest = "|".join(map(re.escape, sorted(forms, key=len, reverse=True)))
    return re.compile(rf"(?<![\w-])(?:{longest})(?![\w-])".replace(r"\ ", r"\s+"))


class _Glossary(Treeprocessor):
    def run(self, root: Element) -> None:
        page = pages.page_of(root.find("h1"))
        if page and page not in UNMARKED:
            _Marks(page, by_form(terms())).visit(root, in_prose=False)


class _Marks:
    """Marks the terms of one page, in the order of its text."""

    def __init__(self, page: str, found: dict[str, Term | None]) -> None:
        self.address = relpath(PAGE, Path(page).parent)
        self.found = found
        self.pattern = pattern(frozenset(found))
        self.seen = {term.name for term in found.values() if term and page in term.unless}

    def visit(self, element: Element, *, in_prose: bool) -> None:
        """Mark an element's text, and that of the elements in it."""
        if element.tag in EXPLAINS:
            self._note(" ".join("".join(element.itertext()).split()))
        if element.tag in SKIPPED or not SKIPPED_CLASSES.isdisjoint(_classes(element)):
            return
        in_prose = in_prose or element.tag in PROSE
        inside = list(element)
        if in_prose:
            element.text = self._mark(element, 0, element.text)
        for child in inside:
            self.visit(child, in_prose=in_prose)
            if in_prose:
                child.tail = self._mark(element, list(element).index(child) + 1, child.tail)

    def _note(self, words: str) -> None:
        """Count a term as explained if these words are one of its forms."""
        if term := self.found.get(words.rstrip(".:,")):
            self.seen.add(term.name)

    def _mark(self, parent: Element, place: int, text: str | None) -> str | None:
        """Insert a link for each new term in a text, and return what stands before the first."""
        if not text or isinstance(text, AtomicString):
            return text
        new = list(self._first_uses(text))
        ends = [*(match.start() for match, _ in new[1:]), len(text)]
        for n, ((match, term), end) in enumerate(zip(new, ends, strict=False)):
            link = Element("a", self._attributes(term))
            link.text, link.tail = match[0], text[match.end() : end]
            parent.insert(place + n, link)
        return text[: new[0][0].start()] if new else text

    def _first_uses(self, text: str) -> Iterator[tuple[re.Match[str], Term]]:
        """Yield the first use of each term that the page has not used before."""
        for match in self.pattern.finditer(text):
            term = self.found[" ".join(match[0].split())]
            if term is not None and term.name not in self.seen:
                self.seen.add(term.name)
                yield match, term

    def _attributes(self, term: Term) -> dict[str, str]:
        address = f"{self.address}#{term.anchor}"
        return {"class": "term", "href": address, "aria-description": term.says}


def _classes(element: Element) -> list[str]:
    return (element.get("class") or "").split()


class GlossaryExtension(Extension):
    """Marks the first use of each term on a page."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Run after headings get their ids and before links are resolved."""
        md.treeprocessors.register(_Glossary(md), "book-glossary", 3)


makeExtension = GlossaryExtension  # the name that Python-Markdown looks for
