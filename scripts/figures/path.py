"""PaTH: the score of one key for all later queries, while tokens between them act on it.

All queries and the key have one direction and a score of 1. So have two tokens, 3 and 6, with
strength 0, 1 or 2; the others have strength 1 and the direction across, which no score shows.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posenc import path_scores
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (930, 248)
PHONE = (340, 620)

LENGTH, SAME = 9, (3, 6)
STRENGTHS = {0: "left alone", 1: "erased", 2: "reflected"}


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a panel for each strength."""
    for number, (strength, name) in enumerate(STRENGTHS.items()):
        place = (58, 34 + 206 * number) if narrow else (58 + 310 * number, 34)
        axes = panel(figure, *place, 268 if narrow else 244, 112 if narrow else 158)
        _draw(axes, ink, strength)
        axes.set(title=f"strength {strength}: {name}", xlabel="query", ylabel="score of key 0")


def _draw(axes: Axes, ink: Ink, strength: float) -> None:
    """Draw the score of key 0 for every query, and mark the tokens that act on it."""
    same = np.isin(np.arange(LENGTH), SAME)
    along = np.eye(2)[np.where(same, 0, 1)]
    ones = np.full((LENGTH, 1), 2**0.25) * np.eye(2)[0]  # q·k/√2 is 1
    scores = path_scores(ones, ones, direction=along, strength=np.where(same, strength, 1.0))[:, 0]
    axes.axhline(0, color=ink.rule, linewidth=0.75, zorder=0)
    for token in SAME:
        axes.axvline(token, color=ink.edge, linewidth=0.75, linestyle=(0, (3, 2)), zorder=0)
    (stairs,) = axes.plot(scores, "o-", color=ink.categorical[0], markersize=4.5)
    stairs.set_drawstyle("steps-post")
    axes.set(xlim=(-0.3, LENGTH - 0.7), ylim=(-1.2, 1.2), xticks=range(LENGTH))
    axes.set_yticks((-1, 0, 1), ("−1", "0", "1"))
