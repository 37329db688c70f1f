"""A formula and a table beyond the eighth row: the formula has rows there, the table does not."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from posenc import LearnedPositionalEmbedding, sinusoidal_encoding
from scripts.figures._board import LARGE, SMALL, chalk, step
from scripts.figures._parts import diverging, panel
from scripts.figures.style import Ink

SIZE = (600, 372)
PHONE = (340, 372)

WIDTH, TRAINED, LENGTH = 8, 8, 12


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw rows downwards, the position of each on its left, and a line under the trained ones."""
    formula = sinusoidal_encoding(LENGTH, WIDTH)
    table = LearnedPositionalEmbedding(TRAINED, WIDTH, seed=0).position_embeddings
    across, apart, size = (130, 170, SMALL) if narrow else (240, 310, LARGE)
    for place, rows in enumerate((formula, table / np.abs(table).max())):
        axes = panel(figure, 34 + apart * place, 0, across, 372)
        _draw_rows(axes, ink, rows)
        chalk(axes, ("a formula", "a learned table")[place], WIDTH / 2 - 0.5, -1.1, size=size)
        for row in range(LENGTH):
            chalk(axes, f"{row}", -0.8, row, size=size, color=ink.ink_2, align="right")
        step(axes, place)


def _draw_rows(axes: Axes, ink: Ink, rows: NDArray[np.floating]) -> None:
    ends = (-0.5, WIDTH - 0.5, len(rows) - 0.5, -0.5)
    axes.imshow(rows, cmap=diverging(ink), vmin=-1, vmax=1, extent=ends)
    axes.plot([-1.4, WIDTH - 0.5], [TRAINED - 0.5] * 2, color=ink.ink, linewidth=1.6)
    for row in range(len(rows), LENGTH):
        chalk(axes, "no row", WIDTH / 2 - 0.5, row)
    axes.set(xlim=(-0.5, WIDTH - 0.5), ylim=(LENGTH - 0.5, -1.7))
    axes.set_axis_off()
