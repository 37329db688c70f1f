"""FIRE: a learned function of the distance as a share of the largest that a query can have.

    share  =  ψ(query − key) / ψ(max(L, query)),     ψ(x) = log(c·x + 1)
    bias   =  f(share), a small network with one output for each head

Li, You, Guruganesh, Ainslie, Ontañón, Zaheer, Sanghai, Yang, Kumar and Bhojanapalli, "Functional
Interpolation for Relative Positions Improves Long Context Transformers" (ICLR 2024, arXiv
2310.04418). However long the sequence, the network sees numbers from 0 to 1 only. Unlike other
biases this one depends on the query's position, beyond L.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import as_integer, as_positive, as_reals, as_table, as_vector
from posenc.positions import relative_positions


def fire_shares(
    query_length: int,
    key_length: int | None = None,
    *,
    rate: float = 0.1,
    threshold: float = 512.0,
    query_offset: int = 0,
) -> NDArray[np.float64]:
    """Return each distance as FIRE's network sees it: ψ(query − key) / ψ(max(L, query)).

    Up to position L all queries have the same denominator, so the share depends on the distance
    alone. A later query has its own denominator, and its furthest key is always at 1.

    Args:
        query_length: how many queries; an integer, 0 or more.
        key_length: how many keys, at positions 0 … key_length−1; None for as many as the last
            query can see, query_offset + query_length.
        rate: c, how soon ψ bends; above 0.
        threshold: L, the position up to which the denominator stays the same; above 0.
        query_offset: the position of the first query, 0 or more.

    Returns:
        Shape `(query_length, key_length)`, float64, a new array: from 0 at the query's own
        position to 1 at the most, for keys that the query may see. For keys ahead the distance is
        taken without its sign; a decoder masks them.

    Raises:
        TypeError: a length or the offset is not an integer, `rate` or `threshold` not a number.
        ValueError: a length or the offset is negative, `rate` or `threshold` not above 0.

    Source:
        Li et al. (2024). In the code of the paper's appendix c and a factor of L are learned,
        starting from 0.1 and 1, with L = 512.

    Examples:
        >>> fire_shares(3, rate=1.0, threshold=1.0).round(4)
        array([[0.    , 1.    , 1.585 ],
               [1.    , 0.    , 1.    ],
               [1.    , 0.6309, 0.    ]])
    """
    c, longest = as_positive("rate", rate), as_positive("threshold", threshold)
    first = as_integer("query_offset", query_offset, least=0)
    queries = as_integer("query_length", query_length, least=0)
    keys = first + queries if key_length is None else key_length
    distance = np.abs(relative_positions(queries, keys, query_offset=first))
    furthest = np.maximum(longest, np.arange(first, first + queries))[:, np.newaxis]
    shares: NDArray[np.float64] = np.log1p(c * distance) / np.log1p(c * furthest)
    return shares


def fire_bias(
    shares: ArrayLike,
    *,
    first_weight: ArrayLike,
    first_bias: ArrayLike,
    second_weight: ArrayLike,
    second_bias: ArrayLike,
) -> NDArray[np.float64]:
    """Return the bias of each head: W₂·max(0, w₁·share + b₁) + b₂.

    A network with one hidden layer is piecewise linear in the share, with at most one bend for
    each hidden unit.

    Args:
        shares: what `fire_shares` returns, shape `(query, key)`.
        first_weight: w₁, shape `(hidden,)`.
        first_bias: b₁, shape `(hidden,)`.
        second_weight: W₂, shape `(heads, hidden)`.
        second_bias: b₂, shape `(heads,)`.

    Returns:
        Shape `(heads, query, key)`, float64, a new array.

    Raises:
        TypeError: an argument holds anything but real numbers.
        ValueError: a shape does not fit, or a number is not finite.

    Source:
        Li et al. (2024), and the code of the appendix: one hidden layer of 32, ReLU.

    Examples:
        >>> fire_bias(
        ...     [[1.0, 0.5, 0.0]],
        ...     first_weight=[1.0, 2.0],
        ...     first_bias=[0.0, -1.0],
        ...     second_weight=[[-3.0, 1.0]],
        ...     second_bias=[0.5],
        ... )
        array([[[-1.5, -1. ,  0.5]]])
    """
    numbers = as_reals("shares", shares)
    if numbers.ndim != 2:
        raise ValueError(f"shares must be of shape (query, key); got {numbers.shape}")
    outward = as_table("second_weight", second_weight).astype(np.float64)
    heads, hidden = outward.shape
    inward = as_vector("first_weight", first_weight, length=hidden)
    shift = as_vector("first_bias", first_bias, length=hidden)
    offset = as_vector("second_bias", second_bias, length=heads)
    units = np.maximum(0, numbers[..., np.newaxis] * inward + shift)
    return np.moveaxis(units @ outward.T + offset, -1, 0)
