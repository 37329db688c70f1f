"""What `scores.dape` promises, against the network worked out pair by pair."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from posenc import alibi_bias, dape_bias

RANDOM = np.random.default_rng(0)
HEADS, HIDDEN = 3, 5
SCORES = RANDOM.normal(size=(2, HEADS, 4, 6))
BIAS = alibi_bias(HEADS, 4, 6, query_offset=2, causal=False)
NETWORK = {
    "first_weight": RANDOM.normal(size=(HIDDEN, 2 * HEADS)),
    "first_bias": RANDOM.normal(size=HIDDEN),
    "second_weight": RANDOM.normal(size=(HEADS, HIDDEN)),
    "second_bias": RANDOM.normal(size=HEADS),
}


def test_every_pair_is_the_network_of_its_scores_and_biases_in_50_digits() -> None:
    found = dape_bias(SCORES, BIAS, **NETWORK)
    assert found.shape == SCORES.shape
    with mpmath.workdps(50):
        inward, outward = (
            mpmath.matrix(NETWORK[name].tolist()) for name in ("first_weight", "second_weight")
        )
        shift, offset = (
            mpmath.matrix(NETWORK[name].tolist()) for name in ("first_bias", "second_bias")
        )
        for batch, i, j in np.ndindex(2, 4, 6):
            both = mpmath.matrix([*SCORES[batch, :, i, j].tolist(), *BIAS[:, i, j].tolist()])
            units = (inward * both + shift).apply(lambda u: u if u > 0 else u / 100)
            change = outward * units + offset
            for head in range(HEADS):
                exact = float(BIAS[head, i, j] + change[head])
                assert found[batch, head, i, j] == pytest.approx(exact, abs=1e-13)


def test_a_network_of_zeros_leaves_the_bias() -> None:
    nothing = {name: np.zeros_like(value) for name, value in NETWORK.items()}
    found = dape_bias(SCORES, BIAS, **nothing)
    np.testing.assert_array_equal(found, np.broadcast_to(BIAS, SCORES.shape))


def test_the_same_distance_gets_another_bias_where_the_content_differs() -> None:
    """Why it is called adaptive; with the same content it is a function of distance again."""
    found = dape_bias(SCORES, BIAS, **NETWORK)
    assert abs(found[0, 0, 1, 2] - found[0, 0, 2, 3]) > 1e-3
    equal = dape_bias(np.ones_like(SCORES), BIAS, **NETWORK)
    np.testing.assert_allclose(equal[0, :, 1, 2], equal[0, :, 2, 3], atol=1e-14)


def test_heads_hear_of_each_other() -> None:
    changed = SCORES.copy()
    changed[:, 2] += 1
    found, before = (dape_bias(scores, BIAS, **NETWORK) for scores in (changed, SCORES))
    assert np.abs(found[:, 0] - before[:, 0]).max() > 1e-3
