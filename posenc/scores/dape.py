"""DAPE: a bias that a small network adjusts to the scores it is added to, across the heads.

    score  =  A + B + f(A, B)     A the content scores, B a bias such as ALiBi's or KERPLE's

Zheng, Gao, Shi, Huang, Li, Xiong, Ren, Ng, Jiang, Li and Li, "DAPE: Data-Adaptive Positional
Encoding for Length Extrapolation" (NeurIPS 2024, arXiv 2405.14722), section 3.2. For each
query and key, f takes 2n numbers, two for each of n heads, and returns n.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import as_reals, as_table, as_vector

SLOPE = 0.01  # of the leaky ReLU below 0, as in torch


def dape_bias(
    scores: ArrayLike,
    bias: ArrayLike,
    *,
    first_weight: ArrayLike,
    first_bias: ArrayLike,
    second_weight: ArrayLike,
    second_bias: ArrayLike,
) -> NDArray[np.float64]:
    """Return the bias with its adjustment: B + f(A, B), with f applied to each query and key alone.

    Args:
        scores: A, shape `(..., heads, query, key)`, after the division by √d.
        bias: B, shape `(heads, query, key)`, finite: hide keys ahead by a mask, not by −inf.
        first_weight: of the network, shape `(hidden, 2·heads)`; the first half of a row is for A.
        first_bias: of the network, shape `(hidden,)`.
        second_weight: of the network, shape `(heads, hidden)`.
        second_bias: of the network, shape `(heads,)`.

    Returns:
        A new array of the shape of `scores`, float64, to add to `scores`.

    Raises:
        TypeError: an argument holds anything but real numbers.
        ValueError: shapes do not fit, or a number is not finite.

    Source:
        Zheng et al. (2024), section 3.2, and the released code, whose network has one hidden layer
        with a leaky ReLU. The paper first writes A + f(A, B); the code adds B beside it, as here.

    Examples:
        >>> weights = {"first_weight": [[1.0, 1.0]], "first_bias": [0.0]}
        >>> weights |= {"second_weight": [[0.5]], "second_bias": [0.0]}
        >>> dape_bias([[[4.0, 1.0]]], [[[0.0, -1.0]]], **weights)  # one head: B + (A + B)/2
        array([[[ 2., -1.]]])
    """
    content, added = as_reals("scores", scores), as_reals("bias", bias)
    if added.ndim != 3 or content.shape[-3:] != added.shape:
        raise ValueError(
            "scores and bias must be of shape (..., heads, query, key) and (heads, query, key);"
            f" got {content.shape} and {added.shape}"
        )
    inward = as_table("first_weight", first_weight).astype(np.float64)
    outward = as_table("second_weight", second_weight).astype(np.float64)
    heads, hidden = len(added), len(inward)
    if inward.shape[1] != 2 * heads or outward.shape != (heads, hidden):
        raise ValueError(
            f"first_weight and second_weight must be of shape (hidden, {2 * heads}) and ({heads},"
            f" hidden); got {inward.shape} and {outward.shape}"
        )
    shift = as_vector("first_bias", first_bias, length=hidden)
    offset = as_vector("second_bias", second_bias, length=heads)
    both = np.concatenate([content, np.broadcast_to(added, content.shape)], axis=-3)
    units = np.einsum("hc,...cij->...hij", inward, both) + shift[:, np.newaxis, np.newaxis]
    units = np.where(units > 0, units, SLOPE * units)
    change = np.einsum("ch,...hij->...cij", outward, units) + offset[:, np.newaxis, np.newaxis]
    adjusted: NDArray[np.float64] = added + change
    return adjusted
