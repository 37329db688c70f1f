"""How alike two points are by their distance, under random frequencies and under powers of two."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from posenc import fourier_features, gaussian_frequencies, nerf_encoding
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (930, 300)
PHONE = (340, 330)

FEATURES, BANDS = 256, 3
DEVIATIONS = (0.5, 2.0)


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the similarity to the point 0 along one axis."""
    axes = panel(figure, *((56, 40, 264, 200) if narrow else (66, 40, 830, 190)))
    away = np.linspace(-2, 2, 401)
    curves = {f"random, deviation {spread:g}": random(away, spread) for spread in DEVIATIONS}
    curves[f"NeRF, {BANDS} bands"] = similarity_to_middle(nerf_encoding(away[:, np.newaxis], BANDS))
    dashes = ("-", (0, (5, 2)), (0, (1.5, 1.5)))
    for (name, curve), color, dash in zip(curves.items(), ink.categorical, dashes, strict=False):
        axes.plot(away, curve, color=color, linestyle=dash, label=name)
    axes.axhline(0, color=ink.rule, linewidth=0.75, zorder=0)
    axes.set(xlim=(-2, 2), ylim=(-0.65, 2), xticks=range(-2, 3), yticks=(0, 0.5, 1))
    axes.set(title="similarity to the point 0", xlabel="point")
    axes.legend(loc="upper left", handlelength=2, frameon=False, fontsize="small")


def random(away: NDArray[np.float64], deviation: float) -> NDArray[np.float64]:
    """Return the similarity under random frequencies."""
    omega = gaussian_frequencies(FEATURES, 1, deviation=deviation, seed=0)
    return similarity_to_middle(fourier_features(away[:, np.newaxis], omega))


def similarity_to_middle(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cosine similarity of each row to that in the middle."""
    middle = rows[len(rows) // 2]
    found: NDArray[np.float64] = rows @ middle / (middle @ middle)
    return found
