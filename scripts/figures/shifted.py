"""Transformer-XL's shift: products by distance, moved so that each lies below its key.

A piece of five tokens follows a memory of three. Each cell has the distance of its row of r, and
stands for the product with that row.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from posenc import frequencies, relative_positions, relative_shift, transformer_xl_rows
from scripts.figures._parts import cells, panel
from scripts.figures.style import Ink

SIZE = (930, 284)
PHONE = (340, 548)

QUERIES, MEMORY = 5, 3
KEYS, ROWS = MEMORY + QUERIES, MEMORY + 2 * QUERIES - 1


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the products by row of r, then by key; framed are those that have a key."""
    across, down = (24.5, 28) if narrow else (36, 33)
    before = panel(figure, 44, 78, ROWS * across, QUERIES * down)
    after = (44, 346) if narrow else (618, 78)
    _draw_before(before, ink)
    _draw_after(panel(figure, *after, KEYS * across, QUERIES * down), ink)


def _distances() -> NDArray[np.int64]:
    """Return the distance of each row of r, read from the angle of its slow pair."""
    rows = transformer_xl_rows(QUERIES, KEYS, 4, query_offset=MEMORY)
    angles = np.arctan2(rows[:, 1], rows[:, 3])
    distances: NDArray[np.int64] = np.rint(angles / frequencies(4)[1]).astype(np.int64)
    return distances


def _visible_keys() -> NDArray[np.bool_]:
    """Return which keys the causal mask shows to each query."""
    return relative_positions(QUERIES, KEYS, query_offset=MEMORY) <= 0


def _draw_before(axes: Axes, ink: Ink) -> None:
    products = np.tile(_distances(), (QUERIES, 1))
    first = QUERIES - 1 - np.arange(QUERIES)  # the row of r that goes with key 0
    seen = np.zeros(products.shape, bool)
    for query, row in enumerate(first):
        seen[query, row : row + KEYS] = _visible_keys()[query]
    _draw(axes, ink, products, seen)
    left = np.repeat(first - 0.5, 2)
    tops = np.repeat(np.arange(QUERIES + 1) - 0.5, 2)[1:-1]
    x, y = [*left, *(left[::-1] + KEYS), left[0]], [*tops, *tops[::-1], tops[0]]
    axes.plot(x, y, color=ink.ink, linewidth=1.4, clip_on=False, zorder=3)
    axes.set(title="by distance", xlabel="row of r", xticks=range(ROWS))


def _draw_after(axes: Axes, ink: Ink) -> None:
    shifted = relative_shift(np.tile(_distances(), (QUERIES, 1))).astype(np.int64)
    _draw(axes, ink, shifted, _visible_keys())
    x, y = np.array([0, KEYS, KEYS, 0, 0]) - 0.5, np.array([0, 0, QUERIES, QUERIES, 0]) - 0.5
    axes.plot(x, y, color=ink.ink, linewidth=1.4, clip_on=False, zorder=3)
    axes.set(title="shifted", xlabel="key", xticks=range(KEYS))
    for name, start, end in (("memory", 0, MEMORY), ("this piece", MEMORY, KEYS)):
        ends = [start - 0.4, end - 0.6]
        axes.plot(ends, [QUERIES - 0.3] * 2, color=ink.edge, linewidth=1, clip_on=False)
        axes.text((start + end - 1) / 2, QUERIES + 0.1, name, ha="center", va="center")


def _draw(axes: Axes, ink: Ink, values: NDArray[np.int64], seen: NDArray[np.bool_]) -> None:
    """Draw a row of cells for each query, which is named by its position."""
    cells(axes, ink, [[f"{value}".replace("-", "−") for value in row] for row in values], seen)
    axes.set_yticks(range(QUERIES), [f"{MEMORY + query}" for query in range(QUERIES)])
    axes.set(xlim=(-0.5, values.shape[1] - 0.5), ylim=(QUERIES - 0.5, -0.5), ylabel="query")
