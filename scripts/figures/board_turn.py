"""One pair of a query and a key as hands of a dial: both turn, and the angle between them stays."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon

from posenc import apply_rope
from scripts.figures._board import board, chalk, step
from scripts.figures._parts import sector_outline
from scripts.figures.board_order import WORDS
from scripts.figures.style import Ink

SIZE = (600, 370)
PHONE = (340, 750)

PLACES = ((0, 1), (100, 101))  # of "dog", the query, and of "bites", the key


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a dial for each two positions."""
    for column, positions in enumerate(PLACES):
        place = (25, 380 * column) if narrow else (5 + 300 * column, 5)
        step(_dial(figure, ink, place, positions), column)


def _dial(figure: Figure, ink: Ink, place: tuple[float, float], positions: tuple[int, int]) -> Axes:
    axes = board(figure, (*place, 290, 360), (-1.2, 1.2), (-1.78, 1.2))
    axes.invert_yaxis()  # upwards, as in mathematics
    query, key = (
        apply_rope(WORDS[word], position)[:2]
        for word, position in zip(("dog", "bites"), positions, strict=True)
    )
    axes.add_patch(Polygon(sector_outline(query, key, radius=0.4), facecolor=ink.mark))
    axes.add_patch(Circle((0, 0), 1.12, fill=False, edgecolor=ink.edge, linewidth=1))
    for word, hand, dash in (("dog", query, "-"), ("bites", key, (0, (3, 1.5)))):
        axes.plot([0, hand[0]], [0, hand[1]], color=ink.ink, linewidth=1.6, linestyle=dash)
        axes.plot(*hand, "o", color=ink.ink, markersize=6)
        beyond = 0.2 if word == "bites" else 0.26  # the rim would cross a longer word
        chalk(axes, word, *(hand * (1 + beyond / np.linalg.norm(hand))), strong=True)
    chalk(axes, f"dog at {positions[0]}, bites at {positions[1]}", 0, -1.36)
    chalk(axes, f"{query @ key:.2f}".replace("-", "−"), 0, -1.64, strong=True)
    return axes
