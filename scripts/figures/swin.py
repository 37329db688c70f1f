"""Swin's index: the relative places in a window, and the relative place of each pair."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from posenc import swin_index
from scripts.figures._parts import cells, panel
from scripts.figures.style import Ink

SIZE = (930, 382)
PHONE = (340, 716)

WINDOW, QUERY = 3, 0


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the table's rows by relative place, then by pair, with one query's row shaded."""
    _draw_ways(panel(figure, 60, 78, 220, 220), ink)
    side = 270 if narrow else 296
    _draw_pairs(panel(figure, *((60, 438) if narrow else (448, 78)), side, side), ink)


def _draw_ways(axes: Axes, ink: Ink) -> None:
    """Draw the grid of relative places: query − key, down and across."""
    across = 2 * WINDOW - 1
    rows = np.arange(across**2).reshape(across, across)
    cells(axes, ink, _words(rows), np.isin(rows, swin_index(WINDOW)[QUERY]))
    steps = [f"{step}".replace("-", "−") for step in range(1 - WINDOW, WINDOW)]
    axes.set_xticks(range(across), steps)
    axes.set_yticks(range(across), steps)
    axes.set(title="row of the table", xlabel="columns, query − key", ylabel="rows, query − key")


def _draw_pairs(axes: Axes, ink: Ink) -> None:
    """Draw the index of each pair of places, which are counted row by row."""
    index = swin_index(WINDOW)
    marked = np.zeros(index.shape, bool)
    marked[QUERY] = True
    cells(axes, ink, _words(index), marked)
    axes.set(title=f"window of {WINDOW} by {WINDOW} places", xlabel="key", ylabel="query")


def _words(values: NDArray[np.int64]) -> list[list[str]]:
    """Return whole numbers as the words of cells."""
    return [[str(value) for value in row] for row in values]
