"""What `scores.tupe` promises, against the paper's products entry by entry, in 50 digits."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from posenc import tupe_bias, untied_bias

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(7, 6))
U_Q, U_K = RANDOM.normal(size=(2, 6, 6))


def test_every_entry_is_a_product_of_two_projected_positions() -> None:
    bias = tupe_bias(ROWS, query_weight=U_Q, key_weight=U_K, heads=3)
    assert bias.shape == (3, 7, 7)
    with mpmath.workdps(50):
        rows, u_q, u_k = (mpmath.matrix(some.tolist()) for some in (ROWS, U_Q, U_K))
        queries, keys = rows * u_q, rows * u_k
        for head, i, j in np.ndindex(3, 7, 7):
            columns = range(2 * head, 2 * head + 2)
            exact = mpmath.fsum(queries[i, c] * keys[j, c] for c in columns) / mpmath.sqrt(2 * 2)
            assert bias[head, i, j] == pytest.approx(float(exact), rel=1e-14, abs=1e-14)


def test_content_and_position_together_are_one_score_of_concatenations() -> None:
    """Theorem 4.20 without its two mixed terms: [q; p U_Q]·[k; p U_K] / √(2d)."""
    q, k = RANDOM.normal(size=(2, 7, 6))
    whole = np.hstack([q, ROWS @ U_Q]) @ np.hstack([k, ROWS @ U_K]).T / math.sqrt(12)
    bias = tupe_bias(ROWS, query_weight=U_Q, key_weight=U_K, heads=1)[0]
    np.testing.assert_allclose(q @ k.T / math.sqrt(12) + bias, whole, atol=1e-13)


def test_a_head_can_learn_no_more_than_its_width_in_rank() -> None:
    bias = tupe_bias(ROWS, query_weight=U_Q, key_weight=U_K, heads=3)
    assert [np.linalg.matrix_rank(one) for one in bias] == [2, 2, 2]


def test_two_terms_over_the_root_of_2d_have_the_variance_of_one() -> None:
    random = np.random.default_rng(1)
    d, found = 16, []
    for _ in range(60):
        rows, q, k = random.normal(size=(3, 30, d))
        weights = np.linalg.qr(random.normal(size=(2, d, d)))[0]
        bias = tupe_bias(rows, query_weight=weights[0], key_weight=weights[1], heads=1)[0]
        found.append(q @ k.T / math.sqrt(2 * d) + bias)
    assert np.var(found) == pytest.approx(1, abs=0.06)


def test_untying_replaces_the_first_row_and_column_and_nothing_else() -> None:
    bias = tupe_bias(ROWS, query_weight=U_Q, key_weight=U_K, heads=2)
    kept = bias.copy()
    untied = untied_bias(bias, from_first=[1.5, -2.0], to_first=[0.25, 7.0])
    np.testing.assert_array_equal(bias, kept)
    np.testing.assert_array_equal(untied[:, 1:, 1:], bias[:, 1:, 1:])
    np.testing.assert_array_equal(untied[:, 0], [[1.5] * 7, [-2.0] * 7])
    np.testing.assert_array_equal(untied[:, 1:, 0], [[0.25] * 6, [7.0] * 6])
    assert untied_bias(np.zeros((1, 0, 4)), from_first=[1], to_first=[2]).shape == (1, 0, 4)
