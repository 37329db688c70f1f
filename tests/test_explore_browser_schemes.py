"""The explorers of RoPE, ALiBi and T5 say in a browser what the package computes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect
from test_explore_browser import CUT_OFF, at, field, phone, printed, slider, status

from posenc import (
    alibi_slopes,
    apply_rope,
    frequencies,
    interpolated_frequencies,
    ntk_frequencies,
    t5_bucket_starts,
    t5_buckets,
    wavelengths,
    yarn_frequencies,
)

__all__ = ["phone"]  # a fixture

BOLD = "all => all.map(line => line.matches('.bold'))"
QUERY = np.array([0.9, 0.3, 0.5, 0.6, 0.7, -0.4, -0.2, 0.8])
KEY = np.array([0.2, 0.8, 0.9, -0.1, 0.6, 0.5, -0.8, 0.4])
SHOWN = np.arange(-1024, 1025)  # the relative positions in the picture of the buckets


def whole(number: int) -> str:
    return printed(number, 0)


def score(
    width: int, query: int, relative: int, *, base: float = 10000, layout: str = "interleaved"
) -> float:
    """Return the score of the explorers' vectors, turned by the package."""
    both = np.stack([QUERY[:width], KEY[:width]])
    one, other = apply_rope(both, [query, query + relative], base=base, layout=layout)
    return float(one @ other)


def rope_says(width: int, query: int, relative: int, base: float) -> str:
    said = [printed(score(width, place, relative, base=base)) for place in (query, 0)]
    assert said[0] == said[1]
    return (
        f"Query, solid, at {query}, key, dashed, at {whole(query + relative)}: score {said[0]},"
        f" the sum of what stands below the dials. Query at 0, key at {whole(relative)}: {said[1]}."
    )


def test_rope_keeps_the_score_while_both_move(page: Page) -> None:
    at(page, "explore/rope/")
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
    both = apply_rope(np.stack([QUERY, KEY]), [7, -2])
    assert shares == [printed(share) for share in both.prod(0).reshape(4, 2).sum(1).tolist()]


def layouts_say(width: int, pair: int, relative: int) -> str:
    right, wrong = (score(width, 0, relative, layout=name) for name in ("interleaved", "half"))
    return (
        f"Pair {pair} is dimensions {2 * pair} and {2 * pair + 1} interleaved,"
        f" {pair} and {pair + width // 2} half. At relative position {whole(relative)} interleaved"
        f" vectors score {printed(right)}; turned by halves {printed(wrong)},"
        f" or {printed(right)} if converted first."
    )


def test_layouts_say_both_pairs_and_both_scores(page: Page) -> None:
    at(page, "explore/layouts/")
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
    at(page, "explore/alibi/")
    expect(status(page, "alibi")).to_have_text(alibi_says(8, 3, 16))
    slider(page, "head").press("ArrowRight")
    expect(status(page, "alibi")).to_have_text(alibi_says(8, 4, 16))
    field(page, "heads").fill("3")  # and there is no head 4
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


def test_t5_says_which_relative_positions_share_a_bucket(page: Page) -> None:
    at(page, "explore/t5/")
    encoder = t5_says(-9, bidirectional=True, buckets=32, end=128)
    expect(status(page, "t5")).to_have_text(encoder)
    field(page, "key − query").fill("300")
    expect(status(page, "t5")).to_have_text(t5_says(300, bidirectional=True, buckets=32, end=128))
    page.get_by_label("model").select_option("decoder")
    field(page, "max distance").fill("100")
    expect(status(page, "t5")).to_have_text(t5_says(300, bidirectional=False, buckets=32, end=100))
    field(page, "key − query").fill("-20")
    field(page, "max distance").fill("5")  # too near for 32 buckets: 8 are left
    expect(field(page, "buckets")).to_have_value("8")
    expect(status(page, "t5")).to_have_text(t5_says(-20, bidirectional=False, buckets=8, end=5))


def test_slider_of_relative_positions_walks_through_all_its_stops(page: Page) -> None:
    at(page, "explore/t5/?t5.relative=-1024")
    walked = [-1024]
    while walked[-1] < 1024:
        slider(page, "key − query").press("ArrowRight")
        walked.append(int(field(page, "key − query").input_value()))
        assert walked[-1] > walked[-2]
    assert {-2, -1, 0, 1, 2} < set(walked)


def base_says(width: int, base: float, trained: int, factor: float, pair: int) -> str:
    plain = frequencies(width, base=base)
    never = np.sum(wavelengths(width, base=base) > trained)
    slower = [
        (plain / rule)[pair]
        for rule in (
            interpolated_frequencies(width, factor, base=base),
            ntk_frequencies(width, factor, base=base),
            yarn_frequencies(width, factor, trained, base=base),
        )
    ]
    return (
        f"Within {trained} positions {never} of {plain.size} pairs never turn once. Pair {pair}"
        f" turns {trained * plain[pair] / (2 * np.pi):.3g} times; for texts {factor:g} times"
        f" as long it is slowed by {slower[0]:.2f} (interpolation), {slower[1]:.2f} (NTK-aware),"
        f" {slower[2]:.2f} (YaRN)."
    )


def test_base_says_which_pairs_never_turn_and_what_each_rule_does(page: Page) -> None:
    at(page, "explore/base/")
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


IMPOSSIBLE = [
    ("rope", "width", "10", "width must be an even number from 2 to 8; got 10."),
    ("layouts", "width", "3", "width must be an even number from 2 to 8; got 3."),
    ("alibi", "heads", "2.5", "heads must be a whole number from 1 to 128; got 2.5."),
    ("t5", "buckets", "33", "buckets must be an even number from 4 to 64; got 33."),
    ("base", "width", "2", "width must be an even number from 4 to 1024; got 2."),
]


@pytest.mark.parametrize(("name", "control", "typed", "reason"), IMPOSSIBLE)
def test_impossible_sizes_are_refused_with_the_reason_wherever_they_stand(
    name: str, control: str, typed: str, reason: str, page: Page
) -> None:
    at(page, f"explore/{name}/?{name}.{control}={typed}")
    expect(status(page, name)).to_contain_text(f"In the address, {reason} Shown is ")
    own = field(page, control)
    value = own.input_value()
    own.fill(typed)
    expect(status(page, name)).to_have_text(reason)
    own.fill(value)
    expect(status(page, name)).not_to_contain_text("must be")


EXTREMES = [
    ("rope", "width=8&rope.query=100&rope.relative=-64"),
    ("layouts", "width=2&layouts.relative=-16"),
    ("alibi", "heads=128&alibi.farthest=4096"),
    ("alibi", "heads=1&alibi.farthest=1&alibi.head=1&alibi.distance=1"),
    ("t5", "end=512&t5.buckets=64&t5.relative=1024"),
    ("base", "width=4&base.base=1000000&base.trained=1&base.factor=64"),
    ("base", "width=1024&base.base=2&base.trained=1000000&base.factor=1"),
]


@pytest.mark.parametrize(("name", "view"), EXTREMES)
def test_pictures_hold_all_their_words_at_the_ends_of_their_sliders(
    name: str, view: str, phone: Page
) -> None:
    phone.goto(f"explore/{name}/?{name}.{view}")
    expect(status(phone, name)).not_to_be_empty()
    expect(status(phone, name)).not_to_contain_text("must be")
    assert phone.locator(f"explore-{name} text").evaluate_all(CUT_OFF) == []
    picture = phone.locator(f"explore-{name} svg").inner_html()
    assert not re.search("NaN|Infinity|undefined", picture)
