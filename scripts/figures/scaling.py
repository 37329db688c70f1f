"""How much slower each pair turns for longer texts: three rules, pair by pair."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from posenc import (
    frequencies,
    interpolated_frequencies,
    ntk_frequencies,
    wavelengths,
    yarn_frequencies,
)
from posenc.rotary.scaling import FAST, SLOW
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (640, 352)
PHONE = (340, 352)

D, TRAINED, FACTOR = 128, 4096, 8
DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)))
NAMES = {
    "interpolation": (3, 7.4),
    "NTK-aware": (62, 3.4),
    "YaRN": (27, 1.4),
}


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the divisor of each pair's frequency under each rule, and the range of YaRN's ramp."""
    axes = panel(figure, 46, 34, 278 if narrow else 560, 256)
    scaled = (
        interpolated_frequencies(D, FACTOR),
        ntk_frequencies(D, FACTOR),
        yarn_frequencies(D, FACTOR, TRAINED),
    )
    for n, (omega, (name, place)) in enumerate(zip(scaled, NAMES.items(), strict=True)):
        color = ink.categorical[n]
        axes.plot(frequencies(D) / omega, color=color, linestyle=DASHES[n], linewidth=1.6)
        axes.text(*place, name, ha="right" if name == "NTK-aware" else "left", va="center")
    turns = TRAINED / wavelengths(D)
    for limit in (FAST, SLOW):
        pair = float(np.interp(-limit, -turns, np.arange(turns.size)))
        axes.axvline(pair, color=ink.rule, linewidth=0.75, zorder=0)
        says = f"{limit:g} turns" if limit > 1 else f"{limit:g} turn"
        axes.annotate(says, (pair, 8.4), (0, 3), textcoords="offset points", ha="center")
    axes.set(xlim=(0, D // 2 - 1), ylim=(0.6, 8.4), xticks=range(0, D // 2, 16))
    axes.set(yticks=(1, 2, 4, 6, 8), xlabel="pair", ylabel="times as slow")
