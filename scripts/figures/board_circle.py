"""A pair as a point on a circle: what it can do alone, and where it had no training example."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon
from numpy.typing import NDArray

from posenc import sinusoidal_encoding
from scripts.figures._board import LARGE, board, chalk, step
from scripts.figures.style import Ink

SIZE = (600, 330)
PHONE = (340, 640)

STEPS, WIDTH = 6, 8
TRAINED, AHEAD, WIDE, PAIR = 512, 1000, 512, 150


def hands(positions: NDArray[np.int_], width: int, pair: int) -> NDArray[np.floating]:
    """Return the direction of a pair's hand, (sin, cos): right and up."""
    return sinusoidal_encoding(positions, width)[:, 2 * pair : 2 * pair + 2]


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a fast pair, step by step, and a slow one with what training has shown of it."""
    _draw_steps(_dial(figure, ink, (5, 0) if narrow else (-20, 0)), ink)
    _draw_trained(_dial(figure, ink, (5, 318) if narrow else (285, 0)), ink)


def _dial(figure: Figure, ink: Ink, place: tuple[float, float]) -> Axes:
    axes = board(figure, (*place, 330, 320), (-1.5, 1.5), (-1.5, 1.4))
    axes.add_patch(Circle((0, 0), 1, fill=False, edgecolor=ink.edge, linewidth=1))
    axes.invert_yaxis()  # as on a clock
    return axes


def _draw_steps(axes: Axes, ink: Ink) -> None:
    for position, (right, up) in enumerate(hands(np.arange(STEPS + 1), WIDTH, 0)):
        axes.plot([0, right], [0, up], color=ink.rule if position else ink.edge, linewidth=1)
        axes.plot(right, up, "o", color=ink.categorical[0], markersize=6)
        chalk(axes, f"{position}", 1.22 * right, 1.2 * up, strong=True)
    chalk(axes, "pair 0: one radian a step", 0, -1.4)


def _draw_trained(axes: Axes, ink: Ink) -> None:
    seen = hands(np.arange(TRAINED), WIDE, PAIR)
    axes.add_patch(Polygon(np.vstack([[0, 0], seen[::7], seen[-1]]), facecolor=ink.mark))
    for position in (0, TRAINED - 1, AHEAD):
        ((right, up),) = hands(np.array([position]), WIDE, PAIR)
        color = ink.categorical[2] if position == AHEAD else ink.ink
        axes.plot([0, right], [0, up], color=color, linewidth=1.6)
        axes.plot(right, up, "o", color=color, markersize=6)
        chalk(axes, f"{position}", 1.25 * right, 1.2 * up, strong=True)
    chalk(axes, f"pair {PAIR} of {WIDE // 2}: shaded is seen", 0, -1.4, size=LARGE)
    step(axes, 1)
