"""A sinusoidal table next to an untrained learned one, which is noise."""

from __future__ import annotations

from matplotlib.figure import Figure

from posenc import LearnedPositionalEmbedding, sinusoidal_encoding
from scripts.figures._parts import heat, heat_scale, panel
from scripts.figures.style import Ink

SIZE = (930, 352)
PHONE = (340, 708)

WIDTH, LENGTH, ROWS, SEED = 8, 10, 50, 0


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw ten rows of each table, each with a scale of its own."""
    learned = LearnedPositionalEmbedding(ROWS, WIDTH, seed=SEED).get_embeddings(LENGTH)
    tables = {
        "sinusoidal": (sinusoidal_encoding(LENGTH, WIDTH), 1),
        "learned, before training": (learned, 0.06),
    }
    for place, (title, (rows, reach)) in enumerate(tables.items()):
        left, top = (42, 34 + 356 * place) if narrow else (42 + 474 * place, 34)
        width = 230 if narrow else 350
        axes = panel(figure, left, top, width, 260)
        heat(axes, ink, rows, reach=reach)
        axes.set(title=title, xlabel="dimension", ylabel="position")
        axes.set(xticks=range(WIDTH), yticks=range(LENGTH))
        heat_scale(panel(figure, left + width + 6, top, 8, 260), ink, reach=reach)
