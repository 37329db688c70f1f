"""What `scores.swin` promises, against the two axes of section 3.2 counted out in loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posenc.scores.swin import swin_bias, swin_index, swin_log_offsets

windows = st.integers(1, 10)
quick = settings(database=None, deadline=None, derandomize=True, max_examples=40)


def authors_index(window: int) -> list[list[int]]:
    """Return (Δrow + M − 1)·(2M − 1) + Δcolumn + M − 1, Δ = query − key, for every pair."""
    places = [(row, column) for row in range(window) for column in range(window)]
    return [
        [
            (row - key_row + window - 1) * (2 * window - 1) + column - key_column + window - 1
            for key_row, key_column in places
        ]
        for row, column in places
    ]


@pytest.mark.parametrize("window", range(1, 13))
def test_the_index_is_the_authors(window: int) -> None:
    index = swin_index(window)
    assert index.tolist() == authors_index(window)
    assert index.dtype == np.int64


def test_the_index_counts_query_minus_key() -> None:
    # As a key, the patch below the first one is one row further down.
    index, middle = swin_index(3), 12
    assert index[3, 0] == middle + 5
    assert index[0, 3] == middle - 5
    assert index[1, 0] == middle + 1


@quick
@given(window=windows)
def test_the_index_uses_exactly_the_rows_of_the_table(window: int) -> None:
    assert set(swin_index(window).flat) == set(range((2 * window - 1) ** 2))


@quick
@given(window=windows)
def test_the_indices_of_a_pair_and_its_mirror_have_a_constant_sum(window: int) -> None:
    index = swin_index(window)
    np.testing.assert_array_equal(index + index.T, 4 * window * (window - 1))


@quick
@given(window=windows, data=st.data())
def test_moving_a_pair_within_the_window_keeps_its_row(window: int, data: st.DataObject) -> None:
    place = st.integers(0, window - 1)
    query = (data.draw(place), data.draw(place))
    key = (data.draw(place), data.draw(place))
    down = data.draw(st.integers(-min(query[0], key[0]), window - 1 - max(query[0], key[0])))
    across = data.draw(st.integers(-min(query[1], key[1]), window - 1 - max(query[1], key[1])))
    index = swin_index(window).reshape(window, window, window, window)
    moved = index[query[0] + down, query[1] + across, key[0] + down, key[1] + across]
    assert moved == index[(*query, *key)]


@quick
@given(window=windows, heads=st.integers(1, 4))
def test_the_bias_is_the_tables_entry_for_head_and_offset(window: int, heads: int) -> None:
    table = np.random.default_rng(window).normal(size=((2 * window - 1) ** 2, heads))
    bias = swin_bias(table, window)
    assert bias.shape == (heads, window**2, window**2)
    for head in range(heads):
        np.testing.assert_array_equal(bias[head], table[:, head][np.array(authors_index(window))])


# Swin V2's offsets


@pytest.mark.parametrize("window", [1, 2, 7, 8])
@pytest.mark.parametrize("trained", [None, 4])
def test_log_offsets_are_the_papers_in_the_order_of_the_table(
    window: int, trained: int | None
) -> None:
    offsets = swin_log_offsets(window, trained_window=trained)
    index, furthest = swin_index(window), (trained or max(window, 2)) - 1
    assert offsets.shape == ((2 * window - 1) ** 2, 2)
    for query, key in np.ndindex(*index.shape):
        down, across = np.subtract(divmod(query, window), divmod(key, window)).tolist()
        for apart, found in zip((down, across), offsets[index[query, key]], strict=True):
            size = math.log(1 + 8 * abs(apart) / furthest) / math.log(8)
            assert found == pytest.approx(math.copysign(size, apart), abs=1e-15)


def test_a_larger_window_keeps_what_a_smaller_one_has_seen_and_goes_little_beyond() -> None:
    """At twice the window the furthest offset is 1.32 times as large and not 15/7 times."""
    trained = np.unique(swin_log_offsets(8)[:, 0])
    larger = np.unique(swin_log_offsets(16, trained_window=8)[:, 0])
    assert np.isin(trained, larger).all()
    assert trained.max() == pytest.approx(math.log(9) / math.log(8))
    assert larger.max() / trained.max() == pytest.approx(math.log(1 + 8 * 15 / 7) / math.log(9))
    assert larger.max() / trained.max() < 1.32 < 15 / 7
