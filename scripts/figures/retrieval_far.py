"""A key up to 4,096 letters back, as in `retrieval`."""

from __future__ import annotations

from matplotlib.figure import Figure

from scripts.figures import retrieval
from scripts.figures.style import Ink

NAMES = (
    "rope",
    "rope_pose",
    "t5_fitted",
    "fire",
    "alibi",
    "kerple",
    "windows_rope",
    "windows_none",
)
SIZE = retrieval.size(len(NAMES))
PHONE = retrieval.phone(len(NAMES))


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a panel for each model."""
    retrieval.panels(figure, ink, narrow, NAMES, "far", (32, 256, 4096))
