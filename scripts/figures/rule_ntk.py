"""NTK-aware scaling, pair by pair: from the fastest, which stays, evenly to the slowest."""

from __future__ import annotations

from matplotlib.figure import Figure

from posenc import critical_dimension, frequencies, ntk_frequencies
from scripts.figures._slowed import PHONE as PHONE
from scripts.figures._slowed import SIZE as SIZE
from scripts.figures._slowed import marks, pair_of, pairs_panel, rules, slowed_scale
from scripts.figures._unseen import new_angles
from scripts.figures.style import Ink

D, TRAINED, FACTOR = 128, 4096, 8


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the divisors for the ratio of the lengths, and for a factor that leaves nothing new."""
    axes = pairs_panel(figure, narrow, D // 2)
    slowed_scale(axes, (1, 2, 4, 8, 16), top=21)
    seen = critical_dimension(D, TRAINED)
    new_angles(axes, ink, seen // 2, D // 2 - 1, FACTOR, 1.5)
    enough = FACTOR ** ((D - 2) / seen)
    rules(axes, ink, [frequencies(D) / ntk_frequencies(D, factor) for factor in (FACTOR, enough)])
    marks(axes, ink, {"1 turn": pair_of(TRAINED, D)})
    axes.text(27, 1.85, f"factor {FACTOR}", ha="left", va="center")
    axes.text(29, 5.2, f"factor {enough:.1f}", ha="right", va="center")
