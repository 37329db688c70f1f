"""Positions that a short training sequence is given, and how often each distance then occurs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from posenc import pose_positions, random_positions
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (930, 340)
PHONE = (340, 664)

LENGTH, LONGEST, SHOWN, SEQUENCES = 8, 32, 3, 2000
Draw = Callable[[int], NDArray[np.int64]]  # from a seed to positions


def _consecutive(seed: int) -> NDArray[np.int64]:
    return np.arange(LENGTH)


def _random(seed: int) -> NDArray[np.int64]:
    return random_positions(LENGTH, LONGEST, seed=seed)


def _pose(seed: int) -> NDArray[np.int64]:
    return pose_positions(LENGTH, LONGEST, seed=seed)


SCHEMES: dict[str, Draw] = {"consecutive": _consecutive, "random": _random, "PoSE": _pose}
MARKS, COLORS = ("o", "^", "s"), (3, 1, 0)
DASHES = ((0, (1, 1.5)), (0, (5, 2)), "-")


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the positions of a few sequences, then the distances of many."""
    first, second = (
        ((98, 34, 228, 236), (52, 366, 274, 240))
        if narrow
        else ((98, 34, 360, 248), (540, 34, 370, 248))
    )
    _draw_positions(panel(figure, *first), ink)
    _draw_distances(panel(figure, *second), ink)


def _draw_positions(axes: Axes, ink: Ink) -> None:
    """Draw a row for each sequence; a line joins positions that are one apart."""
    names: dict[float, str] = {}
    height = 0.0
    for number, (name, drawn) in enumerate(SCHEMES.items()):
        shown = SHOWN if number else 1
        names[height + (shown - 1) / 2] = name
        for seed in range(shown):
            axes.axhline(height, color=ink.rule, linewidth=0.75, zorder=0)
            _draw_sequence(axes, drawn(seed), height, ink.categorical[COLORS[number]], number)
            height += 1
        height += 0.6
    axes.set_yticks(list(names), list(names.values()))
    axes.tick_params(axis="y", length=0, labelcolor=ink.ink)
    axes.spines["left"].set_visible(False)
    axes.set(xlim=(-0.8, LONGEST - 0.2), ylim=(height - 1, -0.6), xticks=(0, 8, 16, 24, 31))
    axes.set(title=f"positions of {LENGTH} tokens", xlabel="position")


def _draw_sequence(
    axes: Axes, positions: NDArray[np.int64], height: float, color: str, number: int
) -> None:
    runs = np.split(positions, np.flatnonzero(np.diff(positions) > 1) + 1)
    for run in runs:
        axes.plot(run, np.full(len(run), height), color=color, linewidth=1.6)
    (dots,) = axes.plot(positions, np.full(len(positions), height), MARKS[number], color=color)
    dots.set(markersize=4.7, markeredgewidth=0)


def _draw_distances(axes: Axes, ink: Ink) -> None:
    distances = np.arange(1, LONGEST)
    places = ((9.0, 0.06), (17.5, 0.74), (12.5, 0.345))
    for number, (name, drawn) in enumerate(SCHEMES.items()):
        color = ink.categorical[COLORS[number]]
        axes.plot(distances, _shares(drawn), color=color, linestyle=DASHES[number])
        axes.text(*places[number], name, va="center")
    axes.set(xlim=(0, LONGEST), ylim=(-0.03, 1.05), xticks=(1, 8, 16, 24, 31))
    axes.set(yticks=(0, 0.5, 1), xlabel="distance, query − key")
    axes.set(title="share of sequences with this distance")


def _shares(drawn: Draw) -> NDArray[np.float64]:
    """Return the share of sequences in which each distance from 1 on occurs."""
    found = np.zeros(LONGEST)
    for seed in range(SEQUENCES):
        positions = drawn(seed)
        found[np.unique(np.abs(positions[:, np.newaxis] - positions))] += 1
    return found[1:] / SEQUENCES
