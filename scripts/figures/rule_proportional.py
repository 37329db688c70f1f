"""Partial and proportional rotation: the wavelengths of the pairs that rotate, and the others."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from posenc import read_config, wavelengths
from scripts.book.configurations import published_settings
from scripts.figures._slowed import PHONE as PHONE
from scripts.figures._slowed import SIZE as SIZE
from scripts.figures._slowed import pairs_panel, rules
from scripts.figures.style import Ink

STILL = 3e8  # where the pairs that stand still are drawn: above all wavelengths


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the wavelengths of a full, a proportional and a partial rotation of one head."""
    found = read_config(published_settings("gemma-4"), layer_type="full_attention")
    assert found.base is not None
    pairs, rotated = found.d // 2, found.settings["rotary_d"] // 2
    full = wavelengths(found.d, base=found.base)
    part = wavelengths(2 * rotated, base=found.base)
    axes = pairs_panel(figure, narrow, pairs)
    axes.axhline(STILL, color=ink.rule, linewidth=0.75, zorder=0)
    axes.plot(full, color=ink.edge, linewidth=0.75)
    rules(axes, ink, [full[:rotated], part])
    still = np.arange(rotated, pairs)
    axes.plot(still, np.full(still.size, STILL), color=ink.categorical[0], linewidth=3)
    axes.axvline(rotated - 0.5, color=ink.edge, linewidth=0.75, linestyle=(0, (3, 3)), zorder=0)
    axes.set(yscale="log", ylim=(3, 1.2e9))
    axes.set_yticks((10, 1e3, 1e5, 1e7), ("10", "$10^3$", "$10^5$", "$10^7$"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_title("wavelength in tokens", loc="left")
    axes.text((rotated + pairs) / 2, 0.75e8, "these stand still", ha="center", va="center")
    axes.text(70, 60, "proportional", ha="left", va="center")
    axes.text(70, 4e6, "partial", ha="left", va="center")
    axes.text(182, 2.5e3, "full", color=ink.ink_2, ha="left", va="center")
