"""Perplexity by position for the schemes that models are built for, a panel for each family."""

from __future__ import annotations

from matplotlib.figure import Figure

from scripts.figures._parts import panel
from scripts.figures.extrapolation import curves
from scripts.figures.style import Ink

SIZE = (930, 684)
PHONE = (340, 1324)
TALL, DOWN = 250, 320  # of a panel, and from one to the next, in pixels

# With ALiBi and RoPE, for comparison.
PANELS = {
    "biases by distance": ("alibi", "kerple", "kerple_power", "sandwich", "fire"),
    "RoPE, in other ways": ("rope", "xpos", "rope_random", "rope_then_none"),
    "terms apart": ("transformer_xl", "deberta", "tupe"),
    "by content": ("cope", "forgetting", "path", "dape"),
}


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a panel for each family."""
    columns, wide = (1, 114) if narrow else (2, 236)
    for number, (title, names) in enumerate(PANELS.items()):
        row, column = divmod(number, columns)
        axes = panel(figure, 52 + 452 * column, 34 + DOWN * row, wide, TALL)
        curves(axes, ink, names, TALL)
        if number % 2:  # on the right, in the wide layout; a figure has the same labels in both
            axes.set_ylabel("")
        if number < 2:
            axes.set_xlabel("")
        axes.set_title(title)
