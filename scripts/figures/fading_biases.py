"""Biases between ALiBi and T5, by distance, and the shares that FIRE's network sees."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posenc import (
    alibi_bias,
    fire_shares,
    kerple_log_bias,
    kerple_power_bias,
    relative_positions,
    sandwich_bias,
)
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (930, 358)
PHONE = (340, 724)

FARTHEST, HEADS, EVERY = 512, 8, 2  # every second distance, for a smaller file
THRESHOLD, QUERIES = 512, (512, 2048)
DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw what four schemes add, then the shares of the distances of two queries."""
    wide = 256 if narrow else 362
    _draw_biases(panel(figure, 62, 34, wide, 266), ink)
    second = (62, 400) if narrow else (542, 34)
    _draw_shares(panel(figure, *second, wide, 266), ink)


def _draw_biases(axes: Axes, ink: Ink) -> None:
    relative = relative_positions(1, FARTHEST + 1, query_offset=FARTHEST)
    sandwich = sandwich_bias(HEADS, relative)[HEADS - 1, 0]
    rows = {
        "ALiBi, 1/32": alibi_bias(HEADS, 1, query_offset=FARTHEST)[4, 0],
        "power 1/2": kerple_power_bias([0.15], [0.5], relative)[0, 0],
        "logarithm": kerple_log_bias([1.0], [0.5], relative)[0, 0],
        "Sandwich": sandwich - sandwich[-1],
    }
    places = ((58, -7.6), (370, -2.2), (290, -4.2), (300, -7.3))
    for number, (name, row) in enumerate(rows.items()):
        axes.plot(
            np.arange(FARTHEST + 1), row[::-1], color=ink.categorical[number],
            linestyle=DASHES[number],
        )  # fmt: skip
        axes.text(*places[number], name, ha="left", va="center")
    axes.set(xlim=(0, FARTHEST), xticks=range(0, FARTHEST + 1, 128), ylim=(-8.5, 0.3))
    axes.set(xlabel="distance, query − key", title="bias of one head")


def _draw_shares(axes: Axes, ink: Ink) -> None:
    nudges = ((6, 0, "left"), (0, -16, "right"))
    for number, query in enumerate(QUERIES):
        row = fire_shares(1, threshold=THRESHOLD, query_offset=query)[0, ::-1]
        axes.plot(
            np.arange(0, query + 1, 8),
            row[::8],
            color=ink.categorical[number],
            linestyle=DASHES[number],
        )
        right, up, side = nudges[number]
        name, end = f"query {query}", (query, row[-1])
        axes.annotate(name, end, (right, up), textcoords="offset points", va="center", ha=side)
    axes.set(xlim=(0, QUERIES[-1]), xticks=range(0, QUERIES[-1] + 1, 512), ylim=(0, 1.04))
    axes.set(xlabel="distance, query − key", title="input of FIRE's network")
