"""The palette: one `Ink` for light pages, one for dark ones.

Plain values, so that whatever needs a colour can have it without importing matplotlib.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# From the most negative value through zero, the colour of paper, to the most positive.
DIVERGING_LIGHT = (
    *("#b27c14", "#c59c5d", "#d8bc92", "#eadcc6"),
    "#fcfcfa",
    *("#c0cfd1", "#85a4aa", "#4c7a84", "#00525f"),
)
DIVERGING_DARK = (
    *("#c3873f", "#936939", "#654d30", "#3b3226"),
    "#14181a",
    *("#303e41", "#4e686c", "#6e959b", "#90c5cc"),
)

# Equal in lightness, and distinct for colour-blind readers; beyond four lines, dashes differ too.
CATEGORICAL_LIGHT = ("#00525f", "#b27c14", "#7a1a14", "#3d84cf", "#3f6b2c", "#a0578d")
CATEGORICAL_DARK = ("#5eb3c0", "#e0a650", "#d0635a", "#5f82cb", "#bfe8a6", "#f3c3e6")


@dataclass(frozen=True)
class Ink:
    """The colours of light or dark pages, by purpose."""

    paper: str
    rule: str  # hairlines: the zero line
    edge: str  # axes, ticks, the rim of a dial
    ink: str  # text, and hands
    ink_2: str  # labels of axes
    mark: str  # the sector that a hand has swept
    diverging: tuple[str, ...]
    categorical: tuple[str, ...]

    @property
    def negative(self) -> str:
        """The colour of −1."""
        return self.diverging[0]

    @property
    def positive(self) -> str:
        """The colour of +1."""
        return self.diverging[-1]


LIGHT = Ink(
    paper="#fcfcfa",
    rule="#dadbd4",
    edge="#858a86",
    ink="#1a1d1e",
    ink_2="#464c4d",
    mark="#f6e7c3",
    diverging=DIVERGING_LIGHT,
    categorical=CATEGORICAL_LIGHT,
)
DARK = Ink(
    paper="#14181a",
    rule="#33393b",
    edge="#7d8586",
    ink="#e2e2dc",
    ink_2="#b6bbb9",
    mark="#4a3a17",
    diverging=DIVERGING_DARK,
    categorical=CATEGORICAL_DARK,
)


def ramp(values: NDArray[np.floating], ink: Ink) -> NDArray[np.uint8]:
    """Return the colours of values in [−1, 1], shape `(*values.shape, 3)`.

    The stops are even in OKLab, and so close that a straight line between them stays so.
    """
    stops = np.array([[*bytes.fromhex(stop[1:])] for stop in ink.diverging])
    at = np.linspace(-1, 1, len(stops))
    channels = [np.interp(values, at, channel) for channel in stops.T]
    return np.stack(channels, axis=-1).round().astype(np.uint8)
