"""Relative positions, and an untrained table with a row for each of them."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posenc import LearnedPositionalEmbedding, relative_positions
from scripts.figures._parts import cells, panel
from scripts.figures.style import Ink

SIZE = (930, 352)
PHONE = (340, 690)

LENGTH, WIDTH, SEED = 6, 4, 0
FARTHEST = LENGTH - 1
SHOWN = ((0, "o", "-"), (1, "s", (0, (5, 2))))


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the grid of key − query, then two dimensions of the table against it."""
    grid = panel(figure, 48, 78, 260, 260)
    relative = relative_positions(LENGTH, LENGTH)
    words = [[f"{value}".replace("-", "−") for value in row] for row in relative]
    cells(grid, ink, words, relative == 0)
    grid.set(title="relative position, key − query", xlabel="key", ylabel="query")
    _draw_table(panel(figure, *((64, 396, 210, 230) if narrow else (440, 48, 420, 238))), ink)


def _draw_table(axes: Axes, ink: Ink) -> None:
    """Draw two dimensions of the table, with nothing between its rows."""
    rows = LearnedPositionalEmbedding(2 * FARTHEST + 1, WIDTH, seed=SEED).position_embeddings
    at = np.arange(-FARTHEST, FARTHEST + 1)
    for dimension, mark, dash in SHOWN:
        color, entries = ink.categorical[dimension], rows[:, dimension]
        axes.plot(at, entries, color=color, linestyle=dash, linewidth=1)
        axes.plot(at, entries, mark, color=color, markersize=5)
        name, end = f"dim {dimension}", (FARTHEST, entries[-1])
        axes.annotate(name, end, (9, 0), textcoords="offset points", va="center")
    axes.axhline(0, color=ink.rule, linewidth=0.75, zorder=0)
    axes.set(title="a row for each, before training", xlabel="relative position")
    axes.set(xlim=(-5.4, 5.4), ylim=(-0.06, 0.06), yticks=(-0.05, 0, 0.05), xticks=range(-5, 6, 5))
