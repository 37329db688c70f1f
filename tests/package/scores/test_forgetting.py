"""What `scores.forgetting` promises, against products of gates and ALiBi."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from posenc import alibi_bias, alibi_slopes, apply_rope, forgetting_bias, rope_matrix

Array = NDArray[np.float64]
RANDOM = np.random.default_rng(0)
LOGS = -RANDOM.exponential(size=(3, 8))


def test_every_entry_is_the_log_of_the_product_of_the_gates_between() -> None:
    bias = forgetting_bias(LOGS)
    assert bias.shape == (3, 8, 8)
    for head, i, j in np.ndindex(3, 8, 8):
        gates = [math.exp(LOGS[head, t]) for t in range(j + 1, i + 1)]
        exact = math.log(math.prod(gates)) if j <= i else -math.inf
        assert bias[head, i, j] == pytest.approx(exact, abs=1e-12)


def test_equal_gates_are_alibi() -> None:
    """log f = −m for every token, a slope m for each head."""
    logs = np.repeat(-alibi_slopes(8)[:, np.newaxis], 30, axis=1)
    np.testing.assert_allclose(forgetting_bias(logs), alibi_bias(8, 30), atol=1e-12)


def test_biases_add_up_along_the_way() -> None:
    bias = forgetting_bias(LOGS)
    for i, j, t in ((7, 2, 4), (5, 0, 1)):
        np.testing.assert_allclose(bias[:, i, j], bias[:, i, t] + bias[:, t, j], atol=1e-13)


def test_a_closed_gate_hides_all_before_it_from_all_after() -> None:
    logs = np.array([0.0, 0.0, -1e6, 0.0, 0.0])
    bias = forgetting_bias(logs)
    np.testing.assert_array_equal(bias[2:, :2], -1e6)
    np.testing.assert_array_equal(bias[np.tril_indices(2)], 0)
    np.testing.assert_array_equal(bias[2:, 2:][np.tril_indices(3)], 0)


@pytest.mark.parametrize("queries", [0, 1, 3, 8])
def test_the_last_queries_have_the_last_rows(queries: int) -> None:
    found = forgetting_bias(LOGS, queries)
    np.testing.assert_array_equal(found, forgetting_bias(LOGS)[:, 8 - queries :])


def test_more_queries_than_keys_are_refused() -> None:
    refusal = r"^query_length must be at most the number of keys, 8; got 9$"
    with pytest.raises(ValueError, match=refusal):
        forgetting_bias(LOGS, 9)


def test_one_action_gives_rope_alibi_and_the_forgetting_gate() -> None:
    """Matrices A_t of tokens: queries times the inverse product up to them, keys the product."""
    queries, keys = RANDOM.normal(size=(2, 8, 6))
    rotations = [rope_matrix(1, 6)] * 8
    expected = apply_rope(queries, range(8)) @ apply_rope(keys, range(8)).T
    np.testing.assert_allclose(acted(queries, keys, rotations), expected, atol=1e-12)

    slope = float(alibi_slopes(8)[2])
    for entries, bias in (
        ([slope] * 8, alibi_bias(8, 8)[2]),
        (-LOGS[0], forgetting_bias(LOGS)[0]),
    ):
        lifted_queries = np.concatenate([queries, np.tile([1.0, 0.0], (8, 1))], axis=1)
        lifted_keys = np.concatenate([keys, np.tile([0.0, 1.0], (8, 1))], axis=1)
        shears = [np.eye(8) for _ in entries]
        for shear, entry in zip(shears, entries, strict=True):
            shear[6, 7] = entry
        seen = np.tril_indices(8)
        found = acted(lifted_queries, lifted_keys, shears)
        np.testing.assert_allclose(found[seen], (queries @ keys.T + bias)[seen], atol=1e-12)


def acted(queries: Array, keys: Array, steps: list[Array]) -> Array:
    """Return the scores of queries and keys, both moved by the product of the steps so far."""
    product, moved_queries, moved_keys = np.eye(queries.shape[-1]), [], []
    for query, key, step in zip(queries, keys, steps, strict=True):
        product = product @ step
        moved_queries.append(np.linalg.inv(product).T @ query)
        moved_keys.append(product @ key)
    scores: Array = np.array(moved_queries) @ np.array(moved_keys).T
    return scores
