"""A causal mask counts: equal weights, and the output where the first token alone is marked."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from posenc import attention, causal_mask
from scripts.figures._parts import cells, panel
from scripts.figures.style import Ink

SIZE = (930, 352)
PHONE = (340, 664)

TOKENS, LONGER = 6, 24


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the weights and the outputs of a few tokens, then the outputs of more."""
    side, left = (212, 276) if narrow else (260, 332)
    weights = panel(figure, 48, 78, side, side)
    outputs = panel(figure, left, 78, side // TOKENS + 12, side)
    _draw_weights(weights, outputs, ink)
    place = (52, 366, 274, 240) if narrow else (496, 40, 410, 256)
    _draw_places(panel(figure, *place), ink)


def _uniform_attention(length: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return outputs and weights where all scores are 0 and the first value alone is 1."""
    zeros = np.zeros((length, 1))
    output, weights = attention(zeros, zeros, np.eye(1, length).T, mask=causal_mask(length))
    return output[:, 0], weights


def _draw_weights(axes: Axes, beside: Axes, ink: Ink) -> None:
    output, weights = _uniform_attention(TOKENS)
    words = [[_exact(weight) for weight in row] for row in weights]
    first = np.arange(TOKENS) == 0
    cells(axes, ink, words, np.broadcast_to(first, weights.shape))
    axes.set(title="weights", xlabel="key", ylabel="query")
    cells(beside, ink, [[_exact(value)] for value in output], np.ones((TOKENS, 1), bool))
    beside.set(title="output", yticks=())
    beside.set(xticks=())
    places = [f"{place}" for place in range(1, TOKENS + 1)]
    axes.set(xticklabels=places, yticklabels=places)


def _exact(weight: float) -> str:
    """Return a weight as a fraction, which it is up to rounding."""
    return f"{Fraction(weight).limit_denominator(TOKENS)}"


def _draw_places(axes: Axes, ink: Ink) -> None:
    output, _ = _uniform_attention(LONGER)
    places = np.arange(1, LONGER + 1)
    axes.plot(places, output, "o", color=ink.categorical[0], markersize=4)
    axes.set(xlim=(0, LONGER + 0.8), ylim=(0, 1.06), xticks=(1, 6, 12, 18, 24))
    axes.set(yticks=(0, 0.5, 1), title="output, $1/n$", xlabel="position $n$")
