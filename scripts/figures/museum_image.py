"""How much a patch in the middle of an image resembles each patch: a peak, or the same for all."""

from __future__ import annotations

from matplotlib.figure import Figure

from posenc import apply_rope
from scripts.examples.museum import effects
from scripts.figures._parts import heat, heat_scale, panel
from scripts.figures.style import Ink

SIZE = (640, 300)
PHONE = (340, 560)

SIDE = 16
PROGRAMS: tuple[effects.Program, ...] = (apply_rope, effects.collapsed)


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a map of scores by float64 positions, one by bfloat16 positions, and the scale."""
    edge = 190 if narrow else 210
    places = ((58, 30), (58, 308)) if narrow else ((58, 30), (342, 30))
    for title, program, place in zip(
        ("positions as they are", "positions in bfloat16"),
        PROGRAMS,
        places,
        strict=True,
    ):
        axes = panel(figure, *place, edge, edge)
        heat(axes, ink, effects.image_scores(program, SIDE))
        axes.set(title=title, xticks=(0, 8, 15), yticks=(0, 8, 15), xlabel="column", ylabel="row")
    heat_scale(panel(figure, places[1][0] + edge + 10, places[1][1], 8, edge), ink)
