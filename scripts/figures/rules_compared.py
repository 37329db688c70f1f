"""All rules on one head, that of Llama 3: by how much each slows each pair."""

from __future__ import annotations

from matplotlib.figure import Figure

from posenc import (
    critical_dimension,
    extended_base,
    frequencies,
    interpolated_frequencies,
    llama3_frequencies,
    ntk_frequencies,
    yarn_frequencies,
)
from scripts.figures._slowed import marks, pair_of, pairs_panel, slowed_scale
from scripts.figures._unseen import DASHES, new_angles
from scripts.figures.style import Ink

SIZE, PHONE = (640, 380), (340, 380)

D, TRAINED, FACTOR, BASE = 128, 8192, 8, 500000.0
PLACES = {
    "interpolation": (1, 9.4, "left"),
    "NTK-aware": (62, 3.7, "right"),
    "YaRN": (17.6, 1.25, "right"),
    "Llama 3": (28.4, 1.25, "right"),
    "larger base": (44, 24, "right"),
}
NARROW_PLACES = PLACES | {"Llama 3": (36, 6, "left"), "larger base": (33, 24, "right")}


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a line for each rule, named beside it."""
    axes = pairs_panel(figure, narrow, D // 2)
    slowed_scale(axes, (1, 2, 4, 8, 16, 32), top=46)
    new_angles(axes, ink, critical_dimension(D, TRAINED, base=BASE) // 2, D // 2 - 1, FACTOR, 1.5)
    larger = extended_base(D, FACTOR * TRAINED, trained_length=TRAINED, base=BASE)
    scaled = (
        interpolated_frequencies(D, FACTOR, base=BASE),
        ntk_frequencies(D, FACTOR, base=BASE),
        yarn_frequencies(D, FACTOR, TRAINED, base=BASE),
        llama3_frequencies(D, factor=FACTOR, trained_length=TRAINED, base=BASE),
        frequencies(D, base=larger),
    )
    places = NARROW_PLACES if narrow else PLACES
    for n, (omega, (name, (x, y, side))) in enumerate(zip(scaled, places.items(), strict=True)):
        slowed = frequencies(D, base=BASE) / omega
        axes.plot(slowed, color=ink.categorical[n], linestyle=DASHES[n], linewidth=1.6)
        axes.text(x, y, name, ha=side, va="center")
    marks(axes, ink, {"1 turn": pair_of(TRAINED, D, base=BASE)})
