"""The home page in a browser, and small features of every page: copying and printing."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from posenc import sinusoidal_encoding
from tests.site.visits import PHONE


@pytest.fixture
def home(page: Page) -> Page:
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto("./")
    return page


def status(page: Page) -> Locator:
    return page.locator("encoding-plate [role=status]")


def slider(page: Page, name: str) -> Locator:
    return page.locator("encoding-plate").get_by_role("slider", name=name)


def values(position: int, pair: int) -> re.Pattern[str]:
    """Return a pattern of what the plate says of a cell."""
    sine, cosine = (
        f"{abs(value):.3f}" if value >= 0 else f"−{abs(value):.3f}"
        for value in sinusoidal_encoding([position], 128)[0, 2 * pair : 2 * pair + 2].tolist()
    )
    return re.compile(rf"Position {position}, pair {pair}: sin = {sine}, cos = {cosine}\.")


def test_plate_is_read_with_the_keyboard(home: Page) -> None:
    slider(home, "position").press("ArrowRight")
    expect(status(home)).to_have_text(values(38, 12))
    slider(home, "pair").press("Home")
    expect(status(home)).to_have_text(values(38, 0))


def test_plate_is_read_with_the_pointer(home: Page) -> None:
    picture = home.locator(".picture")
    expect(status(home)).to_have_text(values(37, 12))  # until the script follows the pointer
    cell = picture.evaluate("picture => picture.clientHeight") / 64
    picture.hover(position={"x": 150.5 * cell, "y": 20.5 * cell})
    expect(status(home)).to_have_text(values(150, 20))
    expect(slider(home, "position")).to_have_value("150")


# The chosen cell ends where the window does; the script that draws it may come a moment later.
LAST_IN_SIGHT = """() => {
    const { right } = document.querySelector(".cell").getBoundingClientRect();
    return 340 <= right && right <= 361;
}"""


def test_plate_on_a_phone_offers_only_the_positions_it_shows(home: Page) -> None:
    home.set_viewport_size({"width": 360, "height": 780})
    slider(home, "position").press("End")
    home.wait_for_function(LAST_IN_SIGHT)


def test_plate_is_a_figure_without_scripts(page_without_scripts: Page) -> None:
    page_without_scripts.goto("./")
    figure = page_without_scripts.locator("encoding-plate").get_by_role("figure")
    expect(figure.get_by_role("img")).to_be_visible()
    expect(figure).to_contain_text("Teal is positive")
    expect(figure.get_by_role("slider")).to_have_count(0)


def test_copy_button_copies_the_typed_lines_alone(home: Page) -> None:
    home.context.grant_permissions(["clipboard-read", "clipboard-write"])
    session = home.locator(".language-pycon")
    session.hover()
    session.get_by_role("button", name="Copy").click()
    assert home.evaluate("navigator.clipboard.readText()") == (
        "from posenc import sinusoidal_encoding\nsinusoidal_encoding([7], 8).round(3)"
    )


def test_print_shows_light_pictures(page: Page) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto("chapters/by-hand/pictures/")
    page.emulate_media(color_scheme="dark", media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator("picture.only-dark:visible")).to_have_count(0)
    assert page.locator("picture.only-light:visible").count() > 0


def test_print_shows_every_solution(page: Page) -> None:
    page.goto("chapters/by-hand/try/")
    solutions = page.locator("article details")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator("article details:not([open])")).to_have_count(0)
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert solutions.count() == page.locator("article details:not([open])").count() > 0


def test_doors_lead_a_phone_to_their_headings(page: Page) -> None:
    """A page that is opened from the home page is laid out before it is scrolled."""
    page.set_viewport_size(PHONE)
    page.goto("./")
    links = page.locator(".doors a").evaluate_all("links => links.map(link => link.href)")
    places = [link for link in links if "#" in link]
    assert len(places) > 10
    last = {place.partition("#")[0]: place for place in places}  # of each page, the furthest down
    for place in last.values():
        page.goto("./")
        hash_ = place.partition("#")[2]
        page.locator(f".doors a[href$='#{hash_}']").first.click()
        expect(page).to_have_url(place)
        expect(page.locator(f"[id='{hash_}']")).to_be_in_viewport()
