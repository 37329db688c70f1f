"""What `scores.latent` promises, against keys that are computed for each head."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from posenc import apply_rope, latent_scores, rope_matrix

HEADS, LENGTH, D, RANK, R = 3, 6, 4, 5, 2
RANDOM = np.random.default_rng(0)
Q = RANDOM.normal(size=(2, HEADS, LENGTH, D))
ROTARY_Q = RANDOM.normal(size=(2, HEADS, LENGTH, R))
LATENT = RANDOM.normal(size=(2, LENGTH, RANK))
ROTARY_K = RANDOM.normal(size=(2, LENGTH, R))
UP = RANDOM.normal(size=(HEADS, D, RANK))


def scores(positions: ArrayLike, queries: slice = slice(None)) -> NDArray[np.float64]:
    """Return the scores of some of the queries, with tokens at these positions."""
    turned = apply_rope(ROTARY_Q, positions)[..., queries, :]
    turned_k = apply_rope(ROTARY_K, positions)
    return latent_scores(Q[..., queries, :], LATENT, up=UP, rotated_q=turned, rotated_k=turned_k)


def test_a_latent_score_is_that_of_a_key_computed_for_its_head() -> None:
    found = scores(range(LENGTH))
    assert found.shape == (2, HEADS, LENGTH, LENGTH)
    for text, head, m, n in np.ndindex(*found.shape):
        key = [math.fsum(UP[head, row] * LATENT[text, n]) for row in range(D)]
        turned = rope_matrix(n - m, R) @ ROTARY_K[text, n]  # seen from the query
        products = [*(Q[text, head, m] * key), *(ROTARY_Q[text, head, m] * turned)]
        exact = math.fsum(products) / math.sqrt(D + R)
        assert found[text, head, m, n] == pytest.approx(exact, abs=1e-13)


def test_a_latent_score_depends_on_the_distance_alone() -> None:
    far = scores(np.arange(LENGTH) + 5000)
    np.testing.assert_allclose(far, scores(range(LENGTH)), atol=1e-11)
    assert np.abs(far - scores(2 * np.arange(LENGTH))).max() > 0.1


def test_latents_need_no_rotation_when_a_query_is_added_to_a_cache() -> None:
    step = scores(range(LENGTH), slice(LENGTH - 1, None))
    np.testing.assert_allclose(step, scores(range(LENGTH))[..., -1:, :], atol=1e-14)


def test_a_rotated_latent_needs_a_product_of_its_own_at_each_distance() -> None:
    """With the whole key rotated, what meets the latent depends on the distance."""
    q, up, latent = Q[0, 0, 0], UP[0], LATENT[0, 0]
    absorbed = [q @ rope_matrix(r, D) @ up for r in range(5)]
    for r, product in enumerate(absorbed):
        whole = apply_rope(q, 7) @ apply_rope(up @ latent, 7 + r)
        assert whole == pytest.approx(product @ latent, abs=1e-13)
    assert all(np.abs(absorbed[r] - absorbed[0]).max() > 0.1 for r in range(1, 5))


def test_a_head_may_do_without_a_rotated_part() -> None:
    nothing = {"rotated_q": np.ones((1, 2, 0)), "rotated_k": np.ones((2, 0))}
    found = latent_scores([[[3.0, 0.0, 0.0, 0.0]] * 2], [[5], [7]], up=[[[2]] * 4], **nothing)
    np.testing.assert_array_equal(found, [[[15.0, 21.0]] * 2])


def test_latents_of_another_text_are_refused() -> None:
    with pytest.raises(ValueError, match="must fit"):
        latent_scores(Q, LATENT[0], up=UP, rotated_q=ROTARY_Q, rotated_k=ROTARY_K[0])
    with pytest.raises(ValueError, match="must fit"):
        latent_scores(Q, LATENT, up=UP, rotated_q=ROTARY_Q, rotated_k=ROTARY_K[:, 1:])
