"""What `scores.relative` promises, against the papers' indices written out as loops."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from posenc.positions import relative_positions
from posenc.scores.relative import relative_shift, shaw_index

Integers = NDArray[np.int64]

lengths = st.integers(0, 12)
quick = settings(database=None, deadline=None, derandomize=True, max_examples=60)


def key_minus_query(queries: int, keys: int, offset: int) -> list[list[int]]:
    """Return j − i for query position i and key position j."""
    return [[j - i for j in range(keys)] for i in range(offset, offset + queries)]


def shift_by_index(scores: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return out[..., i, j] = scores[..., i, j − i + q − 1], entry by entry."""
    *leading, queries, columns = scores.shape
    out = np.full((*leading, queries, columns - queries + 1), np.nan)
    for i in range(queries):
        for j in range(out.shape[-1]):
            out[..., i, j] = scores[..., i, j - i + queries - 1]
    return out


# Relative positions


@quick
@given(queries=lengths, keys=lengths, offset=st.integers(0, 10**12))
def test_a_relative_position_is_key_minus_query(queries: int, keys: int, offset: int) -> None:
    relative = relative_positions(queries, keys, query_offset=offset)
    assert relative.tolist() == key_minus_query(queries, keys, offset)
    assert relative.dtype == np.int64


@quick
@given(queries=lengths, keys=lengths)
def test_swapping_queries_and_keys_changes_the_sign(queries: int, keys: int) -> None:
    np.testing.assert_array_equal(
        relative_positions(queries, keys), -relative_positions(keys, queries).T
    )


# Shaw's index


def test_shaw_index_of_the_papers_figure() -> None:
    # Distances beyond k = 2 share a row: w_{-2}, w_{-1}, w_0, w_1, w_2 are rows 0 … 4.
    expected = [[2, 3, 4, 4, 4], [1, 2, 3, 4, 4], [0, 1, 2, 3, 4], [0, 0, 1, 2, 3], [0, 0, 0, 1, 2]]
    assert np.asarray(shaw_index(relative_positions(5, 5), max_distance=2)).tolist() == expected


@quick
@given(
    relative=arrays(np.int64, st.integers(1, 8), elements=st.integers(1 - 2**53, 2**53 - 1)),
    furthest=st.integers(0, 2**53),
)
def test_shaw_index_is_the_clipped_relative_position(relative: Integers, furthest: int) -> None:
    index = np.asarray(shaw_index(relative, max_distance=furthest))
    expected = [max(-furthest, min(furthest, int(r))) + furthest for r in relative]
    assert index.tolist() == expected
    assert index.dtype == np.int64


def test_shaw_index_keeps_every_shape() -> None:
    assert shaw_index(-7, max_distance=3) == 0
    assert np.shape(shaw_index(np.zeros((2, 0, 3), int), max_distance=3)) == (2, 0, 3)
    assert np.shape(shaw_index([], max_distance=3)) == (0,)


def test_shaw_index_accepts_narrow_and_unsigned_integers() -> None:
    # 200 + 100 would overflow a byte, and −max_distance would not fit an unsigned one.
    wide = shaw_index(np.array([0, 100, 200], np.uint8), max_distance=150)
    np.testing.assert_array_equal(wide, [150, 250, 300])


# The Transformer-XL shift


@quick
@given(queries=st.integers(1, 7), keys=lengths, leading=st.lists(st.integers(0, 3), max_size=2))
def test_the_shift_equals_its_definition_by_index(
    queries: int, keys: int, leading: list[int]
) -> None:
    shape = (*leading, queries, queries + keys - 1)
    scores = np.random.default_rng(0).normal(size=shape)
    shifted = relative_shift(scores)
    np.testing.assert_array_equal(shifted, shift_by_index(scores))
    assert shifted.shape == (*leading, queries, keys)


def test_the_shift_avoids_a_vector_per_pair() -> None:
    # q_i · a_{clip(j−i)}: by the definition, with a gathered (5, 6, 4); by the shift, with (10, 4).
    rng = np.random.default_rng(1)
    q, table = rng.normal(size=(5, 4)), rng.normal(size=(7, 4))
    by_definition = np.einsum(
        "id,ijd->ij", q, table[shaw_index(relative_positions(5, 6), max_distance=3)]
    )
    rows = table[shaw_index(np.arange(-4, 6), max_distance=3)]
    # Dot products of four numbers, added up in two orders.
    np.testing.assert_allclose(relative_shift(q @ rows.T), by_definition, rtol=0, atol=1e-14)
