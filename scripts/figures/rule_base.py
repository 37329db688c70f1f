"""Two bounds on the base: pairs that carry a longer sequence, and lags at which likes attract."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from posenc import critical_dimension, extended_base, frequencies, wavelengths
from scripts.figures._parts import panel
from scripts.figures._unseen import DASHES
from scripts.figures.style import Ink

SIZE, PHONE = (930, 372), (340, 744)

D, TRAINED, LONGER = 128, 4096, 32768
BASES, LAGS = (10_000, 27_000), 8192


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the wavelengths of two bases by pair, and the mean cosine of two by lag."""
    width = 264 if narrow else 372
    _turns(panel(figure, 62, 40, width, 268), ink)
    _attraction(panel(figure, *((62, 412) if narrow else (540, 40)), width, 268), ink)


def _turns(axes: Axes, ink: Ink) -> None:
    """Draw wavelengths: the first pair that completed no turn comes to lie on the new length."""
    extended = extended_base(D, LONGER, trained_length=TRAINED)
    first = critical_dimension(D, TRAINED) // 2
    for n, base in enumerate((10_000.0, extended)):
        waves = wavelengths(D, base=base)
        axes.plot(waves, color=ink.categorical[n], linestyle=DASHES[n], linewidth=1.6)
    axes.text(40, 230, "base 10,000", ha="left", va="center")
    axes.text(31, 9000, f"base {extended:,.0f}", ha="right", va="center")
    for length in (TRAINED, LONGER):
        axes.axhline(length, color=ink.edge, linewidth=0.75, linestyle=(0, (3, 3)), zorder=0)
        axes.annotate(f"{length:,}", (1, length), (0, 4), textcoords="offset points")
    for place, n in ((TRAINED, 0), (LONGER, 1)):
        wave = wavelengths(D)[first] if place == TRAINED else place
        axes.plot([first], [wave], "o", color=ink.categorical[n], markersize=5)
    axes.set(yscale="log", xlim=(0, D // 2 - 1), ylim=(5, 1.2e6), xticks=range(0, D // 2, 16))
    axes.set_yticks((10, 1000, 100_000), ("10", "1,000", "100,000"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set(title="wavelength in tokens", xlabel="pair")


def _attraction(axes: Axes, ink: Ink) -> None:
    """Draw the mean of cos(mω) over the pairs by the lag m, and where it first falls below 0."""
    lags = np.arange(1, LAGS + 1)
    shown = np.unique(np.geomspace(1, LAGS, 500).astype(int))
    for n, base in enumerate(BASES):
        mean = np.cos(np.outer(lags, frequencies(D, base=base))).mean(axis=1)
        below = int(lags[mean < 0][0])
        color = ink.categorical[n]
        axes.plot(shown, mean[shown - 1], linewidth=1, color=color, linestyle=DASHES[n])
        axes.plot([below], [mean[below - 1]], "o", color=ink.categorical[n], markersize=5)
        note, down = f"base {base:,}: {below:,}", (-8, -24 - 20 * n)
        place = (below, mean[below - 1])
        axes.annotate(note, place, down, textcoords="offset points", ha="right")
    axes.axhline(0, color=ink.edge, linewidth=0.75, zorder=0)
    axes.set(xscale="log", xlim=(1, LAGS), ylim=(-0.45, 1), yticks=(0, 0.5, 1))
    axes.set_xticks((1, 10, 100, 1000), ("1", "10", "100", "1,000"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set(title="mean cosine over the pairs", xlabel="lag in tokens")
