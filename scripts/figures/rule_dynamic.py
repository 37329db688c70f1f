"""Dynamic NTK, pair by pair: nothing up to the trained length, then more with every token."""

from __future__ import annotations

from matplotlib.figure import Figure

from posenc import dynamic_frequencies, frequencies
from scripts.figures._slowed import PHONE as PHONE
from scripts.figures._slowed import SIZE as SIZE
from scripts.figures._slowed import pairs_panel, slowed_scale
from scripts.figures._unseen import DASHES
from scripts.figures.style import Ink

D, TRAINED, FACTOR = 128, 4096, 2
PLACES = {1: (44, 1.14), 2: (62, 3.7), 4: (62, 7.7), 8: (49, 11.6)}  # by the ratio of lengths


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the divisors for sequences of four lengths."""
    axes = pairs_panel(figure, narrow, D // 2)
    slowed_scale(axes, (1, 2, 4, 8, 16), top=21)
    for n, (times, place) in enumerate(PLACES.items()):
        length = times * TRAINED
        scaled = dynamic_frequencies(D, length, factor=FACTOR, trained_length=TRAINED)
        slowed = frequencies(D) / scaled
        axes.plot(slowed, color=ink.categorical[n], linestyle=DASHES[n], linewidth=1.6)
        words, side = (f"{length:,}", "right") if n else (f"up to {length:,} tokens", "center")
        axes.text(*place, words, ha=side, va="center")
