"""The three lines of a layer: angles, sine and cosine, a sum, with the shapes that they give."""

from __future__ import annotations

from matplotlib.figure import Figure

from scripts.figures._board import SMALL, arrow, board, box, chalk, step
from scripts.figures.style import Ink

SIZE = (600, 280)
PHONE = (340, 280)

# For each box: its text, the shape for two words of width 4, its column, its top and its line.
BOXES = (
    ("words", "2 × 4", 0, 0.6, 0),
    ("add", "", 2, 0.6, 3),
    ("sum", "2 × 4", 3, 0.6, 0),
    ("positions", "0, 1", 0, 3.0, 0),
    ("angles", "2 × 2", 1, 3.0, 1),
    ("sin, cos", "2 × 4", 2, 3.0, 2),
)
# The start and end of each arrow, in the units of the board.
ARROWS = (
    ((0.8, 1.25), (2.05, 1.25)),
    ((2.8, 1.25), (3.05, 1.25)),
    ((0.8, 3.65), (1.05, 3.65)),
    ((1.8, 3.65), (2.05, 3.65)),
    ((2.425, 3.0), (2.425, 1.95)),
)


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the path of the words above and the computation of the rows below, until they meet."""
    size, width = (SMALL, 340) if narrow else (15.0, 600)
    axes = board(figure, (0, 0, width, 280), (0, 4), (0, 5))
    for what, shape, column, top, line in BOXES:
        middle = column + 0.425
        fill = ink.mark if line else ""
        box(axes, ink, column + 0.05, top, column + 0.8, top + 1.3, fill=fill)
        height = top + (0.4 if shape else 0.65)
        chalk(axes, what, middle, height, size=size, strong=bool(line))
        chalk(axes, shape, middle, top + 0.92, size=size, color=ink.ink_2)
        if line:
            beside = top - 0.3 if top < 2 else top + 1.65
            chalk(axes, f"line {line}", middle, beside, size=size, color=ink.ink_2)
        step(axes, _step(column, top))
    for start, end in ARROWS:
        up = start[0] == end[0]
        arrow(axes, ink, start, end, color=ink.categorical[0] if up else "")
        step(axes, _step(int(end[0]), end[1]))


def _step(column: int, top: float) -> int:
    """Return when the slides draw what is in a column: below in turn, and above at the end."""
    return column if top > 2 else 3 * (column > 0)
