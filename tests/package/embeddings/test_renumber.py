"""What `embeddings.renumber` promises: the positions, distances and keys, counted out."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from posenc import (
    attention,
    dual_chunk_relative,
    log_scale,
    pose_positions,
    random_positions,
    relative_positions,
    rerope_relative,
    self_extend_relative,
    sink_mask,
)

Vectors = np.ndarray[tuple[int, ...], np.dtype[np.floating]]


# For training


def test_random_positions_are_an_ordered_draw_of_all() -> None:
    for seed in range(50):
        found = random_positions(7, 20, seed=seed)
        assert found.dtype == np.int64
        assert found.shape == (7,)
        assert (np.diff(found) > 0).all()
        assert found.min() >= 0
        assert found.max() < 20


def test_every_set_of_positions_is_equally_likely() -> None:
    """Three of five: ten sets, each a tenth of the time."""
    draws = [tuple(random_positions(3, 5, seed=seed).tolist()) for seed in range(2000)]
    counts = [draws.count(one) for one in set(draws)]
    assert len(counts) == 10
    assert max(abs(count - 200) for count in counts) < 60  # 4.5 standard deviations


def test_a_seed_repeats_a_draw_and_none_does_not() -> None:
    np.testing.assert_array_equal(
        random_positions(50, 1000, seed=3), random_positions(50, 1000, seed=3)
    )
    assert (random_positions(50, 10**6) != random_positions(50, 10**6)).any()
    assert (pose_positions(50, 10**9) != pose_positions(50, 10**9)).any()
    assert random_positions(0, 0).shape == (0,)


@pytest.mark.parametrize("chunks", [1, 2, 5])
def test_chunks_are_consecutive_and_gaps_lie_between_them(chunks: int) -> None:
    for seed in range(100):
        found = pose_positions(20, 100, chunks=chunks, seed=seed)
        assert found.dtype == np.int64
        assert found[0] == 0
        assert found.max() <= 99
        steps = np.diff(found)
        assert (steps >= 1).all()
        assert (steps > 1).sum() <= chunks - 1
    np.testing.assert_array_equal(pose_positions(20, 20, chunks=chunks), range(20))


def test_chunks_of_every_length_occur_and_there_are_two_unless_told() -> None:
    gaps = [np.flatnonzero(np.diff(pose_positions(8, 10**6, seed=seed)) > 1) for seed in range(300)]
    assert {found.size for found in gaps} == {1}
    assert {int(found[0]) + 1 for found in gaps} == set(range(1, 8))


def test_over_many_sequences_every_distance_up_to_the_longest_occurs() -> None:
    seen: set[int] = set()
    for seed in range(3000):
        places = pose_positions(8, 32, seed=seed)
        seen |= set((places[:, np.newaxis] - places).ravel().tolist())
    assert {x for x in seen if x >= 0} == set(range(32))


# For reading


def test_self_extend_is_exact_near_and_in_groups_beyond_pair_by_pair() -> None:
    found = self_extend_relative(5, 40, window=6, group=4, query_offset=30)
    for row, key in np.ndindex(*found.shape):
        query = row + 30
        near = query - key < 6
        expected = key - query if near else key // 4 - (query // 4 + 6 - 6 // 4)
        assert found[row, key] == expected


@pytest.mark.parametrize(("trained", "window", "group"), [(64, 16, 4), (64, 32, 8), (10, 1, 1)])
def test_self_extend_meets_no_new_distance_up_to_its_length(
    trained: int, window: int, group: int
) -> None:
    longest = (trained - window) * group + window
    seen = self_extend_relative(1, longest, window=window, group=group, query_offset=longest - 1)
    assert -seen.min() == trained - 1
    more = self_extend_relative(1, longest + 1, window=window, group=group, query_offset=longest)
    assert -more.min() == trained


def test_self_extend_keeps_the_order_of_keys() -> None:
    found = self_extend_relative(1, 300, window=20, group=7, query_offset=299)
    assert (np.diff(found) >= 0).all()
    np.testing.assert_array_equal(
        self_extend_relative(9, 9, window=3, group=1), relative_positions(9, 9)
    )


@pytest.mark.parametrize("step", [0.0, 0.25, 1.0])
def test_rerope_stops_or_slows_at_the_window_pair_by_pair(step: float) -> None:
    found = rerope_relative(4, 30, window=8, step=step, query_offset=20)
    for row, key in np.ndindex(*found.shape):
        distance = row + 20 - key
        slowed = distance if distance <= 8 else 8 + step * (distance - 8)
        assert found[row, key] == -slowed
    if step == 0:
        assert found.min() == -8
    if step == 1:
        np.testing.assert_array_equal(found, relative_positions(4, 30, query_offset=20))


@pytest.mark.parametrize(("size", "local"), [(1, 0), (5, 0), (5, 2), (8, 3), (12, 1), (300, 5)])
def test_dual_chunk_distances_are_those_of_three_blocks_per_chunk(size: int, local: int) -> None:
    """As ChunkLlama computes them: positions of keys, and three lists of positions of queries."""
    total, length = 61, size - local
    keys = np.arange(total) % length
    within = np.arange(length)
    following = (within + length).clip(max=size)
    expected = relative_positions(total, total).copy()
    for begin in range(0, total, length):
        rows, count = slice(begin, begin + length), min(length, total - begin)
        expected[rows, rows] = keys[rows] - within[:count, np.newaxis]
        if begin:
            before = slice(begin - length, begin)
            expected[rows, before] = keys[before] - following[:count, np.newaxis]
            earlier = slice(0, begin - length)
            expected[rows, earlier] = keys[earlier] - size
    found = dual_chunk_relative(total, total, chunk_size=size, local_size=local)
    np.testing.assert_array_equal(found, expected, strict=True)
    later = dual_chunk_relative(4, total, chunk_size=size, local_size=local, query_offset=57)
    np.testing.assert_array_equal(later, expected[57:])


@pytest.mark.parametrize(("size", "local"), [(5, 0), (5, 2), (8, 3), (12, 1), (64, 20)])
def test_dual_chunk_distances_are_exact_near_and_bounded_beyond(size: int, local: int) -> None:
    plain = -relative_positions(300, 300)
    found = -dual_chunk_relative(300, 300, chunk_size=size, local_size=local)
    near = plain <= local
    np.testing.assert_array_equal(found[near], plain[near])
    assert found[~near].min() == local + 1
    assert found.max() == size


@pytest.mark.parametrize("sinks", [0, 1, 4])
def test_a_query_sees_the_first_keys_and_the_last_and_no_more(sinks: int) -> None:
    mask = sink_mask(40, window=6, sinks=sinks)
    for query, key in np.ndindex(40, 40):
        assert mask[query, key] == (key <= query and (query - key < 6 or key < sinks))
    assert mask.sum(axis=1).max() == 6 + sinks
    np.testing.assert_array_equal(sink_mask(3, window=6, sinks=sinks, query_offset=37), mask[37:])
    if sinks == 4:
        np.testing.assert_array_equal(sink_mask(40, window=6), mask)  # four unless told


def test_without_sinks_the_weight_of_the_first_token_goes_elsewhere() -> None:
    """One key takes nine tenths of the weight; hidden, it leaves all others 19 times theirs."""
    scores = np.zeros((1, 20))
    scores[0, 0] = math.log(9 * 19)
    eye = np.eye(1)
    q, k = eye[[0]], scores.T
    full = attention(q, k, np.zeros((20, 1)))[1]
    kept = attention(q, k, np.zeros((20, 1)), mask=sink_mask(1, 20, window=10, query_offset=19))[1]
    lost = attention(
        q, k, np.zeros((20, 1)), mask=sink_mask(1, 20, window=10, sinks=0, query_offset=19)
    )[1]
    assert full[0, 0] == pytest.approx(0.9)
    assert kept[0, -1] / full[0, -1] < 1.1
    assert lost[0, -1] / full[0, -1] > 18


def test_the_factor_is_the_ratio_of_logarithms_and_one_up_to_the_trained_length() -> None:
    found = log_scale(5000, 100)
    np.testing.assert_array_equal(found[:100], 1)
    for position in (100, 999, 4999):
        with mpmath.workdps(50):
            exact = float(mpmath.log(position + 1) / mpmath.log(100))
        assert found[position] == pytest.approx(exact, rel=1e-15)
    assert log_scale(np.array([[9999]]), 100).item() == 2


def test_with_the_factor_one_key_keeps_its_share_among_ever_more_others() -> None:
    """A score log n above the others has half of the weight, for any n; without it, ever less."""
    trained, gap = 64, math.log(64)  # in training it is that much above
    for n in (64, 4096, 2**18):
        scaled = math.exp(gap * log_scale(np.array(n - 1), trained).item())
        assert scaled / (scaled + n - 1) == pytest.approx(0.5, abs=0.005)
        if n > 64:
            assert 64 / (64 + n - 1) < 0.02


# Windows in layers, and no positions at all


def influence(masks: list[np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]) -> list[int]:
    """Return the tokens that change the last output of a stack of layers with these masks."""
    random = np.random.default_rng(0)
    length = len(masks[0])
    x = random.normal(size=(length, 4))

    def read(x: Vectors) -> Vectors:
        for mask in masks:
            x = x + attention(0 * x, 0 * x, x, mask=mask)[0]
        last: Vectors = x[-1]
        return last

    whole = read(x)
    changed = []
    for token in range(length):
        other = x.copy()
        other[token] += 1
        if np.abs(read(other) - whole).max() > 0:
            changed.append(token)
    return changed


@pytest.mark.parametrize(("window", "layers"), [(1, 3), (3, 1), (3, 4), (5, 2)])
def test_a_stack_of_windows_reaches_layers_times_one_less_than_the_window(
    window: int, layers: int
) -> None:
    length = 24
    seen = influence([sink_mask(length, window=window, sinks=0)] * layers)
    assert seen == list(range(length - 1 - layers * (window - 1), length))


@pytest.mark.parametrize("place", [0, 2, 3])
def test_one_layer_without_a_window_lets_everything_through(place: int) -> None:
    masks = [sink_mask(24, window=3, sinks=0)] * 4
    masks[place] = np.tril(np.ones((24, 24), bool))
    assert influence(masks) == list(range(24))


def test_a_window_shows_no_distance_that_a_short_sequence_has_not() -> None:
    for length in (16, 400):
        mask = sink_mask(length, window=16, sinks=0)
        distances = -relative_positions(length, length)[mask]
        assert set(distances.tolist()) == set(range(16))


def test_a_mean_of_the_past_tells_the_position_where_the_first_token_is_marked() -> None:
    """Scores of 0, and a value that is 1 for the first token alone: 1/n at the n-th place."""
    marked, zeros = np.zeros((50, 1)), np.zeros((50, 1))
    marked[0] = 1
    found = attention(zeros, zeros, marked, mask=np.tril(np.ones((50, 50), bool)))[0]
    np.testing.assert_allclose(1 / found[:, 0], np.arange(1, 51), rtol=1e-13)


def test_a_lead_lasts_under_ssmax_if_it_exceeds_the_inverse_of_s() -> None:
    """SSMax: softmax of the scores times s·log n, where one key leads n − 1 others by 5."""

    def weight(n: int, s: float) -> float:
        scores = np.full(n, -2.0)
        scores[-1] = 3.0
        powers = np.exp(scores * s * np.log(2) * float(log_scale(np.array(n - 1), 2)))
        return float(powers[-1] / powers.sum())

    counts = 10, 1000, 100_000, 1_000_000
    growing, half, falling = ([weight(n, s) for n in counts] for s in (0.25, 0.2, 0.15))
    assert growing == sorted(growing)
    assert growing[-1] > 0.95
    assert half[-1] == pytest.approx(0.5, abs=1e-6)
    assert falling == sorted(falling, reverse=True)
    assert falling[-1] < 0.05
