"""The similarity of two rows by their distance: decreasing overall, but not monotonically."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posenc import similarity
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (930, 348)
PHONE = (340, 348)

FARTHEST = 64
WIDTHS = (8, 128, 512)
DASHES = ("-", (0, (5, 2)), "-")
NUDGES = (0, -7, 7)  # points, to keep the names of two curves that end together apart


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a curve for each width, and mark two distances of the smallest that are out of order."""
    axes = panel(figure, 54, 10, 218 if narrow else 808, 280)
    for width, color, dash, nudge in zip(WIDTHS, ink.categorical, DASHES, NUDGES, strict=False):
        between = np.linspace(0, FARTHEST, 8 * FARTHEST + 1)
        axes.plot(between, similarity(between, width), color=color, linestyle=dash, linewidth=1)
        lags = np.arange(FARTHEST + 1)
        size = 1.8 if narrow else 3.2
        axes.plot(lags, similarity(lags, width), "o", color=color, markersize=size)
        name, end = f"$d$ = {width}", (FARTHEST, similarity(FARTHEST, width))
        axes.annotate(name, end, (6, nudge), textcoords="offset points", va="center")
    _mark(axes, ink, lag=1, offset=(0, 32))
    _mark(axes, ink, lag=6, offset=(9, 7))
    axes.axhline(0, color=ink.rule, linewidth=0.75, zorder=0)
    axes.set(xlim=(0, FARTHEST + 0.5), ylim=(-0.08, 1.25), xticks=range(0, FARTHEST + 1, 8))
    axes.set(yticks=(0, 0.5, 1), xlabel="positions apart", ylabel="cosine similarity")


def _mark(axes: Axes, ink: Ink, *, lag: int, offset: tuple[int, int]) -> None:
    """Circle an entry of the smallest table, and label it."""
    point = (lag, similarity(lag, WIDTHS[0]))
    axes.plot(*point, "o", markersize=7, markerfacecolor="none", color=ink.ink)
    note = f"{lag} apart: {point[1]:.3f}"
    leader = {"arrowstyle": "-", "color": ink.edge, "shrinkB": 4, "relpos": (0, 0)}
    axes.annotate(note, point, offset, textcoords="offset points", arrowprops=leader)
