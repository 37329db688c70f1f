"""A key far back, as in `retrieval`, for models with windows."""

from __future__ import annotations

from matplotlib.figure import Figure

from scripts.figures import retrieval
from scripts.figures.style import Ink

NAMES = ("windows", "windows_rope", "windows_none", "windows_none, log n")
SIZE = retrieval.size(len(NAMES))
PHONE = retrieval.phone(len(NAMES))


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a panel for each model."""
    retrieval.panels(figure, ink, narrow, NAMES)
