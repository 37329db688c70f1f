"""Sines against cosines: every point of a pair lies on the circle, whatever the columns are."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from numpy.typing import NDArray

from posenc import sinusoidal_encoding
from scripts.figures._parts import panel, write
from scripts.figures.style import Ink

SIZE = (930, 262)
PHONE = (340, 436)

WIDTH, LENGTH = 8, 20


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a dial for each pair, and below it the cosine between its two columns."""
    size, across, down = (140, 172, 224) if narrow else (190, 236, 0)
    points = sinusoidal_encoding(LENGTH, WIDTH).reshape(LENGTH, -1, 2)  # position, pair, (sin, cos)
    for pair in range(WIDTH // 2):
        row, column = divmod(pair, 2) if narrow else (0, pair)
        left, top = 14 + column * across, 32 + row * down
        middle = left + size / 2
        _draw_dial(panel(figure, left, top, size, size), ink, points[:, pair])
        write(figure, f"pair {pair}", middle, top - 20, strong=True, align="center")
        sines, cosines = points[:, pair].T
        between = sines @ cosines / (np.linalg.norm(sines) * np.linalg.norm(cosines))
        words = f"columns alike: {between:.2f}".replace("-", "−")
        write(figure, words, middle, top + size + 18, color=ink.ink_2, align="center")


def _draw_dial(axes: Axes, ink: Ink, points: NDArray[np.floating]) -> None:
    """Draw the points of a pair, the sine to the right and the cosine up, on the unit circle."""
    axes.set(xlim=(-1.12, 1.12), ylim=(-1.12, 1.12), aspect="equal")
    axes.set_axis_off()
    axes.plot([-1, 1], [0, 0], color=ink.rule, linewidth=0.75)
    axes.plot([0, 0], [-1, 1], color=ink.rule, linewidth=0.75)
    axes.add_patch(Circle((0, 0), 1, fill=False, edgecolor=ink.edge, linewidth=0.75))
    axes.plot(*points.T, "o", color=ink.ink, markersize=4)
