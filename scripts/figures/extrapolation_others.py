"""Perplexity by position, as in `extrapolation_further`, for RoPE in other ways and by content."""

from __future__ import annotations

from matplotlib.figure import Figure

from scripts.figures import extrapolation_further
from scripts.figures.style import Ink

SIZE, PHONE = extrapolation_further.SIZE, extrapolation_further.PHONE

PANELS = {
    "RoPE, in other ways": ("rope", "xpos", "rope_random", "rope_pose", "rope_then_none"),
    "by content": ("alibi", "cope", "forgetting", "path", "dape"),
}


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw both panels, with RoPE and ALiBi for comparison."""
    extrapolation_further.panels(figure, ink, narrow, PANELS)
