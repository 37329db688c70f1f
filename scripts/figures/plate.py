"""The sine half of a table: positions run to the right, pairs downwards from the fastest."""

from __future__ import annotations

from matplotlib.figure import Figure

from posenc import sinusoidal_encoding
from scripts.figures._parts import diverging, panel
from scripts.figures.style import Ink

SIZE = (800, 256)
PHONE = (340, 128)

LENGTH, WIDTH = 200, 128


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the picture without margins; a sine of zero has the colour of paper."""
    axes = panel(figure, 0, 0, *(PHONE if narrow else SIZE))
    axes.imshow(sinusoidal_encoding(LENGTH, WIDTH)[:, 0::2].T, cmap=diverging(ink), vmin=-1, vmax=1)
    axes.set_axis_off()
