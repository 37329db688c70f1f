"""What `scores.t5` promises, against the authors' rule worked out in 200 digits.

`authors_bucket` is the rule of the authors' code, with exact logarithms in place of float32. The
powers compared here are whole numbers of at most 125 digits, so two that differ do so long before
the 190th digit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import cache

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from posenc.positions import relative_positions
from posenc.scores.t5 import t5_bias, t5_bucket_starts, t5_buckets

Integers = NDArray[np.int64]

quick = settings(database=None, deadline=None, derandomize=True, max_examples=60)

# Buckets on one side, and the distance from which one more would begin.
RULES = [(16, 128), (32, 128), (2, 2), (3, 9), (5, 3), (9, 128), (19, 16), (54, 64), (16, 20_000)]

sides = st.integers(2, 24)


@cache
def exact_log(number: int) -> mpmath.mpf:
    """Return a natural logarithm in 200 digits."""
    with mpmath.workdps(200):
        return mpmath.log(number)


def authors_buckets(distances: Iterable[int], side: int, max_distance: int) -> list[int]:
    """Return the bucket of each distance among those of one side."""
    exact = side // 2
    with mpmath.workdps(200):
        # What should come out whole comes out short of it in the 199th digit, or not at all.
        short = mpmath.mpf(10) ** -190
        steps = (side - exact) / (exact_log(max_distance) - exact_log(exact))

        def bucket(distance: int) -> int:
            if distance < exact:
                return distance
            step = mpmath.floor((exact_log(distance) - exact_log(exact)) * steps + short)
            return min(exact + int(step), side - 1)

        return [bucket(distance) for distance in distances]


def authors_bucket(distance: int, side: int, max_distance: int) -> int:
    """Return the bucket of one distance."""
    return authors_buckets([distance], side, max_distance)[0]


def causal(distances: object, side: int, max_distance: int) -> Integers:
    """Return our buckets of keys at these distances behind the query."""
    behind = -np.asarray(distances)
    return np.asarray(
        t5_buckets(behind, bidirectional=False, buckets=side, max_distance=max_distance)
    )


# The buckets


@pytest.mark.slow
@pytest.mark.parametrize(("side", "max_distance"), RULES)
def test_every_distance_to_20_000_has_the_authors_bucket(side: int, max_distance: int) -> None:
    distances = sorted({*range(min(2 * max_distance, 20_001)), *range(0, 20_001, 7)})
    expected = authors_buckets(distances, side, max_distance)
    np.testing.assert_array_equal(causal(distances, side, max_distance), expected)


@quick
@given(side=sides, data=st.data())
def test_a_bucket_begins_where_the_authors_rule_first_reaches_it(
    side: int, data: st.DataObject
) -> None:
    max_distance = data.draw(st.integers(side // 2 + 1, 3000))
    starts = t5_bucket_starts(bidirectional=False, buckets=side, max_distance=max_distance)
    for bucket, start in enumerate(starts.tolist()):
        assert authors_bucket(start, side, max_distance) >= bucket
        assert start == 0 or authors_bucket(start - 1, side, max_distance) < bucket


def test_the_last_bucket_begins_before_max_distance() -> None:
    assert t5_bucket_starts(bidirectional=True)[-1] == 91
    assert t5_bucket_starts(bidirectional=False)[-1] == 113


def test_a_float64_logarithm_puts_some_distances_one_bucket_low() -> None:
    # 9 buckets, exact below 4, 5 more up to 128 = 4·2^5: each should begin at a power of two.
    def by_logarithm(distance: int) -> int:
        return 4 + int(math.log(distance / 4) / math.log(128 / 4) * 5)

    assert [by_logarithm(n) for n in (4, 8, 16, 32, 64)] == [4, 4, 5, 7, 7]
    assert causal([4, 8, 16, 32, 64], 9, 128).tolist() == [4, 5, 6, 7, 8]
    assert [authors_bucket(n, 9, 128) for n in (4, 8, 16, 32, 64)] == [4, 5, 6, 7, 8]


@quick
@given(side=sides, end=st.integers(13, 5000), distances=st.lists(st.integers(0, 30_000)))
def test_every_distance_has_the_authors_bucket(side: int, end: int, distances: list[int]) -> None:
    buckets = causal(distances, side, end)
    assert buckets.dtype == np.int64
    assert buckets.tolist() == authors_buckets(distances, side, end)


@quick
@given(side=sides, end=st.integers(13, 5000), distance=st.integers(1, 2**53 - 1))
def test_keys_ahead_use_the_second_half_of_the_buckets(side: int, end: int, distance: int) -> None:
    behind, ahead = np.asarray(
        t5_buckets([-distance, distance], buckets=2 * side, max_distance=end)
    )
    assert ahead == behind + side
    assert behind == causal(distance, side, end)


@quick
@given(side=sides, end=st.integers(13, 5000), ahead=st.integers(0, 2**53 - 1))
def test_a_decoder_puts_all_keys_ahead_into_bucket_zero(side: int, end: int, ahead: int) -> None:
    assert t5_buckets(ahead, bidirectional=False, buckets=side, max_distance=end) == 0


def test_the_defaults_are_those_of_t5s_encoder() -> None:
    # Section 2.1: 32 embeddings, and one for all that is 128 or more away.
    relative, table = np.arange(-300, 300), np.arange(32.0)[:, np.newaxis]
    buckets = t5_buckets(relative, bidirectional=True, buckets=32, max_distance=128)
    np.testing.assert_array_equal(t5_buckets(relative), buckets)
    starts = t5_bucket_starts(bidirectional=True, buckets=32, max_distance=128)
    np.testing.assert_array_equal(t5_bucket_starts(), starts)
    np.testing.assert_array_equal(t5_bias(table, [relative])[0, 0], buckets)


def test_buckets_keep_every_shape() -> None:
    assert t5_buckets(-1) == 1
    assert np.shape(t5_buckets(np.zeros((2, 0, 3), int))) == (2, 0, 3)
    assert np.shape(t5_buckets([])) == (0,)
    narrow = np.array([[-128, 127]], np.int8)
    np.testing.assert_array_equal(t5_buckets(narrow), [[15, 31]])  # −(−128) overflows a byte
    np.testing.assert_array_equal(t5_buckets(np.array([250], np.uint8), bidirectional=False), [0])


# The bias


@pytest.mark.parametrize("both", [True, False])
def test_the_bias_is_the_tables_entry_for_head_and_bucket(both: bool) -> None:
    rng = np.random.default_rng(0)
    table, relative = rng.normal(size=(8, 3)), relative_positions(12, 20, query_offset=4)
    bias = t5_bias(table, relative, bidirectional=both, max_distance=16)
    assert bias.shape == (3, 12, 20)
    for head in range(3):
        for i in range(12):
            for j in range(20):
                ahead = j > i + 4
                bucket = authors_bucket(abs(j - i - 4), 4 if both else 8, 16)
                row = bucket + 4 * ahead if both else bucket * (not ahead)
                assert bias[head, i, j] == table[row, head]


def test_the_smallest_tables_have_four_rows_for_an_encoder_and_two_for_a_decoder() -> None:
    relative = [[-9, -1, 0, 1, 9]]
    encoder = t5_bias([[0], [1], [2], [3]], relative, max_distance=2)
    decoder = t5_bias([[0], [1]], relative, bidirectional=False, max_distance=2)
    assert encoder.tolist() == [[[1, 1, 0, 3, 3]]]
    assert decoder.tolist() == [[[1, 1, 0, 0, 0]]]


# Bad input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"buckets": 1}, "buckets must be an integer, 2 or more; got 1"),
        ({"max_distance": 15}, "max_distance must be above 16, where the exact range ends; got 15"),
    ],
)
def test_rules_without_a_logarithmic_range_are_refused(
    arguments: dict[str, int], message: str
) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        t5_buckets([1], bidirectional=False, **arguments)


@pytest.mark.parametrize(
    ("rows", "relative", "message"),
    [
        (1, (1, 1), "table must have 2 rows or more; got 1"),
        (32, (2,), "relative must be of shape (query, key); got (2,)"),
        (32, (2, 3, 3), "relative must be of shape (query, key); got (2, 3, 3)"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(
    rows: int, relative: tuple[int, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        t5_bias(np.zeros((rows, 2)), np.zeros(relative, int), bidirectional=False)


@pytest.mark.parametrize(("buckets", "both"), [(2, False), (3, False), (4, True), (5, False)])
def test_the_smallest_max_distance_is_one_above_the_exact_range(buckets: int, both: bool) -> None:
    least = buckets // (4 if both else 2) + 1
    starts = t5_bucket_starts(bidirectional=both, buckets=buckets, max_distance=least)
    assert starts.size == buckets // (1 + both)
    with pytest.raises(ValueError, match="max_distance must be above"):
        t5_bucket_starts(bidirectional=both, buckets=buckets, max_distance=least - 1)
