"""Parts shared by the figures of rules that go by the base: where a pair's angles are new."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Polygon

from scripts.figures.style import Ink

DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (9, 2)))


def new_angles(axes: Axes, ink: Ink, first: int, last: int, factor: float, at: float) -> None:
    """Shade where a sequence `factor` times as long has new angles: slow pairs, slowed by less.

    The words stand at the height `at`.
    """
    outline = np.array([(first, 0.1), (last, 0.1), (last, factor), (first, factor)])
    axes.add_patch(Polygon(outline, facecolor=ink.mark, edgecolor="none", zorder=0))
    axes.text((first + last) / 2, at, "new angles", ha="center", va="center")
