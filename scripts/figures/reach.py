"""Which tokens can reach the last place, layer by layer: windows alone, and one layer without."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from posenc import causal_mask, sink_mask
from scripts.figures._parts import panel
from scripts.figures.style import Ink

SIZE = (930, 300)
PHONE = (340, 560)

LENGTH, WINDOW, LAYERS, EVERY = 48, 5, 6, 4


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw six layers with a window, then the same with every fourth layer open."""
    wide = 262 if narrow else 372
    window, whole = sink_mask(LENGTH, window=WINDOW, sinks=0), causal_mask(LENGTH)
    alternating = [whole if (layer + 1) % EVERY == 0 else window for layer in range(LAYERS)]
    second = (58, 318, wide, 170) if narrow else (532, 44, wide, 190)
    first = (58, 44, wide, 170 if narrow else 190)
    _draw(panel(figure, *first), ink, [window] * LAYERS, "a window in every layer")
    _draw(panel(figure, *second), ink, alternating, "every fourth layer without a window")


def _draw(
    axes: Axes,
    ink: Ink,
    masks: list[np.ndarray[tuple[int, ...], np.dtype[np.bool_]]],
    title: str,
) -> None:
    """Colour the tokens that reach the last place through the layers from each row's on."""
    reached, rows = np.eye(LENGTH, dtype=bool)[-1], []
    for mask in reversed(masks):
        reached = (reached[:, np.newaxis] & mask).any(axis=0)
        rows.append(reached)
    shades = ListedColormap([ink.paper, ink.categorical[0]], name="reached")
    edges = (-0.5, LENGTH - 0.5, LAYERS + 0.5, 0.5)
    axes.imshow(rows[::-1], cmap=shades, vmin=0, vmax=1, extent=edges, aspect="auto")
    for line in range(1, LAYERS):
        axes.axhline(line + 0.5, color=ink.paper, linewidth=1.5)
    axes.spines[:].set(visible=True, color=ink.rule)
    axes.set(xticks=range(0, LENGTH, 8), yticks=range(1, LAYERS + 1))
    axes.set(xlabel="token", ylabel="layer", title=title)
