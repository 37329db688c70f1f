"""What leaves a first layer before training: tokens with learned rows, or sinusoidal ones."""

from __future__ import annotations

from matplotlib.figure import Figure

from posenc import LearnedPositionalEmbedding, add, sinusoidal_encoding
from scripts.figures._parts import heat, heat_scale, panel
from scripts.figures.style import Ink

SIZE = (930, 352)
PHONE = (340, 708)

VOCABULARY, ROWS, WIDTH = 100, 20, 8
IDS = (7, 42, 7, 15, 3, 42, 88, 7, 61, 19)


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the same ten tokens twice, each with a scale of its own."""
    vectors = LearnedPositionalEmbedding(VOCABULARY, WIDTH, seed=0).position_embeddings
    tokens = vectors[list(IDS)]  # a token table is drawn as a table of positions is
    learned = LearnedPositionalEmbedding(ROWS, WIDTH, seed=1).forward(tokens)
    outputs = {
        "token + learned row": (learned, 0.1),
        "token + sinusoidal row": (add(tokens, sinusoidal_encoding(len(IDS), WIDTH)), 1.1),
    }
    for place, (title, (rows, reach)) in enumerate(outputs.items()):
        left, top = (66, 34 + 356 * place) if narrow else (66 + 474 * place, 34)
        width = 210 if narrow else 330
        axes = panel(figure, left, top, width, 260)
        heat(axes, ink, rows, reach=reach)
        axes.set(title=title, xlabel="dimension", ylabel="token")
        axes.set(xticks=range(WIDTH), yticks=range(len(IDS)), yticklabels=IDS)
        heat_scale(panel(figure, left + width + 6, top, 8, 260), ink, reach=reach)
