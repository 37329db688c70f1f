"""Sum and concatenation are right entry by entry, and nothing is broadcast silently."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from posenc.embeddings.combine import add, concatenate

Array = NDArray[np.floating]


def random(*shape: int, seed: int = 0) -> NDArray[np.float64]:
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("tokens", [(5, 8), (2, 5, 8), (3, 2, 5, 8)])
@pytest.mark.parametrize("positions", ["once", "for each sequence"])
def test_rows_are_added_or_concatenated_entry_by_entry(
    tokens: tuple[int, ...], positions: str
) -> None:
    x, rows = random(*tokens), random(*(tokens if positions != "once" else (5, 8)), seed=1)
    np.testing.assert_array_equal(add(x, rows), x + rows)
    both = concatenate(x, rows[..., :3])
    assert both.shape == (*tokens[:-1], 11)
    np.testing.assert_array_equal(both[..., :8], x)
    np.testing.assert_array_equal(both[..., 8:], np.broadcast_to(rows[..., :3], (*tokens[:-1], 3)))


def test_a_sum_is_rounded_once() -> None:
    """The rows stay float64 until the end: rounded before, they give other sums."""
    tokens, rows = random(50, 8).astype(np.float32), random(50, 8, seed=1)
    exact = (tokens + rows).astype(np.float32)
    np.testing.assert_array_equal(add(tokens, rows), exact)
    assert (tokens + rows.astype(np.float32) != exact).any()


def test_a_sum_is_a_concatenation_with_equal_weights() -> None:
    """[t, p] W = t W₁ + p W₂, which is (t + p) W₁ where W₂ = W₁."""
    tokens, rows, weight = random(2, 5, 8), random(5, 8, seed=1), random(8, 3, seed=2)
    stacked = np.concatenate((weight, weight))
    np.testing.assert_allclose(
        concatenate(tokens, rows) @ stacked,
        add(tokens, rows) @ weight,
        rtol=0,
        atol=1e-13,  # sums of 16 products of size about 1, each good to 1e-16
    )


def test_only_scores_of_sums_have_cross_terms() -> None:
    tokens, rows = random(5, 8), random(5, 8, seed=1)
    apart, mixed = concatenate(tokens, rows), add(tokens, rows)
    within = tokens @ tokens.T + rows @ rows.T
    across = tokens @ rows.T + rows @ tokens.T
    np.testing.assert_allclose(apart @ apart.T, within, rtol=0, atol=1e-13)
    np.testing.assert_allclose(mixed @ mixed.T, within + across, rtol=0, atol=1e-13)


@pytest.mark.parametrize("combine", [add, concatenate])
def test_no_tokens_give_no_rows(combine: Any) -> None:
    assert combine(np.zeros((0, 8)), np.zeros((0, 8))).shape[0] == 0
    assert combine(np.zeros((0, 5, 8)), np.zeros((5, 8))).shape[:2] == (0, 5)


BAD_SHAPES = {
    "one row for all positions": ((5, 8), (1, 8)),
    "one vector for all positions": ((2, 5, 8), (8,)),
    "a number": ((5, 8), ()),
    "too few rows": ((2, 5, 8), (4, 8)),
    "too many rows": ((2, 5, 8), (6, 8)),
    "one sequence for all": ((2, 5, 8), (1, 5, 8)),
    "another batch": ((2, 5, 8), (3, 5, 8)),
    "more axes than the tokens": ((5, 8), (2, 5, 8)),
    "turned round": ((5, 8), (8, 5)),
}


@pytest.mark.parametrize("combine", [add, concatenate])
@pytest.mark.parametrize("name", BAD_SHAPES)
def test_a_single_row_is_not_broadcast(combine: Any, name: str) -> None:
    tokens, positions = BAD_SHAPES[name]
    with pytest.raises(ValueError, match=r"^positions must be of shape .*; got \("):
        combine(np.zeros(tokens), np.zeros(positions))


@pytest.mark.parametrize("width", [0, 1, 6, 16])
def test_a_sum_needs_equal_widths(width: int) -> None:
    message = rf"^positions must be of shape \(5, 8\) or \(2, 5, 8\); got \(5, {width}\)$"
    with pytest.raises(ValueError, match=message):
        add(np.zeros((2, 5, 8)), np.zeros((5, width)))


@pytest.mark.parametrize("combine", [add, concatenate])
@pytest.mark.parametrize("shape", [(), (8,)])
def test_tokens_have_a_length_and_a_width(combine: Any, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"^tokens must be of shape \(\.\.\., length, d_model\)"):
        combine(np.zeros(shape), np.zeros(shape))
