"""Swin's relative position bias: two-dimensional relative positions within a window.

    index of a pair  =  (Δrow + M − 1) · (2M − 1) + (Δcolumn + M − 1)

for a window of M × M patches, Δ = query − key. Liu et al., "Swin Transformer" (2021), section 3.2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import as_integer, as_table, check_entries


def swin_index(window: int) -> NDArray[np.int64]:
    """Return the index into the table for each pair of patches in a window.

    Patches are numbered row by row. Along each axis, two of them are −(M−1) … M−1 apart, so there
    are (2M−1)² relative positions, each with its row of the table. Swapping query and key mirrors
    the index about the middle row, so every entry of index + index.T is 4M(M−1).

    The order is the authors': query − key along each axis, shifted to start at 0. Elsewhere in
    this package relative positions are key − query, which would number the same rows in reverse.

    Args:
        window: M, patches per side; an integer, 1 or more.

    Returns:
        Shape `(window**2, window**2)`, query by key, int64, from 0 to (2·window − 1)² − 1; a new
        array.

    Raises:
        TypeError: `window` is not an integer.
        ValueError: `window` is below 1, or the result has more than 2⁵³ entries.

    Source:
        Liu et al. (2021), section 3.2: "relative position along each axis lies in the range
        [−M+1, M−1]"; the order is that of `relative_position_index` in the authors' code.

    Examples:
        >>> swin_index(2)
        array([[4, 3, 1, 0],
               [5, 4, 2, 1],
               [7, 6, 4, 3],
               [8, 7, 5, 4]])
    """
    side = as_integer("window", window, least=1)
    check_entries(side**4, window=side)
    row, column = np.divmod(np.arange(side**2), side)
    down = row[:, np.newaxis] - row + side - 1
    across = column[:, np.newaxis] - column + side - 1
    index: NDArray[np.int64] = down * (2 * side - 1) + across
    return index


def swin_bias(table: ArrayLike, window: int) -> NDArray[np.floating]:
    """Return the bias of each head for each pair of patches in a window.

    Args:
        table: shape `((2·window − 1)², heads)`, finite numbers, at least one head.
        window: patches per side; an integer, 1 or more.

    Returns:
        Shape `(heads, window**2, window**2)`, a new array of the float type of `table`, float64 for
        integers.

    Raises:
        TypeError: `table` holds anything but integers, float16, float32 or float64, or `window` is
            not an integer.
        ValueError: `table` holds NaN or an infinity, or has the wrong shape; `window` is below 1.

    Source:
        Liu et al. (2021), section 3.2, equation 4: softmax(q kᵀ/√d + B) v.

    Examples:
        >>> swin_bias([[row] for row in range(9)], 2)[0, 0]  # one head, the first patch
        array([4., 3., 1., 0.])
    """
    index = swin_index(window)
    rows = as_table("table", table)
    wanted = int(index.max()) + 1
    if len(rows) != wanted:
        raise ValueError(f"table must be of shape ({wanted}, heads); got {rows.shape}")
    return rows.T[:, index]


def swin_log_offsets(window: int, *, trained_window: int | None = None) -> NDArray[np.float64]:
    """Return the offset of each row of the table as Swin V2 uses it: two log-spaced numbers.

    Swin V2 has no table. A small network gives each offset its bias, from Δrow and Δcolumn passed
    through sign(Δ)·log(1 + 8·|Δ|/(M − 1)) / log 8. So a model can be given a larger window: offsets
    that it has seen keep their numbers, and larger ones lie only a little beyond them.

    Args:
        window: M, patches per side; an integer, 1 or more.
        trained_window: patches per side of the window in training, whose M − 1 is the divisor;
            None if it is `window`; an integer, 2 or more.

    Returns:
        Shape `((2·window − 1)**2, 2)`, float64, a new array: for each row in the order of
        `swin_index`, query − key down and across, up to 1.06 in size within the trained window.

    Raises:
        TypeError: an argument is not an integer.
        ValueError: `window` is below 1, or `trained_window` below 2.

    Source:
        Liu et al., "Swin Transformer V2" (CVPR 2022, arXiv 2111.09883), section 3.3,
        whose formula is sign(Δ)·log(1 + |Δ|), and the authors' code, which first scales offsets to
        8 and divides by log 8.

    Examples:
        >>> swin_log_offsets(2).round(3)[[0, 1, 5]]
        array([[-1.057, -1.057],
               [-1.057,  0.   ],
               [ 0.   ,  1.057]])
    """
    side = as_integer("window", window, least=1)
    check_entries(2 * (2 * side - 1) ** 2, window=side)
    trained = max(side, 2) if trained_window is None else trained_window
    furthest = as_integer("trained_window", trained, least=2) - 1
    offsets = np.arange(1 - side, side)
    spaced = np.sign(offsets) * np.log1p(8 * np.abs(offsets) / furthest) / np.log(8)
    return np.stack(np.meshgrid(spaced, spaced, indexing="ij"), axis=-1).reshape(-1, 2)
