"""Four clocks, the fastest above: the sines of the four pairs of a row eight wide."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from posenc import sinusoidal_encoding, wavelengths
from scripts.figures._board import LARGE, SMALL, board, chalk, step
from scripts.figures.style import Ink

SIZE = (600, 372)
PHONE = (340, 372)

WIDTH, LAST = 8, 64
NAMES = ("seconds", "minutes", "hours", "days")


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a wave for each pair, its dimensions on its left, its speed on its right."""
    left, width = (74, 152) if narrow else (104, 356)
    size = SMALL if narrow else LARGE
    between = np.linspace(0, LAST, 641)
    rows = sinusoidal_encoding(between, WIDTH)
    for pair, (turn, name) in enumerate(zip(wavelengths(WIDTH), NAMES, strict=True)):
        axes = board(figure, (left, 10 + 84 * pair, width, 70), (0, LAST), (-1.1, 1.1))
        axes.invert_yaxis()
        axes.axhline(0, color=ink.rule, linewidth=0.75, zorder=0)
        axes.plot(between, rows[:, 2 * pair], color=ink.categorical[0], linewidth=1.8)
        gap = LAST * 10 / width
        chalk(axes, f"dims\n{2 * pair}, {2 * pair + 1}", -gap, 0, size=size, align="right")
        chalk(axes, f"{name}\n{turn:,.1f}", LAST + gap, 0, size=size, align="left", strong=True)
        step(axes, pair)
    foot = board(figure, (left, 340, width, 30), (0, LAST), (0, 1))
    for position in (0, LAST // 2, LAST):
        chalk(foot, f"{position}", position, 0.5, size=SMALL, color=ink.ink_2)
