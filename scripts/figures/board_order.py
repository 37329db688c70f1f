"""The same three words in two orders, before attention and after it: the rows change places."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from posenc import attention
from scripts.figures._board import arrow, board, box, chalk, step
from scripts.figures.style import Ink

SIZE = (600, 216)
PHONE = (340, 446)

# The made-up vectors of chapter 1.
WORDS = {
    "dog": (0.5, 0.3, 0.8, 0.1, 0.4, 0.6, 0.2, 0.9),
    "bites": (0.2, 0.7, 0.4, 0.9, 0.1, 0.3, 0.8, 0.5),
    "man": (0.9, 0.1, 0.6, 0.3, 0.7, 0.5, 0.4, 0.2),
}


def received(order: tuple[str, ...]) -> NDArray[np.float64]:
    """Return the attention output for each word of a sentence, without positions."""
    x = np.array([WORDS[word] for word in order])
    output, _ = attention(x, x, x)
    return output


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw both orders, with each word above the first entry of its output."""
    orders = (tuple(WORDS), tuple(WORDS)[::-1])
    for place, order in enumerate(orders):
        left, top = (20, 226 * place) if narrow else (308 * place, 0)
        axes = board(figure, (left, top, 292, 216), (0, 3), (0, 4))
        box(axes, ink, 0.05, 1.45, 2.95, 2.35)
        chalk(axes, "attention", 1.5, 1.9)
        for column, (word, output) in enumerate(zip(order, received(order), strict=True)):
            middle, marked = column + 0.5, word == "dog"
            for top_of_box in (0.15, 3.1):
                fill = ink.mark if marked else ""
                box(
                    axes,
                    ink,
                    column + 0.08,
                    top_of_box,
                    column + 0.92,
                    top_of_box + 0.75,
                    fill=fill,
                )
            chalk(axes, word, middle, 0.53, strong=marked)
            chalk(axes, f"{output[0]:.3f}", middle, 3.48, strong=marked)
            arrow(axes, ink, (middle, 0.9), (middle, 1.45))
            arrow(axes, ink, (middle, 2.35), (middle, 3.1))
        step(axes, place)
