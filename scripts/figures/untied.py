"""TUPE's bias before and after the first place is untied.

The rows are sinusoidal and both matrices the identity, so that the bias depends on the distance
alone, and is large near the diagonal.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from posenc import sinusoidal_encoding, tupe_bias, untied_bias
from scripts.figures._parts import heat, heat_scale, panel
from scripts.figures.style import Ink

SIZE = (780, 352)
PHONE = (340, 664)

LENGTH, WIDTH, BASE = 12, 32, 30
FROM_FIRST, TO_FIRST = 1.0, -1.0
REACH = 2


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the bias as it is, then untied, and the scale."""
    edge = 214 if narrow else 240
    before, after = (44, 78), ((44, 416) if narrow else (412, 78))
    tied = _bias()
    untied = untied_bias(tied[np.newaxis], from_first=[FROM_FIRST], to_first=[TO_FIRST])[0]
    _draw(panel(figure, *before, edge, edge), ink, tied, "tied")
    axes = panel(figure, *after, edge, edge)
    _draw(axes, ink, untied, "[CLS] untied")
    axes.text(LENGTH - 0.2, 0, f"$\\theta_1$ = {untied[0, 0]:g}", ha="left", va="center")
    word = f"$\\theta_2$ = {untied[1, 0]:g}".replace("-", "−")
    axes.text(0, LENGTH - 0.1, word, ha="center", va="top")
    heat_scale(panel(figure, after[0] + edge + 12, after[1] + 72, 8, edge - 72), ink, reach=REACH)


def _bias() -> NDArray[np.float64]:
    """Return the bias of one head, as wide as the rows."""
    rows, same = sinusoidal_encoding(LENGTH, WIDTH, base=BASE), np.eye(WIDTH)
    bias: NDArray[np.float64] = tupe_bias(rows, query_weight=same, key_weight=same, heads=1)[0]
    return bias


def _draw(axes: Axes, ink: Ink, bias: NDArray[np.float64], title: str) -> None:
    heat(axes, ink, bias, reach=REACH)
    axes.set(title=title, xlabel="key", ylabel="query")
    axes.set(xticks=range(0, LENGTH, 3), yticks=range(0, LENGTH, 3))
    axes.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False, length=2, pad=3)
    axes.xaxis.set_label_position("top")
