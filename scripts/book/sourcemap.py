"""Makes the map of sources, docs/trust/sources.md, from `docs/data/sources/`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from os.path import relpath
from pathlib import Path
from typing import Any

from scripts import DATA, DOCS
from scripts.book.data import check_fields, front_matter, load

MAP = "trust/sources.md"
PAGE = DOCS / MAP
FIELDS = ("lines", "kind", "what", "anchor", "terms")

HEAD = """\
---
title: The map of sources
description: Every item of the five texts that this book reworks, with its place in the book.
audience: anyone who knows one of the five texts
time: a minute, to look something up
needs: nothing
---
# The map of sources { #map }

This book reworks five texts, S0 to S4, and leaves nothing out. Each of their headings, formulas,
tables, listings, figures, lists and claims is listed below in the order of its text, with its line
numbers there and a link to its place here. The last column says how the book differs from the text.
[The ledger of claims](claims.md) says whether each claim holds.
{ .lead }

Checked by `test_no_item_is_missing`, `test_every_place_treats_its_item`
{ .checked }
"""


@dataclass(frozen=True)
class Item:
    """An item of a source, such as a heading or a formula, and its counterpart in the book."""

    id: str
    lines: str
    kind: str
    what: str
    at: str
    terms: list[str]
    differs: str

    @property
    def page(self) -> str:
        """Return the path of the page with the counterpart."""
        return self.at.partition("#")[0]

    @property
    def anchor(self) -> str:
        """Return the anchor on that page."""
        return self.at.partition("#")[2]

    @property
    def span(self) -> tuple[int, int]:
        """Return its first and last line."""
        first, _, last = self.lines.partition("-")
        return int(first), int(last)


@dataclass(frozen=True)
class Source:
    """One of the five texts: its title, the chapter that corresponds to it, and its items."""

    title: str
    page: str
    items: list[Item]


def sources(folder: Path = DATA / "sources") -> dict[str, Source]:
    """Return the sources by their names in the book, S0 to S4."""
    files = sorted(folder.glob("*.yml"))
    return {f"S{int(file.stem)}": _source(file, file.stat().st_mtime_ns) for file in files}


@cache
def _source(file: Path, changed: int) -> Source:
    """Return the source in a file; `changed` makes the cache read it again after a change."""
    data: dict[str, Any] = load(file)
    check_fields(file.name, data, ["title", "page", "items"])
    for name, entry in data["items"].items():
        check_fields(f"{file.name}: {name}", entry, FIELDS, optional=["differs"])
    items = [_item(name, data["page"], **entry) for name, entry in data["items"].items()]
    return Source(data["title"], data["page"], items)


def _item(name: str, page: str, *, anchor: str, **entry: Any) -> Item:
    """Return an item; its anchor contains the page if it is not the source's own chapter."""
    at = anchor if "#" in anchor else f"{page}#{anchor}"
    return Item(id=name, at=at, differs=entry.pop("differs", ""), **entry)


def page() -> str:
    """Return the whole page as Markdown."""
    return "\n".join([HEAD, *(_table(*found) for found in sources().items())])


def _table(name: str, source: Source) -> str:
    rows = [["item", "lines", "content", "its place", "how the book differs"]]
    rows += [["---"] * len(rows[0])]
    rows += [
        [
            item.id,
            format_lines(item.lines),
            f"{item.kind}: {item.what}",
            link(item.at, home=source.page),
            item.differs,
        ]
        for item in source.items
    ]
    lines = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    table = f"/// html | div.source-map\n\n{lines}\n///\n"
    chapter = link(source.page)
    return f"## {name}, {source.title} {{ #{name.lower()} }}\n\nMirrored by {chapter}.\n\n{table}"


def format_lines(lines: str) -> str:
    """Return line numbers for display: `39` for `39-39`, en dashes, spaces after commas."""
    single = re.sub(r"\b(\d+)-\1\b", r"\1", lines)
    return re.sub(r", *", ", ", single).replace("-", "–")


def link(at: str, *, home: str = "") -> str:
    """Return a Markdown link from a page in docs/trust/ to a place in the book."""
    page, _, anchor = at.partition("#")
    return f"[{place(page, anchor, home)}]({relpath(at, Path(MAP).parent)})"


def place(page: str, anchor: str, home: str) -> str:
    """Return the name of a place: its page, unless that is `home`, and table, figure or section."""
    section = section_of((DOCS / page).read_text("utf-8"), anchor)
    return ", ".join([title_of(page)] * (page != home or not section) + [section] * bool(section))


def title_of(page: str) -> str:
    """Return the title of a page, from its front matter."""
    return _title((DOCS / page).read_text("utf-8")) or page


@cache
def _title(text: str) -> str:
    return str(front_matter(text).get("title", ""))


def section_of(text: str, anchor: str) -> str:
    """Return the name of the table, figure or question at an anchor, or the heading above it."""
    caption = rf"^/// (table|figure)-caption \|(?: <)? ([\d.]+) #{re.escape(anchor)}$"
    if found := re.search(caption, text, re.M):
        return f"{found[1].title()} {found[2]}"
    if found := re.search(rf'^!!! \w+ "({anchor.replace("-", " ")}):', text, re.M | re.I):
        return found[1]
    address = re.search(rf"\{{[^}}\n]*#{re.escape(anchor)}(?![\w-])[^}}\n]*\}}", text)
    headings = re.findall(
        r"^##+ +([^{\n]+?) *(?:\{|$)", text[: address.end() if address else 0], re.M
    )
    return headings[-1] if headings else ""
