"""DAPE: one bias by distance, KERPLE's logarithm, and what a network makes of it for two contents.

The network is that of the page's example, with one head: it adds what exceeds 2 in a score, and
takes away a hundredth of what is missing to 2, as a leaky ReLU does.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from posenc import dape_bias, kerple_log_bias, relative_positions
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (930, 358)
PHONE = (340, 724)

FARTHEST, MARKED = 24, 12
NETWORK: dict[str, ArrayLike] = {
    "first_weight": [[1.0, 0.0]],
    "first_bias": [-2.0],
    "second_weight": [[1.0]],
    "second_bias": [0.0],
}
# The score of each key that fits, by distance; all others have 0.
FITS = {"one key fits": {12: 5.0}, "two others fit": {4: 4.0, 17: 5.0}}


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a panel for each content: its scores, the bias and the adjusted bias."""
    wide = 256 if narrow else 362
    for number, (title, fits) in enumerate(FITS.items()):
        place = (62, 34 + 366 * number) if narrow else (62 + 480 * number, 34)
        _draw(panel(figure, *place, wide, 266), ink, fits, title)


def _draw(axes: Axes, ink: Ink, fits: dict[int, float], title: str) -> None:
    """Draw scores as squares, the bias as a line and the adjusted bias as dots."""
    scores = np.zeros(FARTHEST + 1)
    scores[list(fits)] = list(fits.values())
    relative = relative_positions(1, FARTHEST + 1, query_offset=FARTHEST)
    bias = kerple_log_bias([1.0], [0.5], relative)
    adjusted = dape_bias(scores[np.newaxis, np.newaxis, ::-1], bias, **NETWORK)
    before, after = bias[0, 0, ::-1], adjusted[0, 0, ::-1]
    axes.axvline(MARKED, color=ink.edge, linewidth=0.75, linestyle=(0, (1, 2)), zorder=0)
    axes.plot(before, color=ink.edge)
    for place in fits:
        axes.plot([place] * 2, [before[place], after[place]], color=ink.categorical[0])
    axes.plot(scores, "s", color=ink.categorical[1], fillstyle="none")
    axes.plot(after, "o", color=ink.categorical[0])
    for place, score in fits.items():
        _write_beside(axes, place, score, f"score {score:g}")
    for place in sorted({*fits, MARKED}):
        words = f"DAPE {after[place]:.2f}".replace("-", "−")
        _write_beside(axes, place, after[place], words, level=place in fits)
    axes.text(5, -2.6, "KERPLE", ha="center", va="center")
    axes.set(xlim=(-0.4, FARTHEST + 0.4), ylim=(-4, 5.6), xticks=range(0, FARTHEST + 1, 4))
    axes.set_yticks(range(-4, 6, 2), ["−4", "−2", "0", "2", "4"])
    axes.set(xlabel="distance, query − key", title=title)


def _write_beside(axes: Axes, place: int, value: float, words: str, *, level: bool = True) -> None:
    """Write words to the right of a point, and below it unless they are to be level."""
    nudge = (6, 0) if level else (4, -20)
    axes.annotate(words, (place, value), nudge, textcoords="offset points", va="center")
