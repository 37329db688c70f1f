"""Perplexity by position for the further schemes that add to the scores, in two panels."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from scripts.figures._parts import panel
from scripts.figures.extrapolation import curves
from scripts.figures.style import Ink

SIZE = (930, 364)
PHONE = (340, 716)
TALL, DOWN = 250, 352  # of a panel, and from one to the next, in pixels

PANELS = {
    "biases by distance": ("alibi", "kerple", "kerple_power", "sandwich", "fire"),
    "terms apart": ("alibi", "transformer_xl", "deberta", "tupe"),
}


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw both panels, with ALiBi for comparison."""
    panels(figure, ink, narrow, PANELS)


def panels(figure: Figure, ink: Ink, narrow: bool, named: Mapping[str, tuple[str, ...]]) -> None:
    """Draw two panels of curves side by side, or on a phone one below the other."""
    for number, (title, names) in enumerate(named.items()):
        place = (52, 34 + DOWN * number) if narrow else (52 + 452 * number, 34)
        axes = panel(figure, *place, 114 if narrow else 236, TALL)
        curves(axes, ink, names, TALL)
        axes.set_title(title)
        if number:  # in both layouts, since a figure has the same labels in both
            axes.set_ylabel("")
