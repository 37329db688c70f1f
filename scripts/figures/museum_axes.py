"""The scores of a patch with all patches of an image, with rows and columns right and exchanged."""

from __future__ import annotations

from matplotlib.figure import Figure

from scripts.examples.museum import axes as programs
from scripts.examples.museum import effects
from scripts.figures._parts import heat, heat_scale, panel
from scripts.figures.style import Ink

SIZE = (640, 300)
PHONE = (340, 560)


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a map of scores with the axes right, one with them exchanged, and the scale."""
    edge = 190 if narrow else 210
    places = ((58, 30), (58, 308)) if narrow else ((58, 30), (342, 30))
    for title, program, place in zip(
        ("as trained", "axes exchanged"),
        (effects.right_grid, programs.exchanged_axes),
        places,
        strict=True,
    ):
        axes = panel(figure, *place, edge, edge)
        heat(axes, ink, effects.grid_scores(program))
        axes.set(title=title, xticks=(0, 8, 15), yticks=(0, 8, 15), xlabel="column", ylabel="row")
    heat_scale(panel(figure, places[1][0] + edge + 10, places[1][1], 8, edge), ink)
