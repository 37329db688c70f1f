"""A sentence's words and positions as numbers: apart, added, and side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from posenc import add, concatenate
from scripts.figures._parts import cells, panel
from scripts.figures._sentence import POSITIONS, TOKENS, WORDS, signed_number
from scripts.figures.style import Ink

SIZE = (930, 484)
PHONE = (340, 1000)

HEIGHT = 170
REPEATED = np.array([WORDS.count(word) > 1 for word in WORDS])


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the words, the positions, their sum, and the two side by side."""
    wide, width = 288, 224 if narrow else 208
    lefts, tops = ((50,) * 3, (48, 306, 564)) if narrow else ((46, 346, 668), (48,) * 3)
    places = [f"{position}" for position in range(len(WORDS))]
    both = [f"{word}, {place}" for word, place in zip(WORDS, places, strict=True)]
    tables = (("words", TOKENS, WORDS), ("positions", POSITIONS, places))
    grids = (*tables, ("added", add(TOKENS, POSITIONS), both))
    for left, top, (title, rows, names) in zip(lefts, tops, grids, strict=True):
        _draw_grid(panel(figure, left, top, width, HEIGHT), ink, title, rows, names)
    beside = panel(figure, *((50, 822, wide) if narrow else (46, 306, 2 * width)), HEIGHT)
    title, rows = "side by side", concatenate(TOKENS, POSITIONS)
    _draw_grid(beside, ink, title, rows, both)
    if narrow:
        for word in beside.texts:
            word.set_fontsize(9)


def _draw_grid(
    axes: Axes, ink: Ink, title: str, rows: NDArray[np.floating], names: Sequence[str]
) -> None:
    """Draw a table in numbers, the rows of the word that comes twice shaded."""
    marked = np.broadcast_to(REPEATED[:, np.newaxis], rows.shape)
    cells(axes, ink, [[signed_number(value) for value in row] for row in rows], marked)
    axes.set(title=title, yticklabels=names)
