"""The wavelength of every pair, by the right exponent and by the doubled one."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posenc import wavelengths
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (930, 348)
PHONE = (340, 348)

WIDTH, TEXT = 512, 512
# A doubled exponent is a squared base: 10000^(2x) = (10^8)^x.
BASES = {"right": 1e4, "doubled": 1e8}
DASHES = ("-", (0, (5, 2)))
OFFSETS = ((6, -17), (-39, 9))  # points, from a ring to the name of its pair


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a line for each exponent, and circle the first pair that does not complete a turn."""
    axes = panel(figure, 54, 10, 212 if narrow else 790, 280)
    pairs = np.arange(WIDTH // 2)
    for (name, base), color, dash, offset in zip(
        BASES.items(), ink.categorical, DASHES, OFFSETS, strict=False
    ):
        turns = wavelengths(WIDTH, base=base)
        axes.plot(pairs, turns, color=color, linestyle=dash, linewidth=1.6)
        end = (pairs[-1], turns[-1])
        axes.annotate(name, end, (6, 0), textcoords="offset points", va="center")
        first = int(np.argmax(turns > TEXT))
        _mark(axes, ink, (first, turns[first]), offset)
    axes.axhline(TEXT, color=ink.edge, linewidth=0.75, linestyle=(0, (1, 2)), zorder=0)
    axes.set(yscale="log", xlim=(0, WIDTH / 2), ylim=(1, 1e9), xticks=range(0, 257, 64))
    axes.set(yticks=10.0 ** np.arange(0, 10, 3), xlabel="pair", ylabel="positions to a turn")
    axes.minorticks_off()


def _mark(axes: Axes, ink: Ink, point: tuple[int, float], offset: tuple[int, int]) -> None:
    """Circle a point of a line and label its pair."""
    axes.plot(*point, "o", markersize=7, markerfacecolor="none", color=ink.ink)
    axes.annotate(f"pair {point[0]}", point, offset, textcoords="offset points")
