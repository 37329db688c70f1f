"""The weights of the same four tokens: with nothing else, with a causal mask, with a bias."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from posenc import alibi_bias, attention, causal_mask
from scripts.figures._parts import cells, panel
from scripts.figures.style import Ink

SIZE = (930, 340)
PHONE = (340, 940)

TOKENS, WIDTH = 4, 8


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw three matrices of weights, the largest of each row shaded."""
    x = np.random.default_rng(0).normal(size=(TOKENS, WIDTH)) / 2
    for place, (title, weights) in enumerate(cases(x).items()):
        left, top = (48, 78 + 306 * place) if narrow else (48 + 310 * place, 78)
        axes = panel(figure, left, top, 226, 226)
        largest = weights == weights.max(axis=-1, keepdims=True)
        cells(axes, ink, [[f"{weight:.2f}" for weight in row] for row in weights], largest)
        axes.set(title=title, xlabel="key", ylabel="query")


def cases(x: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return the weights of each panel, (query, key), by its title."""
    bias = alibi_bias(8, TOKENS, causal=False)[0]  # a slope of 1/2
    return {
        "vectors alone": attention(x, x, x)[1],
        "a causal mask": attention(x, x, x, mask=causal_mask(TOKENS))[1],
        "a bias by distance": attention(x, x, x, bias=bias)[1],
    }
