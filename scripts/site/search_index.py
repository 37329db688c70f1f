"""Decides what the search finds, and what comes first.

The theme's search plugin makes an entry of every heading. Listings, outputs, docstrings' source
code, evidence, reference lists and misprints that a correction quotes are marked so that it skips
them. What is inside of the marked listings and formulas, most of the tags of a page, is withheld
from it, because reading that took a fifth of a build. The entries get the weights and the other
names of things from `docs/data/search.yml`, and pages their description. The rows of the map of
sources become entries too, so that their ids are found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from html import escape
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import CombinedEvent, event_priority
from mkdocs.structure.pages import Page

from scripts import DATA
from scripts.book.data import load
from scripts.book.line_breaks import JOINED
from scripts.book.sourcemap_page import MAP, sources

FILE = DATA / "search.yml"
LEFT_OUT = re.compile(
    r'<(pre|details class="mkdocstrings-source"|div class="(?:footnote|source-map|places)"'
    r'|p class="(?:checked|ledger|wrong)")(?=[ >])'
)
UNREAD = re.compile(r"(<(pre|math)\b[^<>]* data-search-exclude\b[^<>]*>).*?(?=</\2>)", re.S)
MARK = re.compile(r'\s?data-search-\w+="[^"]+"')
ROW = re.compile(r"<td>(S\d-\d\d)</td>")

Entry = dict[str, Any]


def on_page_content(html: str, *, page: Page, **about: object) -> str:
    """Return a page in which each row of the map of sources has an anchor."""
    return with_row_anchors(html) if page.file.src_uri == MAP else html


@event_priority(50)
def _prepare_page(context: Any, /, *, page: Page, **about: object) -> None:
    """Mark what the plugin is to skip, and withhold what it need not read."""
    context["whole"] = with_exclusions(page.content or "")
    page.content = UNREAD.sub(r"\1", context["whole"])


@event_priority(-50)
def _complete_entries(
    context: Any, /, *, page: Page, config: MkDocsConfig, **about: object
) -> None:
    """Restore a page, and complete the entries that the plugin has made of it."""
    page.content = MARK.sub("", context.pop("whole"))
    index: Any = config.plugins["material/search"]
    entries = index.search_index.entries
    if page.file.src_uri == MAP:
        entries.extend(rows(page.url))
    for entry in entries:
        if entry["location"] == page.url and "description" in page.meta:
            entry["text"] = with_description(entry["text"], str(page.meta["description"]))


on_page_context = CombinedEvent(_prepare_page, _complete_entries)


@event_priority(50)
def on_post_build(*, config: MkDocsConfig) -> None:
    """Weigh all entries before the plugin writes them, and spell their text as it is typed."""
    data = load(FILE)
    index: Any = config.plugins["material/search"]
    for entry in index.search_index.entries:
        entry["boost"] = weight(entry["location"], data["weights"])
        entry["text"] = entry["text"].replace(JOINED, "").replace("\u00a0", " ")
        if names := data["names"].get(entry["location"]):
            entry["tags"] = names


def with_exclusions(content: str) -> str:
    """Return a page with a mark on each element that the search skips.

    Examples:
        >>> with_exclusions('<p>Text.</p><pre>a listing</pre>')
        '<p>Text.</p><pre data-search-exclude="yes">a listing</pre>'
    """
    return LEFT_OUT.sub(r'<\1 data-search-exclude="yes"', content)


def with_row_anchors(html: str) -> str:
    """Return the map of sources with an anchor on each row.

    Examples:
        >>> with_row_anchors('<td>S3-12</td>')
        '<td id="s3-12">S3-12</td>'
    """
    return ROW.sub(lambda row: f'<td id="{row[1].lower()}">{row[1]}</td>', html)


def with_description(text: str, description: str) -> str:
    """Return the indexed text of a page with its description, unless the page shows it already."""
    shown = f"<p>{escape(description, quote=False)}</p>"
    return text if shown in text else f"{shown} {text}"


def rows(url: str) -> Iterator[Entry]:
    """Yield an entry for each row of the map of sources."""
    for source in sources().values():
        for item in source.items:
            text = f"<p>{escape(f'{item.kind}: {item.what}', quote=False)}</p>"
            yield {"location": f"{url}#{item.id.lower()}", "title": item.id, "text": text}


def weight(location: str, weights: dict[str, float]) -> float:
    """Return the weight of an entry: that of the first pattern that its address matches.

    Examples:
        >>> weight("trust/claims/#c0-08", {"trust/*": 0.5, "*": 1})
        0.5
    """
    return next(value for pattern, value in weights.items() if fnmatchcase(location, pattern))
