"""Writes what the search reads: `search/index.json`, and beside it the sentences of each page.

A built page is cut into sections, one for each heading, each term of a list of terms and each row
of the map of sources. search_index.mjs makes the index of all of them, by the functions with which
the page reads a query (docs/assets/js/search/). An excerpt is a sentence, so the sentences of a
page are kept, in a file of their own that is fetched once the page is found. Listings, evidence,
footnotes and misprints that a correction quotes are left out.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.pages import Page
from selectolax.lexbor import LexborHTMLParser, LexborNode

from scripts.book.elsewhere import names_by_place
from scripts.book.line_breaks import JOINED
from scripts.book.sourcemap import MAP
from scripts.setup.node import node

SCRIPT = Path(__file__).with_suffix(".mjs")
FOLDER = "search"
INDEX = "index.json"
HOME = "home"  # the name of the file for the sentences of the home page

LEFT_OUT = ", ".join(
    (
        *("pre", "script", "style", "svg", "button", "sup", ".katex-mathml", ".headerlink"),
        *(".checked", ".ledger", ".wrong", ".footnote", ".filename", ".source-map"),
        *(".mkdocstrings-source", ".doc-labels", ".tabs"),
    )
)
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
PROSE = ("p", "li", "dt", "dd", "figcaption", "summary", "legend", "label")
CELLS = ("td", "th")
BLOCKS = ", ".join((*PROSE, *HEADINGS, "table"))
# The end of a sentence: not after an abbreviation or an initial, and before a capital or a digit.
END = re.compile(r"(?<=[.?!])(?<!\bal\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\b[A-Z]\.)[”’)]*\s+(?=[“‘(]*[A-Z0-9])")
ROW = re.compile(r"<td>(S\d-\d\d)</td>")
ADDRESS = re.compile(r"<loc>(.*?)</loc>")


@dataclass
class Section:
    """A part of a page under one heading."""

    anchor: str
    heading: str
    sentences: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)  # of tables, which are found and never shown
    names: list[str] = field(default_factory=list)  # of what the section explains, as others say


def on_page_content(html: str, *, page: Page, **about: object) -> str:
    """Return a page in which each row of the map of sources has an anchor."""
    return with_row_anchors(html) if page.file.src_uri == MAP else html


@event_priority(-50)
def on_post_build(*, config: MkDocsConfig) -> None:
    """Write the index of a site whose pages have been built, now or before."""
    write(Path(config.site_dir))


def write(site: Path) -> None:
    """Write the index of a built site, and the sentences of each page."""
    pages = [page_in(site, path) for path in paths(site)]
    folder = site / FOLDER
    folder.mkdir(exist_ok=True)
    (folder / INDEX).write_text(packed(json.dumps(pages)), "utf-8")
    for page in pages:
        file = folder / f"{page['path'].strip('/') or HOME}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        shown = {part["anchor"]: part["sentences"] for part in page["sections"]}
        file.write_text(json.dumps(shown, ensure_ascii=False), "utf-8")


def paths(site: Path) -> list[str]:
    """Return the paths of the pages of a site, as its sitemap lists them."""
    addresses = ADDRESS.findall((site / "sitemap.xml").read_text("utf-8"))
    home = min(addresses, key=len)
    return [address.removeprefix(home) for address in addresses]


def packed(pages: str) -> str:
    """Return the index of pages that are given as JSON."""
    command = node("--no-warnings", str(SCRIPT))
    done = subprocess.run(command, input=pages, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise SystemExit(f"The index of the search cannot be made:\n{done.stderr}")
    return done.stdout


def page_in(site: Path, path: str) -> dict[str, object]:
    """Return the path, title and sections of a page of a site."""
    return page(path, (site / path / "index.html").read_text("utf-8"))


def page(path: str, html: str) -> dict[str, object]:
    """Return the path, title and sections of a page. Its first section begins with its description.

    Examples:
        >>> found = page("a/", "<title>A</title><article><p>One. Two.<h2 id=b>B</h2>3</article>")
        >>> found["title"], [part["heading"] for part in found["sections"]]
        ('A', ['A', 'B'])
    """
    tree = LexborHTMLParser(html)
    article = tree.css_first("article")
    for element in article.css(LEFT_OUT):
        element.decompose()
    heading = article.css_first("h1") or tree.css_first("title")
    found = [Section("", text(heading))]
    description = tree.css_first("meta[name=description]")
    if description is not None:
        found[0].sentences.append(description.attrs.sget("content"))
    _read(article, found)
    names = names_by_place()
    for section in found:
        section.names = names.get(f"{path}#{section.anchor}" if section.anchor else path, [])
        section.sentences = [*dict.fromkeys(section.sentences)]
    return {"path": path, "title": found[0].heading, "sections": [asdict(one) for one in found]}


def _read(part: LexborNode, found: list[Section]) -> None:
    """Add the text of a part of a page to the last of the sections, and a section for each heading."""
    for child in part.iter():
        tag, anchor = child.tag or "", child.attributes.get("id") or ""
        if tag == "h1":
            continue
        if tag in HEADINGS or (tag in ("dt", "td") and anchor):
            found.append(Section(anchor, text(child)))
        elif tag in CELLS:
            found[-1].cells.append(text(child))
        elif tag in PROSE and not _has_blocks(child):
            read = [*sentences(text(child))]
            # Of the line that says for whom a page is, how long it takes and what it needs, the first.
            is_for = "chapter-terms" in (child.attributes.get("class") or "")
            found[-1].sentences += read[:1] if is_for else read
        else:
            _read(child, found)


def _has_blocks(element: LexborNode) -> bool:
    """Return whether an element has paragraphs, lists or tables inside."""
    return any(inner.mem_id != element.mem_id for inner in element.css(BLOCKS))


def text(element: LexborNode) -> str:
    """Return the text of an element on one line, as it is typed."""
    return " ".join(element.text().replace(JOINED, "").replace("\u00a0", " ").split())


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


def with_row_anchors(html: str) -> str:
    """Return the map of sources with an anchor on each row.

    Examples:
        >>> with_row_anchors('<td>S3-12</td>')
        '<td id="s3-12">S3-12</td>'
    """
    return ROW.sub(lambda row: f'<td id="{row[1].lower()}">{row[1]}</td>', html)
