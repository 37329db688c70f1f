"""One score, of a query and a key that are shifted together: straight, unless rotated wrongly."""

from __future__ import annotations

from matplotlib.figure import Figure

from posenc import apply_rope
from scripts.examples.museum import effects, layouts
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (640, 264)
PHONE = (340, 264)

PROGRAMS: tuple[effects.Program, ...] = (apply_rope, layouts.tables_repeated)


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the score over shifts, by the wrong program and by posenc."""
    axes = panel(figure, 56, 34, 268 if narrow else 556, 176)
    for n, program in enumerate(PROGRAMS):
        scores = effects.shift_scores(program)
        axes.plot(scores, color=ink.categorical[n], linestyle=("-", (0, (5, 2)))[n], linewidth=1.4)
    axes.set(xlim=(0, 63), ylim=(-0.8, 0.1), xticks=range(0, 64, 16), yticks=(-0.8, -0.4, 0))
    axes.set(xlabel="position of the key", ylabel="score")
    axes.set(title="solid: right; dashed: tables of halves")
