"""Speeds up the build without changing its output.

The search plugin parses every tag of a page. Half of them are MathML, which it ignores, and most
others are spans for code colours and formulas, which it does not need. So it is given the page
without them, and the page is restored afterwards. The index has the same words with the same spaces
between them.

Python's cyclic garbage collector also runs less often, since most objects live until the build
ends.
"""

from __future__ import annotations

import gc
import re

from mkdocs.plugins import CombinedEvent, event_priority
from mkdocs.structure.pages import Page

LEFT_OUT = re.compile(r"<math data-search-exclude .*?</math>", re.S)
LISTING = re.compile(r"<pre\b.*?</pre>", re.S)
SPANS = re.compile(r"(?:</?span\b[^<>]*>)+")

OBJECTS = 20_000  # allocated between garbage collections; Python's default is 700

_whole: dict[str, str] = {}


def on_startup(**about: object) -> None:
    """Collect garbage less often."""
    gc.set_threshold(OBJECTS)


@event_priority(50)
def _before_the_search(context: object, /, *, page: Page, **about: object) -> None:
    """Give the search plugin a shorter page."""
    whole = _whole[page.url] = page.content or ""
    page.content = thinned(whole)


@event_priority(-50)
def _after_the_search(context: object, /, *, page: Page, **about: object) -> None:
    """Restore the page."""
    page.content = _whole.pop(page.url)


on_page_context = CombinedEvent(_before_the_search, _after_the_search)


def thinned(content: str) -> str:
    """Return a page's content without spans and without the MathML that the search ignores.

    The search drops text between two tags if it is only whitespace, except in listings. So outside
    listings an empty tag replaces the spans, which keeps the pieces of text separate.

    Examples:
        >>> thinned('<p>a<span> </span><span>b</span></p> <pre><span>c</span> </pre>')
        '<p>a<wbr> <wbr>b<wbr></p> <pre>c </pre>'
    """
    content = LISTING.sub(lambda listing: SPANS.sub("", listing[0]), LEFT_OUT.sub("", content))
    return SPANS.sub("<wbr>", content)
