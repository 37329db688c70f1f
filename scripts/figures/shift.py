"""One matrix shifts every row by two positions: each pair turns by the same angle in every row."""

from __future__ import annotations

from matplotlib.figure import Figure

from posenc import frequencies, shift_matrix, sinusoidal_encoding
from scripts.figures._parts import clock, panel, write
from scripts.figures.style import Ink

SIZE = (600, 246)
PHONE = (340, 186)

WIDTH, OFFSET, PAIRS = 8, 2, 2
STARTS = (0, 4, 8, 12)


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a column of dials for each start, a row for each of the two fastest pairs."""
    left, across, down, size = (56, 72, 72, 68) if narrow else (92, 132, 106, 92)
    before = sinusoidal_encoding(STARTS, WIDTH)
    after = before @ shift_matrix(OFFSET, WIDTH).T
    write(figure, "position", 0, 20, color=ink.ink_2)
    for column, start in enumerate(STARTS):
        middle = left + column * across + size / 2
        write(figure, f"{start} to {start + OFFSET}", middle, 20, strong=True, align="center")
    for pair, frequency in enumerate(frequencies(WIDTH)[:PAIRS]):
        top = 44 + pair * down
        write(figure, f"pair {pair}", 0, top + size / 2 - 11, strong=True)
        write(figure, f"{OFFSET * frequency:g} rad", 0, top + size / 2 + 11, color=ink.ink_2)
        own = slice(2 * pair, 2 * pair + 2)
        for column, (start, end) in enumerate(zip(before[:, own], after[:, own], strict=True)):
            axes = panel(figure, left + column * across, top, size, size)
            clock(axes, ink, end, start)
