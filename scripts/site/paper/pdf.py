"""Prints all pages of a built site as one PDF."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pikepdf

if TYPE_CHECKING:
    from playwright.sync_api import Page

HERE = Path(__file__).parent
FOOTER = """<div style="width: 100%; text-align: center; font: 8pt 'Source Sans 3', sans-serif">
<span class="pageNumber"></span></div>"""
MINUTES = 5 * 60_000  # for a slow machine, in milliseconds


def gather(page: Page, pages: list[str], later: list[str], site: str) -> list[str]:
    """Show the articles of these pages, by path, in an open page, and return the chapters' titles.

    `later` are the pages that continue a chapter, and `site` is the address where the site is
    published, or empty.
    """
    titles: list[str] = page.evaluate(
        "about => gathered(about)", {"pages": pages, "later": later, "site": site}
    )
    page.add_style_tag(path=HERE / "paper.css")
    return titles


def write(page: Page, file: Path, *, title: str, author: str) -> None:
    """Print the open page into a file, with outline, links, page numbers and embedded fonts."""
    page.set_default_timeout(MINUTES)
    page.pdf(
        path=file,
        outline=True,
        tagged=True,
        prefer_css_page_size=True,
        display_header_footer=True,
        header_template="<span></span>",
        footer_template=FOOTER,
    )
    with pikepdf.open(file, allow_overwriting_input=True) as document:
        document.docinfo["/Title"], document.docinfo["/Author"] = title, author
        # Half the size: Chromium writes each of a million small objects on its own.
        document.save(file, object_stream_mode=pikepdf.ObjectStreamMode.generate)
