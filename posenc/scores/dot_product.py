"""Scaled dot-product attention, with a bias on the scores and a mask over the keys.

    scores  = q kᵀ/√d + bias, and −∞ where the mask is False
    weights = softmax(scores), row by row
    output  = weights v

Vaswani et al., "Attention Is All You Need" (2017), section 3.2.1. Nothing in these three lines
depends on the order of the keys: reorder keys and values together and the output is the same.
Position has to enter through the vectors, the bias or the mask.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import _shown, as_integer, as_reals


def attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    bias: ArrayLike | None = None,
    mask: ArrayLike | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the output of attention and the attention weights.

    The score of a query and a key is their dot product divided by √d, plus `bias`. The softmax of
    a query's scores gives the weight of each value. `mask` hides keys from queries.

    Args:
        q: queries, shape `(..., query, d)`, finite numbers.
        k: keys, `(..., key, d)`.
        v: values, `(..., key, d_v)`. The leading dimensions of the three broadcast.
        bias: numbers, broadcastable to the scores, `(..., query, key)`. −inf hides a key from a
            query.
        mask: booleans, broadcastable to the scores; True where the query may attend to the key.

    Returns:
        The output, `(..., query, d_v)`, and the weights, `(..., query, key)`, float64. The
        weights are 0 or more and each row of them sums to 1, so each row of the output is a
        weighted mean of the values.

    Raises:
        TypeError: an argument holds anything but numbers, or `mask` anything but booleans.
        ValueError: shapes do not fit, or `d` is 0; there are queries and no keys; `q`, `k` or `v`
            holds NaN or an infinity, `bias` NaN or +inf; `bias` and `mask` hide every key from a
            query; a score is too large for float64.

    Source:
        Vaswani et al. (2017), section 3.2.1, equation 1. A bias, after the scaling: Press et al.,
        "Train Short, Test Long" (2022), section 3.

    Examples:
        >>> q = k = np.zeros((3, 4))
        >>> output, weights = attention(q, k, np.eye(3), mask=causal_mask(3))
        >>> weights.round(2)
        array([[1.  , 0.  , 0.  ],
               [0.5 , 0.5 , 0.  ],
               [0.33, 0.33, 0.33]])
    """
    queries, keys, values = _as_vectors(q, k, v)
    scores = _scores(queries, keys, 0.0 if bias is None else _as_bias(bias))
    if mask is not None:
        scores = np.where(_over(scores, "mask", _as_mask(mask)), scores, -np.inf)
    _refuse_blind_queries(scores)
    weights = _softmax(scores)
    return weights @ values, weights


def causal_mask(
    query_length: int, key_length: int | None = None, *, query_offset: int = 0
) -> NDArray[np.bool_]:
    """Return the mask that lets a query attend to its own position and to earlier ones.

    Args:
        query_length: how many queries; an integer, 0 or more.
        key_length: how many keys, at positions 0 … key_length−1; None for as many as the last
            query can see, query_offset + query_length.
        query_offset: the position of the first query, 0 or more: in decoding with a cache, how
            many keys are in it.

    Returns:
        Shape `(query_length, key_length)`, True where key ≤ query, a new array.

    Raises:
        TypeError: an argument is not an integer.
        ValueError: an argument is negative.

    Source:
        Vaswani et al. (2017), section 3.2.3, on attention in the decoder.

    Examples:
        >>> causal_mask(3).astype(int)
        array([[1, 0, 0],
               [1, 1, 0],
               [1, 1, 1]])
        >>> causal_mask(1, query_offset=2)
        array([[ True,  True,  True]])
    """
    queries = as_integer("query_length", query_length, least=0)
    first = as_integer("query_offset", query_offset, least=0)
    keys = first + queries if key_length is None else as_integer("key_length", key_length, least=0)
    return np.arange(keys) <= np.arange(first, first + queries)[:, np.newaxis]


def _as_vectors(q: ArrayLike, k: ArrayLike, v: ArrayLike) -> tuple[NDArray[np.float64], ...]:
    """Return queries, keys and values as float64 arrays that fit together."""
    vectors = queries, keys, values = as_reals("q", q), as_reals("k", k), as_reals("v", v)
    for name, x in zip("qkv", vectors, strict=True):
        if x.ndim < 2:
            raise ValueError(f"{name} must have 2 dimensions or more; got shape {x.shape}")
    if not queries.shape[-1] == keys.shape[-1] > 0:
        raise ValueError(
            "q and k must have the same width, 1 or more;"
            f" got shapes {queries.shape} and {keys.shape}"
        )
    if values.shape[-2] != keys.shape[-2]:
        raise ValueError(
            f"v must have a row for each key, {keys.shape[-2]}; got shape {values.shape}"
        )
    if queries.shape[-2] and not keys.shape[-2]:
        raise ValueError(f"k must hold at least one key; got shape {keys.shape}")
    leading = [x.shape[:-2] for x in vectors]
    if _broadcast(*leading) is None:
        got = ", ".join(map(str, leading))
        raise ValueError(f"q, k and v must have leading shapes that broadcast; got {got}")
    return vectors


def _scores(
    queries: NDArray[np.float64], keys: NDArray[np.float64], bias: NDArray[np.float64] | float
) -> NDArray[np.float64]:
    """Return q kᵀ/√d + bias."""
    with np.errstate(over="ignore", invalid="ignore"):
        products = queries @ keys.mT / math.sqrt(queries.shape[-1])
        scores: NDArray[np.float64] = products + _over(products, "bias", np.asarray(bias))
    if not (np.isfinite(products).all() and (scores < np.inf).all()):
        raise ValueError("q, k and bias must give scores that float64 can hold; got an infinity")
    return scores


def _softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return exp(s)/Σ exp(s) along the last axis."""
    largest = scores.max(axis=-1, keepdims=True, initial=-np.inf)  # so that exp cannot overflow
    with np.errstate(over="ignore"):  # the difference of two scores may exceed float64
        weights = np.exp(scores - largest)
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def _as_bias(bias: ArrayLike) -> NDArray[np.float64]:
    """Return `bias` as a float64 array of finite numbers and −inf."""
    allowed = "finite numbers or -inf"
    try:
        return as_reals("bias", bias, allowed=allowed)
    except ValueError:
        array = np.asarray(bias)
        if array.dtype.kind != "f":  # an integer that no float64 can hold
            raise
    hidden = np.isneginf(array)
    finite = as_reals("bias", np.where(hidden, 0, array), allowed=allowed)
    return np.where(hidden, -np.inf, finite)


def _as_mask(mask: ArrayLike) -> NDArray[np.bool_]:
    """Return `mask` as an array of booleans; numpy's masked arrays are refused."""
    rows = mask if isinstance(mask, Sequence) else [mask]
    array = None
    if not any(isinstance(row, np.ma.MaskedArray) for row in rows):
        with contextlib.suppress(TypeError, ValueError, RuntimeError):
            array = np.asarray(mask)
    if array is None or array.dtype.kind != "b":
        raise TypeError(f"mask must be booleans, True where a query may look; got {_shown(mask)}")
    return array


def _refuse_blind_queries(scores: NDArray[np.float64]) -> None:
    """Raise if every score of some query is −∞, whose softmax would be NaN."""
    blind = np.argwhere(np.isneginf(scores).all(axis=-1))
    if blind.size:
        raise ValueError(
            "bias and mask must leave each query a key to look at;"
            f" got none for query {blind[0].tolist()}"
        )


def _over(scores: NDArray[np.float64], name: str, x: NDArray[Any]) -> NDArray[Any]:
    """Return `x`, which must broadcast to the shape of the scores."""
    if _broadcast(x.shape, scores.shape) != scores.shape:
        raise ValueError(
            f"{name} must broadcast to the scores, of shape {scores.shape}; got shape {x.shape}"
        )
    return x


def _broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the shape that all of these broadcast to, or None if there is none."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None
