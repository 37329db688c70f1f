"""Three ways to share sixteen tokens among four ranks, and the pairs that a causal mask leaves."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from scripts.examples.parallel.shards import ORDERS, keys_seen, shards
from scripts.figures._parts import panel, write
from scripts.figures.style import Ink

SIZE = (890, 348)
PHONE = (340, 972)

LENGTH, RANKS, MARKED = 16, 4, 3
SIDE = 226


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the causal mask once for each order, with the queries of one rank shaded darker."""
    for number, order in enumerate(ORDERS):
        left, top = (64, 40 + 318 * number) if narrow else (54 + 292 * number, 40)
        seen = keys_seen(shards(order, LENGTH, RANKS))
        _draw_mask(panel(figure, left, top, SIDE, SIDE), ink, order)
        words = "pairs of ranks 0 to 3: " + ", ".join(map(str, seen))
        write(figure, words, left, top + SIDE + 40, color=ink.ink_2)


def _draw_mask(axes: Axes, ink: Ink, order: str) -> None:
    """Draw which key each query sees, with the rank of each query beside its row."""
    rank = np.empty(LENGTH, int)
    for owner, positions in enumerate(shards(order, LENGTH, RANKS)):
        rank[positions] = owner
    seen = np.tri(LENGTH, dtype=int) * np.where(rank == MARKED, 2, 1)[:, np.newaxis]
    shades = ListedColormap(["none", ink.rule, ink.positive], name="ranks")
    edges = (-0.5, LENGTH - 0.5, LENGTH - 0.5, -0.5)
    axes.imshow(seen, cmap=shades, vmin=0, vmax=2, extent=edges)
    for line in range(1, LENGTH):
        axes.axhline(line - 0.5, color=ink.paper, linewidth=0.75)
        axes.axvline(line - 0.5, color=ink.paper, linewidth=0.75)
    axes.set(title=order, ylabel="query, by its rank", xlabel="key", xticks=())
    axes.set_yticks(range(LENGTH), [str(owner) for owner in rank])
    axes.tick_params(length=0, pad=3, labelsize=8.5)
    axes.spines[:].set(visible=True, color=ink.edge)
