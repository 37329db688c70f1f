"""Perplexity by position for the schemes that models are built for, with ALiBi beside them."""

from __future__ import annotations

from matplotlib.figure import Figure

from scripts.figures._parts import panel
from scripts.figures.extrapolation import TALL, curves
from scripts.figures.style import Ink

SIZE = (930, 470)
PHONE = (340, 908)

BY_DISTANCE = ("alibi", "kerple", "kerple_power", "sandwich", "fire", "xpos")
OTHERS = ("transformer_xl", "deberta", "tupe", "forgetting")


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw biases and xPos, then the terms apart and the forgetting gate."""
    places = ((52, 34), (52, 488)) if narrow else ((52, 34), (504, 34))
    wide = 114 if narrow else 236
    titles = ("biases by distance, and xPos", "terms apart, and the forgetting gate")
    for place, names, title in zip(places, (BY_DISTANCE, OTHERS), titles, strict=True):
        axes = panel(figure, *place, wide, TALL)
        curves(axes, ink, names)
        axes.set_title(title)
