"""ALiBi's bias: a straight line for each head, and one head's matrix under a causal mask."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posenc import alibi_bias, alibi_slopes
from scripts.figures._parts import cells, panel
from scripts.figures.style import Ink

SIZE = (930, 362)
PHONE = (340, 742)

HEADS, FARTHEST, SHOWN, LENGTH = 4, 64, 0, 6
DASHES = ("-", (0, (5, 2)), "-", (0, (5, 2)))
NUDGES = (0, 0, -6, 5)  # points, to keep the names of lines that end together apart


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the bias of each head over relative positions, then a matrix of the first head."""
    _draw_lines(panel(figure, 86, 34, 210 if narrow else 400, 270), ink)
    _draw_matrix(panel(figure, *((48, 448, 288, 288) if narrow else (646, 78, 276, 276))), ink)


def _draw_lines(axes: Axes, ink: Ink) -> None:
    last = alibi_bias(HEADS, 1, query_offset=FARTHEST)[:, 0]  # the row of the query at the end
    relative = np.arange(-FARTHEST, 1)
    for head, slope in enumerate(alibi_slopes(HEADS)):
        color, dash = ink.categorical[head], DASHES[head]
        axes.plot(relative, last[head], color=color, linestyle=dash)
        name, end = f"$m$ = 1/{1 / slope:g}", (-FARTHEST, last[head, 0])
        axes.annotate(
            name, end, (-6, NUDGES[head]), textcoords="offset points", va="center", ha="right"
        )
    axes.yaxis.tick_right()
    axes.yaxis.set_label_position("right")
    axes.spines["left"].set_visible(False)
    axes.spines["right"].set_visible(True)
    axes.set(xlim=(-FARTHEST, 0), ylim=(-16.5, 0.5), yticks=range(-16, 1, 4))
    axes.set(xticks=range(-FARTHEST, 1, 16), xlabel="relative position, key − query")
    axes.set(title="bias of four heads")


def _draw_matrix(axes: Axes, ink: Ink) -> None:
    bias = alibi_bias(HEADS, LENGTH)[SHOWN]
    words = [[_word(value) for value in row] for row in bias]
    cells(axes, ink, words, np.isfinite(bias))
    slope = alibi_slopes(HEADS)[SHOWN]
    axes.set(title=f"the head with $m$ = 1/{1 / slope:g}", xlabel="key", ylabel="query")


def _word(value: float) -> str:
    """Return a bias as a page prints it."""
    return r"$-\infty$" if np.isneginf(value) else f"{value:g}".replace("-", "−")
