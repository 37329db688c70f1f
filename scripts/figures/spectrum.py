"""All wavelengths of four widths on a logarithmic axis: equal steps, all below the limit."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from posenc import wavelengths
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (930, 250)
PHONE = (340, 270)

WIDTHS = (8, 16, 64, 512)
LENGTH = 512
ENDS = (2 * np.pi, 2 * np.pi * 10000)


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a row of dots for each width, with lines at the two limits and at a text's length."""
    axes = panel(figure, 66, 34, 262 if narrow else 830, 160)
    for row, (width, color) in enumerate(zip(WIDTHS, ink.categorical, strict=False)):
        size = min(5, 420 / width) if narrow else min(6, 1000 / width)
        found = wavelengths(width)
        axes.plot(found, np.full(found.size, row), "o", color=color, markersize=max(size, 1.6))
    for end, name in zip(ENDS, ("$2\\pi$", "$20000\\pi$"), strict=True):
        axes.axvline(end, color=ink.edge, linewidth=0.75, zorder=0)
        side = "left" if end == ENDS[0] else "right"
        axes.annotate(name, (end, -0.75), (0, 6), textcoords="offset points", ha=side)
    axes.axvline(LENGTH, color=ink.edge, linewidth=0.75, linestyle=(0, (3, 3)), zorder=0)
    note = f"{LENGTH} positions"
    axes.annotate(note, (LENGTH, -0.75), (0, 6), textcoords="offset points", ha="center")
    axes.set(xscale="log", xlim=(5, 80_000), ylim=(len(WIDTHS) - 0.4, -0.75))
    axes.set_yticks(range(len(WIDTHS)), [f"$d$ = {width}" for width in WIDTHS])
    axes.set_xticks((10, 100, 1000, 10_000), ("10", "100", "1,000", "10,000"))
    axes.minorticks_off()
    axes.tick_params(axis="y", length=0)
    axes.spines.left.set_visible(False)
    axes.set_xlabel("wavelength in positions")
