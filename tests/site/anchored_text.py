"""The text of a built page at an anchor, up to the next heading or anchor."""

from __future__ import annotations

from collections.abc import Collection
from html.parser import HTMLParser
from pathlib import Path

HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}


class Reader(HTMLParser):
    """Splits the article of a page at its headings and anchors."""

    def __init__(self) -> None:
        super().__init__()
        self.inside = False
        self.cuts: list[tuple[str, bool]] = []  # each anchor, and whether a section begins
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.inside |= tag == "article"
        if not self.inside:
            return
        if "id" in given or tag in HEADINGS:
            name = given.get("id") or ""
            self.cuts.append((name, tag in HEADINGS or name.startswith("fn:")))
            self.texts.append("")
        self.handle_data(f" {given.get('alt') or ''}" if tag == "img" else "")

    def handle_endtag(self, tag: str) -> None:
        self.inside &= tag != "article"

    def handle_data(self, data: str) -> None:
        if self.inside and self.texts:
            self.texts[-1] += data


class Places:
    """The anchors of a page, in their order, and the text at each."""

    def __init__(self, page: Path) -> None:
        reader, self.page = Reader(), page
        reader.feed(page.read_text("utf-8"))
        self.cuts, self.texts = reader.cuts, reader.texts
        self.ids = [name for name, _ in self.cuts if name]

    def text_at(self, anchor: str, others: Collection[str]) -> str:
        """Return the text from an anchor to the next heading or the next of `others`."""
        start = self.place(anchor)
        end = start + 1
        while end < len(self.cuts) and not (self.cuts[end][1] or self.cuts[end][0] in others):
            end += 1
        return " ".join("".join(self.texts[start:end]).split())

    def section(self, anchor: str) -> int:
        """Return the number of sections that begin at or above an anchor."""
        return sum(begins for _, begins in self.cuts[: self.place(anchor) + 1])

    def place(self, anchor: str) -> int:
        """Return the index of an anchor among the splits of the page."""
        for place, (name, _) in enumerate(self.cuts):
            if name == anchor:
                return place
        raise LookupError(f"{self.page.parent.name} has no address #{anchor}")
