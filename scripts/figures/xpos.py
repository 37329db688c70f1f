"""How scores decay by xPos: the factor of three pairs, and the mean over all beside RoPE's."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posenc import frequencies, xpos_decay
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (930, 358)
PHONE = (340, 724)

D, FARTHEST, SCALE_BASE, PAIRS = 64, 2048, 512, (0, 16, 31)
DISTANCES = np.arange(0, FARTHEST + 1, 4)  # every fourth, for a smaller file
DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)))


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the factors by distance, then the score of a query with an equal key."""
    wide = 256 if narrow else 362
    _draw_factors(panel(figure, 62, 34, wide, 266), ink)
    second = (62, 400) if narrow else (542, 34)
    _draw_scores(panel(figure, *second, wide, 266), ink)


def _factors() -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    distance = DISTANCES[:, np.newaxis]
    return np.asarray(xpos_decay(D) ** (distance / SCALE_BASE))


def _draw_factors(axes: Axes, ink: Ink) -> None:
    factors = _factors()
    places = ((320, 0.55), (880, 0.5), (1100, 0.87))
    for number, pair in enumerate(PAIRS):
        axes.plot(
            DISTANCES[::8],
            factors[::8, pair],
            color=ink.categorical[number],
            linestyle=DASHES[number],
        )
        axes.text(*places[number], f"pair {pair}", ha="left")
    axes.set(xlim=(0, FARTHEST), xticks=range(0, FARTHEST + 1, 512), ylim=(0, 1.02))
    axes.set(xlabel="distance, query − key", title="factor of a pair")


def _draw_scores(axes: Axes, ink: Ink) -> None:
    turned = np.cos(DISTANCES[:, np.newaxis] * frequencies(D))
    axes.axhline(0, color=ink.rule, linewidth=0.75, zorder=0)
    axes.plot(DISTANCES, turned.mean(axis=1), color=ink.categorical[1], linewidth=0.8)
    axes.plot(
        DISTANCES, (turned * _factors()).mean(axis=1), color=ink.categorical[0], linewidth=1.8
    )
    axes.text(1060, 0.42, "RoPE, thin", ha="left", va="bottom")
    axes.text(1060, 0.52, "xPos, thick", ha="left", va="bottom")
    axes.set(xlim=(0, FARTHEST), xticks=range(0, FARTHEST + 1, 512), ylim=(-0.15, 1.02))
    axes.set(xlabel="distance, query − key", title="score of equal query and key")
