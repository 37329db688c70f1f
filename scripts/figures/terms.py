"""DeBERTa's rows by query and key, and its buckets by distance, beside T5's."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posenc import deberta_buckets, deberta_index, relative_positions
from scripts.figures._parts import cells, panel
from scripts.figures.style import Ink

SIZE = (930, 362)
PHONE = (340, 742)

LENGTH, FURTHEST, BUCKETS, END = 7, 3, 256, 512


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the matrix of rows, then the buckets of the released models."""
    _draw_rows(panel(figure, 48, 78, 276, 276), ink)
    second = (62, 440, 256, 240) if narrow else (470, 78, 430, 228)
    _draw_buckets(panel(figure, *second), ink)


def _draw_rows(axes: Axes, ink: Ink) -> None:
    relative = relative_positions(LENGTH, LENGTH)
    index = np.asarray(deberta_index(relative, max_distance=FURTHEST))
    cells(axes, ink, [[f"{row}" for row in rows] for rows in index], np.abs(relative) < FURTHEST)
    axes.set(title="row of K", xlabel="key", ylabel="query")


def _draw_buckets(axes: Axes, ink: Ink) -> None:
    distance = np.arange(END + 129)
    bucket = deberta_buckets(distance, buckets=BUCKETS, max_distance=END)
    axes.plot(distance, distance, color=ink.categorical[1], linestyle=(0, (5, 2)))
    axes.plot(distance, bucket, color=ink.categorical[0])
    axes.text(230, 262, "a row each", ha="right", va="center")
    axes.text(400, 205, "buckets", ha="left", va="center")
    axes.set(xlim=(0, END + 128), ylim=(0, 300), xticks=range(0, END + 129, 128))
    axes.set(yticks=(0, 64, 128, 192, 256), xlabel="distance", title="bucket")
