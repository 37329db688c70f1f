"""T5's relative position bias: a number for each head and each bucket of distances.

    distances 0, 1, 2, …  one bucket each, for half of the buckets: the exact range
    larger distances      buckets that grow by a constant factor, up to max_distance
    beyond                all in the last bucket

Raffel et al., "Exploring the Limits of Transfer Learning with a Unified Text-to-Text
Transformer" (2020), section 2.1. The paper gives the idea, the authors' code the exact rule.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import as_flag, as_integer, as_pairs, as_relative, as_table
from posenc.scores.relative import relative_row


def t5_bucket_starts(
    *, bidirectional: bool = True, buckets: int = 32, max_distance: int = 128
) -> NDArray[np.int64]:
    """Return the distance at which each bucket begins.

    With B buckets per direction and E = B // 2, the first E buckets hold one distance each, and a
    larger distance falls into

        bucket = E + ⌊(B − E) · log(distance/E) / log(max_distance/E)⌋,   at most B − 1.

    Where the logarithms should give a whole number, rounding can leave them just below it, and the
    distance ends up one bucket too low. So the rule is solved for the distance in integers: bucket
    E + s begins at the first distance with distance^(B−E) ≥ max_distance^s · E^(B−E−s).

    The last bucket begins one growth factor before max_distance: at 91 of 128 with the settings of
    T5's encoder, at 113 with those of its decoder. If buckets grow by less than one position,
    several begin at the same distance; the last of them holds it and the others are empty.

    Args:
        bidirectional: True if half of the buckets are for keys ahead of the query.
        buckets: an integer, 2 or more; with `bidirectional`, an even one, 4 or more, so that the
            exact range holds distance 0.
        max_distance: an integer above the exact range E.

    Returns:
        Shape `(B,)`, int64, increasing from 0, a new array; B is `buckets`, or half of it with
        `bidirectional`.

    Raises:
        TypeError: `bidirectional` is not True or False, or another argument is not an integer.
        ValueError: `buckets` is too small, or odd with `bidirectional`; `max_distance` is not
            above the exact range.

    Source:
        Raffel et al. (2020), section 2.1, and `_relative_position_bucket` in the authors' code.

    Examples:
        >>> t5_bucket_starts()
        array([ 0,  1,  2,  3,  4,  5,  6,  7,  8, 12, 16, 23, 32, 46, 64, 91])
    """
    sides = 1 + as_flag("bidirectional", bidirectional)
    side = as_integer("buckets", buckets, least=2 * sides, even=sides == 2) // sides
    exact = side // 2
    end = as_integer("max_distance", max_distance, least=1)
    if end <= exact:
        raise ValueError(
            f"max_distance must be above {exact}, where the exact range ends; got {end}"
        )
    growing = range(side - exact)
    starts = [*range(exact), *(_start(step, exact, end, len(growing)) for step in growing)]
    return np.array(starts, np.int64)


def t5_buckets(
    relative: ArrayLike, *, bidirectional: bool = True, buckets: int = 32, max_distance: int = 128
) -> np.int64 | NDArray[np.int64]:
    """Return the bucket of each relative position.

    With `bidirectional`, the first half of the buckets is for the query's own position and the
    keys behind it, the second half for the keys ahead, at the same distances. Without it, keys
    ahead share bucket 0 with the query's own position, since a causal mask hides them.

    Args:
        relative: key − query, integers below 2⁵³ in size, of any shape.
        bidirectional: True for an encoder, False for a decoder.
        buckets: see `t5_bucket_starts`.
        max_distance: see `t5_bucket_starts`.

    Returns:
        Integers from 0 to buckets − 1, int64, in the shape of `relative`.

    Raises:
        TypeError: `relative` holds anything but integers; otherwise as `t5_bucket_starts`.
        ValueError: `relative` reaches 2⁵³ in size; otherwise as `t5_bucket_starts`.

    Source:
        Raffel et al. (2020), section 2.1, and `_relative_position_bucket` in the authors' code,
        where relative positions are key − query, as here.

    Examples:
        >>> t5_buckets([-200, -9, -1, 0, 1, 9, 200])
        array([15,  8,  1,  0, 17, 24, 31])
        >>> t5_buckets([-200, -9, -1, 0, 1, 9, 200], bidirectional=False)
        array([31,  9,  1,  0,  0,  0,  0])
    """
    starts = t5_bucket_starts(
        bidirectional=bidirectional, buckets=buckets, max_distance=max_distance
    )
    relative = as_relative("relative", relative)
    distance = np.abs(relative) if bidirectional else np.maximum(-relative, 0)
    bucket: np.int64 | NDArray[np.int64]
    bucket = np.searchsorted(starts, distance, side="right") - 1
    return bucket + starts.size * (relative > 0) if bidirectional else bucket


def t5_bias(
    table: ArrayLike, relative: ArrayLike, *, bidirectional: bool = True, max_distance: int = 128
) -> NDArray[np.floating]:
    """Return the bias of each head for each pair: the table's entry for the pair's bucket.

    Args:
        table: shape `(buckets, heads)`, finite numbers; as many rows as `t5_bucket_starts` allows.
        relative: key − query, integers, shape `(query, key)`; see `posenc.relative_positions`.
        bidirectional: True for an encoder, False for a decoder.
        max_distance: see `t5_bucket_starts`.

    Returns:
        Shape `(heads, query, key)`, a new array of the float type of `table`, float64 for integers.

    Raises:
        TypeError: `table` holds anything but integers, float16, float32 or float64; otherwise as
            `t5_buckets`.
        ValueError: `table` holds NaN or an infinity, has no heads or an unsupported number of
            rows; `relative` does not have two dimensions; otherwise as `t5_buckets`.

    Source:
        Raffel et al. (2020), section 2.1: a scalar for each head, added to the logit. T5 does not
        divide scores by √d; `posenc.attention` does, before it adds the bias. All layers of T5
        share one table.

    Examples:
        >>> table = np.arange(8.0)[:, np.newaxis]  # one head, each entry its bucket's number
        >>> t5_bias(table, [[0, 1, 2, 3], [-1, 0, 1, 2]], max_distance=4)
        array([[[0., 5., 6., 7.],
                [1., 0., 5., 6.]]])
    """
    rows = as_table("table", table)
    sides = 1 + as_flag("bidirectional", bidirectional)
    if len(rows) < 2 * sides or len(rows) % sides:
        allowed = "an even number of rows, 4 or more" if bidirectional else "2 rows or more"
        raise ValueError(f"table must have {allowed}; got {len(rows)}")
    relative = as_pairs("relative", relative)
    bucket = t5_buckets(
        relative, bidirectional=bidirectional, buckets=len(rows), max_distance=max_distance
    )
    return rows.T[:, bucket]


def t5_rows(
    table: ArrayLike,
    query_length: int,
    key_length: int,
    *,
    query_offset: int = 0,
    bidirectional: bool = True,
    max_distance: int = 128,
) -> NDArray[np.floating]:
    """Return the distinct entries of `t5_bias`: one per head and relative position.

    `relative_view(t5_rows(table, q, k), q)` equals the `t5_bias` of q queries and k keys and takes
    the memory of heads·(q + k − 1) numbers.

    Args:
        table: shape `(buckets, heads)`, see `t5_bias`.
        query_length: how many queries, q; an integer, 1 or more.
        key_length: how many keys, k; an integer, 0 or more.
        query_offset: the position of the first query, 0 or more.
        bidirectional: True for an encoder, False for a decoder.
        max_distance: see `t5_bucket_starts`.

    Returns:
        Shape `(heads, q + k − 1)`, a new array of the float type of `table`, float64 for
        integers; the columns are those of `posenc.relative_row`.

    Raises:
        TypeError: a length or the offset is not an integer; otherwise as `t5_bias`.
        ValueError: `query_length` is below 1, or another length or the offset is negative;
            otherwise as `t5_bias`.

    Source:
        Raffel et al. (2020), section 2.1.

    Examples:
        >>> t5_rows(np.arange(8.0)[:, np.newaxis], 2, 4, max_distance=4)
        array([[1., 0., 5., 6., 7.]])
    """
    relative = relative_row(query_length, key_length, query_offset=query_offset)
    return t5_bias(table, relative, bidirectional=bidirectional, max_distance=max_distance)[:, 0]


def _start(step: int, exact: int, end: int, steps: int) -> int:
    """Return the first integer n with n ≥ exact·(end/exact)^(step/steps), found exactly."""
    bound = end**step * exact ** (steps - step)
    return bisect_left(range(end), True, lo=exact, key=lambda n: n**steps >= bound)
