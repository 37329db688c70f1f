"""A table of width 8 as colours, and next to each pair its frequency."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posenc import frequencies, sinusoidal_encoding
from scripts.figures._parts import heat, heat_scale, panel
from scripts.figures.style import Ink

SIZE = (930, 318)
PHONE = (340, 318)

WIDTH, LENGTH = 8, 20


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw dimensions downwards, positions to the right, and the frequencies level with them."""
    top, height, width = 34, 224, 106 if narrow else 560
    table = panel(figure, 38, top, width, height)
    heat(table, ink, sinusoidal_encoding(LENGTH, WIDTH).T)
    for pair in range(1, WIDTH // 2):
        table.axhline(2 * pair - 0.5, color=ink.edge, linewidth=0.75)
    table.set(title="the table", xlabel="position", ylabel="dimension")
    table.set(xticks=(0, 5, 10, 15, LENGTH - 1), yticks=range(WIDTH))
    heat_scale(panel(figure, 38 + width + 6, top, 8, height), ink)
    dots = (240, top, 82, height) if narrow else (740, top, 160, height)
    _draw_dots(panel(figure, *dots), ink)


def _draw_dots(axes: Axes, ink: Ink) -> None:
    """Draw each pair's frequency as a dot, since bars have no baseline on a logarithmic axis."""
    for pair, frequency in enumerate(frequencies(WIDTH)):
        axes.axhline(pair, color=ink.rule, linewidth=0.75, zorder=0)
        axes.plot([frequency], [pair], "o", color=ink.ink, markersize=5)
        end, offset = (frequency, pair), (0, 7)
        axes.annotate(f"{frequency:g}", end, offset, textcoords="offset points", ha="center")
    names = [f"pair {pair}" for pair in range(WIDTH // 2)]
    axes.set(xscale="log", xlim=(3e-4, 3), ylim=(WIDTH / 2 - 0.5, -0.5), title="frequency")
    axes.set(yticks=range(WIDTH // 2), yticklabels=names)
    axes.set(xticks=(0.001, 1), xticklabels=("0.001", "1"), xlabel="radians")
    axes.minorticks_off()
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
