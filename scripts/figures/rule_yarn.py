"""YaRN, pair by pair: kept, blended or interpolated, by how many turns a pair made in training."""

from __future__ import annotations

from matplotlib.figure import Figure

from posenc import frequencies, yarn_frequencies
from posenc.rotary.scaling import FAST, SLOW
from scripts.figures._slowed import PHONE as PHONE
from scripts.figures._slowed import SIZE as SIZE
from scripts.figures._slowed import marks, pair_of, pairs_panel, rules, slowed_scale
from scripts.figures.style import Ink

D, TRAINED, FACTOR = 128, 4096, 8


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the divisors of the paper's ramp and of the released one, between the two limits."""
    axes = pairs_panel(figure, narrow, D // 2)
    slowed_scale(axes, (1, 2, 4, 8), top=10.5)
    rules(
        axes,
        ink,
        [
            frequencies(D) / yarn_frequencies(D, FACTOR, TRAINED),
            frequencies(D) / yarn_frequencies(D, FACTOR, TRAINED, ramp="pairs"),
        ],
    )
    first, last = (pair_of(TRAINED / turns, D) for turns in (FAST, SLOW))
    marks(axes, ink, {f"{FAST:g} turns": first, f"{SLOW:g} turn": last})
    for words, pair in (
        ("kept", first / 2),
        ("blended", (first + last) / 2),
        ("slowed", (last + D // 2 - 1) / 2),
    ):
        axes.text(pair, 9.2, words, color=ink.ink_2, ha="center", va="center")
    axes.text(31, 4.6, "paper", ha="right", va="center")
    axes.text(44, 1.45, "released", ha="right", va="center")
