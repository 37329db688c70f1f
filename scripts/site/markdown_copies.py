"""The book for language models and other programs: each page as plain Markdown, and `llms.txt`.

Next to every `index.html` of the site is an `index.md`: the same page with numbers, listings and
citations written out and without the page language. `llms.txt`, following the convention of that
name, lists these copies with one line on each.
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

from scripts import ROOT
from scripts.book import pages
from scripts.book.data import front_matter
from scripts.book.sessions import without_hidden_sessions
from scripts.book.source_listings import source
from scripts.site.install_lines import add_addresses
from scripts.site.plain_markdown import FIGURE, hide_code, plain, prose, restore_code

LIST = "llms.txt"
APPENDIX = "Appendix"
ABOUT = """\
A book and a Python package, `posenc`. The links below lead to the pages as Markdown, complete and
with every number written out; each page stands at the same address without `index.md`. Numbers in
the text, the tables and the outputs are computed again by the book's tests."""

DIRECTIVE = re.compile(r"^::: (?P<symbol>[\w.]+)\n(?:[ ]{4}.*\n)*", re.M)
TITLE = re.compile(r"^# .*$", re.M)
LINK = re.compile(r"(?<!!)\[(?P<words>[^\[\]]+)\]\((?P<target>[^)\s]*)\)")
BY_NAME = re.compile(r"(?<!!)\[(?P<words>[^\[\]^@][^\[\]]*)\]\[[^\[\]]*\]")
TAG = re.compile(r"^</?(?:div|section)\b[^>]*>\n?", re.M)
MARKED = re.compile(r"^(?P<fence> *`{3,}\w+) \{[^{}\n]*\}$", re.M)
LOOPBACK = ("127.0.0.1", "localhost", None)


@dataclass(frozen=True)
class Page:
    """A page of the book: its path under docs/, its title and its description."""

    path: str
    title: str
    about: str

    @property
    def copy(self) -> str:
        """Return the path of its copy, relative to the site."""
        folder, name = posixpath.split(self.path)
        stem = name.removesuffix(".md")
        return posixpath.join(folder, "" if stem == "index" else stem, "index.md")


def page(path: str, title: str = "") -> Page:
    """Return a page by its path under docs/, with its title in the navigation."""
    matter = front_matter(pages.text(path))
    return Page(path, title or matter.get("title", ""), matter.get("description", ""))


def copy(path: str) -> str:
    """Return a page of docs/ as plain Markdown, with links to the other copies."""
    one = page(path)
    text = without_hidden_sessions(pages.text(path))
    marked, pieces = hide_code(plain(MARKED.sub(r"\g<fence>", _documented(text))))
    marked = FIGURE.sub(partial(_figure, one), marked)
    marked = BY_NAME.sub(r"\g<words>", LINK.sub(partial(_link, one), marked))
    written = restore_code(prose(TAG.sub("", marked)), pieces).strip()
    return f"{TITLE.sub(partial(_head, one), written, count=1)}\n"


def _head(one: Page, title: re.Match[str]) -> str:
    """Return the title followed by the page's description."""
    return f"{title[0]}\n\n> {one.about}" if one.about else title[0]


def _documented(text: str) -> str:
    """Return a page with its `:::` directives replaced by the documented source."""
    return DIRECTIVE.sub(lambda found: _code(found["symbol"]), text)


def _code(symbol: str) -> str:
    """Return a module, or the definition of a dotted symbol, as a listing."""
    place = ROOT.joinpath(*symbol.split("."))
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    if file.is_file():
        code = file.read_text(encoding="utf-8")
        ast.parse(code)  # refuse a truncated file
        name = file.relative_to(ROOT).as_posix()
    else:
        found, code = source(symbol)
        name = found.as_posix()
    return f"From `{name}`:\n\n````python\n{code.rstrip()}\n````\n"


def _figure(one: Page, figure: re.Match[str]) -> str:
    """Return an image of a figure's light drawing, addressed relative to the copy."""
    drawn = f"{figure['folder']}{figure['stem']}-light.svg"
    return f"![{figure['words']}]({_relative(one, drawn)})"


def _link(one: Page, link: re.Match[str]) -> str:
    return f"[{link['words']}]({_relative(one, link['target'])})"


def _relative(one: Page, target: str) -> str:
    """Return the address of a link's target, relative to the copy of the page with the link.

    Links to pages become links to their copies, unless the address has a query, which only the page
    itself can show.
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
    """Yield the parts of the book in the order of the navigation, each with its pages."""
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


def every_part(config: Any) -> Iterator[tuple[str, list[Page]]]:
    """Yield the parts of the book, last the pages that its navigation leaves out."""
    yield from contents(config["nav"])
    if left_out := config.get("not_in_nav"):
        yield APPENDIX, [page(path) for path in pages.paths() if left_out.match_file(path)]


def public_address(site: str | None) -> str:
    """Return the address of a site, or nothing if only this machine has it.

    Examples:
        >>> public_address("https://example.org/"), public_address("http://127.0.0.1:8000/")
        ('https://example.org/', '')
    """
    return site if site and urlsplit(site).hostname not in LOOPBACK else ""


def llms_txt(config: Any) -> str:
    """Return llms.txt: a description of the book, and a link with one line for each page."""
    base = public_address(config["site_url"])
    lines = [f"# {config['site_name']}", "", f"> {config['site_description']}.", "", ABOUT]
    for title, below in every_part(config):
        lines += ["", f"## {title}", ""]
        lines += [f"- [{one.title}]({urljoin(base, one.copy)}): {one.about}" for one in below]
    return "\n".join(lines) + "\n"


def write(site: Path) -> None:
    """Write the copies and their list into a built site."""
    config = load_config(str(ROOT / "mkdocs.yml"), hooks=[], plugins=[])  # only needed to build
    for _, below in every_part(config):
        for one in below:
            file = site / one.copy
            file.parent.mkdir(parents=True, exist_ok=True)
            text = add_addresses(copy(one.path), config)
            file.write_text(text, encoding="utf-8")
    (site / LIST).write_text(llms_txt(config), encoding="utf-8")
