"""One pair of a query and a key, rotated by their positions in three places.

The query is "dog" and the key "bites", at the end of "man bites dog", in the same sentence 100
positions further on, and at the beginning of "dog bites man". The pair is the fastest of four.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from posenc import apply_rope
from scripts.figures._parts import panel, query_and_key, write
from scripts.figures.board_order import WORDS
from scripts.figures.style import Ink

SIZE = (600, 262)
PHONE = (340, 212)

# The positions of the query and of the key.
PLACES = {"man bites dog": (2, 1), "100 further on": (102, 101), "dog bites man": (0, 1)}


def pair(word: str, position: int) -> NDArray[np.floating]:
    """Return pair 0 of a word, rotated by its position."""
    return apply_rope(WORDS[word], position)[:2]


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a column for each two positions: the sentence, the positions, the dial, the product."""
    left, across, size = (52, 98, 90) if narrow else (92, 174, 146)
    for row, what in enumerate(("dog at", "bites at")):
        write(figure, what, 0, 36 + 22 * row, color=ink.ink_2)
    for column, (sentence, places) in enumerate(PLACES.items()):
        query, key = pair("dog", places[0]), pair("bites", places[1])
        middle = left + column * across + size / 2
        write(figure, sentence, middle, 12, align="center")
        for row, position in enumerate(places):
            write(figure, f"{position}", middle, 36 + 22 * row, strong=True, align="center")
        dial = panel(figure, left + column * across, 76, size, size)
        query_and_key(dial, ink, query, key, reach=1.05)
        product = f"{query @ key:.3f}".replace("-", "−")
        write(figure, product, middle, 94 + size, strong=True, align="center")
    write(figure, "product", 0, 94 + size, color=ink.ink_2)
