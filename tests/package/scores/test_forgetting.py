"""What `scores.forgetting` promises, against products of gates and ALiBi."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posenc import alibi_bias, alibi_slopes, forgetting_bias

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
