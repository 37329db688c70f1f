"""Parts shared by the figures of rules: the pairs of a head against how much each is slowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from numpy.typing import NDArray

from posenc import wavelengths
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE, PHONE = (640, 380), (340, 380)
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)))


def pairs_panel(figure: Figure, narrow: bool, pairs: int) -> Axes:
    """Return axes with the pairs of a head on the horizontal axis, and room for marks above."""
    axes = panel(figure, 46, 52, 278 if narrow else 560, 268)
    axes.set(xlim=(0, pairs - 1), xticks=range(0, pairs, pairs // 4), xlabel="pair")
    return axes


def slowed_scale(axes: Axes, ticks: Sequence[int], *, top: float) -> None:
    """Make the vertical axis logarithmic: how many times as slow a pair is."""
    axes.set(yscale="log", ylim=(0.92, top), ylabel="times as slow")
    axes.set_yticks(ticks, [str(tick) for tick in ticks])
    axes.yaxis.set_minor_locator(NullLocator())


def rules(axes: Axes, ink: Ink, slowed: Sequence[NDArray[np.float64]]) -> None:
    """Draw a line for each rule, in a colour and with dashes of its own."""
    for n, values in enumerate(slowed):
        axes.plot(values, color=ink.categorical[n], linestyle=DASHES[n], linewidth=1.6)


def marks(axes: Axes, ink: Ink, places: Mapping[str, float]) -> None:
    """Draw what a rule looks at: a vertical line at a pair, with words above."""
    for words, pair in places.items():
        axes.axvline(pair, color=ink.edge, linewidth=0.75, linestyle=(0, (3, 3)), zorder=0)
        axes.annotate(
            words,
            (pair, 1),
            (0, 5),
            xycoords=axes.get_xaxis_transform(),
            textcoords="offset points",
            ha="center",
        )


def pair_of(wavelength: float, d: int, *, base: float = 10000.0) -> float:
    """Return which pair has a wavelength, as a real number."""
    logs = np.log(wavelengths(d, base=base))
    return float(np.interp(np.log(wavelength), logs, np.arange(logs.size)))
