"""What `scores.transformer_xl` promises, against the four terms of the paper entry by entry."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from posenc import transformer_xl_rows, transformer_xl_scores

RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("queries", "keys", "offset"), [(1, 1, 0), (3, 5, 2), (4, 4, 0), (2, 9, 7)]
)
def test_rows_are_sines_then_cosines_of_the_distance_in_50_digits(
    queries: int, keys: int, offset: int
) -> None:
    rows = transformer_xl_rows(queries, keys, 6, query_offset=offset)
    assert rows.shape == (queries + keys - 1, 6)
    with mpmath.workdps(50):
        for column, row in enumerate(rows):
            distance = queries - 1 + offset - column
            angles = [distance * mpmath.mpf(10000) ** (-mpmath.mpf(2 * i) / 6) for i in range(3)]
            exact = [*map(mpmath.sin, angles), *map(mpmath.cos, angles)]
            np.testing.assert_allclose(row, [float(x) for x in exact], atol=1e-15)


@pytest.mark.parametrize("memory", [0, 3])
def test_scores_are_the_four_terms_of_the_paper(memory: int) -> None:
    d, width, length = 4, 6, 5
    q, k = RANDOM.normal(size=(length, d)), RANDOM.normal(size=(length + memory, d))
    weight, u, v = RANDOM.normal(size=(width, d)), *RANDOM.normal(size=(2, d))
    far = transformer_xl_rows(length, length + memory, width, query_offset=memory) @ weight
    found = transformer_xl_scores(q, k, far, content_bias=u, position_bias=v)
    for i, j in np.ndindex(length, length + memory):
        distance = i + memory - j
        omega = [10000 ** (-2 * pair / width) for pair in range(width // 2)]
        row = [*(math.sin(distance * w) for w in omega), *(math.cos(distance * w) for w in omega)]
        r = np.array(row) @ weight
        terms = [q[i] @ k[j], q[i] @ r, u @ k[j], v @ r]  # (a) to (d)
        assert found[i, j] == pytest.approx(math.fsum(terms) / math.sqrt(d), abs=1e-12)


def test_scores_of_a_sequence_do_not_depend_on_what_was_read_before_it() -> None:
    """The reason for the scheme: a memory of any length leaves the scores among new tokens."""
    d, width, length = 4, 8, 5
    q, k = RANDOM.normal(size=(2, length, d))
    weight, u, v = RANDOM.normal(size=(width, d)), *RANDOM.normal(size=(2, d))
    scores = []
    for memory in (0, 1, 300):
        keys = np.concatenate([RANDOM.normal(size=(memory, d)), k])
        far = transformer_xl_rows(length, len(keys), width, query_offset=memory) @ weight
        whole = transformer_xl_scores(q, keys, far, content_bias=u, position_bias=v)
        scores.append(whole[:, memory:])
    np.testing.assert_allclose(scores[1], scores[0], atol=1e-12)
    np.testing.assert_allclose(scores[2], scores[0], atol=1e-12)


def test_absolute_rows_in_a_sum_would_depend_on_it() -> None:
    """Theorem 4.20's middle terms hold each position alone."""
    rows, a = RANDOM.normal(size=(40, 4)), RANDOM.normal(size=(4, 4))
    x, y = RANDOM.normal(size=(2, 4))
    early, late = ((x + rows[p]) @ a @ (y + rows[p - 1]) for p in (5, 25))
    assert abs(early - late) > 0.1


def test_biases_per_head_broadcast() -> None:
    q, k = RANDOM.normal(size=(2, 2, 3, 4, 5))
    far, u, v = RANDOM.normal(size=(3, 7, 5)), *RANDOM.normal(size=(2, 3, 1, 5))
    whole = transformer_xl_scores(q, k, far, content_bias=u, position_bias=v)
    for batch, head in np.ndindex(2, 3):
        one = transformer_xl_scores(
            q[batch, head], k[batch, head], far[head],
            content_bias=u[head, 0], position_bias=v[head],
        )  # fmt: skip
        np.testing.assert_allclose(whole[batch, head], one, atol=1e-13)
