"""The sentence of chapter 2: five words, four of them different, and their vectors."""

from __future__ import annotations

import numpy as np

from posenc import sinusoidal_encoding

WORDS = ("the", "dog", "saw", "the", "cat")
VECTORS = {
    "the": (0.1, 0.3, -0.2, 0.4),
    "dog": (0.9, 0.2, 0.5, -0.3),
    "saw": (-0.4, 0.8, 0.1, 0.6),
    "cat": (0.8, 0.3, 0.4, -0.5),
}
TOKENS = np.array([VECTORS[word] for word in WORDS])
POSITIONS = sinusoidal_encoding(*TOKENS.shape)


def signed_number(value: float) -> str:
    """Return a number as the figures print it, with two decimals and a true minus sign."""
    return f"{value:.2f}".replace("-", "−")
