"""Where the new grid points lie between the old ones, and the weight each kernel gives."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posenc import resize_weights
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (930, 300)
PHONE = (340, 580)

OLD, NEW = 7, 10
FAR = 40  # places on either side, so that the ends are out of reach
STEPS = 24  # new places to each old one


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a row of dots for each rule, then the kernels."""
    _draw_places(panel(figure, *((96, 40, 226, 190) if narrow else (110, 40, 350, 190))), ink)
    _draw_kernels(panel(figure, *((56, 330, 266, 190) if narrow else (550, 40, 360, 190))), ink)


def _draw_places(axes: Axes, ink: Ink) -> None:
    """Draw the old grid points, and the new ones by three rules."""
    line = list(range(OLD))
    rows: dict[str, list[float]] = {
        "old": [*line],
        "corners": (resize_weights(OLD, NEW, kernel="linear", corners=True) @ line).tolist(),
        "centres": _centres(NEW / OLD),
        "scale too large": _centres((NEW + 1) / OLD),
    }
    for row, (found, color) in enumerate(zip(rows.values(), ink.categorical, strict=False)):
        axes.plot(found, np.full(len(found), row), "o", color=color, markersize=6)
    for place in line:
        axes.axvline(place, color=ink.rule, linewidth=0.75, zorder=0)
    axes.set_yticks(range(len(rows)), list(rows))
    axes.set(ylim=(len(rows) - 0.5, -0.5), xlim=(-0.6, OLD - 0.4), xticks=line)
    axes.set(title=f"from {OLD} grid points to {NEW}", xlabel="old grid point")
    axes.tick_params(axis="y", length=0)
    axes.spines.left.set_visible(False)


def _centres(scale: float) -> list[float]:
    """Return the new points with centres aligned; the linear kernel of a point adds up to it.

    One more old point leaves the last new one inside; the first is as far from the second as that
    from the third.
    """
    weights = resize_weights(OLD + 1, NEW, kernel="linear", scale=scale)
    _, second, third, *rest = (weights @ np.arange(OLD + 1)).tolist()
    return [2 * second - third, second, third, *rest]


def _draw_kernels(axes: Axes, ink: Ink) -> None:
    """Draw the weight of an old point by how far the new one is from it."""
    size = 2 * FAR + 1
    away = (np.arange(STEPS * size) + 0.5) / STEPS - 0.5 - FAR
    near = np.abs(away) <= 3
    ways = {
        "linear": {"kernel": "linear"},
        "cubic": {"kernel": "cubic"},
        "antialiased": {"kernel": "cubic", "antialias": True},
    }
    dashes = ("-", (0, (5, 2)), (0, (1.5, 1.5)))
    for (name, mode), color, dash in zip(ways.items(), ink.categorical, dashes, strict=False):
        weights = resize_weights(size, STEPS * size, **mode)[:, FAR]  # type: ignore[arg-type]
        axes.plot(away[near], weights[near], color=color, linestyle=dash, label=name)
    axes.axhline(0, color=ink.rule, linewidth=0.75, zorder=0)
    axes.set(title="weight of an old grid point", xlabel="distance", xlim=(-3, 3))
    axes.set(ylim=(-0.2, 1.05), xticks=range(-3, 4), yticks=(0, 0.5, 1))
    axes.legend(loc="upper left", handlelength=1.8, frameon=False, fontsize="small")
