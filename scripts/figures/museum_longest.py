"""How alike equal tokens of a short text are, before a long text was read and after."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from scripts.examples.museum import effects
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (640, 280)
PHONE = (340, 280)

LONG = 16384


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the score over distances, for a fresh model and for one that has read a long text."""
    axes = panel(figure, 56, 34, 268 if narrow else 556, 194)
    distances = np.arange(0, 1024, 8)
    for n, before in enumerate((1, LONG)):
        alike = effects.short_text(distances, before)
        dash = ("-", (0, (5, 2)))[n]
        axes.plot(distances, alike, color=ink.categorical[n], linestyle=dash, linewidth=1.4)
    axes.set(xlim=(0, 1023), ylim=(0, 1.02), xticks=range(0, 1024, 256), yticks=(0, 0.5, 1))
    axes.set(xlabel="positions apart", ylabel="score of equal tokens")
    axes.set(title="solid: before; dashed: after a long text")
