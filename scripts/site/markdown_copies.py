"""The book for programs that read: each page again as plain Markdown, and a list of them.

Beside every `index.html` of the site stands an `index.md`: the page's words with its numbers,
listings and citations written out and nothing of the page language left, so that it stands alone.
`llms.txt`, after the convention of that name, lists the copies with a line on each.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from mkdocs.config import load_config

from scripts import DOCS, ROOT
from scripts.book.data import front_matter
from scripts.book.embed import source
from scripts.site.install_lines import addressed
from scripts.site.plain_markdown import FIGURE, plain, prose, restored, set_aside

LIST = "llms.txt"
ABOUT = """\
A book and a Python package, `posenc`. The links below lead to the pages as Markdown, complete and
with every number written out; each page stands at the same address without `index.md`. Numbers in
the text, the tables and the outputs are computed again by the book's tests."""

DIRECTIVE = re.compile(r"^::: (?P<symbol>[\w.]+)\n(?:[ ]{4}.*\n)*", re.M)
TITLE = re.compile(r"^# .*$", re.M)
LINK = re.compile(r"(?<!!)\[(?P<words>[^\[\]]+)\]\((?P<target>[^)\s]*)\)")
BY_NAME = re.compile(r"(?<!!)\[(?P<words>[^\[\]^@][^\[\]]*)\]\[[^\[\]]*\]")
TAG = re.compile(r"^</?(?:div|section)\b[^>]*>\n?", re.M)
LOOPBACK = ("127.0.0.1", "localhost", "")


@dataclass(frozen=True)
class Page:
    """A page of the book: its source under docs/, and what its front matter says."""

    path: str
    title: str
    about: str

    @property
    def copy(self) -> str:
        """Return where in the site its copy stands."""
        folder, name = posixpath.split(self.path)
        stem = name.removesuffix(".md")
        return posixpath.join(folder, "" if stem == "index" else stem, "index.md")


def page(path: str, title: str = "") -> Page:
    """Return a page by its path under docs/, under the title that it has in the contents."""
    text = (DOCS / path).read_text(encoding="utf-8")
    matter = front_matter(text)
    return Page(path, title or matter.get("title", ""), matter.get("description", ""))


def copy(path: str) -> str:
    """Return a page of docs/ as Markdown that stands alone, its links leading to other copies."""
    one, text = page(path), (DOCS / path).read_text(encoding="utf-8")
    marked, pieces = set_aside(plain(_documented(text)))
    marked = FIGURE.sub(partial(_figure, one), marked)
    marked = BY_NAME.sub(r"\g<words>", LINK.sub(partial(_link, one), marked))
    written = restored(prose(TAG.sub("", marked)), pieces).strip()
    return f"{TITLE.sub(partial(_head, one), written, count=1)}\n"


def _head(one: Page, title: re.Match[str]) -> str:
    """Return the title with the page's own line on itself."""
    return f"{title[0]}\n\n> {one.about}" if one.about else title[0]


def _documented(text: str) -> str:
    """Return a page with the code that the reference documents, docstrings and all."""
    return DIRECTIVE.sub(lambda found: _code(found["symbol"]), text)


def _code(symbol: str) -> str:
    """Return a module, or what a dotted symbol names, as a listing."""
    file = ROOT.joinpath(*symbol.split(".")).with_suffix(".py")
    if file.is_file():
        code = file.read_text(encoding="utf-8")
        ast.parse(code)  # a file cut short would be copied as it is
        name = file.relative_to(ROOT).as_posix()
    else:
        found, code = source(symbol)
        name = found.as_posix()
    return f"From `{name}`:\n\n````python\n{code.rstrip()}\n````\n"


def _figure(one: Page, figure: re.Match[str]) -> str:
    """Return an image of a figure's light drawing, as the copy finds it."""
    drawn = f"{figure['folder']}{figure['stem']}-light.svg"
    return f"![{figure['words']}]({_seen(one, drawn)})"


def _link(one: Page, link: re.Match[str]) -> str:
    return f"[{link['words']}]({_seen(one, link['target'])})"


def _seen(one: Page, target: str) -> str:
    """Return the address of a link's target, seen from the copy of the page that has the link.

    Another page is its copy, and the page itself where its address carries a state.
    """
    parts = urlsplit(target)
    if parts.scheme or not parts.path:
        return target
    place = posixpath.normpath(posixpath.join(posixpath.dirname(one.path), parts.path))
    if place.endswith(".md"):
        place = Page(place, "", "").copy
        place = place.removesuffix("md") + "html" if parts.query else place
    place = posixpath.relpath(place, posixpath.dirname(one.copy) or ".")
    return parts._replace(path=place).geturl()


def contents(nav: list[Any]) -> Iterator[tuple[str, list[Page]]]:
    """Yield the parts of the book in the order of the contents, each with its pages."""
    for entry in nav:
        ((title, below),) = entry.items()
        alone = isinstance(below, str)
        yield title, [page(below, title)] if alone else list(_pages(below))


def _pages(nav: list[Any]) -> Iterator[Page]:
    for entry in nav:
        ((title, below),) = entry.items()
        if isinstance(below, str):
            yield page(below, title)
        else:
            yield from _pages(below)


def listed(config: Any) -> str:
    """Return llms.txt: what the book is, and each page's copy with a line on it."""
    base = config["site_url"] if urlsplit(config["site_url"] or "").hostname else ""
    base = "" if urlsplit(base).hostname in LOOPBACK else base
    lines = [f"# {config['site_name']}", "", f"> {config['site_description']}.", "", ABOUT]
    for title, pages in contents(config["nav"]):
        lines += ["", f"## {title}", ""]
        lines += [f"- [{one.title}]({urljoin(base, one.copy)}): {one.about}" for one in pages]
    return "\n".join(lines) + "\n"


def write(site: Path) -> None:
    """Write the copies and their list into a built site."""
    config = load_config(str(ROOT / "mkdocs.yml"), hooks=[], plugins=[])  # they built the site
    for _, pages in contents(config["nav"]):
        for one in pages:
            file = site / one.copy
            file.parent.mkdir(parents=True, exist_ok=True)
            text = addressed(copy(one.path), config["site_url"])
            file.write_text(text, encoding="utf-8")
    (site / LIST).write_text(listed(config), encoding="utf-8")
