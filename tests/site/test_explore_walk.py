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
IMPOSSIBLE = [
    ("heatmap", "width", "7", "width must be an even number from 2 to 1024; got 7."),
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
    const row = [...document.querySelectorAll("#table-1-4 tbody tr:last-child td")];
    const cells = row.map(
        cell => [cell.textContent, ...colour(getComputedStyle(cell).backgroundColor, 1)]);
    return shapes.length ? shapes : cells;
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


def clock_numbers(page: Page) -> list[list[str]]:
    """Return what stands at each clock: the number of its pair, and the numbers beneath it."""
    texts = page.locator("explore-clocks svg g text").all_text_contents()
    words = " ".join(texts).split("pair ")[1:]
    return [[part for part in word.split() if part[-1].isdigit()] for word in words]


def clock_hands(page: Page) -> np.ndarray:
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
    assert clock_numbers(page) == [[str(pair), *both] for pair, both in enumerate(numbers)]
    np.testing.assert_allclose(clock_hands(page)[:, 1], hands, atol=0.003)  # drawn to 0.1 pixel
    shown = "; ".join(", ".join(both) for both in numbers)
    alt = f"Clocks at position {row}; sine, cosine: {shown}"
    expect(page.get_by_role("img", name=alt, exact=True)).to_be_visible()


@pytest.mark.parametrize(("width", "base"), [(16, 10000), (6, 100)])
def test_clocks_keep_the_score_while_both_move(width: int, base: int, page: Page) -> None:
    reach(page, "clocks")
    expect(field(page, "key − query")).to_have_count(0)  # a row has no key
    page.get_by_label("show", exact=True).select_option("score")
    field(page, "width").fill(str(width))
    field(page, "base").fill(str(base))
    sums = []
    for query, relative in [(7, 2), (1007, 2), (1007, -5)]:
        field(page, "position").fill(str(query))
        field(page, "key − query").fill(str(relative))
        total = printed(score(width, query, relative, base=base))
        expect(status(page, "clocks")).to_have_text(
            f"Query, solid, at {query}, key, dashed, at {query + relative}: the shares add up to"
            f" a score of {total}. With the query at 0 and the key at {signed(relative)},"
            f" the score is {total}."
        )
        assert total == printed(score(width, 0, relative, base=base))
        sums.append(total)
        expect(page.locator("explore-clocks svg > text")).to_have_text(f"score, the sum: {total}")
        shares = pair_shares(width, query, relative, base=base).tolist()
        assert clock_numbers(page) == [
            [str(pair), printed(part)] for pair, part in enumerate(shares)
        ]
        both = np.stack([KEY[:width], QUERY[:width]])
        turned = apply_rope(both, [query + relative, query], base=base).reshape(2, -1, 2)
        drawn = clock_hands(page).swapaxes(0, 1)  # the first entry of a pair points right
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
    assert clock_numbers(page)[0][1] == printed(float(sinusoidal_encoding([stopped], 16)[0, 0]))


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_hands_sweep_from_step_to_step_unless_motion_is_reduced(motion: Any, page: Page) -> None:
    reach(page, "clocks")
    page.emulate_media(reduced_motion=motion)
    page.evaluate(COUNT_BETWEEN)
    play(page)
    page.wait_for_function("window.between > 0" if motion == "no-preference" else f"{PLACE} >= 9")
    pause(page)
    page.emulate_media(reduced_motion="reduce")  # as for all other tests
    assert bool(page.evaluate("window.between")) == (motion == "no-preference")


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
    cells = page.evaluate(CELLS)
    page.goto("chapters/by-hand/four-positions/")
    table = page.evaluate(CELLS)
    assert [number for number, *_ in cells] == [number for number, *_ in table]
    colours, tints = (np.array([colour for _, *colour in all_]) for all_ in (cells, table))
    assert colours.shape == (8, 4)
    assert np.abs(colours - tints).max() <= 1  # a table's tint is that of its printed number
    assert np.ptp(colours, axis=0).max() > 20


def test_similarity_agrees_with_the_package_and_marks_rises(page: Page) -> None:
    reach(page, "similarity")
    follow(page, "?similarity.width=128&similarity.distance=12")
    alike = np.asarray(similarity(np.arange(65), 128))
    rises = np.flatnonzero(np.diff(alike) > 0)
    less = np.sum(alike[1:12] < alike[12])
    expect(status(page, "similarity")).to_have_text(
        f"12 apart: similarity {printed(alike[12])}; lower at {less} of 11 smaller distances."
        f" It rises, hatched, in {rises.size} of 64 steps, first after {rises[0]}."
    )
    expect(page.locator("explore-similarity rect.hatch")).to_have_count(rises.size)
    field(page, "base").fill("1000000")
    field(page, "farthest").fill("2")
    field(page, "distance").fill("1")
    expect(status(page, "similarity")).to_have_text(
        f"1 apart: similarity {printed(float(similarity(1, 128, base=1e6)))}."
        " It rises, hatched, in 0 of 2 steps."
    )


def signed(number: int) -> str:
    return printed(number, 0)


def score(
    width: int, query: int, relative: int, *, base: float = 10000, layout: str = "interleaved"
) -> float:
    """Return the score of the explorers' vectors, rotated by the package."""
    both = np.stack([QUERY[:width], KEY[:width]])
    one, other = apply_rope(both, [query, query + relative], base=base, layout=layout)
    return float(one @ other)


def pair_shares(width: int, query: int, relative: int, *, base: float = 10000) -> np.ndarray:
    """Return what each pair of these vectors adds to their score."""
    both = np.stack([QUERY[:width], KEY[:width]])
    turned = apply_rope(both, [query, query + relative], base=base)
    return np.asarray(turned.prod(0).reshape(-1, 2).sum(1))


def rope_says(width: int, query: int, relative: int, base: float) -> str:
    said = [printed(score(width, place, relative, base=base)) for place in (query, 0)]
    assert said[0] == said[1]
    return (
        f"Query, solid, at {query}, key, dashed, at {signed(query + relative)}: the score is"
        f" {said[0]}, the sum of the dot products q · k of the pairs. With the query at 0 and the"
        f" key at {signed(relative)}, the score is {said[1]}."
    )


def layouts_say(width: int, pair: int, relative: int) -> str:
    right, wrong = (score(width, 0, relative, layout=name) for name in ("interleaved", "half"))
    return (
        f"Pair {pair} consists of dimensions {2 * pair} and {2 * pair + 1} in the interleaved"
        f" layout, {pair} and {pair + width // 2} in the half layout. At relative position"
        f" {signed(relative)} these interleaved vectors score {printed(right)}; rotated in the"
        f" half layout they score {printed(wrong)}, or {printed(right)} if converted first."
    )


def alibi_says(heads: int, head: int, distance: int) -> str:
    slope = float(alibi_slopes(heads)[head - 1])
    return (
        f"Head {head} of {heads} has slope {slope:#.3g}. At distance {distance} it adds"
        f" {printed(-slope * distance)} to the score, which multiplies the key's weight by"
        f" {np.exp(-slope * distance):.3g} before the weights are made to sum to 1."
    )


def t5_says(relative: int, bidirectional: bool, buckets: int, end: int) -> str:
    sizes: Any = {"bidirectional": bidirectional, "buckets": buckets, "max_distance": end}
    starts = t5_bucket_starts(**sizes)
    all_ = np.asarray(t5_buckets(SHOWN, **sizes))
    own = int(t5_buckets(relative, **sizes))
    held = SHOWN[all_ == own]
    return (
        f"Relative position {signed(relative)} falls into bucket {own}, which holds positions"
        f" {signed(held[0])} to {signed(held[-1])} here. Distances below {starts.size // 2} have a"
        f" bucket each; the last bucket begins at distance {starts[-1]}."
    )


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
        f"Within {trained} positions, {never} of {plain.size} pairs complete no turn. Pair {pair}"
        f" turns {trained * plain[pair] / (2 * np.pi):.3g} times; for sequences {factor:g} times"
        f" as long it is slowed by a factor of {slower[0]:.2f} (interpolation),"
        f" {slower[1]:.2f} (NTK-aware), {slower[2]:.2f} (YaRN)."
    )


def waves_say(width: int, first: int, position: int) -> str:
    turns = wavelengths(width)[first : first + 4]
    pairs = ", ".join(str(first + n) for n in range(len(turns)))
    shown = ", ".join(printed(turn, 1 if turn < 1000 else 0) for turn in turns.tolist())
    return (
        f"Pair {pairs}: one turn, shaded, takes {shown} positions;"
        f" position {position} comes after {printed_all(position / turns)} turns."
    )


def shift_says(position: int, offset: int) -> str:
    before, after = sinusoidal_encoding([position, position + offset], 8)
    return (
        f"A shift by {signed(offset)} turns pair 0, 1, 2, 3 by"
        f" {printed_all(offset * frequencies(8))} radians, whatever the row."
        f" It takes pair 0 from ({printed_all(before[:2])}) in row {position}"
        f" to ({printed_all(after[:2])}) in row {position + offset}."
    )


FITTED = {"fast": 10.19}
# From the first visit on, what is typed into a field, which key its slider gets or what is chosen,
# and what the explorer says then.
STEPS: dict[str, list[tuple[dict[str, Any], str | re.Pattern[str]]]] = {
    "clocks": [
        ({}, clocks_say(7, 16)),
        ({"position": "ArrowRight"}, clocks_say(8, 16)),
        ({"position": "End"}, clocks_say(2**16, 16)),
        ({"position": "Home"}, clocks_say(0, 16)),
        ({"width": "ArrowLeft", "base": "ArrowRight"}, clocks_say(0, 14, 100_000)),
    ],
    "heatmap": [
        ({}, row_read(7, 64)),
        ({"row": "ArrowRight"}, row_read(8, 64)),
        ({"width": "ArrowLeft"}, row_read(8, 32)),
        ({"width": 8}, row_read(8, 8)),
        ({"positions": 5}, row_read(4, 8)),  # row 8 no longer exists
    ],
    "waves": [
        ({"width": 16, "first pair": 3, "position": 44}, waves_say(16, 3, 44)),
        ({"width": 4}, waves_say(4, 0, 44)),  # two pairs, so pair 3 no longer exists
    ],
    "shift": [({"position": 1000, "offset": -3}, shift_says(1000, -3))],
    "rope": [
        ({}, rope_says(4, 4, 2, 100)),
        ({"query position": "ArrowRight"}, rope_says(4, 5, 2, 100)),
        ({"key − query": -9, "width": 8, "base": 10000}, rope_says(8, 5, -9, 10000)),
    ],
    "layouts": [
        ({}, layouts_say(8, 1, 4)),
        ({"pair": "End", "key − query": -6}, layouts_say(8, 3, -6)),
        ({"width": 2}, layouts_say(2, 0, -6)),
    ],
    "alibi": [
        ({}, alibi_says(8, 3, 16)),
        ({"head": "ArrowRight"}, alibi_says(8, 4, 16)),
        ({"heads": 3}, alibi_says(3, 3, 16)),  # so there is no head 4
        ({"heads": 12, "head": 11, "farthest": 5}, alibi_says(12, 11, 5)),
    ],
    "t5": [
        ({}, t5_says(-9, True, 32, 128)),
        ({"key − query": 300}, t5_says(300, True, 32, 128)),
        ({"model": "decoder", "max distance": 100}, t5_says(300, False, 32, 100)),
        # Too close for 32 buckets: 8 are left.
        ({"key − query": -20, "max distance": 5}, t5_says(-20, False, 8, 5)),
    ],
    "base": [
        ({}, base_says(128, 10000, 4096, 8, 50)),
        ({"base": "ArrowRight"}, base_says(128, 100_000, 4096, 8, 50)),
        (
            {"base": 500_000, "trained on": 300, "times as long": 2.5, "pair": 20},
            base_says(128, 500_000, 300, 2.5, 20),
        ),
        ({"width": 4}, base_says(4, 500_000, 300, 2.5, 1)),  # two pairs
        (
            {"width": 32, "base": 10000, "trained on": 64, "times as long": 8, "pair": 2}
            | {"YaRN’s β": 10.19},
            base_says(32, 10000, 64, 8, 2, **FITTED),
        ),
        ({"YaRN’s α": 2.5}, base_says(32, 10000, 64, 8, 2, **FITTED, slow=2.5)),
        ({"YaRN’s α": 10}, "YaRN’s α must be a number from 0 to 9.69; got 10."),
    ],
}


@pytest.mark.parametrize("name", STEPS)
def test_explorer_says_what_the_package_computes_at_each_step(name: str, page: Page) -> None:
    reach(page, name)
    for settings, sentence in STEPS[name]:
        for control, value in settings.items():
            if control == "model":
                page.get_by_label(control, exact=True).select_option(value)
            elif isinstance(value, str):
                slider(page, control).press(value)
            else:
                field(page, control).fill(str(value))
        expect(status(page, name)).to_have_text(sentence)


def test_field_and_slider_show_the_same_number(page: Page) -> None:
    reach(page, "heatmap")
    slider(page, "row").press("ArrowRight")
    expect(field(page, "row")).to_have_value("8")
    expect(slider(page, "row")).to_have_attribute("aria-valuetext", "8")
    field(page, "width").fill("8")
    expect(slider(page, "width")).to_have_attribute("aria-valuetext", "8")


def test_rope_shows_the_share_of_each_pair(page: Page) -> None:
    reach(page, "rope")
    follow(page, "?rope.width=8&rope.base=10000&rope.query=7&rope.relative=-9")
    expect(status(page, "rope")).to_have_text(rope_says(8, 7, -9, 10000))
    shares = page.locator("explore-rope text").all_text_contents()[1::2]
    assert shares == [f"q · k {printed(share)}" for share in pair_shares(8, 7, -9).tolist()]


def test_alibi_has_a_line_for_each_head_and_the_chosen_one_is_bold(page: Page) -> None:
    reach(page, "alibi")
    field(page, "heads").fill("3")
    expect(page.locator("explore-alibi svg path.dots")).to_have_count(3)
    lines = page.locator("explore-alibi svg path:not(.dots)").evaluate_all(BOLD)
    assert lines == [False, False, True]


@pytest.mark.parametrize(("name", "control", "typed", "reason"), IMPOSSIBLE)
def test_impossible_sizes_are_refused_in_address_and_field(
    name: str, control: str, typed: str, reason: str, page: Page
) -> None:
    reach(page, name)
    follow(page, f"?{name}.{control}={typed}")
    expect(status(page, name)).to_contain_text(f"In the address, {reason} Showing ")
    own, invalid = field(page, control), page.locator(f"explore-{name} [aria-invalid=true]")
    value = own.input_value()
    picture = page.locator(f"explore-{name} svg").inner_html()
    own.fill(typed)
    expect(status(page, name)).to_have_text(reason)
    expect(own.and_(invalid)).to_have_count(1)
    assert page.locator(f"explore-{name} svg").inner_html() == picture
    own.fill(value)
    expect(status(page, name)).not_to_contain_text("must be")
    expect(page.locator(f"explore-{name} [aria-invalid]")).to_have_count(0)


def test_numbers_can_be_typed(page: Page) -> None:
    """Typing a number passes through others, which must not change further settings."""
    reach(page, "base")
    for name, typed in {"times as long": "1.5", "width": "128"}.items():
        field(page, name).click()
        page.keyboard.press("Control+A")
        page.keyboard.type(typed)
        expect(field(page, name)).to_have_value(typed)
    expect(field(page, "pair")).to_have_value("50")  # a width of 12 has 6
    expect(status(page, "base")).to_contain_text("for sequences 1.5 times as long")


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
    messages: list[str] = []

    def note(message: ConsoleMessage) -> None:
        messages.append(message.text)

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
    assert messages == []


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
