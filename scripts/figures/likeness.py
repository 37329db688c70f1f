"""The similarity of the first twenty rows: every pair of them, then the first with each."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from posenc import relative_positions, similarity
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (930, 372)
PHONE = (340, 672)

WIDTH, LENGTH = 8, 20


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the square of similarities, and its first row as a curve."""
    side = 240 if narrow else 280
    square = panel(figure, 42, 34, side, side)
    alike = np.asarray(similarity(relative_positions(LENGTH, LENGTH), WIDTH))
    square.imshow(alike, cmap=_positive(ink), vmin=0, vmax=1)
    square.spines[:].set(visible=True, color=ink.rule)
    square.set(title="all pairs of positions", xlabel="position", ylabel="position")
    square.set(xticks=(0, 5, 10, 15, LENGTH - 1), yticks=(0, 5, 10, 15, LENGTH - 1))
    _draw_scale(panel(figure, 42 + side + 6, 34, 8, side), ink)
    _draw_row(panel(figure, *((56, 384, 270, 230) if narrow else (470, 34, 440, 280))), ink)


def _positive(ink: Ink) -> LinearSegmentedColormap:
    """Return the ramp from 0, paper, to 1: within twenty positions nothing is below zero."""
    upper = ink.diverging[len(ink.diverging) // 2 :]
    return LinearSegmentedColormap.from_list("positive", upper)


def _draw_scale(axes: Axes, ink: Ink) -> None:
    """Draw the colour scale."""
    values = np.linspace(1, 0, 101)[:, np.newaxis]
    axes.imshow(values, cmap=_positive(ink), vmin=0, vmax=1, extent=(0, 1, -0.005, 1.005))
    axes.set(xticks=(), yticks=(0, 0.5, 1), title="value")
    axes.yaxis.tick_right()
    axes.tick_params(length=2, pad=2)
    axes.spines[:].set(visible=True, color=ink.rule)


def _draw_row(axes: Axes, ink: Ink) -> None:
    """Draw the first row, and circle the neighbour and the rows more similar than it."""
    between = np.linspace(0, LENGTH - 1, 10 * (LENGTH - 1) + 1)
    row = np.asarray(similarity(np.arange(LENGTH), WIDTH))
    axes.plot(between, similarity(between, WIDTH), color=ink.categorical[0], linewidth=1)
    axes.plot(row, "o", color=ink.categorical[0], markersize=4)
    leader = {"arrowstyle": "-", "color": ink.edge, "shrinkB": 4, "relpos": (0, 0)}
    for apart, offset in ((1, (0, 32)), (1 + int(np.argmax(row[1:])), (9, 7))):
        point, note = (apart, row[apart]), f"{apart} apart: {row[apart]:.3f}"
        axes.plot(*point, "o", markersize=8, markerfacecolor="none", color=ink.ink)
        axes.annotate(note, point, offset, textcoords="offset points", arrowprops=leader)
    axes.axhline(0, color=ink.rule, linewidth=0.75, zorder=0)
    axes.set(title="position 0 and each other", xlabel="position", ylabel="cosine similarity")
    axes.set(xlim=(-0.5, LENGTH - 0.5), ylim=(-0.05, 1.25), yticks=(0, 0.5, 1))
    axes.set(xticks=(0, 5, 10, 15, LENGTH - 1))
