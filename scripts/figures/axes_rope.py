"""The score of one patch with all others: axial rotations, then two heads of mixed ones."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from posenc import apply_rope_nd, axial_frequencies, grid_positions, mixed_frequencies
from scripts.figures._parts import heat, heat_scale, panel
from scripts.figures.style import Ink

SIZE = (900, 300)
PHONE = (340, 830)

SIDE, WIDTH, BASE = 15, 32, 10.0
TURN = np.pi / 4


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a map for each matrix of frequencies, and the scale."""
    edge = 190 if narrow else 210
    places = [(58, 30 + 276 * n) if narrow else (58 + 274 * n, 30) for n in range(3)]
    maps = {
        "axial": scores(axial_frequencies(WIDTH, base=BASE)),
        "mixed, turned by 45°": scores(mixed_frequencies(WIDTH, TURN, base=BASE)),
        "mixed, as if trained": scores(trained_frequencies()),
    }
    for (title, values), place in zip(maps.items(), places, strict=True):
        axes = panel(figure, *place, edge, edge)
        heat(axes, ink, values)
        axes.set(title=title, xticks=(0, 7, 14), yticks=(0, 7, 14), xlabel="column", ylabel="row")
    heat_scale(panel(figure, places[-1][0] + edge + 10, places[-1][1], 8, edge), ink)


def trained_frequencies() -> NDArray[np.float64]:
    """Return frequencies each of which has moved on its own: every pair in its own direction."""
    omega = axial_frequencies(WIDTH, base=BASE).max(axis=0)
    directions = 2 * np.pi * np.arange(omega.size) * (np.sqrt(5) - 1) / 2  # evenly spread
    moved: NDArray[np.float64] = omega * np.stack([np.sin(directions), np.cos(directions)])
    return moved


def scores(omega: NDArray[np.float64]) -> NDArray[np.floating]:
    """Return the score of the patch in the middle with each, all of ones, over the width."""
    points = grid_positions((SIDE, SIDE))
    keys = apply_rope_nd(np.ones((SIDE**2, WIDTH)), points, omega)
    return np.reshape(keys @ keys[SIDE**2 // 2] / WIDTH, (SIDE, SIDE))
