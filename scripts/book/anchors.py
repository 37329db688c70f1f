"""The anchors and links of a page, and the anchors that it has more than once."""

from __future__ import annotations

from collections import Counter
from html.parser import HTMLParser


class Tags(HTMLParser):
    """The anchors and the links of a page, in order; a script may write tags, and has none."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.anchors: list[str] = []
        self.links: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what is an anchor, and what leads anywhere."""
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.append(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


def doubled_anchors(text: str) -> list[str]:
    """Return the anchors that a page has more than once: a link reaches the first alone."""
    counts = Counter(Tags(text).anchors)
    return [f"#{anchor} stands {n} times" for anchor, n in counts.items() if n > 1]
