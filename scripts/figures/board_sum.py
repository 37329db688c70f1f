"""A word and its position, added and side by side: one width, or two."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from posenc import add, concatenate, sinusoidal_encoding
from scripts.figures._board import LARGE, SMALL, board, box, chalk, step
from scripts.figures._parts import diverging, panel
from scripts.figures.board_order import WORDS
from scripts.figures.style import Ink

SIZE = (600, 264)
PHONE = (340, 264)


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw strips of cells, each with its name on the left."""
    size, left, cell = (SMALL, 88, 15) if narrow else (LARGE, 124, 28)
    for line, (name, strip) in enumerate(strips().items()):
        top = 14 + 64 * line
        width = strip.shape[-1]
        axes = panel(figure, left, top, cell * width, 44)
        axes.imshow(strip, cmap=diverging(ink), vmin=-2, vmax=2)
        for edge in range(1, width):
            axes.axvline(edge - 0.5, color=ink.paper, linewidth=0.75)
        axes.set_axis_off()
        box(axes, ink, -0.5, -0.5, width - 0.5, 0.5)
        label = board(figure, (0, top, left - 12, 44), (0, 1), (0, 1))
        chalk(label, name, 1, 0.5, size=size, align="right", strong=line > 1)
        for part in (axes, label):
            step(part, max(line - 1, 0))


def strips() -> dict[str, NDArray[np.floating]]:
    """Return the cells of each strip, one row, by name."""
    word, row = np.array([WORDS["bites"]]), sinusoidal_encoding([1], 8)
    return {
        "bites": word,
        "position 1": row,
        "added": add(word, row),
        "side by side": concatenate(word, row),
    }
