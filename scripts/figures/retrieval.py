"""A key far back: the accuracy by distance, without positions to biases."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.figures._parts import panel, write
from scripts.figures.style import Ink
from scripts.measure.summary import AS_TRAINED, FURTHER, SHOWN, WINDOWS, measurement

# For each length: the index of its colour, and its dashes.
LOOKS = ((0, "-"), (1, (0, (6, 2))), (3, (0, (3, 1.5))), (2, (0, (1, 1.5))))
TALL, DOWN = 96, 160  # of a panel, and from one to the next, in pixels
TOP, LEFT = 74, 46
NAMES = (*AS_TRAINED, "kerple", "kerple_power", "sandwich", "fire")


def size(panels: int) -> tuple[int, int]:
    """Return the size of a figure with that many panels, four in a row."""
    return 930, TOP - (-panels // 4) * DOWN + 14


def phone(panels: int) -> tuple[int, int]:
    """Return the size of a figure with that many panels, two in a row."""
    return 340, TOP + 22 - (-panels // 2) * DOWN + 14


SIZE = size(len(NAMES))
PHONE = phone(len(NAMES))


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a panel for each of the seven schemes, and of the biases by distance."""
    panels(figure, ink, narrow, NAMES)


def panels(figure: Figure, ink: Ink, narrow: bool, names: Sequence[str]) -> None:
    """Draw a panel for each scheme, and what the lines mean above them."""
    columns, across, wide = (2, 162, 118) if narrow else (4, 222, 176)
    top = TOP + 22 if narrow else TOP
    _key(figure, ink, narrow)
    for number, name in enumerate(names):
        row, column = divmod(number, columns)
        axes = panel(figure, LEFT + column * across, top + row * DOWN, wide, TALL)
        _curves(axes, ink, name)
        axes.set_title((WINDOWS | SHOWN | FURTHER)[name])
        axes.set_xticks((4, 32, 256), ("4", "32", "256"))
        axes.set_yticks((0, 1), ("0", "1"))


def _key(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a line and the length that it stands for, for each length."""
    lengths = measurement().lengths("retrieval")
    write(figure, "accuracy by distance, in texts of", 8, 14, color=ink.ink_2)
    for number, length in enumerate(lengths):
        left = 8 + 82 * number if narrow else 350 + 90 * number
        axes = panel(figure, left, 30 if narrow else 8, 34, 20)
        color, dashes = LOOKS[number]
        axes.plot((0, 1), (0, 0), color=ink.categorical[color], linestyle=dashes)
        axes.set(xlim=(0, 1), ylim=(-1, 1))
        axes.set_axis_off()
        write(figure, f"{length}", left + 40, 36 if narrow else 14)


def _curves(axes: Axes, ink: Ink, name: str) -> None:
    """Draw the median over the seeds by distance, a line for each length, and the range."""
    measured = measurement()
    for length, (color, dashes) in zip(measured.lengths("retrieval"), LOOKS, strict=True):
        found = measured.found("retrieval", name)[0]["by_distance"][str(length)]
        distances = [int(distance) for distance in found]
        shares = np.array([measured.retrieval_accuracy(name, length, far) for far in distances])
        ink_of = ink.categorical[color]
        if np.ptp(shares, axis=1).any():  # otherwise a band has no height
            ends = shares.min(axis=1), shares.max(axis=1)
            axes.fill_between(distances, *ends, color=ink_of, alpha=0.2, lw=0)
        axes.plot(
            distances, np.median(shares, axis=1), color=ink_of, linestyle=dashes, linewidth=1.5
        )
    axes.axvline(measured.setting("length", "retrieval"), color=ink.edge, linewidth=0.75, zorder=0)
    axes.set(xscale="log", xlim=(3.4, 300), ylim=(-0.06, 1.08))
    axes.minorticks_off()
