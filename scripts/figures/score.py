"""One word combined with its position, and the terms of its score for another: four, or two."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from posenc import add, concatenate
from scripts.figures._parts import panel
from scripts.figures._sentence import POSITIONS, TOKENS, WORDS, signed_number
from scripts.figures.style import Ink

SIZE = (930, 300)
PHONE = (340, 866)

QUERY, KEY = 1, 4
TERMS = ("word · word", "word · position", "position · word", "position · position")
CROSS = (1, 2)  # of them, those that only a sum has
# One colour for each kind, and neither of them ochre, which means negative in other figures.
FIRST, SECOND = 0, 3


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the sum by dimension, then the terms of the score, added and side by side."""
    own, added, beside = (
        ((46, 34, 280, 226), (130, 322, 200, 226), (130, 610, 200, 226))
        if narrow
        else ((46, 34, 220, 226), (398, 34, 200, 226), (722, 34, 200, 226))
    )
    _draw_sum(panel(figure, *own), ink)
    sums, wider = add(TOKENS, POSITIONS), concatenate(TOKENS, POSITIONS)
    _draw_terms(panel(figure, *added), ink, "added", sums[QUERY] @ sums[KEY])
    _draw_terms(panel(figure, *beside), ink, "side by side", wider[QUERY] @ wider[KEY], left=CROSS)


def _draw_sum(axes: Axes, ink: Ink) -> None:
    """Draw the query's entries as steps: the word's from zero, its position's from there."""
    whole = add(TOKENS, POSITIONS)[QUERY]
    for dimension, (word, end) in enumerate(zip(TOKENS[QUERY], whole, strict=True)):
        _draw_bar(axes, 0, word, dimension - 0.19, ink.categorical[FIRST])
        _draw_bar(axes, word, end, dimension + 0.19, ink.categorical[SECOND])
        axes.plot([end, end], [dimension - 0.4, dimension + 0.4], color=ink.ink)
        _write_at_end(axes, signed_number(end), end, dimension)
    _write_at_end(axes, "word", TOKENS[QUERY, 0], -0.19)
    _write_at_end(axes, "position", TOKENS[QUERY, 0], 0.19, before=True)
    axes.axvline(0, color=ink.edge, linewidth=0.75)
    axes.set(xlim=(-0.45, 2.3), ylim=(3.6, -0.6), yticks=range(4), xticks=(0, 1, 2))
    axes.set(title=f"“{WORDS[QUERY]}” at position {QUERY}", ylabel="dimension")


def _draw_terms(
    axes: Axes, ink: Ink, title: str, score: float, *, left: tuple[int, ...] = ()
) -> None:
    """Draw the products that enter a score, and the score, their sum."""
    query, key = (np.stack([TOKENS[n], POSITIONS[n]]) for n in (QUERY, KEY))
    for term, value in enumerate((query @ key.T).ravel()):
        if term in left:
            _write_at_end(axes, "does not enter", 0, term)
        else:
            _draw_bar(axes, 0, value, term, ink.categorical[SECOND if term in CROSS else FIRST])
            _write_at_end(axes, signed_number(value), value, term, before=value < 0)
    _draw_bar(axes, 0, score, len(TERMS), ink.ink)
    _write_at_end(axes, signed_number(score), score, len(TERMS))
    axes.axvline(0, color=ink.edge, linewidth=0.75)
    axes.set(xlim=(-2.2, 2), ylim=(4.6, -0.6), yticks=range(5), xticks=(-1, 0, 1))
    axes.set(yticklabels=(*TERMS, "score"), title=title)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _draw_bar(axes: Axes, start: float, end: float, height: float, color: str) -> None:
    """Draw a bar from one value to another."""
    (bar,) = axes.plot([start, end], [height, height], color=color, linewidth=8)
    bar.set_solid_capstyle("butt")


def _write_at_end(
    axes: Axes, words: str, at: float, height: float, *, before: bool = False
) -> None:
    """Write words beside the end of a bar."""
    side, align = (-6, "right") if before else (6, "left")
    axes.annotate(words, (at, height), (side, 0), textcoords="offset points", va="center", ha=align)
