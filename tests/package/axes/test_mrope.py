"""What `axes.mrope` promises: which axis has which pair, and where every token stands."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from posenc import (
    apply_rope,
    apply_rope_nd,
    frequencies,
    mrope_frequencies,
    mrope_positions,
)

Part = int | tuple[int, int, int]

SECTIONS = [((16, 24, 24), False), ((24, 20, 20), False), ((24, 20, 20), True), ((1, 1, 1), True)]
quick = settings(database=None, deadline=None, derandomize=True, max_examples=60)

grids = st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
sequences = st.lists(st.one_of(st.integers(0, 4), grids), max_size=5)


def positions_by_token(parts: list[Part], interval: float) -> list[list[int]]:
    """Return the positions that the paper's rule gives, token by token."""
    found: list[list[int]] = []
    for part in parts:
        start = max((max(point) for point in found), default=-1) + 1
        if isinstance(part, int):
            found += [[start + token] * 3 for token in range(part)]
            continue
        for frame in range(part[0]):
            for row in range(part[1]):
                for column in range(part[2]):
                    found.append([start + int(frame * interval), start + row, start + column])
    return found


@pytest.mark.parametrize(("sections", "interleaved"), SECTIONS)
def test_each_pair_has_one_axis_and_the_frequency_it_has_in_a_text(
    sections: tuple[int, ...], interleaved: bool
) -> None:
    d = 2 * sum(sections)
    omega = mrope_frequencies(d, sections, base=1e6, interleaved=interleaved)
    np.testing.assert_array_equal(omega.sum(axis=0), frequencies(d, base=1e6))
    assert np.count_nonzero(omega, axis=0).tolist() == [1] * (d // 2)
    assert np.count_nonzero(omega, axis=1).tolist() == list(sections)


@pytest.mark.parametrize("layout", ["interleaved", "half"])
@pytest.mark.parametrize(("sections", "interleaved"), SECTIONS)
def test_a_text_is_rotated_exactly_as_by_rope(
    sections: tuple[int, ...], interleaved: bool, layout: str
) -> None:
    d = 2 * sum(sections)
    x = np.random.default_rng(0).standard_normal((9, d))
    omega = mrope_frequencies(d, sections, interleaved=interleaved)
    rotated = apply_rope_nd(x, mrope_positions([9]), omega, layout=layout)
    np.testing.assert_array_equal(rotated, apply_rope(x, np.arange(9), layout=layout))


def test_axes_take_turns_until_the_smaller_ones_have_no_pairs_left() -> None:
    omega = mrope_frequencies(16, (4, 2, 2), interleaved=True)
    assert omega.argmax(axis=0).tolist() == [0, 1, 2, 0, 1, 2, 0, 0]
    blocks = mrope_frequencies(16, (4, 2, 2))
    assert blocks.argmax(axis=0).tolist() == [0, 0, 0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("sections", [(1, 2, 1), (0, 2, 2), (2, 3, 3)])
def test_sections_that_do_not_fit_into_turns_are_refused(sections: tuple[int, ...]) -> None:
    d = 2 * sum(sections)
    with pytest.raises(ValueError, match="sections must be such that no axis but the first"):
        mrope_frequencies(d, sections, interleaved=True)
    assert mrope_frequencies(d, sections).shape == (3, d // 2)


def test_two_axes_are_shared_out_like_three() -> None:
    assert mrope_frequencies(8, [2, 2], interleaved=True).argmax(axis=0).tolist() == [0, 1, 0, 1]


@quick
@given(parts=sequences, interval=st.sampled_from([0.0, 0.5, 1.0, 2.0, 4.25]))
def test_positions_are_those_of_the_paper_counted_token_by_token(
    parts: list[Part], interval: float
) -> None:
    positions = mrope_positions(parts, intervals=interval)
    assert positions.shape[1] == 3
    assert positions.dtype == np.int64
    assert positions.tolist() == positions_by_token(parts, interval)


@quick
@given(parts=sequences)
def test_the_two_rules_for_what_follows_agree_on_images(
    parts: list[Part],
) -> None:
    images = [part if isinstance(part, int) else (1, *part[1:]) for part in parts]
    by_sides = mrope_positions(images, after="sides")
    np.testing.assert_array_equal(by_sides, mrope_positions(images))


def test_after_a_video_the_two_rules_differ_and_one_of_them_repeats_numbers() -> None:
    parts: list[Part] = [1, (4, 2, 2), 2]
    largest, by_sides = mrope_positions(parts), mrope_positions(parts, after="sides")
    assert largest[-2:].tolist() == [[5] * 3, [6] * 3]
    assert by_sides[-2:].tolist() == [[3] * 3, [4] * 3]
    np.testing.assert_array_equal(largest[:-2], by_sides[:-2])
    assert by_sides[:-2, 0].max() == 4  # the time of the last frame, which the last word has too


def test_intervals_are_one_for_each_grid_and_round_down() -> None:
    parts: list[Part] = [(3, 1, 1), 2, (3, 1, 1)]
    positions = mrope_positions(parts, intervals=[2.0, 0.75])
    assert positions[:, 0].tolist() == [0, 2, 4, 5, 6, 7, 7, 8]
    same = mrope_positions(parts, intervals=2.0)
    np.testing.assert_array_equal(same, mrope_positions(parts, intervals=[2.0, 2.0]))


def test_the_next_token_follows_the_largest_number_and_not_the_length() -> None:
    parts: list[Part] = [2, (1, 4, 6), 3]
    positions = mrope_positions(parts)
    longer = mrope_positions([*parts, 1])
    assert len(positions) == 29
    assert longer[-1].tolist() == [positions.max() + 1] * 3 == [11] * 3


def test_numbers_of_tokens_may_be_arrays_without_axes() -> None:
    """A processor counts tokens with numpy or torch."""
    parts: list[int | NDArray[np.int64]] = [np.array(2), np.array([1, 2, 3]), 1]
    np.testing.assert_array_equal(mrope_positions(parts), mrope_positions([2, (1, 2, 3), 1]))


def test_parts_may_be_a_generator_or_empty() -> None:
    assert mrope_positions([]).shape == (0, 3)
    parts: tuple[int | NDArray[np.int64], ...] = (2, np.array([1, 1, 2]))
    positions = mrope_positions(part for part in parts)
    np.testing.assert_array_equal(positions, mrope_positions([2, [1, 1, 2]]))


@pytest.mark.parametrize("interval", [1e300, 2.0**52])
def test_intervals_that_leave_the_exact_integers_are_refused(interval: float) -> None:
    with pytest.raises(ValueError, match=r"intervals must keep positions below 2\*\*53; got"):
        mrope_positions([1, (3, 1, 2)], intervals=interval)
    assert mrope_positions([(1, 1, 2)], intervals=interval).max() == 1
