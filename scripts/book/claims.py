"""The claims of the sources, from `docs/data/claims/`, and the folds that show them on the pages.

Each entry names the place in the book that discusses its claim. There a fold says what the source
claims, the verdict and what proves it, and links to the entry in the ledger, trust/claims.md. The
fold follows a sentence: the end of the place's own paragraph or caption. If a correction follows
that quotes the claim, the fold ends the correction. A paragraph that introduces a formula, a list
or a listing passes its folds on. A page is identified by the id of its title, which is unique.
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
from markdown.util import STX, AtomicString

from scripts import DATA
from scripts.book import pages
from scripts.book.data import load
from scripts.book.evidence import allow_breaks
from scripts.book.formal import PAGE as FORMAL
from scripts.book.formal import PROVED_BY

LEDGER = "trust/claims.md"
SHOWN = 2  # verdicts in the summary of a fold; more claims are counted
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
        discussed: dict[Element, list[Claim]] = {}
        for element in [e for e in root.iter() if e.get("id") in places]:
            end = next(_ends(element, root, parents, set(places)))
            discussed[end] = discussed.get(end, []) + places[element.get("id", "")]
        for end, found in discussed.items():
            fold = _fold(found)
            self.md.treeprocessors["inline"].run(fold)  # the quotations have formulas
            for name in fold.iter("code"):
                allow_breaks(name)
            _insert(fold, end, parents[end])


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


def _insert(fold: Element, end: Element, parent: Element) -> None:
    """Put a fold after its sentence: in its list item, else below its paragraph or correction."""
    if end.tag == "li":
        end.append(fold)
    elif "wrong" in _classes(end):
        parent.append(fold)
    else:
        parent.insert([*parent].index(end) + 1, fold)


def _fold(found: list[Claim]) -> Element:
    """Return a fold with the claims of a place, whose summary has their verdicts."""
    fold = Element("details", {"class": "checked ledger"})
    verdicts = [f"{claim.id} {VERDICTS[claim.verdict]}" for claim in found]
    told = ", ".join(verdicts) if len(found) <= SHOWN else f"{len(found)} claims"
    SubElement(fold, "summary").text = AtomicString(f"From the ledger: {told}")
    fold.extend(map(_entry, found))
    fold.tail = "\n"
    return fold


def _entry(claim: Claim) -> Element:
    """Return what a fold says of a claim: its verdict, its words, the tests and the theorems."""
    entry = Element("p", {"class": "names", "id": f"ledger-{claim.id.lower()}"})
    link = SubElement(entry, "a", {"href": _address(claim, LEDGER, claim.id.lower())})
    link.text, link.tail = AtomicString(claim.id), " "
    verdict = SubElement(entry, "span", {"class": f"verdict {claim.verdict}"})
    verdict.text, verdict.tail = VERDICTS[claim.verdict], f": “{claim.quote}”"
    _add_names(entry, "Checked by", [(test, "") for test in claim.tests])
    proofs = [(name, _address(claim, FORMAL, name)) for name in claim.proofs]
    _add_names(entry, PROVED_BY, proofs)
    return entry


def _add_names(entry: Element, label: str, names: list[tuple[str, str]]) -> None:
    """Add a line with names, each a link if it has an address."""
    for number, (name, address) in enumerate(names):
        if number == 0:
            SubElement(entry, "br").tail = f"{label} "
        parent = SubElement(entry, "a", {"href": address}) if address else entry
        code = SubElement(parent, "code")
        code.text = AtomicString(name)
        last = parent if address else code
        last.tail = ", " if number < len(names) - 1 else None


def _address(claim: Claim, page: str, anchor: str) -> str:
    """Return the address of a place on another page, from the page that discusses a claim."""
    return f"{relpath(page, Path(claim.page).parent)}#{anchor}"


class ClaimsExtension(Extension):
    """Folds at each place that discusses a claim."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Run after headings get their ids and before links are resolved."""
        md.treeprocessors.register(_Claims(md), "book-claims", 4)


makeExtension = ClaimsExtension  # the name that Python-Markdown looks for
