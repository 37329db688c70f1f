"""DeBERTa's disentangled attention: content to content, content to position, position to content.

    score  =  (q_i·k_j + q_i·K[δ(i, j)] + Q[δ(j, i)]·k_j) / √(3d)
    δ(i, j)  =  i − j + k, from 0 to 2k − 1      query i, key j

K and Q are two tables of one row for each relative position. He, Liu, Gao and Chen, "DeBERTa:
Decoding-enhanced BERT with Disentangled Attention" (ICLR 2021, arXiv 2006.03654), section 3.1; the
buckets came with its second version.
"""

from __future__ import annotations

import math
from bisect import bisect_right

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import as_flag, as_floats, as_integer, as_pairs, as_relative


def deberta_index(relative: ArrayLike, *, max_distance: int) -> np.int64 | NDArray[np.int64]:
    """Return δ, the row of each relative position in a table of 2·max_distance rows.

    The row of a query's own position is max_distance; keys behind come after it, keys ahead before
    it. One side is a row shorter: max_distance positions ahead have row 0 to themselves, while
    max_distance − 1 positions behind and all that are further share the last row.

    Args:
        relative: key − query, integers below 2⁵³ in size, of any shape.
        max_distance: k of the paper; an integer, 1 or more.

    Returns:
        Integers from 0 to 2·max_distance − 1, int64, in the shape of `relative`.

    Raises:
        TypeError: `relative` holds anything but integers, or `max_distance` is not one.
        ValueError: `relative` reaches 2⁵³ in size, or `max_distance` is below 1.

    Source:
        He et al. (2021), section 3.1, equation 3, with i − j for query i and key j.

    Examples:
        >>> deberta_index([-9, -2, -1, 0, 1, 2, 9], max_distance=2)
        array([3, 3, 3, 2, 1, 0, 0])
    """
    furthest = as_integer("max_distance", max_distance, least=1)
    shifted = furthest - as_relative("relative", relative)
    index: np.int64 | NDArray[np.int64]
    index = np.clip(shifted, 0, 2 * furthest - 1)
    return index


def deberta_buckets(
    relative: ArrayLike, *, buckets: int = 256, max_distance: int = 512
) -> np.int64 | NDArray[np.int64]:
    """Return the bucket of each relative position, with the sign of the position.

    Up to half of the buckets a distance is its own bucket. Beyond, buckets grow by a constant
    factor, such that bucket `buckets` begins at max_distance; all further distances share it. The
    result takes the place of `relative` in `disentangled_scores`.

    With m = buckets // 2, a distance above m falls into

        bucket = m + ⌈(m − 1) · log(distance/m) / log((max_distance − 1)/m)⌉,   at most 2m.

    As in `t5_buckets`, the rule is solved for the distance in integers, since a rounded logarithm
    that should be an integer puts distances into the wrong bucket.

    Args:
        relative: key − query, integers below 2⁵³ in size, of any shape.
        buckets: how many on each side; an even integer, 4 or more.
        max_distance: where the last bucket begins; an integer, buckets // 2 + 2 or more.

    Returns:
        Integers from −buckets to buckets, int64, in the shape of `relative`.

    Raises:
        TypeError: an argument holds anything but integers.
        ValueError: `relative` reaches 2⁵³ in size, `buckets` is odd or below 4, or
            `max_distance` is too small.

    Source:
        He, Gao and Chen, "DeBERTaV3" (ICLR 2023), and `make_log_bucket_position` in the authors'
        code, github.com/microsoft/DeBERTa.

    Examples:
        >>> deberta_buckets([-600, -512, -511, -140, -128, -1, 0, 5, 129])
        array([-256, -256, -255, -137, -128,   -1,    0,    5,  129])
    """
    count = as_integer("buckets", buckets, least=4, even=True)
    middle = count // 2
    end = as_integer("max_distance", max_distance, least=middle + 2)
    positions = as_relative("relative", relative)
    starts = [_last(step, middle, end) + 1 for step in range(middle)]
    beyond = np.searchsorted(np.array(starts), np.abs(positions), side="right")
    bucket: np.int64 | NDArray[np.int64]
    bucket = np.sign(positions) * (np.minimum(np.abs(positions), middle) + beyond)
    return bucket


def disentangled_scores(
    q: ArrayLike,
    k: ArrayLike,
    relative: ArrayLike,
    *,
    position_q: ArrayLike,
    position_k: ArrayLike,
    released: bool = False,
) -> NDArray[np.float64]:
    """Return DeBERTa's scores: three of the four terms of a score of sums, each on its own.

    Content to content is q·k, as usual. Content to position asks whether this content looks at that
    distance, and position to content whether that content is looked at from this distance. The
    fourth term, about positions alone, is left out.

    Each term is a sum of d products. Three of them would have three times the variance, so the
    divisor is the root of 3d in place of d.

    Args:
        q: queries, shape `(..., query, d)`.
        k: keys, shape `(..., key, d)`.
        relative: key − query, integers, shape `(query, key)`, or their `deberta_buckets`.
        position_q: Q, the queries of relative positions, shape `(..., rows, d)`, an even number of
            rows; leading axes broadcast against those of `q`.
        position_k: K, their keys, of the same shape.
        released: False for the paper's Q[δ(j, i)] in the third term; True for Q[δ(i, j)], which the
            authors' code uses, and so the released models.

    Returns:
        Shape `(..., query, key)`, float64, a new array: scores that softmax takes as they are.

    Raises:
        TypeError: an argument holds anything but real numbers, or `relative` anything but
            integers; `released` is not True or False.
        ValueError: shapes do not fit together, a number is not finite, the number of rows is odd
            or 0, or `relative` reaches 2⁵³ in size.

    Source:
        He et al. (2021), section 3.1, equations 2 to 4, and the authors' code,
        github.com/microsoft/DeBERTa, whose index for the third term is that of the second.

    Examples:
        >>> eye, zero = np.eye(2), np.zeros((2, 2))
        >>> apart, rows = [[0, 1], [-1, 0]], {"position_q": zero, "position_k": zero}
        >>> disentangled_scores(eye, eye, apart, **rows).round(3)
        array([[0.408, 0.   ],
               [0.   , 0.408]])
    """
    queries, keys = (np.asarray(as_floats(name, x), np.float64) for name, x in (("q", q), ("k", k)))
    apart = as_pairs("relative", relative)
    d = queries.shape[-1] if queries.ndim else 0
    if queries.ndim < 2 or keys.ndim < 2 or keys.shape[-1] != d or not d:
        raise ValueError(
            "q and k must be of shape (..., length, d), with one d;"
            f" got {queries.shape} and {keys.shape}"
        )
    if apart.shape != (queries.shape[-2], keys.shape[-2]):
        wanted = (queries.shape[-2], keys.shape[-2])
        raise ValueError(f"relative must be of shape {wanted}, to match q and k; got {apart.shape}")
    rows_q, rows_k = _rows("position_q", position_q, d), _rows("position_k", position_k, d)
    if rows_q.shape != rows_k.shape:
        raise ValueError(
            f"position_q and position_k must be of one shape; got {rows_q.shape} and {rows_k.shape}"
        )
    half = rows_k.shape[-2] // 2
    third = apart if as_flag("released", released) else -apart
    to_position = rows_k[..., deberta_index(apart, max_distance=half), :]
    from_position = rows_q[..., deberta_index(third, max_distance=half), :]
    content = queries @ keys.swapaxes(-1, -2)
    looks_at = np.einsum("...id,...ijd->...ij", queries, to_position)
    looked_at = np.einsum("...jd,...ijd->...ij", keys, from_position)
    scores: NDArray[np.float64] = (content + looks_at + looked_at) / math.sqrt(3 * d)
    return scores


def _rows(name: str, value: ArrayLike, d: int) -> NDArray[np.float64]:
    """Return a table of an even number of rows of width d, with leading axes."""
    rows = np.asarray(as_floats(name, value), np.float64)
    if rows.ndim < 2 or rows.shape[-1] != d or not rows.shape[-2] or rows.shape[-2] % 2:
        raise ValueError(
            f"{name} must be of shape (..., rows, {d}), with an even number of rows;"
            f" got {rows.shape}"
        )
    return rows


def _last(step: int, middle: int, end: int) -> int:
    """Return the last distance whose logarithm reaches at most `step` buckets, found exactly."""
    bound = (end - 1) ** step * middle ** (middle - 1 - step)
    return bisect_right(range(end), bound, lo=middle, key=lambda n: n ** (middle - 1)) - 1
