"""The fastest pair beside the slowest: one tells neighbours apart, the other far ends."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posenc import sinusoidal_encoding
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (930, 316)
PHONE = (340, 592)

WIDTH, LENGTH = 8, 30
FAST, SLOW = 0, 6  # the sines of the first and the last pair


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the two sines, then the two cosines, over the same positions."""
    width, height = (212, 210) if narrow else (340, 226)
    right = (40, 324) if narrow else (500, 30)
    _draw_two(panel(figure, 40, 30, width, height), ink, kind=0, title="sines")
    _draw_two(panel(figure, *right, width, height), ink, kind=1, title="cosines")


def _draw_two(axes: Axes, ink: Ink, *, kind: int, title: str) -> None:
    """Draw the fast and the slow dimension of one kind."""
    between = np.linspace(0, LENGTH - 1, 10 * (LENGTH - 1) + 1)
    curves, entries = (sinusoidal_encoding(at, WIDTH)[:, kind:] for at in (between, LENGTH))
    for first, speed, color, mark in ((FAST, "fast", 0, "o"), (SLOW, "slow", 2, "s")):
        axes.plot(between, curves[:, first], color=ink.categorical[color], linewidth=1)
        axes.plot(entries[:, first], mark, color=ink.categorical[color], markersize=2.6)
        name, end = f"dim {first + kind}, {speed}", (LENGTH - 1, entries[-1, first])
        axes.annotate(name, end, (8, 0), textcoords="offset points", va="center")
    axes.axhline(0, color=ink.rule, linewidth=0.75, zorder=0)
    axes.set(title=title, xlabel="position", xlim=(-0.5, LENGTH - 0.5), ylim=(-1.12, 1.12))
    axes.set(yticks=(-1, 0, 1), xticks=range(0, LENGTH, 5))
