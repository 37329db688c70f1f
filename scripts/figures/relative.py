"""Shaw's clipped index, and the shift that puts scores by relative position under their keys."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from posenc import relative_positions, relative_shift, shaw_index
from scripts.figures._parts import cells, panel
from scripts.figures.style import Ink

SIZE = (930, 324)
PHONE = (340, 836)

LENGTH, DISTANCE = 7, 2  # of the index
QUERIES = KEYS = 4  # of the shift


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the index, then scores by relative position, then the same scores by key."""
    cell = 36 if narrow else 34
    _draw_index(panel(figure, 40, 78, LENGTH * cell, LENGTH * cell), ink)
    before = (40, 436) if narrow else (376, 78)
    after = (40, 686) if narrow else (708, 78)
    columns = QUERIES + KEYS - 1
    _draw_before(panel(figure, *before, columns * cell, QUERIES * cell), ink)
    _draw_after(panel(figure, *after, KEYS * cell, QUERIES * cell), ink)


def _draw_index(axes: Axes, ink: Ink) -> None:
    relative = relative_positions(LENGTH, LENGTH)
    index = np.asarray(shaw_index(relative, max_distance=DISTANCE))
    cells(axes, ink, _words(index), np.abs(relative) < DISTANCE)
    axes.set(title="row of the table", xlabel="key", ylabel="query")


def _scores() -> NDArray[np.int64]:
    """Return the relative positions −(q−1) … k−1 for each query, standing in for their scores."""
    return np.tile(np.arange(1 - QUERIES, KEYS), (QUERIES, 1))


def _draw_before(axes: Axes, ink: Ink) -> None:
    scores = _scores()
    key = scores + np.arange(QUERIES)[:, np.newaxis]
    cells(axes, ink, _words(scores), (key >= 0) & (key < KEYS))
    axes.set(title="by relative position", xlabel="column", ylabel="query")


def _draw_after(axes: Axes, ink: Ink) -> None:
    scores = relative_shift(_scores()).astype(np.int64)
    cells(axes, ink, _words(scores), np.ones(scores.shape, bool))
    axes.set(title="shifted", xlabel="key", ylabel="query")


def _words(values: NDArray[np.int64]) -> list[list[str]]:
    """Return whole numbers as the words of cells."""
    return [[str(value).replace("-", "−") for value in row] for row in values]
