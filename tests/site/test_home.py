"""The home page in a browser, and small features of every page: copying and printing."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from posenc import sinusoidal_encoding
from scripts.book import pages
from scripts.book.sessions import sessions
from scripts.book.text import spans
from tests.site.served import address
from tests.site.visits import PHONE, TOUCH, fresh_page

# The commands of the listings with output, by page.
COMMANDS = {
    path: [
        "".join(typed.source for typed in sessions(text[span.start : span.end])).rstrip()
        for span in spans(text)
        if text.startswith("```console\n", span.start)
    ]
    for path in pages.paths()
    if "\n```console\n" in (text := pages.text(path))
}
# The lines of code, or of the text before it, that the buttons of listings stand on.
COVERED = """buttons => buttons.flatMap(button => {
    const { left, top, right, bottom } = button.getBoundingClientRect();
    const range = document.createRange();
    return [button.closest(".highlight"), button.closest(".highlight").previousElementSibling]
        .flatMap(part => {
            if (!part) return [];
            const texts = document.createTreeWalker(part, NodeFilter.SHOW_TEXT, text =>
                button.contains(text) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
            const found = [];
            for (let text; (text = texts.nextNode()); ) {
                range.selectNodeContents(text);
                const rows = [...range.getClientRects()].filter(({ width }) => width > 1);
                // The box of a line of text has room above and below its letters.
                if (rows.some(row => row.left < right && row.right > left
                    && row.top + 3 < bottom && row.bottom - 3 > top)) found.push(text.data);
            }
            return found;
        });
})"""


def copy(listing: Locator) -> str:
    """Press the button of a listing, and return what it has copied."""
    listing.hover()
    listing.get_by_role("button", name="Copy").click()
    return str(listing.evaluate("navigator.clipboard.readText()"))


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
    assert copy(home.locator(".language-pycon")) == (
        "from posenc import sinusoidal_encoding\nsinusoidal_encoding([7], 8).round(3)"
    )


@pytest.mark.parametrize("path", COMMANDS)
def test_copy_button_copies_commands_without_their_output(path: str, page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(address(path))
    copied = [copy(listing) for listing in page.locator(".language-console").all()]
    assert copied == COMMANDS[path]


def test_copy_button_copies_the_further_lines_of_a_command(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("reference/")
    listing = page.locator(".language-console")
    text = "$ posenc config \\\n>   --length 8\n> 9\n\n# Not $ this.\n> Nor this.\n$ posenc"
    listing.locator("code").evaluate("(code, text) => code.textContent = text", text)
    assert copy(listing) == "posenc config \\\n  --length 8\n9\nposenc"


@pytest.mark.parametrize("path", [*COMMANDS, "chapters/by-hand/code.md", "reference/alibi.md"])
def test_copy_button_covers_nothing_on_a_phone(
    path: str, browser: Browser, browser_context_args: dict[str, Any]
) -> None:
    with fresh_page(browser, browser_context_args | TOUCH) as page:
        page.goto(address(path))
        buttons = page.locator("article .copy:visible")
        assert buttons.count() > 0
        assert buttons.evaluate_all(COVERED) == []


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
