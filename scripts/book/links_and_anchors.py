"""Finds the anchors and links of a page, and its duplicate anchors."""

from __future__ import annotations

from collections import Counter
from html.parser import HTMLParser


class Tags(HTMLParser):
    """The anchors and links of a page, in order. Tags inside scripts do not count."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.anchors: list[str] = []
        self.links: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the anchors and links of a tag."""
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.append(value)
            elif name in ("href", "src", "srcset") and value:
                self.links.append(value)


def duplicate_anchors(text: str) -> list[str]:
    """Return a message for each anchor that occurs twice; links reach only the first."""
    return repeated_anchors(Tags(text).anchors)


def repeated_anchors(anchors: list[str]) -> list[str]:
    """Return a message for each of these anchors that occurs twice."""
    counts = Counter(anchors)
    return [f"#{anchor} occurs {n} times" for anchor, n in counts.items() if n > 1]
