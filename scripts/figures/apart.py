"""The smallest distance of two rows up to each lag: narrow tables repeat soon, wide ones do not."""

from __future__ import annotations

from functools import cache

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from posenc import frequencies
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (930, 394)
PHONE = (340, 400)

FARTHEST = 1_000_000
WIDTHS = (2, 4, 8, 16, 64)
DASHES = ("-", "-", "-", "-", (0, (5, 2)))
NUDGES = (0, 0, 0, -5, 5)  # points, to keep names of stairs that end together apart
MARKS = ((2, 710), (4, 1885), (8, 6283))


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a step curve for each width, and label a lag at which three of them step down."""
    axes = panel(figure, 66, 34, 200 if narrow else 786, 300)
    for width, color, dash, nudge in zip(WIDTHS, ink.categorical, DASHES, NUDGES, strict=False):
        lags, distances = _records(width)
        stairs = np.append(lags, FARTHEST), np.append(distances, distances[-1])
        axes.step(*stairs, where="post", color=color, linestyle=dash)
        end = (FARTHEST, distances[-1])
        axes.annotate(f"$d$ = {width}", end, (6, nudge), textcoords="offset points", va="center")
    for width, lag in MARKS:
        _mark(axes, ink, width, lag)
    axes.set(xscale="log", yscale="log", xlim=(1, FARTHEST), ylim=(1e-6, 4))
    axes.set_xticks(10 ** np.arange(7), ["1", "10", "100", "1,000", "", "100,000", ""])
    axes.set_yticks([1, 1e-2, 1e-4, 1e-6], ["1", "0.01", "0.0001", "0.000001"])
    axes.minorticks_off()
    axes.set(xlabel="lag up to which one looks", title="distance of the closest two rows")


def _mark(axes: Axes, ink: Ink, width: int, lag: int) -> None:
    """Circle the record of a width at a lag, and label the lag."""
    lags, distances = _records(width)
    point = (lag, distances[lags == lag].item())
    axes.plot(*point, "o", markersize=7, markerfacecolor="none", color=ink.ink)
    axes.annotate(str(lag), point, (5, 4), textcoords="offset points")


@cache
def _records(width: int) -> tuple[NDArray[np.int_], NDArray[np.float64]]:
    """Return the lags whose rows are closer than at every smaller lag, and their distances.

    A lag whose rows are farther apart in some pairs than those of one of the first lags in all is
    let go.
    """
    lags, squares = np.arange(1, FARTHEST + 1), np.zeros(FARTHEST)
    first, omegas = lags[:1000], frequencies(width)
    reached = np.sum([_square(first, omega) for omega in omegas], axis=0).min()
    for omega in omegas:
        squares += _square(lags, omega)
        near = (lags <= first.size) | (squares <= reached)
        lags, squares = lags[near], squares[near]
    least = np.minimum.accumulate(squares)
    new = np.append(True, least[1:] < least[:-1])
    return lags[new], 2 * np.sqrt(squares[new])


def _square(lags: NDArray[np.int_], omega: float) -> NDArray[np.float64]:
    """Return the square of half the distance of one pair at each lag."""
    return np.asarray(np.sin(lags * omega / 2) ** 2)
