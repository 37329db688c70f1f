"""A page of the book is at most twelve thousand pixels high on a small desk.

Pages that document modules of the package are as long as the modules need.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, ViewportSize

from scripts.book import pages
from tests.site.served import address

HIGHEST = 12_000
DESK = ViewportSize(width=1280, height=900)
WRITTEN = [page for page in pages.written_pages() if "\n::: " not in pages.text(page)]
HEIGHT = "document.documentElement.scrollHeight"


@pytest.mark.parametrize("path", WRITTEN)
def test_a_page_is_not_too_high(path: str, page_without_scripts: Page) -> None:
    page_without_scripts.set_viewport_size(DESK)
    page_without_scripts.goto(address(path))
    assert page_without_scripts.evaluate(HEIGHT) <= HIGHEST
