"""The weights of one query over sixteen keys with equal scores: near keys first, or far ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from scripts.examples.museum import biases, effects
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (640, 250)
PHONE = (340, 250)

KEYS = 16
PROGRAMS: tuple[effects.Program, ...] = (effects.right_bias, biases.wrong_sign)


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the weight of each key, by the right bias and by the one with the other sign."""
    axes = panel(figure, 52, 14, 272 if narrow else 560, 184)
    keys = np.arange(KEYS)
    for n, program in enumerate(PROGRAMS):
        weights = effects.step_weights(program, KEYS)
        marks: dict[str, Any] = {
            "marker": "os"[n],
            "linestyle": ("-", (0, (5, 2)))[n],
            "linewidth": 0.8,
        }
        axes.plot(keys, weights, color=ink.categorical[n], markersize=5, **marks)
    axes.text(13.8, 0.33, "right", ha="right", va="center")
    axes.text(1.2, 0.33, "wrong sign", ha="left", va="center")
    axes.set(xlim=(-0.5, 15.5), ylim=(-0.02, 0.44), xticks=(0, 5, 10, 15), yticks=(0, 0.2, 0.4))
    axes.set(xlabel="key, the query is 15", ylabel="weight")
