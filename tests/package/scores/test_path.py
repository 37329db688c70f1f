"""What `scores.path` promises, against products of whole matrices."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

from posenc import path_scores

RANDOM = np.random.default_rng(0)
Q, K, W = RANDOM.normal(size=(3, 2, 7, 4))
BETA = RANDOM.uniform(0, 2, size=(2, 7))


def test_scores_are_products_of_whole_matrices() -> None:
    found = path_scores(Q, K, direction=W, strength=BETA)
    assert found.shape == (2, 7, 7)
    for head, i, j in np.ndindex(2, 7, 7):
        if j > i:
            assert found[head, i, j] == -np.inf
            continue
        matrices = [np.eye(4)]
        for t in range(i, j, -1):  # H_i … H_{j+1}
            unit = W[head, t] / math.sqrt(math.fsum(W[head, t] ** 2))
            matrices.append(np.eye(4) - BETA[head, t] * np.outer(unit, unit))
        product = functools.reduce(np.matmul, matrices)
        exact = Q[head, i] @ product @ K[head, j] / 2
        assert found[head, i, j] == pytest.approx(exact, abs=1e-13)


def test_a_token_of_strength_one_erases_its_direction_from_all_before_it() -> None:
    """A key along w gets no score from any query at or after that token."""
    w, beta, keys = W.copy(), np.zeros((2, 7)), K.copy()
    beta[:, 4] = 1
    keys[:, 2] = w[:, 4]
    found = path_scores(Q, keys, direction=w, strength=beta)
    np.testing.assert_allclose(found[:, 4:, 2], 0, atol=1e-14)
    assert np.abs(found[:, 2:4, 2]).min() > 1e-3


def test_reflections_keep_lengths_so_a_score_is_bounded() -> None:
    found = path_scores(Q, K, direction=W, strength=np.full((2, 7), 2.0))
    lengths = (
        np.linalg.norm(Q, axis=-1)[..., np.newaxis] * np.linalg.norm(K, axis=-1)[:, np.newaxis]
    )
    seen = np.tril(np.ones((7, 7), bool))
    assert (np.abs(found)[:, seen] <= (lengths / 2 + 1e-12)[:, seen]).all()
    i = 6  # and what a query sees of all keys at once keeps its size: orthogonal matrices
    same = path_scores(
        Q, np.broadcast_to(np.eye(4)[0], K.shape), direction=W, strength=BETA * 0 + 2
    )
    assert np.abs(same[:, i]).max() <= np.linalg.norm(Q[:, i], axis=-1).max() / 2 + 1e-12


def test_tokens_up_to_the_key_and_after_the_query_do_not_matter() -> None:
    changed, beta = W.copy(), BETA.copy()
    changed[:, :3], beta[:, 6] = RANDOM.normal(size=(2, 3, 4)), 0.0
    before = path_scores(Q, K, direction=W, strength=BETA)
    after = path_scores(Q, K, direction=changed, strength=beta)
    np.testing.assert_array_equal(after[:, 2:6, 2:], before[:, 2:6, 2:])
    assert np.abs(after[:, 5, 0] - before[:, 5, 0]).max() > 1e-3


def test_the_length_of_a_direction_does_not_matter_and_inputs_stay() -> None:
    kept = Q.copy()
    found = path_scores(Q, K, direction=W * 1e5, strength=BETA)
    expected = path_scores(Q, K, direction=W, strength=BETA)
    np.testing.assert_allclose(found[:, -1], expected[:, -1], atol=1e-13)
    np.testing.assert_array_equal(Q, kept)
    nothing = path_scores(Q[:, :0], K[:, :0], direction=W[:, :0], strength=BETA[:, :0])
    assert nothing.shape == (2, 0, 0)
