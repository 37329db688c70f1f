"""The search box in a real browser: keys, results, nothing found, axe-core, what is loaded."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Request, Route, ViewportSize, expect

from tests.site.served import Site
from tests.site.visits import DESK, PHONE, Visit, violations

CHAPTER = "chapters/at-the-board/"
# Addresses of the links that are shown, and their texts.
SHOWN = """links => links.map(link => {
    const text = link.querySelector(".search-excerpt").textContent;
    return [link.pathname + link.hash.split(":~:")[0], text];
})"""


@pytest.fixture
def home(page: Page, site: Site) -> Visit:
    """Return a reader who has opened the home page at a desk."""
    reader = Visit(page, site)
    reader.open("")
    reader.resize(DESK)
    return reader


def search_for(page: Page, words: str) -> Locator:
    """Type words into the search, and return the links that it shows."""
    page.locator(".search-field").fill(words)
    return page.locator(".search-found a")


@pytest.mark.parametrize(
    ("typed", "path"),
    [
        ("NoPE", "/schemes/without/#nope"),
        ("vision transformer change image size", "/axes/resize/"),
        ("rope_deltas", "/axes/mrope/"),
    ],
)
def test_result_has_a_title_a_heading_and_a_sentence(typed: str, path: str, home: Visit) -> None:
    home.page.keyboard.press("/")
    links = search_for(home.page, typed)
    expect(links.first.locator(".search-excerpt")).not_to_be_empty()
    shown: list[list[str]] = links.evaluate_all(SHOWN)
    assert any(address.startswith(path) for address, _ in shown[:3])
    expect(links.first.locator(".search-title")).not_to_be_empty()
    assert home.page.locator(".search-found mark").count() > 0
    assert home.faults == []


@pytest.mark.parametrize("typed", ["sinusiodal", "wavelenght", "extrapolaton"])
def test_misspelt_word_offers_the_right_one_with_its_results(typed: str, home: Visit) -> None:
    home.page.keyboard.press("/")
    links = search_for(home.page, typed)
    offer = home.page.locator(".search-status button")
    expect(home.page.locator(".search [role=status]")).to_contain_text("Did you mean")
    expect(links).not_to_have_count(0)
    meant = offer.inner_text()
    offer.click()
    expect(home.page.locator(".search-field")).to_have_value(meant)
    expect(home.page.locator(".search-field")).to_be_focused()
    expect(offer).to_have_count(0)
    expect(links).not_to_have_count(0)


def test_nothing_found_says_so_and_links_the_words_of_the_book(home: Visit) -> None:
    home.page.keyboard.press("/")
    links = search_for(home.page, "xqzzyk")
    status = home.page.locator(".search-status")
    expect(status).to_have_text("Nothing found for “xqzzyk”. See the words of this book.")
    expect(links).to_have_count(0)
    status.get_by_role("link").click()
    expect(home.page).to_have_url(f"{home.site.url}reference/glossary/")


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_keys_move_through_results_and_escape_closes_them(size: ViewportSize, home: Visit) -> None:
    home.resize(size)
    page = home.page
    field, find, panel = (
        page.locator(name) for name in (".search-field", ".find", ".search-panel")
    )
    find.press("Enter") if size is PHONE else page.keyboard.press("/")
    expect(field).to_be_focused()
    if size is PHONE:
        expect(find).to_have_attribute("aria-expanded", "true")
    page.keyboard.type("wavelength")
    links = page.locator(".search-found a")
    expect(links).not_to_have_count(0)
    page.keyboard.press("ArrowDown")
    expect(links.first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(links.nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(field).to_be_focused()
    page.keyboard.press("Tab")  # to the button that closes
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(find if size is PHONE else field).to_be_focused()
    expect(field).to_have_value("wavelength")
    assert home.faults == []


@pytest.mark.parametrize("key", ["/", "s", "f"])
def test_a_key_opens_the_search_but_not_while_something_is_typed(key: str, home: Visit) -> None:
    field = home.page.locator(".search-field")
    home.page.keyboard.press(key)
    expect(field).to_be_focused()
    home.page.keyboard.type(key)
    expect(field).to_have_value(key)


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_keys_typed_before_the_search_is_ready_are_its_own(size: ViewportSize, home: Visit) -> None:
    """By itself, the theme goes to the next page at `n`."""
    home.resize(size)
    held: list[Route] = []
    home.page.route("**/search.js", lambda route: held.append(route))
    here = home.page.url
    if size is PHONE:
        home.page.locator(".find").click()
    else:
        home.page.keyboard.press("/")
    home.page.keyboard.type("ntk.")
    expect(home.page.locator(".search-field")).to_have_value("ntk.")
    held[0].continue_()
    expect(home.page.locator(".search-found a").first).to_be_visible()
    assert home.page.url == here


def test_keys_typed_before_the_first_script_has_run_are_the_searchs(page: Page) -> None:
    held: list[Route] = []
    page.route("**/book.js", lambda route: held.append(route))
    page.goto(CHAPTER, wait_until="commit")
    here = page.url
    page.locator(".search-field").wait_for()
    page.keyboard.type("/ntk.")
    expect(page.locator(".search-field")).to_have_value("ntk.")
    held[0].continue_()
    expect(page.locator(".search-found a").first).to_be_visible()
    assert page.url == here


def test_leaving_the_search_closes_it(home: Visit) -> None:
    home.page.keyboard.press("/")
    links = search_for(home.page, "wavelength")
    expect(links).not_to_have_count(0)
    home.page.mouse.click(5, 500)
    expect(home.page.locator(".search-panel")).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_axe_finds_nothing_in_the_results(scheme: Any, size: ViewportSize, home: Visit) -> None:
    home.switch_to(scheme)
    home.resize(size)
    home.page.locator(".find" if size is PHONE else ".search-field").click()
    expect(search_for(home.page, "wavelenght").last.locator(".search-excerpt")).not_to_be_empty()
    assert violations(home.page) == []
    assert home.page.evaluate("document.documentElement.scrollWidth") <= size["width"]


def test_enter_opens_the_first_result(home: Visit) -> None:
    home.page.keyboard.press("/")
    links = search_for(home.page, "wavelength")
    expect(links.first.locator(".search-excerpt")).not_to_be_empty()
    path = links.first.evaluate("link => link.pathname")
    home.page.keyboard.press("Enter")
    expect(home.page).to_have_url(re.compile(re.escape(path)))
    expect(home.page.locator("article")).to_contain_text("wavelength", ignore_case=True)
    assert home.faults == []


def test_address_with_a_query_opens_the_search(page: Page) -> None:
    page.goto(f"{CHAPTER}?q=yarn")
    expect(page.locator(".search-field")).to_have_value("yarn")
    expect(page.locator(".search-found a[href*='/yarn/']").first).to_be_visible()


def test_search_is_not_shown_without_scripts(browser: Any, site: Site) -> None:
    with browser.new_context(java_script_enabled=False, viewport=DESK) as window:
        page = window.new_page()
        page.goto(site.url)
        expect(page.locator(".search")).to_be_hidden()
        expect(page.locator(".find")).to_be_hidden()


def test_first_answer_loads_less_than_200_kilobytes(home: Visit) -> None:
    asked: list[Request] = []
    home.page.on("request", lambda request: asked.append(request))
    home.page.keyboard.press("/")
    links = search_for(home.page, "yarn factor max_position_embeddings")
    expect(links.last.locator(".search-excerpt")).not_to_be_empty()
    sizes = [size(one) for one in asked if re.search(r"/search/|/search\.js", one.url)]
    assert len(sizes) > 2
    assert sum(sizes) < 200_000


def size(request: Request) -> int:
    """Return how many bytes came as the body of an answer, once it has come."""
    answer = request.response()
    assert answer is not None
    answer.finished()
    return request.sizes()["responseBodySize"]
