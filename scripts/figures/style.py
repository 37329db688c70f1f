"""The palette: each colour of the book by its name, on light pages and on dark ones.

Pages have the colours as CSS variables of these names, in `docs/assets/built/palette.css`. Plain
values, so that whatever needs a colour can have it without importing matplotlib.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Contrast on paper and on tint is at least 4.5 for text, and at least 3 for lines and marks. Dark
# drawings are derived from light ones, so no two colours of figures are equal on light pages: the
# ends of the ramp, `pos` and `neg`, differ from the first two lines by an invisible step.
PALETTE = {
    "paper": ("#fcfcfa", "#14181a"),
    "tint": ("#f2f3ef", "#1c2123"),
    "rule": ("#dadbd4", "#33393b"),
    "edge": ("#858a86", "#7d8586"),
    "ink": ("#1a1d1e", "#e2e2dc"),
    "ink-2": ("#464c4d", "#b6bbb9"),
    "ink-3": ("#5f6666", "#989f9e"),
    "link": ("#00525f", "#74c3cf"),
    "bad": ("#8f2418", "#f0988a"),
    "warn": ("#7d5600", "#e3b167"),
    "string": ("#4d6412", "#b5cc86"),
    "number": ("#8a4b00", "#e3b167"),
    "special": ("#6b3d7a", "#d3a9dc"),
    "mark": ("#f6e7c3", "#4a3a17"),
    "pos": ("#01525f", "#90c5cc"),
    "neg": ("#b17c14", "#c3873f"),
    "zero": ("#f3f3ee", "#1e2426"),
    # Equal in lightness, and distinct for colour-blind readers; beyond four lines, dashes differ.
    "line-0": ("#00525f", "#5eb3c0"),
    "line-1": ("#b27c14", "#e0a650"),
    "line-2": ("#7a1a14", "#d0635a"),
    "line-3": ("#3d84cf", "#5f82cb"),
    "line-4": ("#3f6b2c", "#bfe8a6"),
    "line-5": ("#a0578d", "#f3c3e6"),
}

# From the most negative value through zero, the colour of paper, to the most positive.
RAMP = (
    PALETTE["neg"],
    ("#c59c5d", "#936939"),
    ("#d8bc92", "#654d30"),
    ("#eadcc6", "#3b3226"),
    PALETTE["paper"],
    ("#c0cfd1", "#303e41"),
    ("#85a4aa", "#4e686c"),
    ("#4c7a84", "#6e959b"),
    PALETTE["pos"],
)


@dataclass(frozen=True)
class Ink:
    """The colours of figures on light or dark pages, by purpose."""

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


def _ink(shade: int) -> Ink:
    """Return the colours of light pages, for 0, or of dark ones, for 1."""
    colour = {name: pair[shade] for name, pair in PALETTE.items()}
    return Ink(
        paper=colour["paper"],
        rule=colour["rule"],
        edge=colour["edge"],
        ink=colour["ink"],
        ink_2=colour["ink-2"],
        mark=colour["mark"],
        diverging=tuple(pair[shade] for pair in RAMP),
        categorical=tuple(value for name, value in colour.items() if name.startswith("line-")),
    )


LIGHT, DARK = _ink(0), _ink(1)


def ramp(values: NDArray[np.floating], ink: Ink) -> NDArray[np.uint8]:
    """Return the colours of values in [−1, 1], shape `(*values.shape, 3)`.

    The stops are even in OKLab, and so close that a straight line between them stays so.
    """
    stops = np.array([[*bytes.fromhex(stop[1:])] for stop in ink.diverging])
    at = np.linspace(-1, 1, len(stops))
    channels = [np.interp(values, at, channel) for channel in stops.T]
    return np.stack(channels, axis=-1).round().astype(np.uint8)
