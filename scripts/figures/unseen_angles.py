"""What breaks: the angles of six pairs in training, and those that twice the length adds."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon
from numpy.typing import NDArray

from posenc import wavelengths
from scripts.figures._parts import panel, write
from scripts.figures.style import Ink

SIZE, PHONE = (640, 184), (340, 380)

D, TRAINED, TIMES = 128, 4096, 2
PAIRS = (0, 40, 46, 50, 56, 63)


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a dial for each pair: the sector of training shaded, that which is new hatched."""
    columns, across, down, size = (3, 118, 196, 92) if narrow else (6, 107, 0, 92)
    for n, pair in enumerate(PAIRS):
        left, top = 6 + n % columns * across, 32 + n // columns * down
        turns = TRAINED / wavelengths(D)[pair]
        _dial(panel(figure, left, top, size, size), ink, turns)
        middle = left + size / 2
        write(figure, f"pair {pair}", middle, top - 16, strong=True, align="center")
        says = f"{turns:.0f} turns" if turns >= 1 else f"{turns:.2f} turns"
        write(figure, says, middle, top + size + 18, align="center")
        new = min(1.0, TIMES * turns) - min(1.0, turns)
        says = f"{100 * new:.0f} % new" if new else "nothing new"
        write(figure, says, middle, top + size + 40, color=ink.ink_2, align="center")


def _dial(axes: Axes, ink: Ink, turns: float) -> None:
    """Draw the circle of one pair: the part seen in training, and what is added to it."""
    axes.set(xlim=(-1.12, 1.12), ylim=(-1.12, 1.12), aspect="equal")
    axes.set_axis_off()
    seen, reached = min(1.0, turns), min(1.0, TIMES * turns)
    axes.add_patch(Polygon(_sector(0, seen), facecolor=ink.mark, edgecolor="none"))
    axes.add_patch(Circle((0, 0), 1, fill=False, edgecolor=ink.edge, linewidth=0.75))
    if reached > seen:
        added = Polygon(_sector(seen, reached), fill=False, edgecolor=ink.negative, linewidth=1.2)
        added.set_hatch("////")
        axes.add_patch(added)


def _sector(start: float, end: float) -> NDArray[np.float64]:
    """Return the outline of a sector, in turns anticlockwise from the right."""
    angles = 2 * np.pi * np.linspace(start, end, 49)
    return np.vstack([np.zeros(2), np.stack([np.cos(angles), np.sin(angles)], axis=1)])
