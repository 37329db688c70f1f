"""A built page as a tree: parts of it are cut out and put into the pages for teachers."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode


def article(page: str) -> LexborNode:
    """Return the article of a built page."""
    found = LexborHTMLParser(page).css_first("article")
    if found is None:
        raise SystemExit("a page without an article cannot be cut")
    return found


def origin(page: str) -> str:
    """Return what a built page says on paper about where it is from."""
    return LexborHTMLParser(page).css(".origin")[0].html or ""


def words(element: LexborNode) -> str:
    """Return the text of an element, without the markup of formulas, on one line.

    Examples:
        >>> words(article("<article>1 <b>or\\n2</b><i class=katex-mathml>x</i>.</article>"))
        '1 or 2.'
    """
    copy = element.clone()
    remove(copy, ".katex-mathml")
    return " ".join(copy.text().split())


def classes(element: LexborNode) -> list[str]:
    """Return the classes of an element."""
    return element.attrs.sget("class").split()


def remove(root: LexborNode, selector: str) -> None:
    """Remove the elements inside that match a selector, and keep the text after them.

    Examples:
        >>> page = article("<article>1<b>2<i>3</i></b>4</article>")
        >>> remove(page, "b, i")
        >>> page.html
        '<article>14</article>'
    """
    for found in root.css(selector):
        found.decompose()


def fit(root: LexborNode, home: str, here: str) -> None:
    """Adapt a cut-out to another page: no ids or terms, and addresses that lead where they led.

    Args:
        root: The cut-out. Terms become plain words, as their explanations are not on the page.
        home: The path of the page that it comes from, as in `chapters/at-the-board/`.
        here: The path of the page that gets it, as deep.
    """
    for term in root.css(".term"):
        term.unwrap()
    up = "../" * here.count("/")
    for element in root.css("[id], [href], [src], [srcset]"):
        for name, value in element.attributes.items():
            if name == "id":
                del element.attrs[name]
            elif name in ("href", "src", "srcset") and value and not urlsplit(value).scheme:
                element.attrs[name] = up + urljoin(f"/{home}", value).removeprefix("/")


def remove_notes(root: LexborNode) -> None:
    """Remove the numbers of notes, which are on the page that a cut-out comes from.

    Examples:
        >>> number = '<sup><a class="footnote-ref">1</a></sup>'
        >>> page = article(f"<article>One{number}&nbsp;{number} two{number}.</article>")
        >>> remove_notes(page)
        >>> page.html
        '<article>One two.</article>'
    """
    numbers = "sup:has(> .footnote-ref)"
    for later in root.css(f"{numbers} + {numbers}"):
        if (between := later.prev) and between.tag == "-text" and not between.text().strip():
            between.decompose()
    remove(root, numbers)
