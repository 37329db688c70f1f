"""LongRoPE, pair by pair: the two lists of divisors that were published with Phi-3.5-mini."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from posenc import read_config
from scripts.book.configurations import published_settings
from scripts.figures._slowed import PHONE as PHONE
from scripts.figures._slowed import SIZE as SIZE
from scripts.figures._slowed import marks, pair_of, pairs_panel, rules, slowed_scale
from scripts.figures.style import Ink


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the long list and the short one, and where pairs stop completing a turn."""
    found = read_config(published_settings("phi-3.5"))
    axes = pairs_panel(figure, narrow, found.d // 2)
    slowed_scale(axes, (1, 2, 4, 8, 16, 32, 64), top=90)
    rules(axes, ink, [np.array(found.settings[key]) for key in ("long", "short")])
    assert found.trained_length is not None
    marks(axes, ink, {"1 turn": pair_of(found.trained_length, found.d)})
    axes.text(14, 40, "long list", ha="right", va="center")
    axes.text(33, 1.45, "short list", ha="right", va="center")
    axes.yaxis.labelpad = 0
