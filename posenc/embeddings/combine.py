"""Two ways to combine a token with its position: add them, or concatenate them.

The first step of an attention layer is to multiply by a weight matrix. Concatenated, the two give
[t, p] W = t W₁ + p W₂, with W₁ the upper and W₂ the lower rows of W. Added, they give
(t + p) W = t W + p W: the same with W₁ = W₂. So addition is the special case that keeps the
width.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import as_floats


def add(tokens: ArrayLike, positions: ArrayLike) -> NDArray[np.floating]:
    """Return tokens + positions, vectors of the same width.

    Args:
        tokens: `(..., length, d_model)`, real numbers.
        positions: `(length, d_model)`, the same rows for every sequence of a batch, or the
            shape of the tokens.

    Returns:
        Shape and dtype of the tokens, float64 for integers; a new array.

    Raises:
        TypeError: an argument does not hold real numbers.
        ValueError: the shapes do not fit, or a number is NaN or infinite. A single row is not
            broadcast over all positions, since it could not tell them apart.

    Source:
        Vaswani et al., "Attention Is All You Need" (2017), section 3.5.

    Examples:
        >>> add([[1.0, 1.0], [1.0, 1.0]], [[0.0, 1.0], [0.5, 0.25]])
        array([[1.  , 2.  ],
               [1.5 , 1.25]])
    """
    first, second = as_floats("tokens", tokens), as_floats("positions", positions)
    _check_shape(first, second, first.shape)
    total = first.astype(np.float64) + second
    return np.asarray(total.astype(first.dtype))


def concatenate(tokens: ArrayLike, positions: ArrayLike) -> NDArray[np.floating]:
    """Return [tokens, positions]: wider vectors in which each keeps its own dimensions.

    Args:
        tokens: `(..., length, d_model)`, real numbers.
        positions: `(length, d)`, the same rows for every sequence of a batch, or
            `(..., length, d)` like the tokens; d may be any width.

    Returns:
        Shape `(..., length, d_model + d)`, dtype of the tokens, float64 for integers; a new
        array.

    Raises:
        TypeError: an argument does not hold real numbers.
        ValueError: the shapes do not fit, or a number is NaN or infinite.

    Source:
        The alternative to the sum of Vaswani et al. (2017), section 3.5.

    Examples:
        >>> concatenate([[1.0, 1.0], [1.0, 1.0]], [[0.0], [0.5]])
        array([[1. , 1. , 0. ],
               [1. , 1. , 0.5]])
    """
    first, second = as_floats("tokens", tokens), as_floats("positions", positions)
    _check_shape(first, second, (*first.shape[:-1], *second.shape[-1:]))
    rows = np.broadcast_to(second, (*first.shape[:-1], second.shape[-1]))
    return np.concatenate((first, rows.astype(first.dtype)), axis=-1)


def _check_shape(
    tokens: NDArray[np.floating], positions: NDArray[np.floating], whole: tuple[int, ...]
) -> None:
    """Raise unless the positions have the `whole` shape or that of its last two axes."""
    if tokens.ndim < 2:
        raise ValueError(f"tokens must be of shape (..., length, d_model); got {tokens.shape}")
    if positions.shape not in (whole, whole[-2:]):
        one = "" if len(whole) == 2 else f"{whole[-2:]} or "
        raise ValueError(f"positions must be of shape {one}{whole}; got {positions.shape}")
