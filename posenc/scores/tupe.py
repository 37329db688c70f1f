"""TUPE: content and position scored separately, each with its own matrices.

    score  =  (x_i W_Q)·(x_j W_K) / √(2d)  +  (p_i U_Q)·(p_j U_K) / √(2d)

Ke, He and Liu, "Rethinking Positional Encoding in Language Pre-training" (ICLR 2021, arXiv
2006.15595), section 3. The second term is the same for every input and every layer. The first token
of a sequence, [CLS], stands for the whole sequence, not for a position, so its scores are learned
separately.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import as_integer, as_reals, as_table, as_vector


def tupe_bias(
    rows: ArrayLike, *, query_weight: ArrayLike, key_weight: ArrayLike, heads: int
) -> NDArray[np.float64]:
    """Return what the positions alone add to the scores of each head.

    Queries and keys of the positions are products with two matrices, cut into heads of width d.
    If the content scores are divided by the root of 2d as well, the sum of both has the variance
    of a single score divided by the root of d.

    Args:
        rows: one row for each position, shape `(length, d_model)`; learned, or sinusoidal.
        query_weight: U_Q of the paper, shape `(d_model, heads·d)`.
        key_weight: U_K, of the same shape.
        heads: how many; an integer, 1 or more, that divides the width of the weights.

    Returns:
        Shape `(heads, length, length)`, query by key, float64, a new array, already divided by the
        root of 2d. Use it as the bias of `posenc.attention`, with queries divided by √2.

    Raises:
        TypeError: `heads` is not an integer, or another argument holds anything but real numbers.
        ValueError: shapes do not fit, or a number is not finite.

    Source:
        Ke et al. (2021), section 3.1.

    Examples:
        >>> rows, eye = np.eye(3, 4), np.eye(4)
        >>> first, second = tupe_bias(rows, query_weight=eye, key_weight=eye, heads=2).round(2)
        >>> second
        array([[0. , 0. , 0. ],
               [0. , 0. , 0. ],
               [0. , 0. , 0.5]])
    """
    places = as_table("rows", rows).astype(np.float64)
    count = as_integer("heads", heads, least=1)
    by_query = as_table("query_weight", query_weight).astype(np.float64)
    by_key = as_table("key_weight", key_weight).astype(np.float64)
    width = by_query.shape[1]
    if by_query.shape[0] != places.shape[1] or by_key.shape != by_query.shape or width % count:
        raise ValueError(
            "rows, query_weight, key_weight and heads must fit: (length, d_model), twice (d_model,"
            f" heads * d); got {places.shape}, {by_query.shape}, {by_key.shape} and {count}"
        )
    d = width // count
    queries, keys = (
        (places @ weight).reshape(len(places), count, d).swapaxes(0, 1)
        for weight in (by_query, by_key)
    )
    bias: NDArray[np.float64] = queries @ keys.swapaxes(-1, -2) / math.sqrt(2 * d)
    return bias


def untied_bias(
    bias: ArrayLike, *, from_first: ArrayLike, to_first: ArrayLike
) -> NDArray[np.float64]:
    """Return a bias with the scores from and to the first position replaced by one number each.

    So the first token, the [CLS] of BERT, sees all positions alike and is seen alike from all.

    Args:
        bias: shape `(heads, query, key)`, with queries and keys from position 0.
        from_first: θ₁ of each head, for the first query and every key; shape `(heads,)`.
        to_first: θ₂ of each head, for every other query and the first key; shape `(heads,)`.

    Returns:
        A new array of the shape of `bias`, float64.

    Raises:
        TypeError: an argument holds anything but real numbers.
        ValueError: a shape does not fit, or a number is not finite.

    Source:
        Ke et al. (2021), section 3.2.

    Examples:
        >>> untied_bias(np.zeros((1, 3, 3)), from_first=[7], to_first=[5])
        array([[[7., 7., 7.],
                [5., 0., 0.],
                [5., 0., 0.]]])
    """
    untied = as_reals("bias", bias).copy()
    if untied.ndim != 3 or not len(untied):
        raise ValueError(f"bias must be of shape (heads, query, key); got {untied.shape}")
    untied[:, :, :1] = as_vector("to_first", to_first, length=len(untied))[:, None, None]
    untied[:, :1] = as_vector("from_first", from_first, length=len(untied))[:, None, None]
    return untied
