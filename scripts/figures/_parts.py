"""What several figures draw: a panel placed in pixels, a clock, a scale of colours."""

from __future__ import annotations

from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon
from numpy.typing import NDArray

from scripts.figures._press import PIXELS_AN_INCH, PLAIN, STRONG
from scripts.figures.style import Ink


def panel(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """Add axes at a place given in pixels of the page, from its top left corner."""
    across, down = figure.get_size_inches() * PIXELS_AN_INCH
    return figure.add_axes(
        (left / across, 1 - (top + height) / down, width / across, height / down)
    )


def write(
    figure: Figure,
    words: str,
    left: float,
    top: float,
    *,
    color: str | None = None,
    strong: bool = False,
    align: Literal["left", "center", "right"] = "left",
) -> None:
    """Write words around a height given in pixels of the page: digits are ten high."""
    across, down = figure.get_size_inches() * PIXELS_AN_INCH
    face = {"family": STRONG, "weight": 600} if strong else {"family": PLAIN}
    place = (left / across, 1 - (top + 5) / down)
    figure.text(*place, words, color=color, ha=align, va="baseline", **face)


def diverging(ink: Ink) -> LinearSegmentedColormap:
    """Return the ramp from −1, ochre, through 0, paper, to +1, petrol."""
    return LinearSegmentedColormap.from_list("diverging", ink.diverging)


def clock(axes: Axes, ink: Ink, hand: NDArray[np.floating], start: NDArray[np.floating]) -> None:
    """Draw a dial whose hand points at (sin, cos), and what it swept since `start`, clockwise.

    An angle of 0 points up, as on a wall: the sine is how far right the tip lies, the cosine how
    far up.
    """
    axes.set(xlim=(-1.12, 1.12), ylim=(-1.12, 1.12), aspect="equal")
    axes.set_axis_off()
    axes.add_patch(Polygon(_sector(start, hand), facecolor=ink.mark, edgecolor="none"))
    axes.add_patch(Circle((0, 0), 1, fill=False, edgecolor=ink.edge, linewidth=0.75))
    axes.plot([0, start[0]], [0, start[1]], color=ink.edge, linewidth=1, linestyle=(0, (3, 2)))
    axes.plot([0, hand[0]], [0, hand[1]], color=ink.ink, linewidth=1.6)
    axes.plot(*hand, "o", color=ink.ink)


def _sector(start: NDArray[np.floating], end: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the outline of the sector from one hand to another, less than a turn on."""
    first = np.arctan2(*start)
    sweep = (np.arctan2(*end) - first) % (2 * np.pi)
    angles = np.linspace(first, first + sweep, 25)
    arc = np.stack([np.sin(angles), np.cos(angles)], axis=1)
    return np.vstack([np.zeros(2), arc])
