"""Parts shared by figures: a panel placed in pixels, a clock, a grid, a table as colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon
from numpy.typing import NDArray

from scripts.figures._render import PIXELS_AN_INCH, PLAIN, STRONG
from scripts.figures.style import Ink


def panel(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """Add axes at a place given in pixels of the page, from its top left corner."""
    across, down = figure.get_size_inches() * PIXELS_AN_INCH
    return figure.add_axes(
        (left / across, 1 - (top + height) / down, width / across, height / down)
    )


def write(
    figure: Figure,
    words: str,
    left: float,
    top: float,
    *,
    color: str | None = None,
    strong: bool = False,
    align: Literal["left", "center", "right"] = "left",
) -> None:
    """Write words centred on a height given in pixels of the page; digits are ten pixels high."""
    across, down = figure.get_size_inches() * PIXELS_AN_INCH
    face = {"family": STRONG, "weight": 600} if strong else {"family": PLAIN}
    place = (left / across, 1 - (top + 5) / down)
    figure.text(*place, words, color=color, ha=align, va="baseline", **face)


def diverging(ink: Ink) -> LinearSegmentedColormap:
    """Return the colour map from −1, ochre, through 0, paper, to +1, teal."""
    return LinearSegmentedColormap.from_list("diverging", ink.diverging)


def heat(axes: Axes, ink: Ink, rows: NDArray[np.floating], *, reach: float = 1) -> None:
    """Draw a table as coloured cells, rows downwards, with colours from −reach to +reach."""
    height, width = rows.shape
    axes.imshow(
        rows,
        cmap=diverging(ink),
        vmin=-reach,
        vmax=reach,
        extent=(-0.5, width - 0.5, height - 0.5, -0.5),
    )
    axes.spines[:].set(visible=True, color=ink.rule)  # an entry near zero is as pale as the page


def heat_scale(axes: Axes, ink: Ink, *, reach: float = 1) -> None:
    """Draw the colour scale of a `heat`."""
    values = np.linspace(reach, -reach, 101)[:, np.newaxis]
    ends = (0, 1, -1.01 * reach, 1.01 * reach)
    axes.imshow(values, cmap=diverging(ink), vmin=-reach, vmax=reach, extent=ends)
    axes.set(xticks=(), yticks=(-reach, 0, reach), title="value")
    axes.yaxis.tick_right()
    axes.tick_params(length=2, pad=2)
    axes.spines[:].set(visible=True, color=ink.rule)


def clock(axes: Axes, ink: Ink, hand: NDArray[np.floating], start: NDArray[np.floating]) -> None:
    """Draw a dial whose hand points at (sin, cos), and the sector swept clockwise since `start`.

    An angle of 0 points up, as on a clock: the sine is the horizontal coordinate of the tip, the
    cosine the vertical one.
    """
    axes.set(xlim=(-1.12, 1.12), ylim=(-1.12, 1.12), aspect="equal")
    axes.set_axis_off()
    axes.add_patch(Polygon(_sector(start, hand), facecolor=ink.mark, edgecolor="none"))
    axes.add_patch(Circle((0, 0), 1, fill=False, edgecolor=ink.edge, linewidth=0.75))
    axes.plot([0, start[0]], [0, start[1]], color=ink.edge, linewidth=1, linestyle=(0, (3, 2)))
    axes.plot([0, hand[0]], [0, hand[1]], color=ink.ink, linewidth=1.6)
    axes.plot(*hand, "o", color=ink.ink)


def query_and_key(
    axes: Axes,
    ink: Ink,
    query: NDArray[np.floating],
    key: NDArray[np.floating],
    *,
    reach: float = 1.4,
) -> None:
    """Draw one pair of both vectors, anticlockwise from the right, and the sector between them."""
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axes.set_axis_off()
    axes.add_patch(Polygon(sector_outline(query, key), facecolor=ink.mark, edgecolor="none"))
    axes.add_patch(Circle((0, 0), 1, fill=False, edgecolor=ink.edge, linewidth=0.75))
    turn = np.sign(query[0] * key[1] - query[1] * key[0])  # from the query to the key
    hands = ("$q$", query, "-", turn), ("$k$", key, (0, (3, 1.5)), -turn)
    for name, hand, dash, side in hands:
        axes.plot([0, hand[0]], [0, hand[1]], color=ink.ink, linewidth=1.6, linestyle=dash)
        axes.plot(*hand, "o", color=ink.ink)
        norm = np.linalg.norm(hand)
        along, beside = hand / norm, np.array([hand[1], -hand[0]]) / norm
        if abs(norm + 0.28 - 1) < 0.24:  # the rim would cross the letter
            x, y = min(norm, 0.7) * along + 0.22 * side * beside
        else:
            x, y = hand + 0.28 * along
        axes.annotate(name, (x, y), ha="center", va="center")


def sector_outline(
    query: NDArray[np.floating], key: NDArray[np.floating], *, radius: float = 0.5
) -> NDArray[np.floating]:
    """Return the outline of the sector between two hands, the shorter way round."""
    first = np.arctan2(query[1], query[0])
    sweep = (np.arctan2(key[1], key[0]) - first + np.pi) % (2 * np.pi) - np.pi
    angles = np.linspace(first, first + sweep, 25)
    arc = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.vstack([np.zeros(2), arc])


def _sector(start: NDArray[np.floating], end: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the outline of the sector from one hand to another, less than a full turn."""
    first = np.arctan2(*start)
    sweep = (np.arctan2(*end) - first) % (2 * np.pi)
    angles = np.linspace(first, first + sweep, 25)
    arc = np.stack([np.sin(angles), np.cos(angles)], axis=1)
    return np.vstack([np.zeros(2), arc])


def cells(
    axes: Axes, ink: Ink, words: Sequence[Sequence[str]], marked: NDArray[np.bool_] | None = None
) -> None:
    """Draw a grid with a word in each cell, rows downwards; marked cells are shaded and bold."""
    rows, columns = len(words), len(words[0])
    marks = np.zeros((rows, columns)) if marked is None else marked.astype(float)
    shades = ListedColormap(["none", ink.mark], name="marks")
    axes.imshow(marks, cmap=shades, vmin=0, vmax=1, extent=(-0.5, columns - 0.5, rows - 0.5, -0.5))
    for line in range(1, rows):
        axes.axhline(line - 0.5, color=ink.rule, linewidth=0.75)
    for line in range(1, columns):
        axes.axvline(line - 0.5, color=ink.rule, linewidth=0.75)
    for (row, column), mark in np.ndenumerate(marks):
        word = axes.text(column, row, words[row][column], ha="center", va="center_baseline")
        word.set(family=STRONG if mark else PLAIN, weight=600 if mark else 400)
    axes.set(xticks=range(columns), yticks=range(rows))
    axes.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False, pad=3)
    axes.xaxis.set_label_position("top")
    axes.spines[:].set(visible=True, color=ink.edge)
