"""Sinusoids on a grid: each axis has its own part of a row, encoded like a sequence.

    PE(p_1, …, p_n) = [PE(p_1), …, PE(p_n)]

where each PE on the right is the encoding of a sequence, `d_model/n` wide. In an image the two axes
are row and column. Which comes first, and whether sines and cosines alternate, differs from library
to library, and the shape does not show it.

Dosovitskiy et al., "An Image Is Worth 16×16 Words" (2021), appendix D.4, compare 1-D and 2-D
positions; Carion et al., "End-to-End Object Detection with Transformers" (2020), appendix A.4, use
these sinusoids.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from posenc._arguments import as_choice, as_multiple, as_points, as_sizes
from posenc.embeddings.sinusoidal import sinusoidal_encoding

ORDERS = ("interleaved", "halves")


def grid_positions(sizes: Sequence[int]) -> NDArray[np.int64]:
    """Return the coordinates of every place of a grid, the last axis running fastest.

    For an image of `(height, width)` patches these are [row, column], row by row: the order in
    which a convolution's output is flattened. To put columns first, reverse the last axis.

    Args:
        sizes: how many places each axis has, such as `(height, width)` or `(frames, height,
            width)`; integers, 1 or more.

    Returns:
        Shape `(product of sizes, axes)`, int64, a new array.

    Raises:
        TypeError: `sizes` is not a sequence of integers.
        ValueError: `sizes` is empty, or a size is below 1.

    Source:
        Dosovitskiy et al. (2021), appendix D.4: patches "in the raster order".

    Examples:
        >>> grid_positions((2, 3)).tolist()
        [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]
    """
    shape = as_sizes(sizes)
    return np.ascontiguousarray(np.indices(shape).reshape(len(shape), -1).T, np.int64)


def sinusoidal_encoding_nd(
    positions: ArrayLike,
    d_model: int,
    *,
    order: str = "interleaved",
    base: float = 10000.0,
    dtype: DTypeLike = np.float64,
) -> NDArray[np.floating]:
    """Return the rows of points on a grid: the first part encodes the first coordinate, and so on.

    Args:
        positions: points, shape `(..., axes)`, integers or reals; for an image `[row, column]`,
            or `[column, row]` if columns come first, as in MAE.
        d_model: width of a row; a multiple of twice the number of axes.
        order: how each part is ordered: "interleaved", sine and cosine of a frequency side by side,
            as in DETR, or "halves", all sines and then all cosines, as in MAE.
        base: see `posenc.frequencies`; each axis has the frequencies of width `d_model/axes`.
        dtype: float64, float32 or float16; the result is cast to it at the end.

    Returns:
        Shape `(..., d_model)`, a new array, as exact as `posenc.sinusoidal_encoding`.

    Raises:
        TypeError: `positions` holds anything but real numbers; `d_model` is not an integer,
            `order` not a string, `base` not a number, or `dtype` not one of the three.
        ValueError: `positions` has no axis of coordinates, holds NaN or an infinity, or reaches
            2⁵³; `d_model` is not a multiple of twice the axes; `order` is unknown; `base` is
            below 1e-300, above 1e300, or 1.

    Source:
        Carion et al. (2020), appendix A.4.

    Examples:
        >>> sinusoidal_encoding_nd([[0, 1]], 8).round(2)
        array([[0.  , 1.  , 0.  , 1.  , 0.84, 0.54, 0.01, 1.  ]])
        >>> sinusoidal_encoding_nd([[0, 1]], 8, order="halves").round(2)
        array([[0.  , 0.  , 1.  , 1.  , 0.84, 0.01, 0.54, 1.  ]])
    """
    points = as_points("positions", positions)
    axes = points.shape[-1]
    width = as_multiple("d_model", d_model, of=2 * axes) // axes
    halves = as_choice("order", order, ORDERS) == "halves"
    columns = np.arange(width)
    if halves:
        columns = columns.reshape(-1, 2).T.ravel()  # 0, 2, 4, …, 1, 3, 5, …
    # The axes of a point count as one more axis of positions.
    rows = sinusoidal_encoding(points, width, base=base, dtype=dtype)[..., columns]
    return rows.reshape(*points.shape[:-1], axes * width)
