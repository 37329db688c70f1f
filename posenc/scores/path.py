"""PaTH: between a key and a query is a product of matrices, one computed from each token.

    score_ij  =  q_i·H_i H_{i−1} … H_{j+1} k_j / √d,     H = 1 − β·w wᵀ

Yang, Shen, Wen, Tan, Mishra, Ren, Panda and Kim, "PaTH Attention: Position Encoding via
Accumulating Householder Transformations" (2025, arXiv 2505.16381). RoPE's product is one of
rotations that do not depend on the tokens; each of these matrices reflects, shrinks or erases one
direction w of every earlier key.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import as_reals


def path_scores(
    q: ArrayLike, k: ArrayLike, *, direction: ArrayLike, strength: ArrayLike
) -> NDArray[np.float64]:
    """Return PaTH's scores: every query is carried back, token by token, to each key.

    Carrying a query past token t removes β times its component along w: none of it if β is 0,
    all of it if β is 1; if β is 2, the component is reflected. Only the tokens after the key and up
    to the query count.

    Args:
        q: queries, shape `(..., length, d)`.
        k: keys, of the same shape.
        direction: w of each token, of the same shape, no vector of zeros; it is scaled to length 1.
        strength: β of each token, from 0 to 2, shape `(..., length)`.

    Returns:
        Shape `(..., length, length)`, float64, a new array, divided by √d; −inf for keys ahead of
        the query.

    Raises:
        TypeError: an argument holds anything but real numbers.
        ValueError: shapes do not fit, a number is not finite, a direction is zero, or a strength is
            outside of 0 to 2.

    Source:
        Yang et al. (2025). In the authors' layer, in flash-linear-attention, β is twice a sigmoid,
        and w comes from the token and the two before it by a short convolution.

    Examples:
        >>> e = np.eye(2)
        >>> path_scores(e[[0, 0]], e[[0, 0]], direction=e[[0, 0]], strength=[0, 1]).round(3)
        array([[0.707,  -inf],
               [0.   , 0.707]])
    """
    carried, keys = as_reals("q", q).copy(), as_reals("k", k)
    along, beta = as_reals("direction", direction), as_reals("strength", strength)
    fits = carried.ndim > 1 and keys.shape == along.shape == carried.shape and carried.shape[-1]
    if not fits or beta.shape != carried.shape[:-1]:
        raise ValueError(
            "q, k, direction and strength must fit: three of shape (..., length, d), and (...,"
            f" length); got {carried.shape}, {keys.shape}, {along.shape} and {beta.shape}"
        )
    lengths = np.linalg.norm(along, axis=-1, keepdims=True)
    if lengths.min(initial=1.0) <= 0:
        raise ValueError("direction must hold no vector of zeros; got one")
    if beta.size and not 0 <= beta.min() <= beta.max() <= 2:
        wrong = beta.min() if beta.min() < 0 else beta.max()
        raise ValueError(f"strength must be from 0 to 2; got {wrong:g}")
    w = along / lengths
    scores = np.full((*carried.shape[:-1], carried.shape[-2]), -np.inf)
    for j in reversed(range(carried.shape[-2])):
        late = carried[..., j:, :]  # the queries from j on, carried back to just after token j
        scores[..., j:, j] = np.einsum("...id,...d->...i", late, keys[..., j, :])
        part = np.einsum("...id,...d->...i", late, w[..., j, :]) * beta[..., j, np.newaxis]
        late -= part[..., np.newaxis] * w[..., j, np.newaxis, :]
    return scores / math.sqrt(carried.shape[-1])
