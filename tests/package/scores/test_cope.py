"""What `scores.cope` promises, against loops in 50 digits and counts of what is counted."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from posenc import cope_positions, cope_scores

RANDOM = np.random.default_rng(0)
SURE = 60.0  # a score whose gate is 1 in float64; −SURE has one of 1e-26


@pytest.mark.parametrize(("queries", "keys"), [(6, 6), (1, 6), (3, 7), (0, 3)])
def test_positions_are_sums_of_sigmoids_in_50_digits(queries: int, keys: int) -> None:
    scores = RANDOM.normal(size=(2, queries, keys)) * 3
    found = cope_positions(scores)
    assert found.shape == scores.shape
    with mpmath.workdps(50):
        for head, row, j in np.ndindex(*scores.shape):
            i = row + keys - queries
            gates = [1 / (1 + mpmath.exp(-mpmath.mpf(s))) for s in scores[head, row, j : i + 1]]
            assert found[head, row, j] == pytest.approx(float(sum(gates)), abs=1e-13)


def test_a_query_that_counts_some_tokens_counts_their_occurrences() -> None:
    """What it is for: the position of a key is how many marks lie from it to the query."""
    marks = np.array([0, 1, 0, 0, 1, 0, 1, 0])
    positions = cope_positions(np.where(marks, SURE, -SURE)[np.newaxis].repeat(8, axis=0))
    for i, j in zip(*np.tril_indices(8), strict=True):
        assert positions[i, j] == pytest.approx(marks[j : i + 1].sum(), abs=1e-20)


def test_a_query_that_counts_everything_has_the_distance_plus_one() -> None:
    positions = cope_positions(np.full((5, 5), SURE))
    i, j = np.indices((5, 5))
    np.testing.assert_array_equal(positions, np.maximum(i - j + 1, 0))


def test_two_queries_at_one_place_may_count_differently() -> None:
    """So no bias by distance can do the same, whatever its curve."""
    every, none = cope_positions([[[SURE] * 4], [[-SURE] * 4]])
    assert every[0].tolist() == [4, 3, 2, 1]
    assert np.abs(none).max() < 1e-20


def test_extreme_scores_overflow_nothing() -> None:
    assert cope_positions([[1e300, -1e300]]).tolist() == [[1.0, 0.0]]


def test_scores_interpolate_between_two_rows_and_end_with_the_last() -> None:
    q, content = RANDOM.normal(size=(2, 4, 3)), RANDOM.normal(size=(2, 4, 9)) * 2
    table = RANDOM.normal(size=(4, 3))
    found, positions = cope_scores(q, content, table), cope_positions(content)
    assert positions.max() > 3
    for head, row, j in np.ndindex(2, 4, 9):
        if j > row + 5:
            assert found[head, row, j] == -np.inf
            continue
        p = min(float(positions[head, row, j]), 3.0)
        low = int(p)
        e = table[low] if low == 3 else (low + 1 - p) * table[low] + (p - low) * table[low + 1]
        assert found[head, row, j] == pytest.approx(content[head, row, j] + q[head, row] @ e)
