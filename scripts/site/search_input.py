"""What makes building the site quicker, and changes nothing that is built.

Half the tags of a page are MathML, which the search leaves out, and most others are spans, which
colour code and set formulas and mean nothing to it. Yet it reads each. So it gets the page without
them, and the page is whole again right after. The search knows the same words as before, and the
same spaces between them.

And Python looks for cycles of objects that nobody needs any more less often than it would: of the
very many that a build makes it keeps most to the end.
"""

from __future__ import annotations

import gc
import re

from mkdocs.plugins import CombinedEvent, event_priority
from mkdocs.structure.pages import Page

LEFT_OUT = re.compile(r"<math data-search-exclude .*?</math>", re.S)
LISTING = re.compile(r"<pre\b.*?</pre>", re.S)
SPANS = re.compile(r"(?:</?span\b[^<>]*>)+")

OBJECTS = 20_000  # from one look for cycles to the next; Python has 700

_whole: dict[str, str] = {}


def on_startup(**about: object) -> None:
    """Look for cycles less often."""
    gc.set_threshold(OBJECTS)


@event_priority(50)
def _before_the_search(context: object, /, *, page: Page, **about: object) -> None:
    """Give the search less to read."""
    whole = _whole[page.url] = page.content or ""
    page.content = thinned(whole)


@event_priority(-50)
def _after_the_search(context: object, /, *, page: Page, **about: object) -> None:
    """Give the page back what it is made of."""
    page.content = _whole.pop(page.url)


on_page_context = CombinedEvent(_before_the_search, _after_the_search)


def thinned(content: str) -> str:
    """Return a page's content without its spans and without what the search leaves out.

    The search looks at each piece of text between two tags by itself, to see whether it is nothing
    but space. In a listing it keeps all space; elsewhere a tag without content parts the pieces.

    Examples:
        >>> thinned('<p>a<span> </span><span>b</span></p> <pre><span>c</span> </pre>')
        '<p>a<wbr> <wbr>b<wbr></p> <pre>c </pre>'
    """
    content = LISTING.sub(lambda listing: SPANS.sub("", listing[0]), LEFT_OUT.sub("", content))
    return SPANS.sub("<wbr>", content)
