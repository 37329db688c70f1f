"""Timesteps embedded with either half first and either exponent, and both sets of frequencies."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posenc import timestep_embedding
from scripts.figures._parts import heat, heat_scale, panel
from scripts.figures.style import Ink

SIZE = (930, 330)
PHONE = (340, 664)

WIDTH, STEPS = 16, 48
NAMES = ("$i/h$", "$i/(h-1)$")  # exponents, by shift


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw three ways to embed the same timesteps, then the frequencies of both exponents."""
    kinds = (("sine", 0), ("cosine", 0), ("sine", 1))
    maps = (
        ((50, 34, 106, 236), (184, 34, 106, 236), (50, 356, 106, 236))
        if narrow
        else ((56, 34, 170, 236), (256, 34, 170, 236), (456, 34, 170, 236))
    )
    for place, (first, shift) in zip(maps, kinds, strict=True):
        _draw_steps(panel(figure, *place), ink, first, shift)
    figure.axes[0].set_ylabel("timestep")
    scale, last = (
        ((296, 34, 6, 236), (216, 356, 116, 236))
        if narrow
        else ((634, 34, 8, 236), (738, 34, 176, 236))
    )
    heat_scale(panel(figure, *scale), ink)
    _draw_frequencies(panel(figure, *last), ink)


def _draw_steps(axes: Axes, ink: Ink, first: str, shift: int) -> None:
    heat(axes, ink, timestep_embedding(np.arange(STEPS), WIDTH, first=first, shift=shift))
    axes.axvline(WIDTH / 2 - 0.5, color=ink.paper, linewidth=2)
    halves = ("sines", "cosines") if first == "sine" else ("cosines", "sines")
    axes.set_xticks((WIDTH / 4 - 0.5, 3 * WIDTH / 4 - 0.5), halves)
    axes.tick_params(axis="x", length=0)
    axes.set(title=f"exponent {NAMES[shift]}", yticks=range(0, STEPS, 10))


def _draw_frequencies(axes: Axes, ink: Ink) -> None:
    for shift, (mark, dash) in enumerate((("o", "-"), ("s", (0, (5, 2))))):
        angles = np.arctan2(*np.split(timestep_embedding(1, WIDTH, shift=shift), 2))
        color = ink.categorical[3 * shift]
        axes.plot(angles, color=color, linestyle=dash, linewidth=1)
        axes.plot(angles, mark, color=color, markersize=4)
    axes.text(4.2, 0.025, NAMES[0], va="center")
    axes.text(5.1, 0.0004, NAMES[1], ha="right", va="center")
    axes.set_yscale("log")
    axes.minorticks_off()
    axes.set(title="frequency", xlabel="pair $i$", xticks=(0, 2, 4, 6))
