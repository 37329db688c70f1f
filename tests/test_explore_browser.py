"""The explorers in a browser: keys, fingers, addresses, themes; and figures without scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from served import Site
from visits import PATIENCE, SETTLE, SHIFTS

from posenc import frequencies, similarity, sinusoidal_encoding, wavelengths
from scripts.book import DOCS

MODULES = DOCS / "assets" / "js" / "explore"
PAGES = sorted(path.stem for path in DOCS.glob("explore/*.md") if path.stem != "index")
IMPOSSIBLE = {
    "7": "width must be an even number from 2 to 1024; got 7.",
    "0": "width must be an even number from 2 to 1024; got 0.",
    "2048": "width must be an even number from 2 to 1024; got 2048.",
    "": "width must be an even number from 2 to 1024; got nothing.",
}
# Words of a picture that reach beyond its edge.
CUT_OFF = """all => all.filter(text => {
    const [own, edge] = [text, text.closest("svg")].map(part => part.getBoundingClientRect());
    return own.left < edge.left - 1 || own.right > edge.right + 1 || own.bottom > edge.bottom + 4;
}).map(text => text.textContent)"""
BOXES = "all => all.map(part => part.getBoundingClientRect().height)"
TURN_AND_LEAVE = """() => {
    const row = document.querySelector("#heatmap-row");
    row.value = 9;
    row.dispatchEvent(new Event("input", {bubbles: true}));
    [...document.querySelectorAll("nav a")].find(a => a.href.endsWith("/waves/")).click();
}"""
# Where a finger taps, as shares of the picture, and the numbers about what it shows there.
TAPS = {
    "heatmap": ("row", (0.55, 0.29), (20, 44)),  # in the middle of its upper half
    "waves": ("position", (0.55, 0.5), (20, 44)),
    "similarity": ("distance", (0.55, 0.5), (20, 44)),
    "layouts": ("key − query", (0.75, 0.5), (5, 8)),
    "alibi": ("behind", (0.5, 0.5), (30, 42)),
    "t5": ("key − query", (0.75, 0.5), (15, 60)),
    "base": ("pair", (0.75, 0.5), (42, 52)),
}


def printed(value: float, decimals: int = 3) -> str:
    """Return a number as the book prints it."""
    return f"{value:.{decimals}f}".replace("-", "−")


def printed_all(values: np.ndarray, decimals: int = 3) -> str:
    return ", ".join(printed(value, decimals) for value in values.tolist())


def status(page: Page, name: str) -> Locator:
    return page.locator(f"explore-{name} [role=status]")


def slider(page: Page, name: str) -> Locator:
    return page.get_by_role("slider", name=name, exact=True)


def field(page: Page, name: str) -> Locator:
    return page.get_by_role("spinbutton", name=name, exact=True)


def at(page: Page, path: str) -> None:
    """Open a page at a desk."""
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(path)


def row_read(row: int, width: int) -> re.Pattern[str]:
    """Return how a row of the table is read out."""
    entries = sinusoidal_encoding(np.array(row), width)
    shown = printed_all(entries) if width <= 8 else printed_all(entries[:6])
    return re.compile(f"^Row {row}, dimensions 0 to {width - 1}: {re.escape(shown)}")


def test_table_is_turned_by_keys_and_says_what_the_package_says(page: Page) -> None:
    at(page, "explore/heatmap/")
    expect(status(page, "heatmap")).to_have_text(row_read(7, 64))
    slider(page, "row").press("ArrowRight")
    expect(field(page, "row")).to_have_value("8")
    expect(slider(page, "row")).to_have_attribute("aria-valuetext", "8")
    expect(status(page, "heatmap")).to_have_text(row_read(8, 64))
    slider(page, "width").press("ArrowLeft")
    expect(status(page, "heatmap")).to_have_text(row_read(8, 32))
    field(page, "width").fill("8")
    expect(slider(page, "width")).to_have_attribute("aria-valuetext", "8")
    expect(status(page, "heatmap")).to_have_text(row_read(8, 8))
    field(page, "positions").fill("5")  # row 8 is gone
    expect(status(page, "heatmap")).to_have_text(row_read(4, 8))


def test_an_impossible_width_says_why_and_the_view_stays(page: Page) -> None:
    at(page, "explore/heatmap/")
    picture = page.locator("explore-heatmap svg").inner_html()
    for typed, reason in IMPOSSIBLE.items():
        field(page, "width").fill(typed)
        expect(status(page, "heatmap")).to_have_text(reason)
        expect(field(page, "width")).to_have_attribute("aria-invalid", "true")
        assert page.locator("explore-heatmap svg").inner_html() == picture
    field(page, "width").fill("16")
    expect(status(page, "heatmap")).to_have_text(row_read(7, 16))
    expect(page.locator("explore-heatmap [aria-invalid]")).to_have_count(0)


def test_a_view_stands_in_the_address_and_outlasts_a_reload_and_other_pages(page: Page) -> None:
    at(page, "explore/heatmap/?h=term")
    page.evaluate("window.here = true")
    field(page, "width").fill("8")
    slider(page, "row").press("ArrowRight")
    expect(page).to_have_url(
        re.compile(r"/explore/heatmap/\?h=term&heatmap.width=8&heatmap.row=8$")
    )
    page.locator(".tabs a").first.click()
    expect(page.locator("explore-heatmap")).to_have_count(0)
    page.go_back()
    expect(status(page, "heatmap")).to_have_text(row_read(8, 8))
    assert page.evaluate("window.here"), "the theme changed pages without loading them anew"
    slider(page, "row").press("ArrowLeft")  # alive
    expect(status(page, "heatmap")).to_have_text(row_read(7, 8))
    expect(page).to_have_url(re.compile(r"/explore/heatmap/\?h=term&heatmap.width=8$"))
    page.reload()
    expect(status(page, "heatmap")).to_have_text(row_read(7, 8))
    expect(page.locator("explore-heatmap .knob")).to_have_count(4)


def test_a_link_to_a_view_is_followed_in_place_and_back_leads_back(page: Page) -> None:
    at(page, "explore/heatmap/")
    page.evaluate("document.querySelector('explore-heatmap').here = true")
    page.locator("article a[href*='width=8']").click()
    expect(status(page, "heatmap")).to_have_text(row_read(7, 8))
    assert page.evaluate("document.querySelector('explore-heatmap').here"), "nothing was fetched"
    page.go_back()
    expect(status(page, "heatmap")).to_have_text(row_read(7, 64))
    page.go_forward()
    expect(status(page, "heatmap")).to_have_text(row_read(7, 8))


def test_a_link_to_a_place_of_the_page_leads_there_whatever_is_turned(page: Page) -> None:
    """A link to a place has the address that the page has by then, and that has the view."""
    at(page, "chapters/by-hand/?heatmap.row=9")
    expect(status(page, "heatmap")).to_contain_text("Row 9")
    page.wait_for_load_state("networkidle")  # the theme has what it answers to links with
    link = page.locator("article a[href*='#fn:']").first
    place = str(link.get_attribute("href")).partition("#")[2]
    link.click()
    page.wait_for_timeout(500)
    link.click()  # the theme, while it starts, may lose the first of a busy machine
    expect(page.locator(f"[id='{place}']")).to_be_in_viewport()  # the theme may lead there itself
    expect(status(page, "heatmap")).to_contain_text("Row 9")


def test_a_view_stays_with_its_page_when_that_is_left_at_once(page: Page) -> None:
    at(page, "explore/heatmap/")
    expect(status(page, "heatmap")).not_to_be_empty()
    page.evaluate(TURN_AND_LEAVE)
    expect(status(page, "waves")).not_to_be_empty()
    page.evaluate("new Promise(done => setTimeout(done, 300))")  # it is written after 200 ms
    assert page.url.endswith("/explore/waves/")
    page.go_back()
    expect(status(page, "heatmap")).to_have_text(row_read(9, 64))


def test_numbers_can_be_typed(page: Page) -> None:
    """On the way to a number stand others, which are drawn and must not disturb what follows."""
    at(page, "explore/base/")
    for name, typed in {"times as long": "1.5", "width": "128"}.items():
        field(page, name).click()
        page.keyboard.press("Control+A")
        page.keyboard.type(typed)
        expect(field(page, name)).to_have_value(typed)
    expect(field(page, "pair")).to_have_value("50")  # a width of 12 has 6
    expect(status(page, "base")).to_contain_text("for texts 1.5 times as long")


def test_an_explorer_that_is_hidden_waits(page: Page) -> None:
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    at(page, "explore/similarity/")
    picture = page.locator("explore-similarity svg")
    expect(picture).to_be_visible()
    for display in ("none", ""):
        page.evaluate(
            "display => (document.querySelector('article').style.display = display)", display
        )
        page.evaluate("new Promise(done => setTimeout(done, 50))")
    expect(picture).to_be_visible()
    assert said == []


def test_a_malformed_address_falls_back_and_says_so(page: Page) -> None:
    at(page, "explore/heatmap/?heatmap.width=7&heatmap.row=64&heatmap.base=<b>&heatmap.x=1")
    for said in [
        "width must be an even number",
        "got 7. Shown is 64.",
        "got 64. Shown is 7.",
        "got <b>",
    ]:
        expect(status(page, "heatmap")).to_contain_text(said)
    expect(status(page, "heatmap")).to_contain_text("Row 7, dimensions 0 to 63: 0.657")
    slider(page, "row").press("ArrowRight")
    expect(status(page, "heatmap")).to_have_text(row_read(8, 64))


def test_explorers_of_one_page_keep_their_addresses_apart(page: Page) -> None:
    at(page, "chapters/by-hand/?similarity.width=16&shift.width=4")
    expect(page.locator("#similarity-width")).to_have_value("16")
    expect(page.locator("#shift-width")).to_have_value("4")
    expect(page.locator("#heatmap-width")).to_have_value("64")
    page.locator("#heatmap-width").fill("32")
    expect(page).to_have_url(re.compile(r"\?similarity.width=16&shift.width=4&heatmap.width=32$"))
    expect(page.locator("#similarity-width")).to_have_value("16")


def test_waves_say_the_true_wavelengths(page: Page) -> None:
    at(page, "explore/waves/?waves.width=16&waves.pair=3&waves.position=44")
    turns = wavelengths(16)[3:7]
    shown = ", ".join(printed(turn, 1 if turn < 1000 else 0) for turn in turns.tolist())
    expect(status(page, "waves")).to_have_text(
        f"Pair 3, 4, 5, 6: one turn, shaded, takes {shown} positions;"
        f" position 44 is {printed_all(44 / turns)} turns on."
    )
    field(page, "width").fill("4")  # with two pairs, and the third is gone
    expect(status(page, "waves")).to_contain_text("Pair 0, 1: one turn")


def test_similarity_says_how_alike_and_where_it_rises(page: Page) -> None:
    at(page, "explore/similarity/?similarity.width=128&similarity.distance=12")
    alike = np.asarray(similarity(np.arange(65), 128))
    rises = np.flatnonzero(np.diff(alike) > 0)
    less = np.sum(alike[1:12] < alike[12])
    expect(status(page, "similarity")).to_have_text(
        f"12 apart: similarity {printed(alike[12])}; {less} of 11 nearer distances are less alike."
        f" It rises, hatched, on {rises.size} of 64 steps, first after {rises[0]}."
    )
    expect(page.locator("explore-similarity rect.hatch")).to_have_count(rises.size)
    field(page, "base").fill("1000000")
    field(page, "farthest").fill("2")
    field(page, "distance").fill("1")
    expect(status(page, "similarity")).to_have_text(
        f"1 apart: similarity {printed(float(similarity(1, 128, base=1e6)))}."
        " It rises, hatched, on 0 of 2 steps."
    )


def test_shift_turns_every_pair_by_its_own_angle(page: Page) -> None:
    at(page, "explore/shift/?shift.position=1000&shift.offset=-3")
    before, after = sinusoidal_encoding([1000, 997], 8)
    expect(status(page, "shift")).to_have_text(
        f"A shift by −3 turns pair 0, 1, 2, 3 by {printed_all(-3 * frequencies(8))} radians"
        f" from any row: pair 0 from ({printed_all(before[:2])}) in row 1000"
        f" to ({printed_all(after[:2])}) in row 997."
    )


@pytest.fixture(scope="module")
def phone(browser: Browser, site: Site) -> Iterator[Page]:
    """Open a phone's window, with one tab for all pages."""
    with browser.new_context(
        base_url=site.url, viewport={"width": 360, "height": 780}, has_touch=True, is_mobile=True
    ) as window:
        window.set_default_timeout(PATIENCE)
        window.add_init_script(SHIFTS)
        yield window.new_page()


@pytest.mark.parametrize("name", PAGES)
def test_explorer_on_a_phone_stands_still_and_suits_fingers(name: str, phone: Page) -> None:
    phone.goto(f"explore/{name}/")
    expect(status(phone, name)).not_to_be_empty()
    phone.evaluate(SETTLE)
    assert phone.evaluate("window.shift") <= 0.01
    assert phone.evaluate("document.documentElement.scrollWidth") <= 360
    inputs = phone.locator(f"explore-{name} :is(input, select)")
    assert min(inputs.evaluate_all(BOXES)) >= 28
    assert phone.locator(f"explore-{name} text").evaluate_all(CUT_OFF) == []
    if name in TAPS:
        control, (across, down), (low, high) = TAPS[name]
        box = phone.locator(f"explore-{name} .stage").bounding_box()  # a picture is drawn anew
        assert box
        before = field(phone, control).input_value()
        phone.touchscreen.tap(box["x"] + across * box["width"], box["y"] + down * box["height"])
        expect(field(phone, control)).not_to_have_value(before)
        assert low <= int(field(phone, control).input_value()) <= high


def test_a_finger_that_scrolls_the_page_turns_nothing(phone: Page) -> None:
    """A browser that makes a scroll of a finger's way takes it back from the page."""
    phone.goto("explore/similarity/")
    picture = phone.locator("explore-similarity svg")
    for kind, chosen in {"pointerdown": "0", "pointermove": "0", "pointercancel": "6"}.items():
        picture.dispatch_event(kind, {"clientX": 0, "clientY": 0, "pointerType": "touch"})
        expect(field(phone, "distance")).to_have_value(chosen)


@pytest.mark.parametrize("name", PAGES)
def test_explorer_takes_the_colours_of_the_page(name: str, page: Page) -> None:
    at(page, f"explore/{name}/")
    expect(status(page, name)).not_to_be_empty()
    inks = "all => all.map(one => getComputedStyle(one).fill + getComputedStyle(one).stroke)"
    shapes = page.locator(f"explore-{name} svg :is(path, rect, text)")
    light = shapes.evaluate_all(inks)
    page.locator("label[for^=__palette]:visible").click()
    expect(page.locator("body")).to_have_attribute("data-md-color-scheme", "slate")
    dark = shapes.evaluate_all(inks)
    assert len(light) == len(dark) > 0
    assert not any(a == b for a, b in zip(light, dark, strict=True) if "rgb" in a)


@pytest.mark.parametrize("name", PAGES)
def test_explorer_is_a_figure_without_scripts(name: str, still: Page) -> None:
    still.goto(f"explore/{name}/")
    figure = still.locator(f"explore-{name} figure")
    expect(figure.get_by_role("img")).to_be_visible()
    expect(figure.locator("figcaption")).to_be_visible()
    tall = still.locator(f"explore-{name}").bounding_box()
    within = figure.bounding_box()
    assert tall and within
    assert tall["height"] <= within["height"] + 60, "room is kept for nothing"


def test_explorer_whose_script_does_not_come_shows_its_figure(page: Page) -> None:
    page.route("**/explore/sinusoidal.js", lambda route: route.abort())
    at(page, "explore/heatmap/")
    figure = page.locator("explore-heatmap figure")
    expect(figure).to_be_visible()
    expect(page.locator("explore-heatmap .stage")).to_have_count(0)


def test_paper_has_the_picture_and_no_controls(page: Page) -> None:
    at(page, "explore/heatmap/")
    page.emulate_media(media="print")
    expect(page.locator("explore-heatmap svg")).to_be_visible()
    expect(status(page, "heatmap")).to_be_visible()
    expect(page.locator("explore-heatmap :is(input, select):visible")).to_have_count(0)


def test_a_page_without_explorers_loads_none(page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    at(page, "chapters/check-yourself/")
    page.wait_for_load_state("networkidle")
    assert not [url for url in asked if "/js/explore/" in url]
    page.goto("explore/waves/")
    expect(status(page, "waves")).not_to_be_empty()
    own = [url.rpartition("/")[2] for url in asked if "/js/explore/" in url]
    assert sorted(own) == ["base.js", "sinusoidal.js"]
