"""YaRN with its factor inside of the power: slow pairs are not slowed as much as they should be."""

from __future__ import annotations

from matplotlib.figure import Figure

from scripts.examples.museum import effects, scaling
from scripts.figures._slowed import PHONE as PHONE
from scripts.figures._slowed import SIZE as SIZE
from scripts.figures._slowed import pairs_panel, slowed_scale
from scripts.figures._unseen import DASHES
from scripts.figures.style import Ink


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw by how much each pair is divided, correctly and with the factor inside."""
    axes = pairs_panel(figure, narrow, 32)
    slowed_scale(axes, (1, 2, 4, 8, 16, 32), top=44)
    for n, program in enumerate((None, scaling.factor_inside_power)):
        slowed = effects.divided_by(program)
        axes.plot(slowed, color=ink.categorical[n], linestyle=DASHES[n], linewidth=1.6)
    axes.text(31, 34, "factor outside", ha="right", va="bottom")
    axes.text(31, 8, "factor inside", ha="right", va="top")
