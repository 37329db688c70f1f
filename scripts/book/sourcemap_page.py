"""Makes the map of sources, trust/sources.md, from `docs/data/sources/`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from os.path import relpath
from pathlib import Path
from typing import Any

from scripts import DATA
from scripts.book import pages
from scripts.book.data import load
from scripts.book.template import filled

MAP = "trust/sources.md"
HEADING_OR_ANCHOR = re.compile(
    r"^##+ +(?P<heading>[^{\n]+?) *(?=\{|$)|\{[^}\n]*#(?P<anchor>[\w-]+)[^}\n]*\}", re.M
)
TITLED = re.compile(r'^!!! \w+ "(?P<name>[^:"\n]+):', re.M)
CAPTION = re.compile(
    r"^/// (?P<kind>table|figure)-caption \|(?: <)? (?P<number>[\d.]+) #(?P<anchor>[\w-]+)$", re.M
)


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
    data: dict[str, Any] = load(file, "sources")
    items = [_item(name, data["page"], **entry) for name, entry in data["items"].items()]
    return Source(data["title"], data["page"], items)


def _item(name: str, page: str, *, anchor: str, **entry: Any) -> Item:
    """Return an item; its anchor contains the page if it is not the source's own chapter."""
    at = anchor if "#" in anchor else f"{page}#{anchor}"
    return Item(id=name, at=at, differs=entry.pop("differs", ""), **entry)


def page(path: str = MAP) -> str:
    """Return the whole page as Markdown."""
    return filled("sources", sources=sources(), format_lines=format_lines, link=link)


def format_lines(lines: str) -> str:
    """Return line numbers for display: `39` for `39-39`, en dashes, spaces after commas."""
    single = re.sub(r"\b(\d+)-\1\b", r"\1", lines)
    return re.sub(r", *", ", ", single).replace("-", "–")


def link(at: str, *, home: str = "") -> str:
    """Return a Markdown link from a page in trust/ to a place in the book."""
    page, _, anchor = at.partition("#")
    return f"[{place(page, anchor, home)}]({relpath(at, Path(MAP).parent)})"


def place(page: str, anchor: str, home: str) -> str:
    """Return the name of a place: its page, unless that is `home`, and table, figure or section."""
    section = sections_of(pages.text(page)).get(anchor, "")
    named = [pages.title(page)] * (page != home or not section)
    return ", ".join([*named, section] if section else named)


@lru_cache(maxsize=256)
def sections_of(text: str) -> dict[str, str]:
    """Return the name of the table, figure or question at each anchor, or the heading above it."""
    found: dict[str, str] = {}
    heading = ""
    for match in HEADING_OR_ANCHOR.finditer(text):
        heading = match["heading"] or heading
        if match["anchor"]:
            found.setdefault(match["anchor"], heading)
    titles = {one["name"].lower().replace(" ", "-"): one["name"] for one in TITLED.finditer(text)}
    captions = {
        one["anchor"]: f"{one['kind'].title()} {one['number']}" for one in CAPTION.finditer(text)
    }
    return found | titles | captions
