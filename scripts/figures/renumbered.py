"""Distances as four ways of reading further see them, and the keys a window with sinks shows."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from posenc import rerope_relative, self_extend_relative, sink_mask
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (930, 358)
PHONE = (340, 724)

TRAINED, LONGEST, WINDOW, GROUP, STEP = 64, 160, 32, 4, 0.125
LENGTH, SHOWN, SINKS = 24, 6, 2
DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the distances, then the mask."""
    wide = 256 if narrow else 362
    _draw_distances(panel(figure, 62, 34, wide, 266), ink)
    second = (62, 420, 244, 244) if narrow else (590, 44, 256, 256)
    _draw_mask(panel(figure, *second), ink)


def _draw_distances(axes: Axes, ink: Ink) -> None:
    sizes = {"query_length": 1, "key_length": LONGEST + 1, "query_offset": LONGEST}
    lines = {
        "as it is": np.arange(LONGEST + 1),
        "self-extend": -self_extend_relative(**sizes, window=WINDOW, group=GROUP)[0, ::-1],
        "leaky ReRoPE": -rerope_relative(**sizes, window=WINDOW, step=STEP)[0, ::-1],
        "ReRoPE": -rerope_relative(**sizes, window=WINDOW)[0, ::-1],
    }
    axes.axhline(TRAINED - 1, color=ink.rule, linewidth=0.75, zorder=0)
    places = ((86, 100), (66, 57), (116, 37), (116, 26))
    for number, (name, line) in enumerate(lines.items()):
        axes.plot(line, color=ink.categorical[number], linestyle=DASHES[number])
        axes.text(*places[number], name, ha="left" if number else "right", va="center")
    axes.text(2, TRAINED + 4, "longest trained", ha="left", va="center")
    axes.set(xlim=(0, LONGEST), ylim=(0, 128), xticks=range(0, LONGEST + 1, 32))
    axes.set(
        yticks=range(0, 129, 32), xlabel="distance, query − key", title="distance that is used"
    )


def _draw_mask(axes: Axes, ink: Ink) -> None:
    mask = sink_mask(LENGTH, window=SHOWN, sinks=SINKS)
    shades = ListedColormap([ink.paper, ink.categorical[0]], name="seen")
    edges = (-0.5, LENGTH - 0.5, LENGTH - 0.5, -0.5)
    axes.imshow(mask, cmap=shades, vmin=0, vmax=1, extent=edges)
    axes.spines[:].set(visible=True, color=ink.rule)
    axes.set(xticks=range(0, LENGTH, 6), yticks=range(0, LENGTH, 6))
    axes.set(xlabel="key", ylabel="query", title="two sinks and a window of six")
