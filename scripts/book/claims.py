"""The claims of the sources, from `docs/data/claims/`, and links to them from the pages.

Each entry names the place in the book that discusses its claim. There a small mark for each claim
links to its entry in the ledger, trust/claims.md. The marks are at the end of a sentence: of
the place's own paragraph or caption, or of the quotation in the correction that follows it. A
paragraph that introduces a formula, a list or a listing passes them on. Each section also ends with
a fold that lists its claims, for windows too narrow for the marks. A page is identified by the id
of its title, which is unique.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from os.path import relpath
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

from markdown import Markdown
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor
from markdown.util import STX

from scripts import DATA
from scripts.book import pages
from scripts.book.data import load

LEDGER = "trust/claims.md"
HEADINGS = {"h1", "h2", "h3", "h4"}
VERDICTS = {
    "true": "true",
    "true-if": "true if",
    "imprecise": "imprecise",
    "false": "false",
    "not-checkable": "not checkable",
}


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
    proofs: list[str] = field(default_factory=list)
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
    return [Claim(id=name, **entry) for name, entry in load(path, "claims").items()]


def claims_on_page(page: str) -> dict[str, list[Claim]]:
    """Return the claims discussed on a page, by anchor."""
    found: dict[str, list[Claim]] = {}
    for claim in claims():
        if claim.page == page:
            found.setdefault(claim.anchor, []).append(claim)
    return found


class _Claims(Treeprocessor):
    def run(self, root: Element) -> None:
        if root.find("h1") is None:
            return
        places = claims_on_page(pages.page_of(root.find("h1")))
        parents = {child: parent for parent in root.iter() for child in parent}
        marked: dict[Element, list[Claim]] = {}
        for element in [e for e in root.iter() if e.get("id") in places]:
            end = next(_ends(element, root, parents, set(places)))
            marked[end] = marked.get(end, []) + places[element.get("id", "")]
        for end, found in marked.items():
            end.append(_marks(found))
        _add_folds(root, marked)


def _ends(
    element: Element, root: Element, parents: dict[Element, Element], places: set[str]
) -> Iterator[Element]:
    """Yield the elements at whose end the marks of a place can be, the best one first."""
    blocks = list(parents[element])
    following = blocks[blocks.index(element) + 1 :]
    own = [] if element.tag in HEADINGS else [element]
    for others in (places, set[str]()):  # up to the next place, or else up to the next heading
        stretch = list(_stretch(following, others))
        if parents[element] is root:
            yield from (part for block in stretch for part in block if _is_quotation(block, part))
        for block, after in pairwise([*own, *stretch, None]):
            yield from _sentences(block, after) if block is not None else ()
    yield from (block for block in [*own, *stretch] if block.tag == "p" and not _is_raw(block))
    yield element


def _is_quotation(block: Element, part: Element) -> bool:
    """Return whether a part of a block is the quotation of a correction."""
    return "correction" in _classes(block) and "wrong" in _classes(part)


def _sentences(block: Element, after: Element | None) -> Iterator[Element]:
    """Yield the last paragraph, item or caption of a block, unless it introduces what follows."""
    if block.tag == "p":
        if not _is_raw(block) and not _introduces(block, after):
            yield block
    elif block.tag in {"ul", "ol", "figure"} or "question" in _classes(block):
        inner = [part for part in block.iter() if part.tag in {"p", "li", "figcaption"}]
        yield from [part for part in inner if "names" not in _classes(part)][-1:]


def _is_raw(paragraph: Element) -> bool:
    """Return whether a paragraph only holds the place of raw HTML, such as a listing."""
    return (paragraph.text or "").startswith(STX)


def _introduces(paragraph: Element, after: Element | None) -> bool:
    """Return whether a paragraph's last sentence goes on in the block that follows."""
    words = "".join(paragraph.itertext()).rstrip()
    formula = after is not None and "arithmatex" in _classes(after)
    return words.endswith((":", ",", ";")) or (formula and not words.endswith((".", "?")))


def _classes(element: Element) -> list[str]:
    return (element.get("class") or "").split()


def _stretch(blocks: list[Element], places: set[str]) -> Iterator[Element]:
    """Yield the blocks up to the next heading, or the next place that discusses a claim."""
    for block in blocks:
        if block.tag in HEADINGS or any(inner.get("id") in places for inner in block.iter()):
            return
        yield block


def _marks(found: list[Claim]) -> Element:
    """Return a mark for each claim of a place, which shows its verdict on hover and focus."""
    marks = Element("span", {"class": "ledger"})
    for claim in found:
        name = f"Ledger, claim {claim.id}: {VERDICTS[claim.verdict]}"
        link = SubElement(marks, "a", {"href": _address(claim), "aria-label": name})
        SubElement(link, "small").text = f"Ledger {claim.id}: {VERDICTS[claim.verdict]}"
    return marks


def _add_folds(root: Element, marked: dict[Element, list[Claim]]) -> None:
    """Add to the end of each section of a page the fold that lists its claims."""
    found: list[Claim] = []
    for block in [*root, Element("h2")]:
        if found and (block.tag == "h2" or "footnote" in _classes(block)):
            here = list(root).index(block) if block in root else len(root)
            root.insert(here, _fold(found))
            found = []
        found = found + [claim for inner in block.iter() for claim in marked.get(inner, [])]


def _fold(found: list[Claim]) -> Element:
    """Return a fold with links to claims and their verdicts."""
    fold = Element("details", {"class": "ledger"})
    claims = f"{len(found)} claim{'s' if len(found) > 1 else ''}"
    SubElement(fold, "summary").text = f"From the ledger: {claims}"
    listed = SubElement(fold, "ul")
    for claim in found:
        link = SubElement(SubElement(listed, "li"), "a", {"href": _address(claim)})
        link.text = claim.id
        link.tail = f" {VERDICTS[claim.verdict]}"
    fold.tail = "\n"
    return fold


def _address(claim: Claim) -> str:
    """Return the address of a claim's entry, from the page that discusses it."""
    return f"{relpath(LEDGER, Path(claim.page).parent)}#{claim.id.lower()}"


class ClaimsExtension(Extension):
    """Links each place that discusses a claim to the ledger."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Run after headings get their ids and before links are resolved."""
        md.treeprocessors.register(_Claims(md), "book-claims", 4)


makeExtension = ClaimsExtension  # the name that Python-Markdown looks for
