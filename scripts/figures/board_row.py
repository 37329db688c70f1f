"""One row of the encoding, eight wide: four pairs, each a sine and a cosine of one angle."""

from __future__ import annotations

from matplotlib.figure import Figure

from posenc import frequencies
from scripts.figures._board import SMALL, board, box, chalk, step
from scripts.figures.style import Ink

SIZE = (600, 196)
PHONE = (340, 196)

WIDTH = 8


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the eight cells, the pairs above them and the dimensions below."""
    large, small = (SMALL, 10.5) if narrow else (18.0, SMALL)
    axes = board(figure, (0, 0, *(PHONE if narrow else SIZE)), (-0.05, WIDTH + 0.05), (0, 5))
    for pair, frequency in enumerate(frequencies(WIDTH)):
        chalk(axes, f"pair {pair}", 2 * pair + 1, 0.5, size=large, strong=True)
        shade = ink.mark if pair % 2 == 0 else ""
        for half, name in enumerate(("sin", "cos")):
            dimension = 2 * pair + half
            box(axes, ink, dimension, 1.0, dimension + 1, 3.9, fill=shade)
            step(axes, 0)
            chalk(axes, name, dimension + 0.5, 1.75, size=large)
            step(axes, 2)
            divisor = round(1 / frequency)
            angle = "$p$" if divisor == 1 else f"$\\frac{{p}}{{{divisor}}}$"
            chalk(axes, angle, dimension + 0.5, 2.95, size=large * 1.25)
            step(axes, 1)
            chalk(axes, f"{dimension}", dimension + 0.5, 4.45, size=small, color=ink.ink_2)
            step(axes, 0)
