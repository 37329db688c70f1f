"""The fastest and the slowest pair of a table of width 128: the same functions at two scales."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from posenc import sinusoidal_encoding, wavelengths
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (930, 300)
PHONE = (340, 558)

WIDTH = 128


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw dimension 0 over a little more than one turn, and dimensions 126 and 127 over 400."""
    _draw_fast(panel(figure, 40, 30, *((288, 190) if narrow else (400, 216))), ink)
    slow = (40, 310, 288, 190) if narrow else (518, 30, 400, 216)
    _draw_slow(panel(figure, *slow), ink)


def _draw_fast(axes: Axes, ink: Ink) -> None:
    turn = wavelengths(WIDTH)[0]
    _draw_curve(axes, np.arange(9), dimension=0, color=ink.categorical[0])
    axes.plot([turn, turn], [-1, 0], color=ink.edge, linewidth=0.75, linestyle=(0, (3, 3)))
    note = f"one turn:\n$2\\pi$ = {turn:.2f}"
    axes.annotate(note, (turn, -1), (5, 1), textcoords="offset points", linespacing=1.1)
    axes.set(title="dimension 0, a sine", xlim=(-0.2, 8.2), xticks=range(9))
    _finish(axes, ink)


def _draw_slow(axes: Axes, ink: Ink) -> None:
    positions = np.arange(0, 401, 50)
    last = positions[-1]
    for color, dimension, kind, rise in ((0, 126, "sine", 6), (1, 127, "cosine", -17)):
        _draw_curve(axes, positions, dimension=dimension, color=ink.categorical[color])
        value = sinusoidal_encoding(last[np.newaxis], WIDTH)[0, dimension]
        note = f"dimension {dimension}, a {kind}: {value:.3f} at {last}"
        axes.annotate(note, (last, value), (0, rise), textcoords="offset points", ha="right")
    axes.set(title=f"dimensions 126 and 127, of {WIDTH}")
    axes.set(xlim=(-10, 410), xticks=range(0, 401, 100))
    _finish(axes, ink)


def _draw_curve(axes: Axes, positions: NDArray[np.int_], *, dimension: int, color: str) -> None:
    """Draw entries of the table as dots, and the function through them as a line."""
    between = np.linspace(positions[0], positions[-1], 161)
    axes.plot(between, sinusoidal_encoding(between, WIDTH)[:, dimension], color=color, linewidth=1)
    entries = sinusoidal_encoding(positions, WIDTH)[:, dimension]
    axes.plot(positions, entries, "o", color=color)


def _finish(axes: Axes, ink: Ink) -> None:
    """Give both panels one scale, and the line from which values are counted."""
    axes.set(ylim=(-1.12, 1.12), yticks=(-1, 0, 1), xlabel="position")
    axes.axhline(0, color=ink.rule, linewidth=0.75, zorder=0)
