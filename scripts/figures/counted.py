"""Positions by content: what a query counts with CoPE, and what tokens make others forget."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posenc import alibi_bias, cope_positions, forgetting_bias
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (930, 358)
PHONE = (340, 724)

WORDS = ["it", "rained", ".", "we", "stayed", "in", ".", "then", "she", "came", "."]
SURE = 50.0  # a score whose gate is 1
CLOSING, OPEN = -2.0, -0.05  # log gates of a full stop and of a word


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the positions of a query that counts sentences and of one that counts tokens; biases."""
    wide = 256 if narrow else 362
    _draw_counts(panel(figure, 62, 34, wide, 240), ink)
    second = (62, 400) if narrow else (542, 34)
    _draw_biases(panel(figure, *second, wide, 240), ink)


def _full_stops() -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    return np.array([word == "." for word in WORDS])


def _draw_counts(axes: Axes, ink: Ink) -> None:
    rows = np.where([_full_stops(), np.ones(len(WORDS), bool)], SURE, -SURE)
    stops, words = (cope_positions(row[np.newaxis])[0] for row in rows)
    keys = np.arange(len(WORDS))
    axes.plot(keys, words, "o--", color=ink.categorical[1], markersize=4)
    axes.plot(keys, stops, "s-", color=ink.categorical[0], markersize=4)
    axes.text(3.2, 9, "counts tokens", ha="left")
    axes.text(1.2, 4.4, "counts full stops", ha="left")
    axes.set(title="position of each key", ylim=(0, 11.5), yticks=range(0, 12, 2))
    _words(axes)


def _draw_biases(axes: Axes, ink: Ink) -> None:
    keys = np.arange(len(WORDS))
    bias = forgetting_bias(np.where(_full_stops(), CLOSING, OPEN), 1)[0]
    straight = alibi_bias(8, 1, query_offset=len(WORDS) - 1)[0, 0]  # a slope of 1/2
    axes.plot(keys, straight, "o--", color=ink.categorical[1], markersize=4)
    axes.plot(keys, bias, "s-", color=ink.categorical[0], markersize=4)
    axes.text(4.6, -1.4, "equal gates: ALiBi", ha="right")
    axes.text(6.3, -5.1, "full stops close", ha="left")
    axes.set(title="bias of each key", ylim=(-7, 0.5))
    _words(axes)


def _words(axes: Axes) -> None:
    axes.set_xticks(range(len(WORDS)), WORDS, rotation=60)
    axes.set(xlim=(-0.4, len(WORDS) - 0.6))
