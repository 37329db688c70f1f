"""*Watch it break* in a browser: what it says is PyTorch's, and bad input is a sentence."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import torch
from playwright.sync_api import Browser, Locator, Page, Route, expect

from posenc.nn import GPTModel
from scripts.measure import language, weights
from scripts.measure.methods import VARIANTS
from tests.site.test_explore_browser import CUT_OFF
from tests.site.visits import SETTLE, TOGGLE, TOUCH, fresh_page, violations

PATH = "explore/watch/"
START = "Watch it break"
TEXT = weights.TEXT.read_bytes()
# Move a slider as a hand does.
SLIDE = """(input, value) => {
    input.value = value;
    input.dispatchEvent(new Event("input", {bubbles: true}));
}"""
TINTS = "all => all.map(cell => Number(cell.style.getPropertyValue('--v')))"


@pytest.fixture(scope="module")
def urls() -> list[str]:
    """Return the addresses that the shared page has requested so far."""
    return []


@pytest.fixture(scope="module")
def watch(
    browser: Browser, browser_context_args: dict[str, Any], site: object, urls: list[str]
) -> Iterator[Page]:
    """Open the page, which the tests of this module share, and start the first model."""
    with fresh_page(browser, browser_context_args) as page:
        page.on("request", lambda request: urls.append(request.url))
        page.goto(PATH, wait_until="networkidle")
        assert not [url for url in urls if url.endswith((".bin", "watch_worker.js"))]
        page.get_by_role("button", name=START).click()
        expect(summary(page)).to_contain_text("sinusoidal on 256 bytes")
        yield page


def summary(page: Page) -> Locator:
    return page.locator(".watch .summary")


def choose(page: Page, scheme: str) -> None:
    page.get_by_role("radio", name=scheme, exact=True).check()


def slide(page: Page, name: str, value: int) -> None:
    page.get_by_role("slider", name=name).evaluate(SLIDE, value)


@cache
def model(scheme: str) -> GPTModel:
    return weights.model_from_file((weights.WEIGHTS / f"{scheme}.bin").read_bytes())[0]


@cache
def surprise(scheme: str, length: int, rule: str = "") -> torch.Tensor:
    """Return the surprise of each byte of the page's text after the first, in bits."""
    read = torch.tensor(list(TEXT[:length]))
    made = VARIANTS[scheme][rule or scheme](model(scheme), 64, length)
    return language.surprise(made, read[None]) / math.log(2)


def perplexities(scheme: str, length: int, rule: str = "") -> str:
    """Return the two perplexities that the page says."""
    bits = surprise(scheme, length, rule)
    near, far = (2 ** part.mean().item() for part in (bits[:63], bits[63:]))
    return f"perplexity {near:.1f} in the first 64, {far:.1f} beyond."


def test_the_page_says_what_pytorch_says_of_every_length(watch: Page, urls: list[str]) -> None:
    choose(watch, "ALiBi")
    for length in (512, 128):
        slide(watch, "length in bytes", length)
        said = f"ALiBi on {length} bytes: {perplexities('alibi', length)}"
        expect(summary(watch)).to_have_text(said)
    tints = watch.locator(".watch .text span").evaluate_all(TINTS)
    expected = (surprise("alibi", 128) / 8).clamp(max=1).tolist()
    assert tints[1:128] == pytest.approx(expected, abs=2e-3)
    assert set(tints[128:]) == {0}
    assert len([url for url in urls if url.endswith("alibi.bin")]) == 1


def test_a_rule_rescales_the_model_that_runs(watch: Page) -> None:
    choose(watch, "RoPE")
    slide(watch, "length in bytes", 256)
    expect(summary(watch)).to_have_text(f"RoPE on 256 bytes: {perplexities('rope', 256)}")
    watch.get_by_label("after training").select_option("YaRN as released")
    found = perplexities("rope", 256, "rope, YaRN as released")
    expect(summary(watch)).to_have_text(f"RoPE, YaRN as released on 256 bytes: {found}")
    expect(watch).to_have_url(re.compile(r"watch\.rule=rope%2C\+YaRN\+as\+released"))
    choose(watch, "ALiBi")
    rule = watch.get_by_label("after training")
    expect(rule).to_be_disabled()
    expect(rule).to_have_accessible_description("No rule here; RoPE has the most.")
    expect(watch.locator("#watch-why")).to_be_visible()


def test_a_layer_with_a_window_shows_a_band_and_the_open_one_every_byte(watch: Page) -> None:
    choose(watch, "windows and an open layer")
    slide(watch, "length in bytes", 256)
    said = f"windows and an open layer on 256 bytes: {perplexities('windows_none', 256)}"
    expect(summary(watch)).to_have_text(said)
    slide(watch, "byte pointed at", 200)
    heads = watch.get_by_label("attention of", exact=True)
    bars = watch.locator(".watch .stage rect.pos")
    for layer, seen in (("1", 16), ("2", 16), ("3", 200)):
        heads.select_option(f"layer {layer}, head 2")
        heights = bars.evaluate_all("all => all.map(bar => Number(bar.getAttribute('height')))")
        assert [height > 0 for height in heights] == [False] * (200 - seen) + [True] * seen
    watch.get_by_label("after training").select_option("log n")
    found = perplexities("windows_none", 256, "windows_none, log n")
    expect(summary(watch)).to_have_text(f"windows and an open layer, log n on 256 bytes: {found}")
    heads.select_option("layer 1, head 1")


@pytest.mark.parametrize("length", [16, 64, 256, 512])
def test_the_curve_reaches_across_the_plot(watch: Page, length: int) -> None:
    """A text shorter than the trained length leaves the room up to that."""
    choose(watch, "ALiBi")
    slide(watch, "length in bytes", length)
    expect(summary(watch)).to_contain_text(f"on {length} bytes")
    boxes = "rects => rects.map(rect => rect.getBoundingClientRect())"
    (frame,) = watch.locator(".watch .stage rect.rule").evaluate_all(boxes)
    last = watch.locator(".watch .stage rect.bit").evaluate_all(boxes)[-1]
    share = (last["right"] - frame["left"]) / frame["width"]
    assert share == pytest.approx(min(1, length / 64), abs=0.02)
    assert watch.locator(".watch .stage text").evaluate_all(CUT_OFF) == []


def test_a_byte_is_told_in_words_and_moved_to_by_keyboard(watch: Page) -> None:
    choose(watch, "ALiBi")
    slide(watch, "length in bytes", 256)
    byte = watch.get_by_role("slider", name="byte pointed at")
    watch.locator(".watch .text span").nth(99).hover()
    expect(byte).to_have_value("99")
    byte.press("ArrowRight")
    bits = surprise("alibi", 256)[99].item()
    said = f"Byte 100, “{chr(TEXT[100])}”: {bits:.1f} bits of surprise"
    expect(watch.locator(".watch .pointed")).to_contain_text(said)
    expect(byte).to_have_attribute("aria-valuetext", re.compile(re.escape(said)))
    bars = watch.locator(".watch .stage rect.pos").count()
    assert bars == 100  # a key for each byte before it
    last = watch.locator(".watch .stage rect.pos").last
    before = str(last.get_attribute("height"))
    watch.get_by_label("attention of", exact=True).select_option("layer 3, head 4")
    expect(last).not_to_have_attribute("height", before)


def enter(page: Page, text: str) -> None:
    page.locator(".watch details").evaluate("fold => fold.open = true")
    page.get_by_label("Any text in any script").fill(text)
    page.get_by_role("button", name="Read it").click()


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "must have at least two bytes, since the first is not predicted. This one is empty."),
        ("a", "This one has a single byte."),
        ("a" * 1_000_000, "The text has 1,000,000 bytes; the first 512 of them are read."),
        ("語" * 200, "The text has 600 bytes; the first 510 of them are read."),
    ],
    ids=["empty", "one byte", "a megabyte", "characters of three bytes"],
)  # fmt: skip
def test_a_text_that_is_too_short_or_too_long_is_a_sentence(
    text: str, error: str, watch: Page
) -> None:
    enter(watch, text)
    expect(watch.locator("#watch-error")).to_contain_text(error)
    watch.get_by_role("button", name="Back to the page’s text").click()
    expect(watch.locator("#watch-error")).to_be_empty()
    expect(summary(watch)).to_contain_text("perplexity")


def test_a_text_of_ones_own_is_read(watch: Page) -> None:
    choose(watch, "ALiBi")
    enter(watch, "Ab 語\n\u05d0<b>")
    expect(summary(watch)).to_have_text(
        re.compile(r"ALiBi on 12 bytes: perplexity [\d.]+\. The models were trained on 64\.")
    )
    cells = watch.locator(".watch .text span").all_text_contents()
    assert "".join(cells) == "Ab\u00a0語··↵\u05d0·<b>"
    slide(watch, "byte pointed at", 3)
    expect(watch.locator(".watch .pointed")).to_contain_text("Byte 3, “語”:")
    slide(watch, "byte pointed at", 4)
    expect(watch.locator(".watch .pointed")).to_contain_text("Byte 4, byte 0xAA:")
    watch.get_by_role("button", name="Back to the page’s text").click()


TORN = {"body": (weights.WEIGHTS / "alibi.bin").read_bytes()[:9999]}
FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "T5": (TORN, "damaged, or did not arrive whole"),
    "learned": ({"status": 404, "body": "no"}, "could not be fetched: the server answered 404"),
}


@pytest.mark.parametrize("scheme", FAULTS)
def test_weights_that_do_not_arrive_are_a_sentence(scheme: str, watch: Page) -> None:
    answer, error = FAULTS[scheme]
    file = f"**/{scheme.lower()}.bin"

    def fail(route: Route) -> None:
        route.fulfill(**answer)

    watch.context.route(file, fail)
    try:
        choose(watch, scheme)
        expect(summary(watch)).to_contain_text(error)
    finally:
        watch.context.unroute(file)
    choose(watch, "ALiBi")
    expect(summary(watch)).to_contain_text("ALiBi on")
    choose(watch, scheme)
    expect(summary(watch)).to_contain_text(f"{scheme} on")


def test_it_fits_a_phone_and_axe_finds_nothing_in_either_colours(
    browser: Browser, browser_context_args: dict[str, Any]
) -> None:
    with fresh_page(browser, browser_context_args | TOUCH) as page:
        page.goto(f"{PATH}?watch.scheme=alibi&watch.length=512&watch.byte=511")
        page.get_by_role("button", name=START).tap()
        expect(summary(page)).to_have_text(f"ALiBi on 512 bytes: {perplexities('alibi', 512)}")
        page.evaluate(SETTLE)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert page.locator(".watch .stage text").evaluate_all(CUT_OFF) == []
        assert violations(page) == []
        page.locator(TOGGLE).tap()
        expect(page.locator("body")).to_have_attribute("data-md-color-scheme", "slate")
        assert violations(page, only="color-contrast") == []


def test_a_wrong_address_is_told_and_the_rest_is_shown(page: Page) -> None:
    page.goto(f"{PATH}?watch.length=9000&watch.scheme=alibi")
    page.get_by_role("button", name=START).click()
    expect(summary(page)).to_contain_text("length must be a whole number from 16 to 512; got 9000.")
    expect(summary(page)).to_contain_text("ALiBi on 256 bytes")


def test_a_link_of_the_page_starts_the_view_that_it_names(page: Page) -> None:
    page.goto(PATH)
    page.get_by_role("link", name="ALiBi, 512 bytes").click()
    expect(summary(page)).to_contain_text("ALiBi on 512 bytes")


def test_without_scripts_the_measured_curves_stand_there(page_without_scripts: Page) -> None:
    page_without_scripts.goto(PATH)
    expect(page_without_scripts.locator("watch-it-break figure figcaption")).to_be_visible()
    page_without_scripts.goto("beyond/which-extrapolates/")
    expect(page_without_scripts.locator("watch-it-break a").first).to_be_visible()
