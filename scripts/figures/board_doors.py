"""The path of a word through attention, and the three places where its position can enter."""

from __future__ import annotations

from matplotlib.figure import Figure

from scripts.figures._board import SMALL, arrow, board, box, chalk, step
from scripts.figures.style import Ink

SIZE = (600, 280)
PHONE = (340, 296)

STATIONS = ("words", "queries,\nkeys", "scores", "weights")
DOORS = (
    ("add a row", "sinusoidal,\nlearned"),
    ("turn", "RoPE"),
    ("add a bias", "Shaw, T5,\nSwin, ALiBi"),
)


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw four stations from left to right, and a numbered door under each of the first three."""
    size, width = (SMALL, 340) if narrow else (15.0, 600)
    axes = board(figure, (0, 0, width, 280), (0, 4), (0, 5))
    for station, name in enumerate(STATIONS):
        box(axes, ink, station + 0.05, 0.2, station + 0.8, 1.5)
        chalk(axes, name, station + 0.425, 0.85, size=size)
        if station:
            arrow(axes, ink, (station - 0.2, 0.85), (station + 0.05, 0.85))
    step(axes, 0)
    for door, (what, reader) in enumerate(DOORS):
        middle = door + 0.425
        arrow(axes, ink, (middle, 2.5), (middle, 1.55), color=ink.categorical[0])
        box(axes, ink, door + 0.02, 2.5, door + 0.83, 3.4, fill=ink.mark)
        chalk(axes, what, middle, 2.95, size=size, strong=True)
        chalk(axes, reader, middle, 4.15, size=size, color=ink.ink_2)
        step(axes, door + 1)
