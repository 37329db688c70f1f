"""A built page as a tree: parts of it are cut out and put into the pages for teachers."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, TreeBuilder

VOID = {"br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}


class _Builder(HTMLParser):
    """Builds the tree; an element that is not closed ends with its parent."""

    def __init__(self) -> None:
        super().__init__()
        self.tree = TreeBuilder()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin an element."""
        self.tree.start(tag, {name: value or "" for name, value in attrs})
        if tag in VOID:
            self.tree.end(tag)
        else:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """End an element, and those inside that are still open."""
        while tag in self.open:
            self.tree.end(self.open[-1])
            if self.open.pop() == tag:
                break

    def handle_data(self, data: str) -> None:
        """Add text."""
        if self.open:
            self.tree.data(data)


def tree(html: str) -> Element:
    """Return a fragment of HTML with one root as a tree.

    Examples:
        >>> [part.tag for part in tree("<p>One<br>two <b>three</p>").iter()]
        ['p', 'br', 'b']
    """
    builder = _Builder()
    builder.feed(html)
    builder.close()
    for tag in reversed(builder.open):
        builder.tree.end(tag)
    return builder.tree.close()


def article(page: str) -> Element:
    """Return the article of a built page."""
    _, begin, rest = page.partition("<article")
    inside, end, _ = rest.partition("</article>")
    if not end:
        raise SystemExit("a page without an article cannot be cut")
    return tree(begin + inside + end)


def written(element: Element) -> str:
    """Return an element as HTML, without the text that follows it.

    Examples:
        >>> written(tree("<p>1 &lt; 2<br></p>"))
        '<p>1 &lt; 2<br></p>'
    """
    after, element.tail = element.tail, None
    html = ElementTree.tostring(element, encoding="unicode", method="html")
    element.tail = after
    return html


def words(element: Element) -> str:
    """Return the text of an element, without the markup of formulas, on one line."""
    return " ".join("".join(_texts(element)).split())


def _texts(element: Element) -> Iterator[str]:
    if "katex-mathml" not in classes(element):
        yield element.text or ""
        for child in element:
            yield from _texts(child)
            yield child.tail or ""


def classes(element: Element) -> list[str]:
    """Return the classes of an element."""
    return element.get("class", "").split()


def remove(root: Element, *names: str) -> None:
    """Remove the elements with any of these classes, and keep the text after them."""
    for parent in list(root.iter()):
        for child in list(parent):
            if set(classes(child)) & set(names):
                place = list(parent).index(child)
                _append(parent, place, child.tail or "")
                parent.remove(child)


def without_notes(root: Element) -> None:
    """Remove the numbers of notes, which are on the page that a cut-out comes from."""
    for element in root.iter("sup"):
        if any("footnote-ref" in classes(inner) for inner in element):
            element.set("class", "cited")
    remove(root, "cited")


def _append(parent: Element, place: int, text: str) -> None:
    """Add text before the child at a place."""
    if place:
        parent[place - 1].tail = (parent[place - 1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text


def moved(root: Element, home: str, here: str) -> None:
    """Adapt a cut-out to another page: no ids, and addresses that lead where they led.

    Args:
        home: The path of the page that it comes from, as in `chapters/at-the-board/`.
        here: The path of the page that gets it, as deep.
    """
    up = "../" * here.count("/")
    for element in root.iter():
        element.attrib.pop("id", None)
        for name in ("href", "src", "srcset"):
            address = element.get(name)
            if address and not urlsplit(address).scheme:
                element.set(name, up + urljoin(f"/{home}", address).removeprefix("/"))
