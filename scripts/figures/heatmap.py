"""Twenty positions, 512 dimensions: the fast pairs to the left, the slow ones to the right.

In the table a column of sines and a column of cosines take turns, 256 times. Drawn so, one screen
pixel or less to a column, the turns blur into a grey that no entry has, or beat against the
screen's own grid. So the first sixteen dimensions are drawn as they stand, wide enough to see, and
all 512 are drawn below with the sines apart from the cosines: there each column is much like the
next, and no scaling can make up a pattern.
"""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posenc import sinusoidal_encoding
from scripts.figures._parts import diverging, heat_scale, panel
from scripts.figures.style import Ink

SIZE = (930, 656)
PHONE = (340, 656)

LENGTH, WIDTH, FIRST = 20, 512, 16


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the first dimensions, then every sine, then every cosine, and the scale of colours."""
    left, width, height = 42, 256 * (1 if narrow else 3), 160
    first, sines, cosines = (panel(figure, left, 30 + 218 * n, width, height) for n in range(3))

    _draw_strip(first, ink, range(FIRST))
    title = f"dimensions 0 to {FIRST - 1}, as they stand in the table"
    first.set(title=title, xticks=range(0, FIRST, 2))

    _draw_strip(sines, ink, range(0, WIDTH, 2))
    sines.set(title=f"even dimensions, 0 to {WIDTH - 2}: sines")
    sines.set_xticks((0, 128, 256, 384, WIDTH - 2))

    _draw_strip(cosines, ink, range(1, WIDTH, 2))
    cosines.set(title=f"odd dimensions, 1 to {WIDTH - 1}: cosines")
    cosines.set_xticks((1, 129, 257, 385, WIDTH - 1))

    heat_scale(panel(figure, left + width + 6, 30 + 218, 8, height), ink)


def _draw_strip(axes: Axes, ink: Ink, shown: range) -> None:
    """Draw some columns of the table, with each cell at its dimension and position."""
    half = shown.step / 2
    axes.imshow(
        sinusoidal_encoding(LENGTH, WIDTH)[:, shown],
        cmap=diverging(ink),
        vmin=-1,
        vmax=1,
        extent=(shown[0] - half, shown[-1] + half, LENGTH - 0.5, -0.5),
    )
    axes.set_ylabel("position", labelpad=1.5)
    axes.set(yticks=(0, 5, 10, 15, LENGTH - 1))
    axes.spines[:].set(visible=True, color=ink.rule)  # a sine near zero is as pale as the page
