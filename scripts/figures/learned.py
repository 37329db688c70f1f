"""A learned table made longer: the new rows lie on straight lines between the old ones."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from posenc import LearnedPositionalEmbedding, resize_table
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (930, 318)
PHONE = (340, 318)

OLD, NEW, SEED = 8, 19, 0
NUDGES = (-7, 7)  # points, by which the name of a curve is above or below its end


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw two dimensions of a table, old rows as dots and new ones as rings."""
    axes = panel(figure, 66, 30, 218 if narrow else 800, 232)
    old = LearnedPositionalEmbedding(OLD, 2, seed=SEED).position_embeddings
    new = resize_table(old, NEW)
    place = np.linspace(0, OLD - 1, NEW)  # of the new rows, between the old ones
    for column, dash in enumerate(("-", (0, (5, 2)))):
        color = ink.categorical[column]
        axes.plot(old[:, column], color=color, linestyle=dash, linewidth=1)
        axes.plot(old[:, column], "o", color=color, markersize=3.2 if narrow else 5)
        size = 5 if narrow else 7.5
        (rings,) = axes.plot(place, new[:, column], "o", color=ink.ink, markersize=size)
        rings.set_markerfacecolor("none")
        name, end = f"dim {column}", (OLD - 1, old[-1, column])
        offset = (9, NUDGES[column])
        axes.annotate(name, end, offset, textcoords="offset points", va="center")
    axes.axhline(0, color=ink.rule, linewidth=0.75, zorder=0)
    axes.set(xlim=(-0.15, OLD - 0.8), ylim=(-0.05, 0.03), xticks=range(OLD))
    axes.set(title=f"{OLD} rows resized to {NEW}", xlabel="row of the old table", ylabel="entry")
