"""Listings have two widths: that of the text, and that of the page for those with a long line."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from scripts.site.wide_listings import LONGEST, on_page_content

PAGES = ("four-positions", "why", "code", "alternatives", "rope", "try")
WIDTHS = """listings => listings.filter(one => !one.closest("details"))
    .map(one => Math.round(one.getBoundingClientRect().width))"""
CUT = "lines => lines.filter(line => line.scrollWidth > line.clientWidth).length"


def listing(line: str, data: str = "") -> str:
    return (
        f'<div {data}class="language-python highlight"><pre><span></span>'
        f'<code>a\n<span class="n">{line}</span>\n</code></pre></div>'
    )


@pytest.mark.parametrize("data", ["", 'data-group="a.b" data-module="a" '])
def test_only_a_listing_with_a_long_line_is_marked(data: str) -> None:
    fits = listing("x" * (LONGEST - 4) + "&lt;" * 4, data)
    long = listing("x" * (LONGEST + 1), data)
    assert on_page_content(fits) == fits
    assert on_page_content(fits + long) == fits + long.replace("highlight", "highlight wide")


@pytest.mark.parametrize("width", [1024, 1280])
def test_listings_of_a_chapter_have_two_widths(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    found: set[int] = set()
    for name in PAGES:
        page.goto(f"chapters/by-hand/{name}/")
        page.evaluate("document.fonts.ready")  # until then, another typeface may be wider
        found |= set(page.locator("article .highlight").evaluate_all(WIDTHS))
        text = page.locator("article > p").first.evaluate("p => Math.round(p.clientWidth)")
        assert page.locator("article .highlight:not(.wide) > pre > code").evaluate_all(CUT) == 0
        assert min(found) >= text
    assert len(found) == 2
