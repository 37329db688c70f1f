"""Sandwich: the sinusoidal encoding's own inner products as a bias, with nothing learned.

    bias = Σ cos(ω_i·(key − query)) / (8h/H)      pairs i = 0 … d̄/2 − 1, heads h = 1 … H

Chi, Fan, Rudnicky and Ramadge, "Dissecting Transformer Length Extrapolation via the Lens of
Receptive Field Analysis" (ACL 2023, arXiv 2212.10356). Of the four terms that positions added to
tokens contribute to a score, it keeps the one that depends only on positions, without the matrices.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import as_integer, as_pairs
from posenc.frequency import frequencies


def sandwich_bias(
    heads: int, relative: ArrayLike, *, width: int = 128, base: float = 10000.0
) -> NDArray[np.float64]:
    """Return the bias of each head: PE(query)·PE(key), divided by 8h/H for head h of H.

    PE is the sinusoidal encoding of `width` dimensions, so the inner product is the sum of the
    cosines of its pairs, `width`/2 times `posenc.similarity`. It falls like a logarithm at first,
    with ripples further out.

    Args:
        heads: how many, H; an integer, 1 or more.
        relative: key − query, integers, shape `(query, key)`; see `posenc.relative_positions`.
        width: d̄ of the paper, the width of the encoding; an even integer, 2 or more. It need not
            be that of the model.
        base: see `posenc.frequencies`.

    Returns:
        Shape `(heads, query, key)`, float64, a new array: at most `width`·H/(16h), reached by a
        query's own position. It does not hide keys ahead, so a decoder adds a causal mask.

    Raises:
        TypeError: `heads` or `width` is not an integer, `base` not a number, or `relative` holds
            anything but integers.
        ValueError: `heads` is below 1, `width` odd or below 2, or `base` not allowed; `relative`
            does not have two dimensions or reaches 2⁵³ in size.

    Source:
        Chi et al. (2023), the section on Sandwich. NVIDIA's NeMo divides by the same 8h/H.

    Examples:
        >>> from posenc import relative_positions
        >>> sandwich_bias(2, relative_positions(1, 3, query_offset=2), width=4)[:, 0].round(4)
        array([[0.1459, 0.3851, 0.5   ],
               [0.073 , 0.1925, 0.25  ]])
    """
    count = as_integer("heads", heads, least=1)
    omega = frequencies(as_integer("width", width, least=2, even=True), base=base)
    angles = as_pairs("relative", relative)[..., np.newaxis] * omega
    ratios = 8 * np.arange(1, count + 1) / count
    products: NDArray[np.float64] = np.cos(angles).sum(axis=-1)
    return products / ratios[:, np.newaxis, np.newaxis]
