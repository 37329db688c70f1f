"""How explorers load: on phones, with settings in the address, dark, and without scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.site.explorers import EXPLORERS, field, follow, row_read, slider, status
from tests.site.visits import SETTLE, TOGGLE, TOUCH, fresh_page, requested

# Labels of a picture that reach beyond its edge.
CUT_OFF = """all => all.filter(text => {
    const [own, edge] = [text, text.closest("svg")].map(part => part.getBoundingClientRect());
    return own.left < edge.left - 1 || own.right > edge.right + 1 || own.bottom > edge.bottom + 4;
}).map(text => text.textContent)"""
BOXES = "all => all.map(part => part.getBoundingClientRect().height)"
INKS = "all => all.map(one => getComputedStyle(one).fill + getComputedStyle(one).stroke)"
# Where to tap, as fractions of the picture, and the range of values expected from it.
TAPS = {
    "heatmap": ("row", (0.55, 0.29), (20, 44)),  # in the middle of its upper half
    "waves": ("position", (0.55, 0.5), (20, 44)),
    "similarity": ("distance", (0.55, 0.5), (20, 44)),
    "layouts": ("key − query", (0.75, 0.5), (5, 8)),
    "alibi": ("distance", (0.5, 0.5), (30, 42)),
    "t5": ("key − query", (0.75, 0.5), (15, 60)),
    "base": ("pair", (0.75, 0.5), (42, 52)),
}
# Extreme settings.
EXTREMES = {
    "clocks": [
        "position=100000&clocks.base=1000000",
        "position=65536&clocks.show=score&clocks.base=2&clocks.relative=-64",
        "position=0&clocks.width=2",
    ],
    "heatmap": ["width=1024&heatmap.positions=128&heatmap.row=127", "width=2&heatmap.positions=2"],
    "waves": ["width=1024&waves.base=1000000&waves.pair=508&waves.position=64", "width=2"],
    "similarity": ["width=1024&similarity.farthest=1024", "width=2&similarity.farthest=2"],
    "shift": ["width=128&shift.position=1000&shift.offset=-64"],
    "rope": ["width=8&rope.query=100&rope.relative=-64"],
    "layouts": ["width=2&layouts.relative=-16"],
    "alibi": [
        "heads=128&alibi.farthest=4096",
        "heads=1&alibi.farthest=1&alibi.head=1&alibi.distance=1",
    ],
    "t5": ["end=512&t5.buckets=64&t5.relative=1024"],
    "base": [
        "width=4&base.base=1000000&base.trained=1&base.factor=64",
        "width=1024&base.base=2&base.trained=1000000&base.factor=1",
        "width=32&base.trained=64&base.fast=1&base.slow=0.5",
    ],
}
# The figure shown in place of an explorer: what of it is visible, and how much room is left over.
FIGURE = """name => {
    const place = document.querySelector(`explore-${name}`);
    const figure = place.querySelector("figure");
    const [all, within] = [place, figure].map(part => part.getBoundingClientRect().height);
    const pictures = [...figure.querySelectorAll("img, [role=img]")];
    return {
        pictures: pictures.filter(part => part.checkVisibility() && part.clientHeight > 9).length,
        caption: figure.querySelector("figcaption").checkVisibility(),
        more: all - within,
    };
}"""

# For how many milliseconds a figure is hidden, and whether that ends; then skip the rest of it.
END_OF_WAITING = """figure => {
    const waits = figure.getAnimations();
    const ends = waits.every(({playState}) => ["running", "finished"].includes(playState));
    for (const wait of waits) wait.finish();
    return [Math.max(0, ...waits.map(wait => wait.effect.getComputedTiming().endTime)), ends];
}"""


@pytest.fixture(scope="module", params=EXPLORERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def phone(name: str, browser: Browser, browser_context_args: dict[str, Any]) -> Iterator[Page]:
    """Open the explorer on a phone, once for all the tests that follow."""
    with fresh_page(browser, browser_context_args | TOUCH) as page:
        page.goto(f"explore/{name}/")
        expect(status(page, name)).not_to_be_empty()
        yield page


# On a phone


def test_explorer_does_not_shift_and_suits_fingers_on_a_phone(name: str, phone: Page) -> None:
    phone.evaluate(SETTLE)
    assert phone.evaluate("window.shift") <= 0.01
    assert phone.evaluate("document.documentElement.scrollWidth") <= 360
    inputs = phone.locator(f"explore-{name} :is(input, select)")
    assert min(inputs.evaluate_all(BOXES)) >= 28
    assert phone.locator(f"explore-{name} text").evaluate_all(CUT_OFF) == []
    if name in TAPS:
        control, (across, down), (low, high) = TAPS[name]
        # The picture itself is replaced while it changes.
        box = phone.locator(f"explore-{name} .stage").bounding_box()
        assert box
        before = field(phone, control).input_value()
        phone.touchscreen.tap(box["x"] + across * box["width"], box["y"] + down * box["height"])
        expect(field(phone, control)).not_to_have_value(before)
        assert low <= int(field(phone, control).input_value()) <= high


def test_scrolling_with_a_finger_changes_nothing(name: str, phone: Page) -> None:
    """A browser that starts scrolling cancels the pointer events it has sent."""
    if name in TAPS:
        chosen = field(phone, TAPS[name][0])
        before = chosen.input_value()
        for kind in ("pointerdown", "pointermove", "pointercancel"):
            at_the_corner = {"clientX": 0, "clientY": 0, "pointerType": "touch"}
            phone.locator(f"explore-{name} svg").dispatch_event(kind, at_the_corner)
            changed = chosen.input_value() != before
            assert changed == (kind != "pointercancel"), kind


def test_no_label_is_cut_off_at_extreme_settings(name: str, phone: Page) -> None:
    for view in EXTREMES[name]:
        follow(phone, f"?{name}.{view}")
        for setting in view.replace(f"{name}.", "").split("&"):
            control, value = setting.split("=")
            expect(phone.locator(f"#{name}-{control}")).to_have_value(value)
        expect(status(phone, name)).not_to_contain_text("must be")
        assert phone.locator(f"explore-{name} text").evaluate_all(CUT_OFF) == [], view
        picture = phone.locator(f"explore-{name} svg").inner_html()
        drawn = re.sub(r'"data:[^"]*"', "", picture)  # base64 may contain any word
        assert not re.search("NaN|Infinity|undefined", drawn), view


def test_explorer_takes_the_colours_of_the_page(name: str, phone: Page) -> None:
    shapes = phone.locator(f"explore-{name} svg :is(path, rect, text)")
    light = shapes.evaluate_all(INKS)
    phone.locator(TOGGLE).click()
    expect(phone.locator("body")).to_have_attribute("data-md-color-scheme", "slate")
    dark = shapes.evaluate_all(INKS)
    assert len(light) == len(dark) > 0
    assert not any(a == b for a, b in zip(light, dark, strict=True) if "rgb" in a)


@pytest.mark.parametrize("explorer", EXPLORERS)
def test_explorer_is_a_figure_without_scripts(explorer: str, page_without_scripts: Page) -> None:
    page_without_scripts.goto(f"explore/{explorer}/")
    seen = page_without_scripts.evaluate(FIGURE, explorer)
    assert (seen["pictures"], seen["caption"]) == (1, True)
    assert seen["more"] <= 60, "room is kept for nothing"


def test_explorer_shows_its_figure_if_its_script_fails_to_load(page: Page) -> None:
    """The figure is hidden for a moment, to wait for the script, and then shown."""
    page.route("**/explore/sinusoidal.js", lambda route: route.abort())
    with page.expect_event("requestfailed", lambda request: request.url.endswith("/sinusoidal.js")):
        page.goto("explore/heatmap/")
    figure = page.locator("explore-heatmap figure")
    milliseconds, ends = figure.evaluate(END_OF_WAITING)
    assert 0 < milliseconds <= 3000
    assert ends
    expect(figure).to_be_visible()
    expect(page.locator("explore-heatmap .stage")).to_have_count(0)


def test_page_without_explorers_and_examples_loads_none_of_their_scripts(page: Page) -> None:
    urls = requested(page)
    page.goto("trust/how-checked/", wait_until="networkidle")
    assert not [url for url in urls if re.search(r"/js/(explore/|run\.js|python\.js)", url)]
    page.goto("explore/waves/")
    expect(status(page, "waves")).not_to_be_empty()
    own = [url.rpartition("/")[2] for url in urls if "/js/explore/" in url]
    assert sorted(own) == ["base.js", "sinusoidal.js"]


# Addresses


def test_view_is_in_the_address_and_survives_a_reload_and_navigation(page: Page) -> None:
    page.goto("explore/heatmap/?h=term")
    field(page, "width").fill("8")
    slider(page, "row").press("ArrowRight")
    expect(page).to_have_url(
        re.compile(r"/explore/heatmap/\?h=term&heatmap.width=8&heatmap.row=8$")
    )
    page.locator(".tabs a").first.click()
    expect(page.locator("explore-heatmap")).to_have_count(0)
    page.go_back()
    expect(status(page, "heatmap")).to_have_text(row_read(8, 8))
    slider(page, "row").press("ArrowLeft")  # it still works
    expect(status(page, "heatmap")).to_have_text(row_read(7, 8))
    expect(page).to_have_url(re.compile(r"/explore/heatmap/\?h=term&heatmap.width=8$"))
    page.reload()
    expect(status(page, "heatmap")).to_have_text(row_read(7, 8))
    expect(page.locator("explore-heatmap .knob")).to_have_count(4)


def test_a_malformed_address_falls_back_and_says_so(page: Page) -> None:
    page.goto("explore/heatmap/?heatmap.width=7&heatmap.row=64&heatmap.base=<b>&heatmap.x=1")
    for part in ("width must be an even number", "got 7. Showing 64.", "Showing 7.", "got <b>"):
        expect(status(page, "heatmap")).to_contain_text(part)
    expect(status(page, "heatmap")).to_contain_text("Row 7, dimensions 0 to 63: 0.657")
    slider(page, "row").press("ArrowRight")
    expect(status(page, "heatmap")).to_have_text(row_read(8, 64))


def test_explorers_of_one_page_have_separate_settings_in_the_address(page: Page) -> None:
    """Links within the page keep the settings too."""
    page.goto("chapters/by-hand/pictures/?similarity.width=16&heatmap.row=9")
    widths = {"similarity": 16, "heatmap": 64}
    for name, width in widths.items():
        expect(page.locator(f"#{name}-width")).to_have_value(str(width))
    expect(status(page, "heatmap")).to_contain_text("Row 9")
    link = page.locator("article a[href*='#fn:']").first
    place = str(link.get_attribute("href")).partition("#")[2]
    link.click()
    expect(page.locator(f"[id='{place}']")).to_be_in_viewport()
    expect(status(page, "heatmap")).to_contain_text("Row 9")
    page.locator("#heatmap-width").fill("32")
    expect(page).to_have_url(re.compile(r"\?similarity.width=16&heatmap.width=32&heatmap.row=9#"))
    expect(page.locator("#similarity-width")).to_have_value("16")
