"""The weight of one key among more and more: as it is, scaled by log n, with YaRN's factor."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from posenc import attention, log_scale, yarn_temperature
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (930, 320)
PHONE = (340, 330)

TRAINED, FACTOR = 512, 32
COUNTS = np.exp2(np.arange(6, 17.5, 0.5)).round().astype(np.int64)  # of keys


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the weight of a key that has half of it among as many keys as training had."""
    axes = panel(figure, *((52, 40, 274, 230) if narrow else (66, 40, 830, 220)))
    lines = {
        "as it is": np.ones(len(COUNTS)),
        "scaled by log $n$": log_scale(COUNTS - 1, TRAINED),
        "YaRN’s factor": np.full(len(COUNTS), yarn_temperature(FACTOR) ** 2),
    }
    dashes = ((0, (5, 2)), "-", (0, (1, 1.5)))
    places = ((5200, 0.17), (640, 0.56), (2600, 1.05))
    for number, (name, scales) in enumerate(lines.items()):
        color = ink.categorical[(1, 0, 3)[number]]
        axes.plot(COUNTS, _weights(scales), color=color, linestyle=dashes[number], linewidth=1.6)
        axes.text(*places[number], name, va="center")
    axes.axvline(TRAINED, color=ink.rule, linewidth=0.75, zorder=0)
    axes.text(TRAINED * 0.9, 0.1, "trained", ha="right", va="center")
    axes.set_xscale("log", base=2)
    shown = (64, 512, 4096, 32768)
    axes.set_xticks(shown, [f"{count:,}" if count > 9999 else f"{count}" for count in shown])
    axes.minorticks_off()
    axes.set(xlim=(COUNTS[0], COUNTS[-1]), ylim=(0, 1.1), yticks=(0, 0.5, 1))
    axes.set(title="weight of one key", xlabel="number of keys")


def _weights(scales: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weight of the first key, with the query multiplied by a scale for each count."""
    found = []
    for count, scale in zip(COUNTS, scales, strict=True):
        keys = np.eye(1, count).T  # the others score 0
        query = [[scale * np.log(TRAINED - 1)]]
        found.append(attention(query, keys, keys)[1][0, 0])
    return np.array(found)
