"""The claims of the sources, from `docs/data/claims/`, and links to them from the pages.

Each entry names the place in the book that discusses its claim. A line is added there with a link
to the entry in the ledger, docs/trust/claims.md. It goes into the correction that follows the
place, or else right after the place; after a paragraph that ends in a colon, it goes behind the
block that the paragraph introduces. A page is identified by the id of its title, which is unique.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import takewhile
from os.path import relpath
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from markdown import Markdown
from markdown.extensions import Extension
from markdown.extensions.toc import slugify
from markdown.treeprocessors import Treeprocessor

from scripts import DATA, DOCS
from scripts.book.data import check_fields, load

LEDGER = "trust/claims.md"
TITLE = re.compile(r"^# (?P<words>[^{\n]+?) *(?:\{[^}\n]*#(?P<id>[\w-]+)[^}\n]*\})? *$", re.M)
HEADINGS = {"h1", "h2", "h3", "h4"}
VERDICTS = {
    "true": "true",
    "true-if": "true if",
    "imprecise": "imprecise",
    "false": "false",
    "not-checkable": "not checkable",
}
FIELDS = ("lines", "quote", "verdict", "evidence", "right", "tests", "at")
LISTS = ("tests", "like")


@dataclass(frozen=True)
class Claim:
    """A claim of a source, with our verdict and evidence."""

    id: str
    lines: str
    quote: str
    verdict: str
    evidence: str
    right: str
    tests: list[str]
    at: str
    settings: str = ""
    like: list[str] = field(default_factory=list)

    @property
    def source(self) -> str:
        """Return the source's name in the book, S0 to S4."""
        return f"S{self.id[1]}"

    @property
    def page(self) -> str:
        """Return the path of the page that discusses it."""
        return self.at.partition("#")[0]

    @property
    def anchor(self) -> str:
        """Return the anchor on that page."""
        return self.at.partition("#")[2]


def claims(folder: Path = DATA / "claims") -> list[Claim]:
    """Return all claims, source by source."""
    files = sorted(folder.glob("*.yml"))
    return [claim for file in files for claim in _claims_in(file, file.stat().st_mtime_ns)]


@cache
def _claims_in(path: Path, changed: int) -> list[Claim]:
    """Return the claims in a file; `changed` makes the cache read it again after a change."""
    return [_claim(f"{path.name}: {name}", name, entry) for name, entry in load(path).items()]


def _claim(where: str, name: str, entry: dict[str, Any]) -> Claim:
    """Return the claim of an entry, after checking its fields."""
    check_fields(where, entry, FIELDS, optional=["settings", "like"])
    for key, value in entry.items():
        kind = list if key in LISTS else str
        if not isinstance(value, kind):
            raise TypeError(f"{where}: {key} must be a {kind.__name__}; got {value!r}")
    if entry["verdict"] not in VERDICTS:
        known = ", ".join(VERDICTS)
        raise ValueError(f"{where}: verdict must be one of {known}; got {entry['verdict']!r}")
    return Claim(id=name, **entry)


def title_id(text: str) -> str:
    """Return the id of a page's title."""
    title = TITLE.search(text)
    return "" if title is None else title["id"] or slugify(title["words"], "-")


@cache
def _title_of(path: Path, changed: int) -> str:
    return title_id(path.read_text("utf-8"))


def claims_on_page(title: str) -> dict[str, list[Claim]]:
    """Return the claims discussed on the page with this title id, by anchor."""
    pages = {claim.page for claim in claims()}
    files = {page: DOCS / page for page in sorted(pages) if (DOCS / page).is_file()}
    mine = {p for p, f in files.items() if _title_of(f, f.stat().st_mtime_ns) == title}
    found: dict[str, list[Claim]] = {}
    for claim in claims():
        if claim.page in mine:
            found.setdefault(claim.anchor, []).append(claim)
    return found


class _Claims(Treeprocessor):
    def run(self, root: Element) -> None:
        title = root.find("h1")
        if title is None:
            return
        places = claims_on_page(title.get("id", ""))
        parents = {child: parent for parent in root.iter() for child in parent}
        for element in [e for e in root.iter() if e.get("id") in places]:
            parent, after = _where(element, root, parents, set(places))
            parent.insert(after, _line(places[element.get("id", "")]))


def _where(
    element: Element, root: Element, parents: dict[Element, Element], places: set[str]
) -> tuple[Element, int]:
    """Return the element that gets the line (a note, a correction or the page) and the index."""
    while parents[element] is not root:
        element = parents[element]
        if "admonition" in _classes(element) or element.tag == "details":
            return element, len(element)
    blocks = list(root)
    start = blocks.index(element) + 1
    stretch = list(_stretch(blocks[start:], places))
    for block in stretch:
        if "correction" in _classes(block):
            return block, len(block)
    if element.tag == "figure":
        return element, len(element)
    if element.tag in HEADINGS:
        return root, start + len(stretch)
    introduced = 1 if stretch and _introduces(element) else 0
    evidence = takewhile(lambda block: "checked" in _classes(block), stretch[introduced:])
    return root, start + introduced + len(list(evidence))


def _introduces(element: Element) -> bool:
    """Return whether a paragraph ends in a colon, so that the next block belongs to it."""
    return element.tag == "p" and "".join(element.itertext()).rstrip().endswith(":")


def _classes(element: Element) -> list[str]:
    return (element.get("class") or "").split()


def _stretch(blocks: list[Element], places: set[str]) -> Iterator[Element]:
    """Yield the blocks up to the next heading, or the next place that discusses a claim."""
    for block in blocks:
        if block.tag in HEADINGS or any(inner.get("id") in places for inner in block.iter()):
            return
        yield block


def _line(found: list[Claim]) -> Element:
    """Return the line with links to the entries for a place."""
    line = Element("p", {"class": "ledger"})
    line.text, line.tail = "In the ledger: ", "\n"
    for n, claim in enumerate(found):
        address = f"{relpath(LEDGER, Path(claim.page).parent)}#{claim.id.lower()}"
        link = SubElement(line, "a", {"href": address})
        link.text = claim.id
        link.tail = ", " if n < len(found) - 1 else ""
    return line


class ClaimsExtension(Extension):
    """Links each place that discusses a claim to the ledger."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Run after headings get their ids and before links are resolved."""
        md.treeprocessors.register(_Claims(md), "book-claims", 4)


makeExtension = ClaimsExtension  # the name that Python-Markdown looks for
