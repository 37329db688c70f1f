"""A query and a key rotated by their positions: both move, and the angle between them stays.

One head of two pairs, with a base of 100, so that both are seen to turn.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from posenc import apply_rope
from scripts.figures._parts import panel, query_and_key, write
from scripts.figures.board_order import WORDS
from scripts.figures.style import Ink

SIZE = (600, 348)
PHONE = (340, 304)

BASE = 100
QUERY, KEY = (np.array(WORDS[word][:4]) for word in ("dog", "bites"))
STARTS, APART = (0, 4, 40), 2


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a column of dials for each start, a row for each pair, and the score below."""
    left, across, down, size = (44, 98, 112, 100) if narrow else (92, 170, 134, 134)
    write(figure, "query at", 0, 12, color=ink.ink_2)
    write(figure, "key at", 0, 34, color=ink.ink_2)
    for column, start in enumerate(STARTS):
        query, key = apply_rope([QUERY, KEY], [start, start + APART], base=BASE)
        middle = left + column * across + size / 2
        write(figure, f"{start}", middle, 12, strong=True, align="center")
        write(figure, f"{start + APART}", middle, 34, strong=True, align="center")
        for pair in (0, 1):
            own, top = slice(2 * pair, 2 * pair + 2), 52 + pair * down
            axes = panel(figure, left + column * across, top, size, size)
            query_and_key(axes, ink, query[own], key[own])
            if not column:
                write(figure, f"pair {pair}", 0, top + size / 2, strong=True)
        score = f"{query @ key:.3f}".replace("-", "−")
        write(figure, score, middle, 64 + 2 * down, strong=True, align="center")
    write(figure, "score", 0, 64 + 2 * down, color=ink.ink_2)
