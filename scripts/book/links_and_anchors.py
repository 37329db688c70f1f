"""Finds the anchors and links of a page, and its duplicate anchors."""

from __future__ import annotations

from collections import Counter

from selectolax.lexbor import LexborHTMLParser

LINKS = ("href", "src", "srcset")


class Tags:
    """The anchors and links of a page, in order. Tags inside scripts do not count."""

    def __init__(self, page: str) -> None:
        tree = LexborHTMLParser(page)
        self.anchors = [tag.id for tag in tree.css("[id]") if tag.id]
        self.links = [
            value
            for tag in tree.css("[href], [src], [srcset]")
            for name, value in tag.attributes.items()
            if name in LINKS and value
        ]


def duplicate_anchors(text: str) -> list[str]:
    """Return a message for each anchor that occurs twice; links reach only the first."""
    return repeated_anchors(Tags(text).anchors)


def repeated_anchors(anchors: list[str]) -> list[str]:
    """Return a message for each of these anchors that occurs twice."""
    counts = Counter(anchors)
    return [f"#{anchor} occurs {n} times" for anchor, n in counts.items() if n > 1]
