"""The worked table as clocks: each row of eight numbers is where four hands point."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from posenc import frequencies, sinusoidal_encoding
from scripts.figures._parts import clock, panel, write
from scripts.figures.style import Ink

SIZE = (600, 462)
PHONE = (340, 342)

WIDTH, LENGTH = 8, 4
NOON = np.array([0.0, 1.0])  # every hand at position 0: sine 0, cosine 1


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a row of dials for each position, a column for each pair."""
    left, across, down, size = (56, 72, 72, 68) if narrow else (92, 132, 100, 92)
    hands = sinusoidal_encoding(LENGTH, WIDTH).reshape(LENGTH, -1, 2)  # position, pair, (sin, cos)
    write(figure, "position", 0, 42, color=ink.ink_2)
    for pair, frequency in enumerate(frequencies(WIDTH)):
        middle = left + pair * across + size / 2
        write(figure, f"pair {pair}", middle, 20, strong=True, align="center")
        write(figure, f"{frequency:g} rad", middle, 42, color=ink.ink_2, align="center")
    for position, row in enumerate(hands):
        top = 58 + position * down
        write(figure, f"{position}", 0, top + size / 2, strong=True)
        for pair, hand in enumerate(row):
            clock(panel(figure, left + pair * across, top, size, size), ink, hand, NOON)
