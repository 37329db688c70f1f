"""The largest error of an angle by position, when frequencies have the eight bits of bfloat16."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from scripts.examples.museum import effects
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (640, 288)
PHONE = (340, 288)

LENGTH = 4096


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the error over positions, and half a turn."""
    axes = panel(figure, 46, 24, 262 if narrow else 560, 208)
    errors = effects.phase_errors(LENGTH)
    places = np.arange(0, LENGTH, 16)
    axes.plot(places, errors[places], color=ink.categorical[0], linewidth=1.2)
    axes.axhline(np.pi, color=ink.edge, linewidth=0.75, linestyle=(0, (3, 3)), zorder=0)
    axes.text(0, np.pi, " half a turn", ha="left", va="bottom", color=ink.ink_2)
    axes.set(xlim=(0, LENGTH), ylim=(0, 3.6), xticks=range(0, LENGTH + 1, 1024), yticks=range(4))
    axes.set(xlabel="position", ylabel="largest error, radians")
