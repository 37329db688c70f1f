"""Drawing as on a blackboard: boxes, arrows and large letters."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from scripts.figures._parts import panel
from scripts.figures._render import PLAIN, STRONG
from scripts.figures.style import Ink

LARGE, SMALL = 15.0, 11.25  # points: 20 and 15 px
STEP = "step "


def board(
    figure: Figure,
    place: tuple[float, float, float, float],
    across: tuple[float, float],
    down: tuple[float, float],
) -> Axes:
    """Add an empty area at a place given in pixels, with its own units and y pointing down."""
    axes = panel(figure, *place)
    axes.set(xlim=across, ylim=(down[1], down[0]))
    axes.set_axis_off()
    return axes


def chalk(
    axes: Axes,
    words: str,
    x: float,
    y: float,
    *,
    size: float = LARGE,
    color: str | None = None,
    strong: bool = False,
    align: str = "center",
) -> None:
    """Write words at a point, centred by default."""
    note = axes.text(x, y, words, ha=align, va="center", linespacing=1.15)
    note.set(size=size, family=STRONG if strong else PLAIN, weight=600 if strong else 400)
    if color is not None:
        note.set(color=color)


def box(
    axes: Axes, ink: Ink, left: float, top: float, right: float, bottom: float, *, fill: str = ""
) -> None:
    """Draw a rectangle, empty by default."""
    corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
    face = fill or "none"
    axes.add_patch(Polygon(corners, facecolor=face, edgecolor=ink.edge, linewidth=1))


def arrow(
    axes: Axes, ink: Ink, start: tuple[float, float], end: tuple[float, float], *, color: str = ""
) -> None:
    """Draw an arrow from one point to another."""
    head = {"arrowstyle": "-|>,head_width=0.2,head_length=0.4", "color": color or ink.ink}
    axes.annotate("", end, start, arrowprops=head | {"shrinkA": 0, "shrinkB": 0, "linewidth": 1.2})


def step(axes: Axes, number: int) -> None:
    """Let all that has been drawn here since the last step wait on the slides for its turn.

    Slides draw step 0 when they open, and each other step at the press of a key. The number is kept
    as a label, which a drawing without a legend does not show.
    """
    for artist in strokes(axes):
        if not str(artist.get_label()).startswith(STEP):
            artist.set_label(f"{STEP}{number}")


def step_of(artist: Artist) -> int:
    """Return the step in which a part of a drawing is drawn, by default 0."""
    _, _, number = str(artist.get_label()).partition(STEP)
    return int(number or 0)


def strokes(axes: Axes) -> Iterator[Artist]:
    """Yield what has been drawn into an area, in the order in which it was drawn."""
    drawn = {*axes.patches, *axes.lines, *axes.texts, *axes.images}
    return (artist for artist in axes.get_children() if artist in drawn)
