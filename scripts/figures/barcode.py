"""A barcode for each position: its eight entries, up for positive ones, down for negative ones."""

from __future__ import annotations

from matplotlib.figure import Figure

from posenc import sinusoidal_encoding
from scripts.figures._parts import panel, write
from scripts.figures.style import Ink

SIZE = (600, 540)
PHONE = (340, 540)

WIDTH, POSITIONS = 8, (0, 2, 4, 6, 8)


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a strip of stems for each position."""
    left, width = (64, 276) if narrow else (100, 500)
    write(figure, "position", 0, 12, color=ink.ink_2)
    for strip, row in enumerate(sinusoidal_encoding(POSITIONS, WIDTH)):
        top = 26 + 92 * strip
        axes = panel(figure, left, top, width, 72)
        for dimension, entry in enumerate(row):
            color = ink.positive if entry >= 0 else ink.negative
            (stem,) = axes.plot([dimension] * 2, [0, entry], color=color)
            stem.set(linewidth=9 if narrow else 15, solid_capstyle="butt")
        axes.axhline(0, color=ink.edge, linewidth=0.75)
        axes.set(xlim=(-0.5, WIDTH - 0.5), ylim=(-1.1, 1.1), yticks=(-1, 0, 1))
        axes.spines["bottom"].set_visible(False)
        axes.set_xticks(())
        write(figure, f"{POSITIONS[strip]}", 0, top + 36, strong=True)
    axes.tick_params(axis="x", length=0)
    axes.set(xticks=range(WIDTH), xlabel="dimension: even sines, odd cosines")
