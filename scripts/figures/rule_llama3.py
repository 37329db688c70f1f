"""Llama 3's rule, pair by pair: by wavelength, against a quarter and all of the trained length."""

from __future__ import annotations

from matplotlib.figure import Figure

from posenc import frequencies, llama3_frequencies, yarn_frequencies
from scripts.figures._slowed import PHONE as PHONE
from scripts.figures._slowed import SIZE as SIZE
from scripts.figures._slowed import pair_of, pairs_panel, rules, slowed_scale
from scripts.figures.style import Ink

# Those of Llama 3.1.
D, TRAINED, FACTOR, BASE = 128, 8192, 8, 500000.0
LOW, HIGH = 1, 4


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the divisors of the rule, and those of YaRN's with its own limits."""
    axes = pairs_panel(figure, narrow, D // 2)
    slowed_scale(axes, (1, 2, 4, 8), top=10.5)
    plain = frequencies(D, base=BASE)
    ours = llama3_frequencies(
        D, factor=FACTOR, trained_length=TRAINED, low=LOW, high=HIGH, base=BASE
    )
    rules(axes, ink, [plain / ours, plain / yarn_frequencies(D, FACTOR, TRAINED, base=BASE)])
    first, last = (pair_of(TRAINED / turns, D, base=BASE) for turns in (HIGH, LOW))
    for pair, turns, side in ((first, HIGH, "right"), (last, LOW, "left")):
        axes.axvline(pair, color=ink.edge, linewidth=0.75, linestyle=(0, (3, 3)), zorder=0)
        axes.annotate(
            f"{TRAINED // turns:,} tokens",
            (pair, 1),
            (6 if side == "right" else -6, 5),
            xycoords=axes.get_xaxis_transform(),
            textcoords="offset points",
            ha=side,
        )
    for words, pair in (("kept", first / 2), ("slowed", (last + D // 2 - 1) / 2)):
        axes.text(pair, 9.2, words, color=ink.ink_2, ha="center", va="center")
    axes.text(36, 1.25, "Llama 3", ha="left", va="center")
    axes.text(22, 2.6, "YaRN", ha="right", va="center")
