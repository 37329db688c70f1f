"""Eight dimensions in two layouts: the pair of each, and its place after conversion."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from posenc import convert_layout
from scripts.figures._board import SMALL, board, box, chalk
from scripts.figures.style import Ink

SIZE = (600, 180)
PHONE = (340, 180)

WIDTH, MARKED = 8, 1
LAYOUTS = ("interleaved", "half")
TOPS, HIGH = (1.0, 4.4), 1.0


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a strip of cells for each layout, and a line from each dimension to its new place."""
    across = (PHONE if narrow else SIZE)[0]
    axes = board(figure, (0, 0, across, SIZE[1]), (0, WIDTH), (0, 6.4))
    pairs = np.repeat(np.arange(WIDTH // 2), 2)  # of the interleaved dimensions
    converted = convert_layout(np.arange(WIDTH), source="interleaved", target="half")
    for layout, top, strip in zip(LAYOUTS, TOPS, (pairs, pairs[converted]), strict=True):
        _strip(axes, ink, strip, top)
        y = 0.5 if top < 2 else 5.9
        chalk(axes, layout, 0, y, size=SMALL, align="left", color=ink.ink_2)
    for place, start in enumerate(converted):
        _link(axes, ink, start + 0.5, place + 0.5, marked=pairs[start] == MARKED)


def _strip(axes: Axes, ink: Ink, pairs: NDArray[np.integer], top: float) -> None:
    """Draw a cell for each dimension, with its pair."""
    for place, pair in enumerate(pairs):
        fill = ink.mark if pair == MARKED else ""
        box(axes, ink, place + 0.04, top, place + 0.96, top + HIGH, fill=fill)
        x, y = place + 0.5, top + HIGH / 2
        chalk(axes, f"{pair}", x, y, size=SMALL, strong=pair == MARKED)


def _link(axes: Axes, ink: Ink, start: float, end: float, *, marked: bool) -> None:
    color, wide = (ink.ink, 2.0) if marked else (ink.edge, 0.75)
    axes.plot([start, end], [TOPS[0] + HIGH, TOPS[1]], color=color, linewidth=wide)
