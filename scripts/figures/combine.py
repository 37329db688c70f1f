"""What enters a score: all four products of tokens and positions, or two of them."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from posenc import sinusoidal_encoding
from scripts.figures._parts import cells, panel
from scripts.figures.style import Ink

SIZE = (930, 312)
PHONE = (340, 630)

WIDTH, QUERY, KEY = 8, 1, 3  # the positions of the two tokens


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the four products twice, those that enter the score shaded."""
    tokens = np.random.default_rng(0).normal(size=(2, WIDTH)) / 2
    rows = sinusoidal_encoding([QUERY, KEY], WIDTH)
    query, key = np.stack([tokens[0], rows[0]]), np.stack([tokens[1], rows[1]])
    products = query @ key.T  # of the query's token and position with the key's
    words = [[f"{value:.2f}".replace("-", "−") for value in row] for row in products]
    for place, enters in enumerate((np.ones((2, 2), bool), np.eye(2, dtype=bool))):
        left, top = (110, 78 + 310 * place) if narrow else (170 + 420 * place, 78)
        axes = panel(figure, left, top, 200, 200)
        cells(axes, ink, words, enters)
        score = f"{products[enters].sum():.2f}".replace("-", "−")
        axes.set(title=f"{('added', 'side by side')[place]}: score {score}")
        axes.set(xticklabels=["token", "position"], yticklabels=["token", "position"])
        axes.set(xlabel="of the key", ylabel="of the query")
