"""Relative positions: key − query.

    j − i               the relative position of key j for query i
    clip(j − i, ±k)     which of 2k + 1 learned vectors the pair uses

The clipping is from Shaw, Uszkoreit and Vaswani, "Self-Attention with Relative Position
Representations" (2018), the shift from Dai et al., "Transformer-XL" (2019), appendix B.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import as_biases, as_floats, as_integer, as_relative
from posenc.positions import relative_positions as relative_positions  # its former home


def shaw_index(relative: ArrayLike, *, max_distance: int) -> np.int64 | NDArray[np.int64]:
    """Return the index of each relative position in a table of 2·max_distance + 1 rows.

    The index is clip(relative, −max_distance, max_distance) + max_distance. Row max_distance is
    for the query's own position, row 0 for keys max_distance or more behind it, the last row for
    keys as far or further ahead. So a table learned on short sequences has a row for every pair of
    a long one.

    Args:
        relative: key − query, integers below 2⁵³ in size, of any shape.
        max_distance: an integer, 0 or more; the paper's k.

    Returns:
        Integers from 0 to 2·max_distance, int64, in the shape of `relative`. With a table of
        shape `(2·max_distance + 1, d)`, `table[index]` is the paper's a_ij, `(query, key, d)`.

    Raises:
        TypeError: `relative` holds anything but integers, or `max_distance` is not one.
        ValueError: `relative` reaches 2⁵³ in size, or `max_distance` is negative.

    Source:
        Shaw et al. (2018), section 3.2: a_ij = w_{clip(j−i, k)}.

    Examples:
        >>> shaw_index(relative_positions(4, 4), max_distance=2)
        array([[2, 3, 4, 4],
               [1, 2, 3, 4],
               [0, 1, 2, 3],
               [0, 0, 1, 2]])
    """
    furthest = as_integer("max_distance", max_distance, least=0)
    index: np.int64 | NDArray[np.int64]
    index = np.clip(as_relative("relative", relative), -furthest, furthest) + furthest
    return index


def relative_shift(scores: ArrayLike) -> NDArray[np.floating]:
    """Return scores indexed by key, from scores indexed by relative position.

    The product of query i with one vector per relative position is a row of scores for the
    relative positions −(q−1) … k−1, the same for every query. The score of key j is in column
    j − i + q − 1, so row i has to move left by q − 1 − i columns:

        [ a₋₂ a₋₁ a₀  a₁  a₂ ]         [ a₀  a₁  a₂ ]
        [ b₋₂ b₋₁ b₀  b₁  b₂ ]   →     [ b₋₁ b₀  b₁ ]
        [ c₋₂ c₋₁ c₀  c₁  c₂ ]         [ c₋₂ c₋₁ c₀ ]

    This needs no index: prepend a column, reshape to rows of q numbers, drop the first row, and
    reshape to the old width.

    Args:
        scores: shape `(..., q, q + k − 1)`, finite numbers; column r belongs to relative position
            r − (q − 1), or r − (q − 1) − offset if the queries start at an offset.

    Returns:
        Shape `(..., q, k)`, a new array of the float type of `scores`, float64 for integers:
        out[..., i, j] = scores[..., i, j − i + q − 1].

    Raises:
        TypeError: `scores` holds anything but integers, float16, float32 or float64.
        ValueError: `scores` holds NaN or an infinity, has fewer than two dimensions, no query or
            fewer than q − 1 columns.

    Source:
        Dai et al. (2019), appendix B. There the queries are the last positions, so no relative
        position is above 0, and a causal mask hides the rest of each row.

    Examples:
        >>> relative_shift([[-2, -1, 0, 1, 2], [-2, -1, 0, 1, 2], [-2, -1, 0, 1, 2]])
        array([[ 0.,  1.,  2.],
               [-1.,  0.,  1.],
               [-2., -1.,  0.]])
    """
    table = as_floats("scores", scores)
    if table.ndim < 2 or not 1 <= table.shape[-2] <= table.shape[-1] + 1:
        raise ValueError(
            "scores must be of shape (..., q, q + k - 1) with q from 1 and k from 0;"
            f" got {table.shape}"
        )
    *leading, queries, columns = table.shape
    padded = np.zeros((*leading, queries, 1 + columns), table.dtype)
    padded[..., 1:] = table
    shifted = padded.reshape(*leading, 1 + columns, queries)[..., 1:, :]
    return shifted.reshape(table.shape)[..., : columns - queries + 1]


def relative_row(query_length: int, key_length: int, *, query_offset: int = 0) -> NDArray[np.int64]:
    """Return the distinct entries of the matrix `relative_positions`, in one row.

    The q·k entries of the matrix have only q + k − 1 different values. A function of the relative
    position need only be computed for this row; `relative_view` turns the result into a matrix.

    Args:
        query_length: number of queries, q; an integer, 1 or more.
        key_length: number of keys, k; an integer, 0 or more.
        query_offset: position of the first query; an integer, 0 or more.

    Returns:
        Shape `(1, q + k − 1)`, int64, rising by 1 from −(q − 1) − query_offset; a new array.

    Raises:
        TypeError: an argument is not an integer.
        ValueError: `query_length` is below 1, or another argument negative.

    Source:
        Dai et al. (2019), appendix B, which counts them.

    Examples:
        >>> relative_row(3, 4)
        array([[-2, -1,  0,  1,  2,  3]])
    """
    queries = as_integer("query_length", query_length, least=1)
    keys = as_integer("key_length", key_length, least=0)
    last = queries - 1 + as_integer("query_offset", query_offset, least=0)
    return relative_positions(1, queries + keys - 1, query_offset=last)


def relative_view(rows: ArrayLike, query_length: int) -> NDArray[np.floating]:
    """Return the query-by-key matrix given one number per relative position, without a copy.

    Row i of the matrix is the window of k numbers that starts at column q − 1 − i of the row: from
    one query to the next, the window moves back by one. So the matrix is the row itself with
    different strides, and takes the memory of q + k − 1 numbers instead of q·k.

    Args:
        rows: shape `(..., q + k − 1)`, finite numbers or −inf; column r belongs to the relative
            position r − (q − 1), less an offset if there is one, as in `relative_row`.
        query_length: number of queries, q; an integer, 1 or more.

    Returns:
        Shape `(..., q, k)`, of the float type of `rows`, float64 for integers:
        out[..., i, j] = rows[..., j − i + q − 1]. A view of a copy of `rows`, read-only because
        many of its entries share memory.

    Raises:
        TypeError: `rows` holds anything but integers, float16, float32 or float64, or
            `query_length` is not an integer.
        ValueError: `rows` holds NaN or +inf, has no axis or fewer than q − 1 columns;
            `query_length` is below 1.

    Source:
        A matrix that is constant along each diagonal is a Toeplitz matrix. It is the relative
        shift of Dai et al. (2019), appendix B, applied to equal rows.

    Examples:
        >>> relative_view([-2, -1, 0, 1, 2, 3], 3)
        array([[ 0.,  1.,  2.,  3.],
               [-1.,  0.,  1.,  2.],
               [-2., -1.,  0.,  1.]])
    """
    numbers = as_biases("rows", rows)
    queries = as_integer("query_length", query_length, least=1)
    if not numbers.ndim or numbers.shape[-1] < queries - 1:
        raise ValueError(
            f"rows must be of shape (..., q + k - 1) with q = {queries}; got {numbers.shape}"
        )
    keys = numbers.shape[-1] - queries + 1
    return sliding_window_view(numbers, keys, axis=-1)[..., ::-1, :]
