"""The similarity of one patch to all others: places counted row by row, then row and column."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from posenc import grid_positions, similarity, sinusoidal_encoding_nd
from scripts.figures._parts import heat, heat_scale, panel
from scripts.figures.style import Ink

SIZE = (640, 300)
PHONE = (340, 550)

SIDE, WIDTH = 14, 64
PATCH = (5, 8)  # row and column


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a map for each way to count, with the patch ringed, and the scale."""
    edge = 190 if narrow else 210
    places = ((58, 30), (58, 306)) if narrow else ((58, 30), (342, 30))
    maps = {"counted row by row": by_raster(), "row and column": by_axes()}
    for (title, values), place in zip(maps.items(), places, strict=True):
        axes = panel(figure, *place, edge, edge)
        heat(axes, ink, values)
        axes.plot(*PATCH[::-1], "o", markersize=9, markerfacecolor="none", color=ink.ink)
        axes.set(title=title, xticks=(0, 6, 13), yticks=(0, 6, 13), xlabel="column", ylabel="row")
    heat_scale(panel(figure, places[1][0] + edge + 10, places[1][1], 8, edge), ink)


def by_raster() -> NDArray[np.floating]:
    """Return the similarity to each patch if patches are numbered row by row."""
    numbers = np.arange(SIDE**2).reshape(SIDE, SIDE)
    return np.asarray(similarity(numbers - numbers[PATCH], WIDTH))


def by_axes() -> NDArray[np.floating]:
    """Return the similarity to each patch if rows and columns are encoded apart."""
    rows = sinusoidal_encoding_nd(grid_positions((SIDE, SIDE)), WIDTH)
    chosen = rows.reshape(SIDE, SIDE, WIDTH)[PATCH]
    return np.reshape(rows @ chosen / (WIDTH / 2), (SIDE, SIDE))
