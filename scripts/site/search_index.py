"""Writes what the search reads: `search/index.json`, and beside it the sentences of each page.

A built page is cut into sections, one for each heading, each term of a list of terms and each row
of the map of sources. search_index.mjs makes the index of all of them, by the functions with which
a page reads a query (docs/assets/js/search/). Excerpts are sentences, which lie in files of their
own: the page fetches those of the sections that it shows. Listings, evidence, footnotes and
misprints that a correction quotes are left out.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.pages import Page
from selectolax.lexbor import LexborHTMLParser, LexborNode

from scripts.book.elsewhere import names_by_place
from scripts.book.line_breaks import JOINED
from scripts.book.sourcemap_page import MAP
from scripts.setup.node import node
from scripts.site.html_tree import article, remove

SCRIPT = Path(__file__).with_suffix(".mjs")
FOLDER = "search"
INDEX = "index.json"
HOME = "home"  # the name of the folder for the sentences of the home page
PART = 8_000  # about how many characters of sentences a file has, of which a reader may need one

LEFT_OUT = ", ".join(
    (
        *("pre", "script", "style", "svg", "button", "sup", ".katex-html", ".headerlink"),
        *(".checked", ".wrong", ".footnote", ".filename", ".source-map td:not([id])"),
        ".places",  # links to what has moved, each to a section that is found itself
        *(".mkdocstrings-source", ".doc-labels"),
        ".models td:nth-child(n + 4):nth-child(-n + 9)",  # their numbers
    )
)
FORMULA = "\u200b"  # begins every formula: excerpt.js asks the browser for no text that has one
RELATIONS = frozenset("=≠≈≡<>≤≥∈→")
ALONE = re.compile(r"\d+|.")  # what needs no brackets in a power, a root or a fraction
TEST = "test_"  # how a cell with evidence begins
ANSWERS = "vectors/libraries/"  # pages whose tables, of what libraries answered, are left out
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
PROSE = ("p", "li", "dt", "dd", "figcaption", "summary", "legend", "label")
CELLS = ("td", "th")
BLOCKS = ", ".join((*PROSE, *HEADINGS, "table"))
# A sentence ends before a capital or a digit, and not after an abbreviation or an initial.
SHORT = "".join(rf"(?<!\b{short}\.)" for short in ("al", r"e\.g", r"i\.e", "cf", "[A-Z]"))
END = re.compile(rf"(?<=[.?!]){SHORT}[”’)]*\s+(?=[“‘(]*[A-Z0-9])")
ROW = re.compile(r"<td>(S\d-\d\d)</td>")
ADDRESS = re.compile(r"<loc>(.*?)</loc>")


@dataclass
class Section:
    """A part of a page under one heading."""

    anchor: str
    heading: str
    sentences: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)  # of tables, which are found and never shown
    names: list[str] = field(default_factory=list)  # what others call what the section explains


@dataclass
class SearchedPage:
    """A page: its path in the site, its title and its sections.

    `parts` has the numbers of the sections that begin a file of sentences.
    """

    path: str
    title: str
    sections: list[Section]
    parts: list[int]


def on_page_content(html: str, *, page: Page, **about: object) -> str:
    """Return a page in which each row of the map of sources has an anchor."""
    return with_row_anchors(html) if page.file.src_uri == MAP else html


@event_priority(-50)
def on_post_build(*, config: MkDocsConfig) -> None:
    """Write the index of all pages of a site, those of this build and of builds before."""
    write(Path(config.site_dir))


def write(site: Path) -> None:
    """Write the index of a built site, and the sentences of its pages."""
    names = names_by_place()
    pages = [
        searched_page(path, (site / path / "index.html").read_text("utf-8"), names)
        for path in paths(site)
    ]
    folder = site / FOLDER
    for page in pages:
        place = folder / (page.path.strip("/") or HOME)
        place.mkdir(parents=True, exist_ok=True)
        for number, (begin, end) in enumerate(pairwise([*page.parts, len(page.sections)])):
            shown = {part.anchor: part.sentences for part in page.sections[begin:end]}
            file = place / f"{number}.json"
            file.write_text(json.dumps(shown, ensure_ascii=False), "utf-8")
    (folder / INDEX).write_text(packed(pages), "utf-8")


def paths(site: Path) -> list[str]:
    """Return the paths of the pages of a site, which its sitemap lists."""
    addresses = ADDRESS.findall((site / "sitemap.xml").read_text("utf-8"))
    home = min(addresses, key=len)
    return [address.removeprefix(home) for address in addresses]


def packed(pages: Iterable[SearchedPage]) -> str:
    """Return the index of some pages."""
    command = node("--no-warnings", str(SCRIPT))
    text = json.dumps([asdict(page) for page in pages])
    done = subprocess.run(command, input=text, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise SystemExit(f"The index of the search cannot be made:\n{done.stderr}")
    return done.stdout


def searched_page(path: str, html: str, names: Mapping[str, list[str]]) -> SearchedPage:
    """Return what the search knows of a page. The first section begins with its description.

    Args:
        path: The path of the page in the site.
        html: The built page.
        names: What others call what a place explains, by its address in the site.

    Examples:
        >>> page = "<title>A</title><article><h1>A</h1><p>One. Two.<h2 id=b>B</h2></article>"
        >>> searched_page("a/", page, {"a/#b": ["beta"]}).sections[1]
        Section(anchor='b', heading='B', sentences=[], cells=[], names=['beta'])
    """
    tree, body = LexborHTMLParser(html), article(html)
    remove(body, LEFT_OUT)
    for formula in body.css("math"):
        formula.replace_with(FORMULA + typed(formula))
    for line_break in body.css("br"):
        line_break.replace_with(" ")
    title = body.css_first("h1") or tree.css_first("title")
    found = [Section("", text(title) if title else path)]
    if description := tree.css_first("meta[name=description]"):
        found[0].sentences.append(description.attrs.sget("content"))
    _read(body, found)
    for section in found:
        section.names = names.get(f"{path}#{section.anchor}" if section.anchor else path, [])
        section.sentences = [*dict.fromkeys(section.sentences)]
        section.cells = [] if path.startswith(ANSWERS) else section.cells
    return SearchedPage(path, found[0].heading, found, parts(found))


def _read(part: LexborNode, found: list[Section]) -> None:
    """Add the text of a part of a page to the last section, and a section for each heading."""
    for child in part.iter():
        tag, anchor = child.tag or "", child.attributes.get("id") or ""
        if tag == "h1":
            continue
        if tag in HEADINGS or (tag in ("dt", "td") and anchor):
            found.append(Section(anchor, text(child)))
        elif tag in CELLS:
            found[-1].cells += [cell for cell in [text(child)] if not cell.startswith(TEST)]
        elif "chapter-terms" in (child.attributes.get("class") or ""):
            # For whom the page is; what follows is how long it takes and what it needs.
            found[-1].sentences += [*sentences(text(child))][:1]
        elif tag in PROSE and not _has_blocks(child):
            found[-1].sentences += sentences(text(child))
        else:
            _read(child, found)


def _has_blocks(element: LexborNode) -> bool:
    """Return whether an element has paragraphs, lists or tables inside."""
    return any(inner.mem_id != element.mem_id for inner in element.css(BLOCKS))


def text(element: LexborNode) -> str:
    """Return the text of an element on one line, as it is typed."""
    return " ".join(element.text().replace(JOINED, "").replace("\u00a0", " ").split())


def typed(math: LexborNode) -> str:
    """Return a formula on one line, as it is typed.

    Examples:
        >>> power = "<msup><mn>10000</mn><mrow><mn>2</mn><mi>i</mi></mrow></msup>"
        >>> formula = f"<math><mi>r</mi><mo>=</mo><mfrac><mi>p</mi>{power}</mfrac></math>"
        >>> typed(LexborHTMLParser(formula).css_first("math"))
        'r = p/(10000^(2i))'
    """
    parts = [typed(part) for part in math.iter() if part.tag != "annotation"]
    match math.tag, parts:
        case "msub" | "munder", [base, below]:
            return f"{base}_{below if below.isalnum() else f'({below})'}"
        case "msup", [base, above]:
            return f"{base}^{_in_brackets(above)}"
        case "msubsup" | "munderover", [base, below, above]:
            return f"{base}_{_in_brackets(below)}^{_in_brackets(above)}"
        case "mfrac", [above, below]:
            return f"{_in_brackets(above)}/{_in_brackets(below)}"
        case "msqrt", _:
            return f"√{_in_brackets(''.join(parts))}"
        case "mspace", _:
            return " "
        case "mo", _ if (sign := math.text()) in RELATIONS:
            return f" {sign} "
        case "mtr", _:
            return f" {''.join(parts)}"
    return "".join(parts) or math.text().replace("\u2061", " ")  # a function is applied


def _in_brackets(formula: str) -> str:
    """Return a part of a formula in brackets, unless it is a single number or sign."""
    return formula if ALONE.fullmatch(formula) else f"({formula})"


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a paragraph.

    Examples:
        >>> list(sentences("Su et al. rotate pairs. Base 10.5 is odd. (It is.)"))
        ['Su et al. rotate pairs.', 'Base 10.5 is odd.', '(It is.)']
    """
    begin = 0
    for end in END.finditer(text):
        yield text[begin : end.end()].strip()
        begin = end.end()
    if text[begin:]:
        yield text[begin:]


def parts(sections: Iterable[Section]) -> list[int]:
    """Return which sections begin a file of sentences: those that would make one too long.

    Examples:
        >>> parts([Section("", "A", ["x" * 6000]), Section("b", "B", ["x" * 6000])])
        [0, 1]
    """
    begins, size = [0], 0
    for number, section in enumerate(sections):
        own = sum(map(len, section.sentences))
        if size and size + own > PART:
            begins.append(number)
            size = 0
        size += own
    return begins


def with_row_anchors(html: str) -> str:
    """Return the map of sources with an anchor on each row.

    Examples:
        >>> with_row_anchors('<td>S3-12</td>')
        '<td id="s3-12">S3-12</td>'
    """
    return ROW.sub(lambda row: f'<td id="{row[1].lower()}">{row[1]}</td>', html)
