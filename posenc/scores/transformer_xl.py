"""Transformer-XL's relative scores: the four terms of a sum, with positions made relative.

    score  =  ((q_i + u)·k_j + (q_i + v)·r_{i−j}) / √d

r is the sinusoidal row of the distance times a matrix of its own; u and v, learned, take the place
of the query's position. Dai, Yang, Yang, Carbonell, Le and Salakhutdinov, "Transformer-XL" (ACL
2019, arXiv 1901.02860), section 3.3. XLNet scores in the same way.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import as_floats, as_reals
from posenc.embeddings.sinusoidal import sinusoidal_encoding
from posenc.rotary.rope import convert_layout
from posenc.scores.relative import relative_row, relative_shift


def transformer_xl_rows(
    query_length: int, key_length: int, d_model: int, *, query_offset: int = 0
) -> NDArray[np.float64]:
    """Return the sinusoidal row of every distance query − key, sines first and cosines second.

    Args:
        query_length: how many queries, q; an integer, 1 or more.
        key_length: how many keys, k; an integer, 0 or more.
        d_model: width of a row; an even integer, 2 or more.
        query_offset: position of the first query, the length of the memory; an integer, 0 or more.

    Returns:
        Shape `(q + k − 1, d_model)`, float64, a new array, in the order of `posenc.relative_row`:
        from the largest distance to the smallest.

    Raises:
        TypeError: an argument is not an integer.
        ValueError: `query_length` is below 1, `d_model` odd or below 2, or another negative.

    Source:
        Dai et al. (2019), section 3.3 and appendix B. Their released code has all sines before
        all cosines.

    Examples:
        >>> transformer_xl_rows(1, 3, 2, query_offset=2).round(3)  # distances 2, 1 and 0
        array([[ 0.909, -0.416],
               [ 0.841,  0.54 ],
               [ 0.   ,  1.   ]])
    """
    distance = -relative_row(query_length, key_length, query_offset=query_offset)[0]
    interleaved = sinusoidal_encoding(distance, d_model)
    rows: NDArray[np.float64] = np.asarray(
        convert_layout(interleaved, source="interleaved", target="half")
    )
    return rows


def transformer_xl_scores(
    q: ArrayLike,
    k: ArrayLike,
    position_k: ArrayLike,
    *,
    content_bias: ArrayLike,
    position_bias: ArrayLike,
) -> NDArray[np.float64]:
    """Return Transformer-XL's scores: ((q + u)·k + (q + v)·r) / √d, put in place by the shift.

    The first product has no position. The second has one column for each distance, the same for
    every query, and `posenc.relative_shift` moves each row into place.

    Args:
        q: queries, shape `(..., query, d)`, at least one.
        k: keys, shape `(..., key, d)`.
        position_k: r, one key for each relative position, in the order of `posenc.relative_row`,
            shape `(..., query + key − 1, d)`: the `transformer_xl_rows` times a learned matrix.
        content_bias: u, shape `(..., 1, d)` or `(d,)`; leading axes broadcast against those of `q`.
        position_bias: v, likewise.

    Returns:
        Shape `(..., query, key)`, float64, a new array: scores that softmax takes as they are.

    Raises:
        TypeError: an argument holds anything but real numbers.
        ValueError: shapes do not fit together, or a number is not finite.

    Source:
        Dai et al. (2019), section 3.3, the terms (a) to (d), and appendix B.

    Examples:
        >>> q, k, r = np.ones((2, 1)), np.array([[1.0], [2.0]]), np.array([[10.0], [0.0], [-10.0]])
        >>> transformer_xl_scores(q, k, r, content_bias=[0.0], position_bias=[0.0])
        array([[ 1., -8.],
               [11.,  2.]])
    """
    queries, keys, far = (
        np.asarray(as_floats(name, x), np.float64)
        for name, x in (("q", q), ("k", k), ("position_k", position_k))
    )
    if min(queries.ndim, keys.ndim, far.ndim) < 2 or not queries.shape[-2] * queries.shape[-1]:
        raise ValueError(
            "q, k and position_k must be of shape (..., length, d), with a query and a width;"
            f" got {queries.shape}, {keys.shape} and {far.shape}"
        )
    length, d = queries.shape[-2:]
    wanted = (length + keys.shape[-2] - 1, d)
    if keys.shape[-1] != d or far.shape[-2:] != wanted:
        raise ValueError(
            f"q, k and position_k must fit: position_k of shape (..., {wanted[0]}, {d});"
            f" got {queries.shape}, {keys.shape} and {far.shape}"
        )
    u, v = _shift(d, "content_bias", content_bias), _shift(d, "position_bias", position_bias)
    content = (queries + u) @ keys.swapaxes(-1, -2)
    position = relative_shift((queries + v) @ far.swapaxes(-1, -2))
    scores: NDArray[np.float64] = (content + position) / math.sqrt(d)
    return scores


def _shift(d: int, name: str, value: ArrayLike) -> NDArray[np.float64]:
    """Return a vector that is added to every query, (d,) or (..., 1, d)."""
    vector = as_reals(name, value)
    if not vector.ndim or vector.shape[-1] != d or (vector.ndim > 1 and vector.shape[-2] != 1):
        raise ValueError(f"{name} must be of shape ({d},) or (..., 1, {d}); got {vector.shape}")
    return vector
