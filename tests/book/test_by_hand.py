"""What the chapter *By hand* claims about its words in five schemes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from posenc import (
    LearnedPositionalEmbedding,
    alibi_bias,
    apply_rope,
    relative_positions,
    sinusoidal_encoding,
    t5_bias,
)
from scripts.figures.board_order import WORDS

LENGTH = 110
FIRST, SECOND, LATER = np.array([0, 1, 2]), np.array([2, 1, 0]), np.array([102, 101, 100])
X = np.array([*WORDS.values()])
ROWS = {
    "sinusoidal": sinusoidal_encoding(LENGTH, 8),
    "learned": LearnedPositionalEmbedding(LENGTH, 8, seed=0).position_embeddings,
}
RELATIVE = relative_positions(LENGTH, LENGTH)
BIASES = {
    "ALiBi": alibi_bias(8, LENGTH)[0],
    "T5": t5_bias(np.random.default_rng(0).normal(size=(32, 1)), RELATIVE)[0],
}


def scores(scheme: str, places: NDArray[np.int_]) -> NDArray[np.floating]:
    """Return the score of each word, dog, bites and man, for each, at these positions."""
    if scheme in BIASES:
        return np.asarray(X @ X.T + BIASES[scheme][np.ix_(places, places)])
    x = X + ROWS[scheme][places] if scheme in ROWS else apply_rope(X, places)
    return np.asarray(x @ x.T)


@pytest.mark.parametrize("scheme", ["sinusoidal", "learned", "RoPE", "ALiBi", "T5"])
def test_each_of_five_schemes_scores_the_two_sentences_differently(scheme: str) -> None:
    first, second = (scores(scheme, places)[0, 1:] for places in (FIRST, SECOND))
    assert not np.any(np.isclose(first, second, rtol=0, atol=1e-6))


def test_a_penalty_by_distance_alone_is_the_same_on_either_side() -> None:
    bias = alibi_bias(8, 3, causal=False)[0]
    assert np.array_equal(bias[np.ix_(FIRST, FIRST)], bias[np.ix_(SECOND, SECOND)])


@pytest.mark.parametrize(
    ("scheme", "relative"),
    [("sinusoidal", False), ("learned", False), ("RoPE", True), ("ALiBi", True), ("T5", True)],
)
def test_only_relative_schemes_score_alike_100_positions_further_on(
    scheme: str, relative: bool
) -> None:
    here, later = scores(scheme, SECOND), scores(scheme, LATER)
    assert np.allclose(here, later, rtol=0, atol=1e-12) == relative
