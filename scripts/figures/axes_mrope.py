"""Which axis each pair of a head belongs to, in sections and interleaved, by its frequency."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from posenc import mrope_frequencies
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (930, 346)
PHONE = (340, 380)

WIDTH, BASE = 128, 1e6
AXES = ("time", "height", "width")
SHARED = {
    "sections of 16, 24 and 24, as in Qwen2-VL": ((16, 24, 24), False),
    "interleaved, 24, 20 and 20, as in Qwen3-VL": ((24, 20, 20), True),
}


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw three rows of dots for each way to share the pairs out."""
    for number, (title, (sections, interleaved)) in enumerate(SHARED.items()):
        top = 34 + number * (172 if narrow else 164)
        axes = panel(figure, 66, top, 256 if narrow else 840, 90)
        omega = mrope_frequencies(WIDTH, sections, base=BASE, interleaved=interleaved)
        _draw_owners(axes, ink, omega)
        axes.set(title=title, xlim=(-1, WIDTH // 2))
    axes.set_xlabel("pair, from the fastest to the slowest")


def _draw_owners(axes: Axes, ink: Ink, omega: NDArray[np.float64]) -> None:
    """Draw a dot at each pair, in the row of its axis."""
    for row, (frequencies, color) in enumerate(zip(omega, ink.categorical, strict=False)):
        pairs = np.flatnonzero(frequencies)
        axes.plot(pairs, np.full(pairs.size, row), "o", color=color, markersize=3.4)
    axes.set_yticks(range(len(AXES)), AXES)
    axes.set(ylim=(len(AXES) - 0.5, -0.5), xticks=(0, 15, 31, 47, 63))
    axes.tick_params(axis="y", length=0)
    axes.spines.left.set_visible(False)
