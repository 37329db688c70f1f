"""States of linear attention, and the order that they know: what docs/schemes/hybrids.md proves."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from posenc import alibi_bias, alibi_slopes, forgetting_bias

LENGTH, D = 7, 4
RANDOM = np.random.default_rng(0)
Q, K, V = RANDOM.normal(size=(3, LENGTH, D))
DECAYS = RANDOM.uniform(0.2, 1, size=LENGTH)

Floats = NDArray[np.float64]


def states(decays: Floats, keys: Floats = K, values: Floats = V) -> list[Floats]:
    """Return the state after each token: S_t = a_t S_{t−1} + k_t v_tᵀ."""
    state, found = np.zeros((D, D)), []
    for decay, key, value in zip(decays, keys, values, strict=True):
        state = decay * state + np.outer(key, value)
        found.append(state)
    return found


def test_a_state_read_by_a_query_is_attention_with_products_of_decays() -> None:
    weights = np.array(
        [
            [DECAYS[j + 1 : i + 1].prod() if j <= i else 0.0 for j in range(LENGTH)]
            for i in range(LENGTH)
        ]
    )
    read = [state.T @ query for state, query in zip(states(DECAYS), Q, strict=True)]
    np.testing.assert_allclose(read, weights * (Q @ K.T) @ V, atol=1e-12)
    bias = forgetting_bias(np.log(DECAYS), LENGTH)
    np.testing.assert_allclose(weights, np.tril(np.exp(bias)), atol=1e-12)


@pytest.mark.parametrize("head", range(4))
def test_equal_decays_are_the_factors_of_alibi(head: int) -> None:
    decay = np.exp(-alibi_slopes(4)[head])
    factors = np.exp(alibi_bias(4, LENGTH, causal=True)[head])
    read = [state.T @ query for state, query in zip(states(np.full(LENGTH, decay)), Q, strict=True)]
    np.testing.assert_allclose(read, factors * (Q @ K.T) @ V, atol=1e-12)


def test_without_a_decay_a_state_forgets_the_order() -> None:
    order = RANDOM.permutation(LENGTH)
    ones, decays = np.ones(LENGTH), np.full(LENGTH, 0.9)
    last, other = states(ones)[-1], states(ones, K[order], V[order])[-1]
    np.testing.assert_allclose(last, other, atol=1e-12)
    assert np.abs(states(decays)[-1] - states(decays, K[order], V[order])[-1]).max() > 0.1


def test_by_the_delta_rule_the_last_value_under_a_key_is_the_one_that_is_read() -> None:
    key = K[0] / np.linalg.norm(K[0])
    state = np.zeros((D, D))
    for value in V:
        state = state + np.outer(key, value - state.T @ key)
        np.testing.assert_allclose(state.T @ key, value, atol=1e-12)
