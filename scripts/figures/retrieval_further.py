"""A key far back, as in `retrieval`, for the schemes that have no panel there."""

from __future__ import annotations

from matplotlib.figure import Figure

from scripts.figures import retrieval
from scripts.figures.style import Ink
from scripts.measure.summary import ALL

NAMES = tuple(name for name in ALL if name not in retrieval.NAMES)
SIZE = retrieval.size(len(NAMES))
PHONE = retrieval.phone(len(NAMES))


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a panel for each scheme."""
    retrieval.panels(figure, ink, narrow, NAMES)
