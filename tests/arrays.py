"""What tests of claims and chapters compute with: drawn vectors, and attention among them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from posenc import attention

Array = NDArray[np.floating]


def normal(*shape: int, seed: int = 0) -> NDArray[np.float64]:
    """Return standard normals, the same at each call."""
    return np.random.default_rng(seed).standard_normal(shape)


def self_attention(x: Array, *, mask: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
    """Return the output of attention with the vectors as queries, keys and values."""
    return np.asarray(attention(x, x, x, mask=mask)[0], np.float64)


def cosine(a: Array, b: Array) -> float:
    """Return the cosine of two arrays, taken as vectors; nan with a warning if one is zero."""
    a, b = np.ravel(a), np.ravel(b)
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))
