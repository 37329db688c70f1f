"""T5's buckets by relative position: one for each near distance, ever wider ones further off."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posenc import t5_bucket_starts, t5_buckets
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (930, 358)
PHONE = (340, 724)

FARTHEST = 256
EMPTY = t5_bucket_starts().size  # the bucket of later keys at distance 0, which do not exist
TICKS = (-128, -32, -8, 0, 8, 32, 128)


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the encoder's buckets, then the decoder's, over the same relative positions."""
    wide = 278 if narrow else 390
    second = (54, 400) if narrow else (528, 34)
    _draw(panel(figure, 54, 34, wide, 266), ink, bidirectional=True, title="encoder: both sides")
    last = panel(figure, *second, wide, 266)
    _draw(last, ink, bidirectional=False, title="decoder: behind the query")


def _draw(axes: Axes, ink: Ink, *, bidirectional: bool, title: str) -> None:
    """Draw a dot for each distance of the exact range, and stairs through all buckets."""
    exact = t5_bucket_starts(bidirectional=bidirectional).size // 2
    relative = np.arange(-FARTHEST, FARTHEST + 1)
    bucket = np.asarray(t5_buckets(relative, bidirectional=bidirectional))
    for side in (relative < 0, relative > 0):
        (stairs,) = axes.plot(relative[side], bucket[side], color=ink.categorical[0])
        stairs.set_drawstyle("steps-mid")
    near = (np.abs(relative) < exact) & (bidirectional | (relative <= 0))
    axes.plot(relative[near], bucket[near], "o", color=ink.categorical[0])
    axes.set_xscale("symlog", linthresh=exact, linscale=1)
    axes.set(xlim=(-FARTHEST, FARTHEST), ylim=(-1, 32), yticks=range(0, 32, 8))
    axes.set_xticks(TICKS, [f"{tick}".replace("-", "−") for tick in TICKS])
    axes.minorticks_off()
    axes.axvline(0, color=ink.rule, linewidth=0.75, zorder=0)
    if bidirectional:
        axes.annotate(f"{EMPTY}: empty", (0, EMPTY), (4, 0), textcoords="offset points", va="top")
    axes.set(title=title, xlabel="relative position, key − query", ylabel="bucket")
