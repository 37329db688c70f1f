"""Scaled dot-product attention, with a bias on the scores and a mask over the keys.

    scores  = q kᵀ/√d + bias, and −∞ where the mask says no
    weights = softmax(scores), row by row
    output  = weights v

Vaswani et al., "Attention Is All You Need" (2017), section 3.2.1. Nothing in these three lines
knows where a key stands: reorder keys and values together and every query receives the same.
Position has to come in with the vectors, or as the bias, or as the mask.
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
    """Return what each query takes from the values, and the weights it takes it with.

    A query scores every key by their dot product over √d, and the softmax of its scores is how
    much of each value it receives. What is known of positions enters as `bias`, added after the
    division by √d; what must not be seen leaves by `mask`.

    Args:
        q: queries, shape `(..., query, d)`, finite numbers.
        k: keys, `(..., key, d)`.
        v: values, `(..., key, d_v)`. What stands before the last two dimensions of the three
            broadcasts.
        bias: numbers, broadcastable to `(..., query, key)`, the scores. −inf hides a key from a
            query.
        mask: booleans, broadcastable to the scores; True where the query may look.

    Returns:
        The output, `(..., query, d_v)`, and the weights, `(..., query, key)`, float64. The
        weights are 0 or more and each row of them sums to 1, so each row of the output lies
        among the values.

    Raises:
        TypeError: an argument holds anything but numbers, or `mask` anything but booleans.
        ValueError: shapes do not fit, or `d` is 0; there are queries and no keys; `q`, `k` or `v`
            holds NaN or an infinity, `bias` NaN or +inf; `bias` and `mask` leave a query nowhere
            to look; a score is too large for float64.

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
    """Return the mask with which a query looks at its own position and at earlier ones.

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
            f"q and k must be of one width, 1 or more; got shapes {queries.shape} and {keys.shape}"
        )
    if values.shape[-2] != keys.shape[-2]:
        raise ValueError(
            f"v must have a row for each key, {keys.shape[-2]}; got shape {values.shape}"
        )
    if queries.shape[-2] and not keys.shape[-2]:
        raise ValueError(f"k must hold a key to look at; got shape {keys.shape}")
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
    """Return exp(s)/Σ exp(s) along the last axis: less the largest, no exponential overflows."""
    largest = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    with np.errstate(over="ignore"):  # of two scores further apart than float64 reaches
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
    """Return `mask` as an array of booleans, none of them hidden by a mask of numpy's own."""
    rows = mask if isinstance(mask, Sequence) else [mask]
    array = None
    if not any(isinstance(row, np.ma.MaskedArray) for row in rows):
        with contextlib.suppress(TypeError, ValueError, RuntimeError):
            array = np.asarray(mask)
    if array is None or array.dtype.kind != "b":
        raise TypeError(f"mask must be booleans, True where a query may look; got {_shown(mask)}")
    return array


def _refuse_blind_queries(scores: NDArray[np.float64]) -> None:
    """Raise if every score of some query is −∞: the softmax of nothing is no number."""
    blind = np.argwhere(np.isneginf(scores).all(axis=-1))
    if blind.size:
        raise ValueError(
            "bias and mask must leave each query a key to look at;"
            f" got none for query {blind[0].tolist()}"
        )


def _over(scores: NDArray[np.float64], name: str, x: NDArray[Any]) -> NDArray[Any]:
    """Return `x`, which must broadcast to the very shape of the scores."""
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
