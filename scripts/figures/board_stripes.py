"""The sign of every sine: blocks that grow longer by the same factor from pair to pair."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from posenc import sinusoidal_encoding
from scripts.figures._board import LARGE, SMALL
from scripts.figures._parts import diverging, panel
from scripts.figures.style import Ink

SIZE = (600, 348)
PHONE = (340, 348)

WIDTH, LENGTH = 16, 200


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a strip for each pair: teal while its sine is positive, ochre while negative."""
    size = SMALL if narrow else LARGE
    signs = np.sign(sinusoidal_encoding(LENGTH, WIDTH)[:, 0::2]).T
    axes = panel(figure, 70, 8, 262 if narrow else 518, 262)
    axes.imshow(signs, cmap=diverging(ink), vmin=-1.6, vmax=1.6)
    for pair in range(1, WIDTH // 2):
        axes.axhline(pair - 0.5, color=ink.paper, linewidth=5)
    axes.set(xticks=(0, 50, 100, 150), yticks=range(WIDTH // 2), xlabel="position")
    axes.set_yticklabels([f"pair {pair}" for pair in range(WIDTH // 2)])
    axes.tick_params(length=0, labelsize=size)
    axes.xaxis.label.set_fontsize(size)
    axes.spines[:].set(visible=False)
