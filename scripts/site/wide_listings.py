"""Marks the listings that have a line longer than the column of text; mkdocs calls this.

So listings have two widths, that of the text and that of the page: docs/assets/css/components.css.
"""

from __future__ import annotations

import html
import re

LONGEST = 63  # characters of a line that fit into a listing as wide as the text

LISTING = re.compile(
    r'<div (?P<data>(?:data-[^ >]+ )*)class="(?P<classes>[^"]*\bhighlight\b[^"]*)"'
    r"(?P<rest>[^>]*>(?:(?!</div>).)*?"
    r"<code>(?P<code>.*?)</code>)",
    re.S,
)
TAG = re.compile(r"<[^<>]+>")


def on_page_content(content: str, **about: object) -> str:
    """Return a page whose long listings have the class `wide`."""
    return LISTING.sub(_marked, content)


def _marked(listing: re.Match[str]) -> str:
    code = html.unescape(TAG.sub("", listing["code"]))
    if max(map(len, code.split("\n"))) <= LONGEST:
        return listing[0]
    return f'<div {listing["data"]}class="{listing["classes"]} wide"{listing["rest"]}'
