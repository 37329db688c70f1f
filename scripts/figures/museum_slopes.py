"""The slopes of twelve heads: by the authors' code, and by one formula for all."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from posenc import alibi_slopes
from scripts.examples.museum import biases
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (640, 300)
PHONE = (340, 300)

HEADS = 12


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a mark for each head, as trained and as ported."""
    axes = panel(figure, 74, 14, 248 if narrow else 536, 234)
    heads = np.arange(HEADS)
    for n, program in enumerate((alibi_slopes, biases.one_formula)):
        marks: dict[str, Any] = {
            "marker": "os"[n],
            "linestyle": ("-", (0, (5, 2)))[n],
            "linewidth": 0.8,
        }
        axes.plot(heads, program(HEADS), color=ink.categorical[n], markersize=5, **marks)
    axes.text(7.2, 2**-8.1, "as trained", ha="left", va="top")
    axes.text(2.2, 0.34, "one formula", ha="left", va="bottom")
    axes.set_yscale("log", base=2)
    axes.set(xlim=(-0.5, 11.5), ylim=(2**-9, 1.2), xticks=range(0, 12, 2))
    axes.set_yticks([2.0**-n for n in (0, 2, 4, 6, 8)], ["1", "1/4", "1/16", "1/64", "1/256"])
    axes.minorticks_off()
    axes.set(xlabel="head", ylabel="slope")
