"""Offsets in a window as Swin V2's network sees them, beside the offsets as they are.

Both are divided by their largest in training, with a window of 8; the window in use is 16.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from posenc import relative_row, swin_log_offsets
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (600, 380)
PHONE = (340, 380)

TRAINED, LARGER = 8, 16


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw both numbers of each offset, filled and joined if training has it, else hollow."""
    axes = panel(figure, 46, 34, 204 if narrow else 460, 290)
    linear = relative_row(LARGER, LARGER)[0]
    spaced = swin_log_offsets(LARGER, trained_window=TRAINED)[:: 2 * LARGER - 1, 0]
    seen = np.abs(linear) < TRAINED
    far = linear[seen].max()
    axes.plot([-far, far, far, -far, -far], [-1, -1, 1, 1, -1], color=ink.rule, linewidth=1)
    axes.text(far - 0.4, -0.96, "training", ha="right", va="bottom")
    lines = {"linear": (linear, "s"), "log-spaced": (spaced, "o")}
    for number, (name, (values, marker)) in enumerate(lines.items()):
        color, shares = ink.categorical[1 - number], values / values[seen].max()
        axes.plot(linear[seen], shares[seen], f"{marker}-", color=color)
        for new in (linear < -far, linear > far):
            axes.plot(linear[new], shares[new], marker, color=color, fillstyle="none")
        word = f"{name}\n{shares[-1]:.2f}"
        axes.annotate(
            word, (linear[-1], shares[-1]), (8, 0), textcoords="offset points", va="center"
        )
    axes.set(xlim=(-LARGER, LARGER), ylim=(-2.3, 2.4), xticks=(-15, -7, 0, 7, 15))
    axes.set_yticks(range(-2, 3), ["−2", "−1", "0", "1", "2"])
    axes.set(xlabel="offset in patches, query − key", title="share of the largest in training")
