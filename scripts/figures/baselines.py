"""The length of a row by position: that of a count grows, that of sines and cosines does not."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from posenc import counting_encoding, no_encoding, sinusoidal_encoding
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (600, 326)
PHONE = (340, 326)

WIDTH, LENGTH = 64, 33
NAMES = ("counting", "sinusoidal", "none")
DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)))
NUDGES = (0, 7, -5)  # points, to keep the names of lines that end together apart


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the length of each row of three tables."""
    axes = panel(figure, 60, 16, 164 if narrow else 420, 250)
    tables = [e(LENGTH, WIDTH) for e in (counting_encoding, sinusoidal_encoding, no_encoding)]
    for n, lengths in enumerate(np.linalg.norm(tables, axis=-1)):
        axes.plot(lengths, color=ink.categorical[n], linestyle=DASHES[n], linewidth=1.6)
        label, end = f"{NAMES[n]}: {lengths[-1]:.3g}", (LENGTH - 1, lengths[-1])
        axes.annotate(label, end, (6, NUDGES[n]), textcoords="offset points", va="center")
    axes.set(xlim=(0, LENGTH - 1), ylim=(-6, 260), xticks=range(0, LENGTH, 8))
    axes.set(xlabel="position", ylabel=f"length of the row, $d$ = {WIDTH}")
