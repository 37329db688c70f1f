"""An address with a view of an explorer opens the page at that explorer."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

ROPE = "chapters/by-hand/rope/"
VIEW = "rope.width=2&rope.base=10000"


@pytest.mark.parametrize("width", [360, 1280])
def test_shared_view_opens_at_its_explorer(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{ROPE}?{VIEW}")
    expect(page.locator("explore-rope")).to_be_in_viewport(ratio=0.5)
    expect(page.locator("explore-rope [role=status]")).to_contain_text("score")


def test_shared_view_of_the_models_opens_at_them(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 600})
    page.goto("explore/watch/?watch.scheme=alibi")
    expect(page.locator("watch-it-break .start")).to_be_in_viewport()


@pytest.mark.parametrize("query", ["", "?t5.relative=3", f"?{VIEW}#rope-by-hand"])
def test_page_without_a_view_of_its_own_opens_as_ever(page: Page, query: str) -> None:
    page.goto(f"{ROPE}{query}")
    expect(page.locator("explore-rope [role=status]")).not_to_be_empty()
    assert page.evaluate("scrollY") < 200


def test_reader_who_goes_back_finds_the_page_where_it_was(page: Page) -> None:
    page.goto(f"{ROPE}?{VIEW}")
    expect(page.locator("explore-rope")).to_be_in_viewport(ratio=0.5)
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_function("scrollY === 0")
    page.reload()
    expect(page.locator("explore-rope [role=status]")).not_to_be_empty()
    assert page.evaluate("scrollY") < 200


def test_the_explorer_of_rope_by_hand_opens_on_its_example(page: Page) -> None:
    page.goto(ROPE)
    says = page.locator("explore-rope [role=status]")
    expect(says).to_contain_text("Query, solid, at 2, key, dashed, at 1: the score is 0.412")
    page.goto("explore/rope/")
    expect(says).to_contain_text("Query, solid, at 4, key, dashed, at 6")
