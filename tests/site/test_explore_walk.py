"""The explorers, one after another: they agree with the package and keep working."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import ConsoleMessage, Page, expect

from posenc import (
    alibi_slopes,
    apply_rope,
    frequencies,
    interpolated_frequencies,
    ntk_frequencies,
    similarity,
    sinusoidal_encoding,
    t5_bucket_starts,
    t5_buckets,
    wavelengths,
    yarn_frequencies,
)
from tests.site.explorers import (
    field,
    follow,
    printed,
    printed_all,
    reach,
    row_read,
    slider,
    status,
)
from tests.site.served import Site
from tests.site.visits import Visit

BOLD = "all => all.map(line => line.matches('.bold'))"
# The first eight entries are the words "dog" and "bites" of chapter 1.
QUERY = np.array([0.5, 0.3, 0.8, 0.1, 0.4, 0.6, 0.2, 0.9, 0.6, 0.5, -0.7, 0.3, 0.4, -0.8, 0.5, 0.7])
KEY = np.array([0.2, 0.7, 0.4, 0.9, 0.1, 0.3, 0.8, 0.5, -0.3, 0.8, -0.6, 0.6, 0.7, 0.2, 0.9, 0.1])
SHOWN = np.arange(-1024, 1025)  # the relative positions in the picture of the buckets
TURN_AND_LEAVE = """() => {
    const row = document.querySelector("#heatmap-row");
    row.value = 9;
    row.dispatchEvent(new Event("input", {bubbles: true}));
    [...document.querySelectorAll("nav a")].find(a => a.href.endsWith("/waves/")).click();
}"""
WIDTHS = {
    "7": "width must be an even number from 2 to 1024; got 7.",
    "0": "width must be an even number from 2 to 1024; got 0.",
    "2048": "width must be an even number from 2 to 1024; got 2048.",
    "": "width must be an even number from 2 to 1024; got nothing.",
}
IMPOSSIBLE = [
    ("clocks", "width", "18", "width must be an even number from 2 to 16; got 18."),
    ("clocks", "position", "-1", "position must be a whole number from 0 to 100000; got -1."),
    ("rope", "width", "10", "width must be an even number from 2 to 8; got 10."),
    ("layouts", "width", "3", "width must be an even number from 2 to 8; got 3."),
    ("alibi", "heads", "2.5", "heads must be a whole number from 1 to 128; got 2.5."),
    ("t5", "buckets", "33", "buckets must be an even number from 4 to 64; got 33."),
    ("base", "width", "2", "width must be an even number from 4 to 1024; got 2."),
]
# Where the hands of each clock point, dashed and solid: across and up, in units of the radius. The
# rim begins on the right.
HANDS = """() => {
    const paths = kind => [...document.querySelectorAll(`explore-clocks svg g path${kind}`)].map(
        path => path.getAttribute("d").match(/-?[\\d.]+/g).map(Number));
    const [rims, from, to] = [":not([class*=' ']):not(.swept)", ".dashed", ".bold"].map(paths);
    return rims.flatMap(([right], n) => [from[n], to[n]].map(
        ([x, y, atX, atY]) => [(atX - x) / (right - x), (y - atY) / (right - x)]));
}"""
# The number and the colour of each cell, of the clocks and of the last row of Table 1.4.
CELLS = """() => {
    const paint = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    const colour = (fill, opacity) => {
        for (const [style, alpha] of [["white", 1], [fill, opacity]]) {
            [paint.fillStyle, paint.globalAlpha] = [style, alpha];
            paint.fillRect(0, 0, 1, 1);
        }
        return [...paint.getImageData(0, 0, 1, 1).data];
    };
    const shapes = [...document.querySelectorAll("explore-clocks rect.entry")].map(rect => {
        const {fill, fillOpacity} = getComputedStyle(rect);
        return [rect.nextSibling.textContent, ...colour(fill, Number(fillOpacity))];
    });
    const cells = [...document.querySelectorAll("#table-1-4 tbody tr:last-child td")].map(
        cell => [cell.textContent, ...colour(getComputedStyle(cell).backgroundColor, 1)]);
    return [shapes, cells];
}"""
# Count how often the clocks are drawn between two positions, by the sine of pair 0.
COUNT_BETWEEN = """() => {
    window.between = 0;
    const clocks = document.querySelector("explore-clocks");
    const note = () => {
        const shown = clocks.querySelector("rect.entry + text").textContent.replace("−", "-");
        const place = clocks.querySelector("[name=position]").valueAsNumber;
        const near = n => Math.abs(Math.sin(n) - Number(shown)) < 0.001;
        if (!near(place) && !near(place - 1)) window.between += 1;
    };
    new MutationObserver(note).observe(clocks.querySelector(".stage"), {childList: true});
}"""
PLACE = "document.querySelector('explore-clocks [name=position]').valueAsNumber"
LONGER_THAN_A_STEP = 1200  # milliseconds
# Two ways in which a reader loses sight of the clocks, and both undone.
GONE = {
    "scrolled away": "document.querySelector('footer').scrollIntoView({behavior: 'instant'})",
    "hidden": """() => {
        Object.defineProperty(document, "hidden", {value: true, configurable: true});
        document.dispatchEvent(new Event("visibilitychange"));
    }""",
}
BACK = """() => {
    delete document.hidden;
    scrollTo({top: 0, behavior: "instant"});
}"""
# Record every number that a field gets.
NOTE_NUMBERS = """field => {
    window.numbers = [field.valueAsNumber];
    addEventListener("input", () => window.numbers.push(field.valueAsNumber));
}"""


@pytest.fixture(scope="module")
def tour(shared_page: Page, site: Site) -> Visit:
    """Return a reader who opens one explorer after another."""
    return Visit(shared_page, site)


@pytest.fixture
def page(tour: Visit) -> Iterator[Page]:
    """Return the page of the tour; a test fails if anything goes wrong."""
    tour.faults.clear()
    yield tour.page
    assert tour.faults == []


# What they show, and what they reject


def told(page: Page) -> list[list[str]]:
    """Return what stands at each clock: the number of its pair, and the numbers beneath it."""
    texts = page.locator("explore-clocks svg g text").all_text_contents()
    words = " ".join(texts).split("pair ")[1:]
    return [[part for part in word.split() if part[-1].isdigit()] for word in words]


def where(page: Page) -> np.ndarray:
    """Return where the hands of each clock point, dashed and solid, in units of its radius."""
    return np.array(page.evaluate(HANDS)).reshape(-1, 2, 2)


def clocks_say(row: int, width: int, base: float = 10000) -> str:
    entries = sinusoidal_encoding([row], width, base=base).reshape(-1, 2)
    turns = wavelengths(width, base=base)
    said = [
        f"pair {pair} points {printed(entries[pair, 0])} across and {printed(entries[pair, 1])} up"
        f" and turns once in {printed(turns[pair], 1 if turns[pair] < 1000 else 0)} positions"
        for pair in dict.fromkeys([0, width // 2 - 1])
    ]
    return f"Position {row}: {'; '.join(said)}."


@pytest.mark.parametrize(
    ("row", "width", "base"), [(7, 16, 10000), (3, 8, 10000), (100_000, 10, 1e6), (0, 2, 2)]
)
def test_clocks_are_a_row_of_the_table(row: int, width: int, base: int, page: Page) -> None:
    reach(page, "clocks")
    follow(page, f"?clocks.position={row}&clocks.width={width}&clocks.base={base:.0f}")
    expect(status(page, "clocks")).to_have_text(clocks_say(row, width, base))
    hands = sinusoidal_encoding([row], width, base=base).reshape(-1, 2)
    numbers = [[printed(value) for value in hand] for hand in hands.tolist()]
    assert told(page) == [[str(pair), *both] for pair, both in enumerate(numbers)]
    np.testing.assert_allclose(where(page)[:, 1], hands, atol=0.003)  # drawn to 0.1 pixel
    shown = "; ".join(", ".join(both) for both in numbers)
    alt = f"Clocks at position {row}; sine, cosine: {shown}"
    expect(page.get_by_role("img", name=alt, exact=True)).to_be_visible()


def test_clocks_are_turned_by_keys(page: Page) -> None:
    reach(page, "clocks")
    expect(status(page, "clocks")).to_have_text(clocks_say(7, 16))
    slider(page, "position").press("ArrowRight")
    expect(status(page, "clocks")).to_have_text(clocks_say(8, 16))
    slider(page, "position").press("End")
    expect(status(page, "clocks")).to_have_text(clocks_say(2**16, 16))
    slider(page, "position").press("Home")
    expect(status(page, "clocks")).to_have_text(clocks_say(0, 16))
    slider(page, "width").press("ArrowLeft")
    slider(page, "base").press("ArrowRight")
    expect(status(page, "clocks")).to_have_text(clocks_say(0, 14, 100_000))
    expect(field(page, "key − query")).to_have_count(0)  # a row has no key


@pytest.mark.parametrize(("width", "base"), [(16, 10000), (6, 100)])
def test_clocks_keep_the_score_while_both_move(width: int, base: int, page: Page) -> None:
    reach(page, "clocks")
    page.get_by_label("show").select_option("score")
    field(page, "width").fill(str(width))
    field(page, "base").fill(str(base))
    sums = []
    for query, relative in [(7, 2), (1007, 2), (1007, -5)]:
        field(page, "position").fill(str(query))
        field(page, "key − query").fill(str(relative))
        total = printed(score(width, query, relative, base=base))
        expect(status(page, "clocks")).to_have_text(
            f"Query, solid, at {query}, key, dashed, at {query + relative}: the shares add up to"
            f" a score of {total}. Moved together to 0 and {whole(relative)}: {total}."
        )
        assert total == printed(score(width, 0, relative, base=base))
        sums.append(total)
        expect(page.locator("explore-clocks svg > text")).to_have_text(f"score, the sum: {total}")
        shares = shares_of(width, query, relative, base=base).tolist()
        assert told(page) == [[str(pair), printed(part)] for pair, part in enumerate(shares)]
        both = np.stack([KEY[:width], QUERY[:width]])
        turned = apply_rope(both, [query + relative, query], base=base).reshape(2, -1, 2)
        drawn = where(page).swapaxes(0, 1)[..., ::-1]  # the first entry of a pair points up
        np.testing.assert_allclose(drawn, turned, atol=0.003)
    assert sums[0] == sums[1] != sums[2]


def play(page: Page) -> None:
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()


def pause(page: Page) -> int:
    """Stop the clocks, and return the position at which they stand."""
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    return int(page.evaluate(PLACE))


def test_clocks_play_until_they_are_stopped(page: Page) -> None:
    reach(page, "clocks")
    play(page)
    expect(status(page, "clocks")).to_have_attribute("aria-live", "off")
    page.wait_for_function(f"{PLACE} >= 9")
    stopped = pause(page)
    expect(status(page, "clocks")).to_have_attribute("aria-live", "polite")
    expect(page).to_have_url(re.compile(f"clocks.position={stopped}$"))
    page.wait_for_timeout(LONGER_THAN_A_STEP)
    expect(status(page, "clocks")).to_have_text(clocks_say(stopped, 16))
    assert told(page)[0][1] == printed(float(sinusoidal_encoding([stopped], 16)[0, 0]))


def test_hands_sweep_from_step_to_step(page: Page) -> None:
    reach(page, "clocks")
    page.emulate_media(reduced_motion="no-preference")
    page.evaluate(COUNT_BETWEEN)
    play(page)
    page.wait_for_function("window.between > 0")
    pause(page)
    page.emulate_media(reduced_motion="reduce")  # as for all other tests


def test_hands_jump_from_step_to_step_if_motion_is_reduced(page: Page) -> None:
    reach(page, "clocks")
    page.emulate_media(reduced_motion="reduce")
    page.evaluate(COUNT_BETWEEN)
    play(page)
    page.wait_for_function(f"{PLACE} >= 9")
    pause(page)
    assert page.evaluate("window.between") == 0


@pytest.mark.parametrize("gone", GONE)
def test_clocks_pause_out_of_sight(gone: str, page: Page) -> None:
    reach(page, "clocks")
    play(page)
    page.evaluate(GONE[gone])
    button = page.locator("explore-clocks button")
    expect(button).to_have_text("Play")
    page.evaluate(BACK)
    page.wait_for_timeout(LONGER_THAN_A_STEP)
    expect(button).to_have_text("Play")


def test_clocks_begin_again_after_the_last_position(page: Page) -> None:
    reach(page, "clocks")
    follow(page, "?clocks.position=99999")
    page.get_by_role("button", name="Play").click()
    expect(status(page, "clocks")).to_have_text(clocks_say(100_000, 16))
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    play(page)
    assert pause(page) < 99_999


def test_cells_of_the_clocks_are_those_of_the_table_in_chapter_1(page: Page) -> None:
    page.goto("chapters/by-hand/clocks/")
    expect(status(page, "clocks")).not_to_be_empty()
    follow(page, "?clocks.width=8&clocks.position=3")
    expect(status(page, "clocks")).to_have_text(clocks_say(3, 8))
    cells, table = page.evaluate(CELLS)
    assert [number for number, *_ in cells] == [number for number, *_ in table]
    colours, tints = (np.array([colour for _, *colour in all_]) for all_ in (cells, table))
    assert colours.shape == (8, 4)
    assert np.abs(colours - tints).max() <= 1  # a table's tint is that of its printed number
    assert np.ptp(colours, axis=0).max() > 20


def test_heatmap_is_set_by_keys_and_agrees_with_the_package(page: Page) -> None:
    reach(page, "heatmap")
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
    field(page, "positions").fill("5")  # row 8 no longer exists
    expect(status(page, "heatmap")).to_have_text(row_read(4, 8))


def test_waves_agree_with_the_package(page: Page) -> None:
    reach(page, "waves")
    follow(page, "?waves.width=16&waves.pair=3&waves.position=44")
    turns = wavelengths(16)[3:7]
    shown = ", ".join(printed(turn, 1 if turn < 1000 else 0) for turn in turns.tolist())
    expect(status(page, "waves")).to_have_text(
        f"Pair 3, 4, 5, 6: one turn, shaded, takes {shown} positions;"
        f" position 44 is {printed_all(44 / turns)} turns on."
    )
    field(page, "width").fill("4")  # two pairs, so pair 3 no longer exists
    expect(status(page, "waves")).to_contain_text("Pair 0, 1: one turn")


def test_similarity_agrees_with_the_package_and_marks_rises(page: Page) -> None:
    reach(page, "similarity")
    follow(page, "?similarity.width=128&similarity.distance=12")
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


def test_shift_rotates_every_pair_by_its_own_angle(page: Page) -> None:
    reach(page, "shift")
    follow(page, "?shift.position=1000&shift.offset=-3")
    before, after = sinusoidal_encoding([1000, 997], 8)
    expect(status(page, "shift")).to_have_text(
        f"A shift by −3 turns pair 0, 1, 2, 3 by {printed_all(-3 * frequencies(8))} radians"
        f" from any row: pair 0 from ({printed_all(before[:2])}) in row 1000"
        f" to ({printed_all(after[:2])}) in row 997."
    )


def whole(number: int) -> str:
    return printed(number, 0)


def score(
    width: int, query: int, relative: int, *, base: float = 10000, layout: str = "interleaved"
) -> float:
    """Return the score of the explorers' vectors, rotated by the package."""
    both = np.stack([QUERY[:width], KEY[:width]])
    one, other = apply_rope(both, [query, query + relative], base=base, layout=layout)
    return float(one @ other)


def shares_of(width: int, query: int, relative: int, *, base: float = 10000) -> np.ndarray:
    """Return what each pair of these vectors adds to their score."""
    both = np.stack([QUERY[:width], KEY[:width]])
    turned = apply_rope(both, [query, query + relative], base=base)
    return np.asarray(turned.prod(0).reshape(-1, 2).sum(1))


def rope_says(width: int, query: int, relative: int, base: float) -> str:
    said = [printed(score(width, place, relative, base=base)) for place in (query, 0)]
    assert said[0] == said[1]
    return (
        f"Query, solid, at {query}, key, dashed, at {whole(query + relative)}: score {said[0]},"
        f" the sum of what stands below the dials. Query at 0, key at {whole(relative)}: {said[1]}."
    )


def test_rope_keeps_the_score_while_both_move(page: Page) -> None:
    reach(page, "rope")
    expect(status(page, "rope")).to_have_text(rope_says(4, 4, 2, 100))
    for _ in range(3):
        slider(page, "query position").press("ArrowRight")
    expect(status(page, "rope")).to_have_text(rope_says(4, 7, 2, 100))
    field(page, "key − query").fill("-9")
    field(page, "width").fill("8")
    field(page, "base").fill("10000")
    expect(status(page, "rope")).to_have_text(rope_says(8, 7, -9, 10000))
    expect(page).to_have_url(
        re.compile("rope.width=8&rope.base=10000&rope.query=7&rope.relative=-9")
    )
    shares = page.locator("explore-rope text").all_text_contents()[1::2]
    assert shares == [printed(share) for share in shares_of(8, 7, -9).tolist()]


def layouts_say(width: int, pair: int, relative: int) -> str:
    right, wrong = (score(width, 0, relative, layout=name) for name in ("interleaved", "half"))
    return (
        f"Pair {pair} is dimensions {2 * pair} and {2 * pair + 1} interleaved,"
        f" {pair} and {pair + width // 2} half. At relative position {whole(relative)} interleaved"
        f" vectors score {printed(right)}; turned by halves {printed(wrong)},"
        f" or {printed(right)} if converted first."
    )


def test_layouts_show_both_pairs_and_both_scores(page: Page) -> None:
    reach(page, "layouts")
    expect(status(page, "layouts")).to_have_text(layouts_say(8, 1, 4))
    slider(page, "pair").press("End")
    field(page, "key − query").fill("-6")
    expect(status(page, "layouts")).to_have_text(layouts_say(8, 3, -6))
    field(page, "width").fill("2")
    expect(status(page, "layouts")).to_have_text(layouts_say(2, 0, -6))
    assert score(2, 0, -6) == score(2, 0, -6, layout="half")


def alibi_says(heads: int, head: int, distance: int) -> str:
    slope = float(alibi_slopes(heads)[head - 1])
    return (
        f"Head {head} of {heads} has slope {slope:#.3g}. To a key {distance} behind it adds"
        f" {printed(-slope * distance)}, a factor of {np.exp(-slope * distance):.3g}"
        " before weights are made to sum to 1."
    )


def test_alibi_has_a_line_and_a_slope_for_each_head(page: Page) -> None:
    reach(page, "alibi")
    expect(status(page, "alibi")).to_have_text(alibi_says(8, 3, 16))
    slider(page, "head").press("ArrowRight")
    expect(status(page, "alibi")).to_have_text(alibi_says(8, 4, 16))
    field(page, "heads").fill("3")  # so there is no head 4
    expect(status(page, "alibi")).to_have_text(alibi_says(3, 3, 16))
    expect(page.locator("explore-alibi svg path.dots")).to_have_count(3)
    lines = page.locator("explore-alibi svg path:not(.dots)").evaluate_all(BOLD)
    assert lines == [False, False, True]
    field(page, "heads").fill("12")
    field(page, "head").fill("11")
    field(page, "farthest").fill("5")
    expect(status(page, "alibi")).to_have_text(alibi_says(12, 11, 5))


def t5_says(relative: int, *, bidirectional: bool, buckets: int, end: int) -> str:
    sizes: dict[str, Any] = {
        "bidirectional": bidirectional,
        "buckets": buckets,
        "max_distance": end,
    }
    starts = t5_bucket_starts(**sizes)
    all_ = np.asarray(t5_buckets(SHOWN, **sizes))
    own = int(t5_buckets(relative, **sizes))
    held = SHOWN[all_ == own]
    return (
        f"Relative position {whole(relative)} falls into bucket {own}, with all shown from"
        f" {whole(held[0])} to {whole(held[-1])}. Distances below {starts.size // 2} have a bucket"
        f" each, the last begins at {starts[-1]}."
    )


def test_t5_shows_which_relative_positions_share_a_bucket(page: Page) -> None:
    reach(page, "t5")
    encoder = t5_says(-9, bidirectional=True, buckets=32, end=128)
    expect(status(page, "t5")).to_have_text(encoder)
    field(page, "key − query").fill("300")
    expect(status(page, "t5")).to_have_text(t5_says(300, bidirectional=True, buckets=32, end=128))
    page.get_by_label("model").select_option("decoder")
    field(page, "max distance").fill("100")
    expect(status(page, "t5")).to_have_text(t5_says(300, bidirectional=False, buckets=32, end=100))
    field(page, "key − query").fill("-20")
    field(page, "max distance").fill("5")  # too close for 32 buckets: 8 are left
    expect(field(page, "buckets")).to_have_value("8")
    expect(status(page, "t5")).to_have_text(t5_says(-20, bidirectional=False, buckets=8, end=5))


def test_slider_of_relative_positions_reaches_all_its_stops(page: Page) -> None:
    reach(page, "t5")
    follow(page, "?t5.relative=-1024")
    expect(field(page, "key − query")).to_have_value("-1024")
    field(page, "key − query").evaluate(NOTE_NUMBERS)
    slider(page, "key − query").focus()
    for _ in range(49):  # one more than there are steps
        page.keyboard.press("ArrowRight")
    walked = page.evaluate("window.numbers")
    assert walked == sorted(set(walked))
    assert (walked[0], walked[-1]) == (-1024, 1024)
    assert {-2, -1, 0, 1, 2} < set(walked)


def base_says(
    width: int, base: float, trained: int, factor: float, pair: int, **limits: Any
) -> str:
    plain = frequencies(width, base=base)
    never = np.sum(wavelengths(width, base=base) > trained)
    slower = [
        (plain / rule)[pair]
        for rule in (
            interpolated_frequencies(width, factor, base=base),
            ntk_frequencies(width, factor, base=base),
            yarn_frequencies(width, factor, trained, base=base, **limits),
        )
    ]
    return (
        f"Within {trained} positions {never} of {plain.size} pairs never turn once. Pair {pair}"
        f" turns {trained * plain[pair] / (2 * np.pi):.3g} times; for texts {factor:g} times"
        f" as long it is slowed by {slower[0]:.2f} (interpolation), {slower[1]:.2f} (NTK-aware),"
        f" {slower[2]:.2f} (YaRN)."
    )


def test_base_shows_which_pairs_never_turn_and_what_each_rule_does(page: Page) -> None:
    reach(page, "base")
    expect(status(page, "base")).to_have_text(base_says(128, 10000, 4096, 8, 50))
    slider(page, "base").press("ArrowRight")
    expect(status(page, "base")).to_have_text(base_says(128, 100_000, 4096, 8, 50))
    field(page, "base").fill("500000")
    field(page, "trained on").fill("300")
    field(page, "times as long").fill("2.5")
    field(page, "pair").fill("20")
    expect(status(page, "base")).to_have_text(base_says(128, 500_000, 300, 2.5, 20))
    field(page, "width").fill("4")  # two pairs
    expect(status(page, "base")).to_have_text(base_says(4, 500_000, 300, 2.5, 1))


def test_limits_of_yarn_can_be_set_for_a_short_text(page: Page) -> None:
    reach(page, "base")
    follow(page, "?base.width=32&base.trained=64&base.pair=2&base.fast=10.19")
    fitted = base_says(32, 10000, 64, 8, 2, fast=10.19)
    expect(status(page, "base")).to_have_text(fitted)
    assert fitted != base_says(32, 10000, 64, 8, 2)
    field(page, "YaRN’s α").fill("2.5")
    limits = {"fast": 10.19, "slow": 2.5}
    expect(status(page, "base")).to_have_text(base_says(32, 10000, 64, 8, 2, **limits))
    field(page, "YaRN’s α").fill("10")
    expect(status(page, "base")).to_have_text("YaRN’s α must be a number from 0 to 9.69; got 10.")


def test_impossible_width_is_explained_and_the_picture_stays(page: Page) -> None:
    reach(page, "heatmap")
    picture = page.locator("explore-heatmap svg").inner_html()
    for typed, reason in WIDTHS.items():
        field(page, "width").fill(typed)
        expect(status(page, "heatmap")).to_have_text(reason)
        expect(field(page, "width")).to_have_attribute("aria-invalid", "true")
        assert page.locator("explore-heatmap svg").inner_html() == picture
    field(page, "width").fill("16")
    expect(status(page, "heatmap")).to_have_text(row_read(7, 16))
    expect(page.locator("explore-heatmap [aria-invalid]")).to_have_count(0)


@pytest.mark.parametrize(("name", "control", "typed", "reason"), IMPOSSIBLE)
def test_impossible_sizes_are_refused_in_address_and_field(
    name: str, control: str, typed: str, reason: str, page: Page
) -> None:
    reach(page, name)
    follow(page, f"?{name}.{control}={typed}")
    expect(status(page, name)).to_contain_text(f"In the address, {reason} Showing ")
    own = field(page, control)
    value = own.input_value()
    own.fill(typed)
    expect(status(page, name)).to_have_text(reason)
    own.fill(value)
    expect(status(page, name)).not_to_contain_text("must be")


def test_numbers_can_be_typed(page: Page) -> None:
    """Typing a number passes through others, which must not change further settings."""
    reach(page, "base")
    for name, typed in {"times as long": "1.5", "width": "128"}.items():
        field(page, name).click()
        page.keyboard.press("Control+A")
        page.keyboard.type(typed)
        expect(field(page, name)).to_have_value(typed)
    expect(field(page, "pair")).to_have_value("50")  # a width of 12 has 6
    expect(status(page, "base")).to_contain_text("for texts 1.5 times as long")


# Within the page


def test_link_to_a_view_changes_the_explorer_in_place(page: Page) -> None:
    reach(page, "heatmap")
    page.evaluate("document.querySelector('explore-heatmap').here = true")
    page.locator("article a[href*='width=8']").click()
    expect(status(page, "heatmap")).to_have_text(row_read(7, 8))
    assert page.evaluate("document.querySelector('explore-heatmap').here"), "nothing was fetched"
    page.go_back()
    expect(status(page, "heatmap")).to_have_text(row_read(7, 64))
    page.go_forward()
    expect(status(page, "heatmap")).to_have_text(row_read(7, 8))


def test_explorer_state_survives_fast_navigation(page: Page) -> None:
    reach(page, "heatmap")
    expect(status(page, "heatmap")).not_to_be_empty()
    page.evaluate(TURN_AND_LEAVE)
    expect(status(page, "waves")).not_to_be_empty()
    page.go_back()
    expect(status(page, "heatmap")).to_have_text(row_read(9, 64))


def test_explorer_hidden_and_shown_again_logs_nothing(page: Page) -> None:
    reach(page, "similarity")
    said: list[str] = []

    def note(message: ConsoleMessage) -> None:
        said.append(message.text)

    page.on("console", note)
    picture = page.locator("explore-similarity svg")
    expect(picture).to_be_visible()
    for display in ("none", ""):
        page.evaluate(
            "display => (document.querySelector('article').style.display = display)", display
        )
        page.evaluate("new Promise(done => setTimeout(done, 50))")
    expect(picture).to_be_visible()
    page.remove_listener("console", note)
    assert said == []


def test_print_has_the_picture_and_no_controls(page: Page) -> None:
    reach(page, "heatmap")
    shown = [
        page.locator(f"explore-heatmap {part}:visible")
        for part in ("svg", "[role=status]", ":is(input, select)")
    ]
    page.emulate_media(media="print")
    on_paper = [parts.count() for parts in shown]
    page.emulate_media(media="null")
    assert on_paper == [1, 1, 0]
