"""Perplexity by position, far beyond the trained length: every scheme, median and all seeds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from scripts.figures._parts import panel
from scripts.figures.style import Ink
from scripts.measure.summary import AS_TRAINED, FURTHER, SHOWN, measurement

SIZE = (930, 470)
PHONE = (340, 908)

RESCALED = (
    *("rope", "rope, interpolated", "rope, NTK-aware", "rope, dynamic NTK"),
    *("rope, Llama 3's rule", "rope, YaRN as released", "rope, LongRoPE"),
)
# For each curve: the index of its colour, and its dashes.
LOOKS = {
    "none": (2, "-"),
    "sinusoidal": (1, "-"),
    "learned": (3, (0, (5, 2))),
    "rope": (0, "-"),
    "rope, interpolated": (0, (0, (1, 1.5))),
    "rope, NTK-aware": (5, (0, (5, 2))),
    "rope, dynamic NTK": (3, (0, (9, 2))),
    "rope, Llama 3's rule": (1, (0, (7, 2, 1, 2))),
    "rope, YaRN as released": (2, (0, (3, 1.5))),
    "rope, LongRoPE": (4, "-"),
    "alibi": (4, "-"),
    "t5": (5, (0, (7, 2, 1, 2))),
    "shaw": (0, (0, (1, 1.5))),
    "kerple": (0, "-"),
    "kerple_power": (3, (0, (5, 2))),
    "sandwich": (5, (0, (7, 2, 1, 2))),
    "fire": (1, (0, (3, 1.5))),
    "xpos": (2, "-"),
    "transformer_xl": (0, (0, (5, 2))),
    "deberta": (1, "-"),
    "tupe": (3, (0, (3, 1.5))),
    "forgetting": (2, "-"),
    "cope": (1, "-"),
    "path": (0, (0, (5, 2))),
    "dape": (5, (0, (7, 2, 1, 2))),
    "rope_random": (3, (0, (5, 2))),
    "rope_then_none": (1, (0, (3, 1.5))),
    "rope_pose": (4, "-"),
}
TALL, LEAST, MOST = 360, 2.5, 100  # height in pixels, and the perplexities at its ends
TICKS = (4, 8, 16, 32, 64)
LINE = 15  # pixels between the names of two curves


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw each scheme as trained, then what becomes of RoPE by each rule."""
    places = ((52, 34), (52, 488)) if narrow else ((52, 34), (504, 34))
    wide = 124 if narrow else 250
    titles = ("as trained", "RoPE, rescaled for the whole text")
    for place, names, title in zip(places, (AS_TRAINED, RESCALED), titles, strict=True):
        axes = panel(figure, *place, wide, TALL)
        curves(axes, ink, names)
        axes.set_title(title)


def curves(axes: Axes, ink: Ink, names: Sequence[str], tall: float = TALL) -> None:
    """Draw the median over the seeds as a line, and their range as a band, in axes so tall."""
    measured = measurement()
    longest, trained = max(measured.lengths()), measured.setting("length")
    found = [measured.by_position(name) for name in names]
    for name, seeds in zip(names, found, strict=True):
        number, dashes = LOOKS[name]
        color = ink.categorical[number]
        at = (np.arange(seeds.shape[1]) + 0.5) * longest / seeds.shape[1]
        axes.fill_between(at, *np.quantile(seeds, (0, 1), axis=0), color=color, alpha=0.2, lw=0)
        axes.plot(at, np.median(seeds, axis=0), color=color, linestyle=dashes, linewidth=1.5)
    axes.axvline(trained, color=ink.edge, linewidth=0.75, zorder=0)
    axes.set(xlim=(0, longest), yscale="log", ylim=(LEAST, MOST))
    axes.set_xticks((0, trained, longest / 2, longest))
    axes.set_yticks(TICKS, map(str, TICKS))
    axes.minorticks_off()
    axes.set(xlabel="position", ylabel="perplexity per byte")
    ends = np.array([np.median(seeds[:, -1]) for seeds in found])
    _names(axes, ink, names, ends, longest, tall)


def _names(
    axes: Axes, ink: Ink, names: Sequence[str], ends: NDArray[np.float64], right: float, tall: float
) -> None:
    """Write the name of each curve next to its end, or as close as the other names allow."""
    heights = tall * np.log(ends / LEAST) / np.log(MOST / LEAST)
    for name, end, nudge in zip(names, ends, spread_heights(heights) - heights, strict=True):
        leader = {"arrowstyle": "-", "color": ink.categorical[LOOKS[name][0]], "relpos": (0, 0.5)}
        axes.annotate(
            (SHOWN | FURTHER)[name].removeprefix("RoPE, "),
            (right, end),
            (14, 0.75 * nudge),  # points, four for three pixels
            textcoords="offset points",
            va="center",
            arrowprops={**leader, "shrinkA": 1, "shrinkB": 0},
        )


def spread_heights(heights: NDArray[np.float64], gap: float = LINE) -> NDArray[np.float64]:
    """Return heights moved as little as possible so that there is a gap between any two."""
    order = np.argsort(heights)
    placed = heights[order]
    for _ in range(100):
        short = np.clip(gap - np.diff(placed), 0, None) / 2
        placed[:-1] -= short
        placed[1:] += short
    return placed[np.argsort(order)]
