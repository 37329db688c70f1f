"""A query and a key rotated by their positions: both move, and the angle between them stays.

One head of two pairs, with a base of 100, so that both are seen to turn.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon
from numpy.typing import NDArray

from posenc import apply_rope
from scripts.figures._parts import panel, write
from scripts.figures.style import Ink

SIZE = (600, 348)
PHONE = (340, 304)

BASE = 100
QUERY, KEY = np.array([0.9, 0.3, 0.5, 0.6]), np.array([0.2, 0.8, 0.9, -0.1])
STARTS, APART = (0, 4, 40), 2


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a column of dials for each start, a row for each pair, and the score below."""
    left, across, down, size = (44, 98, 112, 100) if narrow else (92, 170, 134, 134)
    write(figure, "query at", 0, 12, color=ink.ink_2)
    write(figure, "key at", 0, 34, color=ink.ink_2)
    for column, start in enumerate(STARTS):
        query, key = apply_rope([QUERY, KEY], [start, start + APART], base=BASE)
        middle = left + column * across + size / 2
        write(figure, f"{start}", middle, 12, strong=True, align="center")
        write(figure, f"{start + APART}", middle, 34, strong=True, align="center")
        for pair in (0, 1):
            own, top = slice(2 * pair, 2 * pair + 2), 52 + pair * down
            axes = panel(figure, left + column * across, top, size, size)
            _dial(axes, ink, query[own], key[own])
            if not column:
                write(figure, f"pair {pair}", 0, top + size / 2, strong=True)
        score = f"{query @ key:.3f}".replace("-", "−")
        write(figure, score, middle, 64 + 2 * down, strong=True, align="center")
    write(figure, "score", 0, 64 + 2 * down, color=ink.ink_2)


def _dial(axes: Axes, ink: Ink, query: NDArray[np.floating], key: NDArray[np.floating]) -> None:
    """Draw one pair of both vectors, anticlockwise from the right, and the sector between them."""
    axes.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.4), aspect="equal")
    axes.set_axis_off()
    axes.add_patch(Polygon(_between(query, key), facecolor=ink.mark, edgecolor="none"))
    axes.add_patch(Circle((0, 0), 1, fill=False, edgecolor=ink.edge, linewidth=0.75))
    for name, hand, dash in (("$q$", query, "-"), ("$k$", key, (0, (3, 1.5)))):
        axes.plot([0, hand[0]], [0, hand[1]], color=ink.ink, linewidth=1.6, linestyle=dash)
        axes.plot(*hand, "o", color=ink.ink)
        x, y = hand * (1 + 0.28 / np.linalg.norm(hand))
        axes.annotate(name, (x, y), ha="center", va="center")


def _between(
    query: NDArray[np.floating], key: NDArray[np.floating], *, radius: float = 0.5
) -> NDArray[np.floating]:
    """Return the outline of the sector between two hands, the shorter way round."""
    first = np.arctan2(query[1], query[0])
    sweep = (np.arctan2(key[1], key[0]) - first + np.pi) % (2 * np.pi) - np.pi
    angles = np.linspace(first, first + sweep, 25)
    arc = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.vstack([np.zeros(2), arc])
