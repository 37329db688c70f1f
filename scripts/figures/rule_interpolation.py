"""Position interpolation, pair by pair: all are slowed alike, whatever they did in training."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from posenc import critical_dimension, frequencies, interpolated_frequencies
from scripts.figures._slowed import PHONE as PHONE
from scripts.figures._slowed import SIZE as SIZE
from scripts.figures._slowed import marks, pair_of, pairs_panel, rules, slowed_scale
from scripts.figures._unseen import new_angles
from scripts.figures.style import Ink

D, TRAINED, FACTOR = 128, 4096, 8


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the divisors of the rule, and those of the model as trained."""
    axes = pairs_panel(figure, narrow, D // 2)
    slowed_scale(axes, (1, 2, 4, 8), top=10.5)
    new_angles(axes, ink, critical_dimension(D, TRAINED) // 2, D // 2 - 1, FACTOR, 2)
    slowed = frequencies(D) / interpolated_frequencies(D, FACTOR)
    rules(axes, ink, [slowed, np.ones(D // 2)])
    marks(axes, ink, {"1 turn": pair_of(TRAINED, D)})
    axes.text(22, 7, "interpolated", ha="center", va="center")
    axes.text(22, 1.14, "as trained", ha="center", va="center")
