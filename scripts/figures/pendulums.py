"""Four clocks seen as pendulums: the sines of a table eight wide, each slower than the last."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from posenc import frequencies, sinusoidal_encoding
from scripts.figures._parts import panel, write
from scripts.figures.style import Ink

SIZE = (930, 408)
PHONE = (340, 408)

WIDTH, LENGTH = 8, 50


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a strip for each sine: its entries as dots, the function through them as a line."""
    left, width = (106, 226) if narrow else (130, 790)
    between = np.linspace(0, LENGTH - 1, 10 * (LENGTH - 1) + 1)
    curves, entries = (sinusoidal_encoding(at, WIDTH)[:, 0::2].T for at in (between, LENGTH))
    for pair, frequency in enumerate(frequencies(WIDTH)):
        top, color = 8 + 88 * pair, ink.categorical[pair]
        axes = panel(figure, left, top, width, 70)
        axes.axhline(0, color=ink.rule, linewidth=0.75, zorder=0)
        axes.plot(between, curves[pair], color=color, linewidth=1)
        axes.plot(entries[pair], "o", color=color, markersize=1.8 if narrow else 3.2)
        axes.set(xlim=(-0.8, LENGTH - 0.2), ylim=(-1.15, 1.15), yticks=(-1, 0, 1))
        axes.set_xticks(())
        axes.spines["bottom"].set_visible(False)
        write(figure, f"dim {2 * pair}", 0, top + 24, strong=True)
        write(figure, f"$\\omega$ = {frequency:g}", 0, top + 46, color=ink.ink_2)
    axes.spines["bottom"].set_visible(True)
    axes.set(xlabel="position", xticks=range(0, LENGTH, 10))
