"""Two baselines: the position as a plain count, and no position at all.

A count grows without bound, so at a late position it drowns the token. Without positions,
attention without a mask cannot tell a sentence from the same words in another order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import as_angles, as_integer, as_positions


def counting_encoding(positions: int | ArrayLike, d_model: int) -> NDArray[np.float64]:
    """Return each position itself, in every dimension of its row.

    Row p has the length p·√d: at position 1000 it dwarfs a token of length about 1.

    Args:
        positions: an integer n for the positions 0 … n−1, or an array of positions of any
            shape, integers or reals, as in `posenc.sinusoidal_encoding`.
        d_model: width of a row; an integer, 1 or more.

    Returns:
        Shape `(n, d_model)` for an integer n, else `(*positions.shape, d_model)`, float64; a
        new array.

    Raises:
        TypeError: `positions` holds anything but real numbers, or `d_model` is not an integer.
        ValueError: `positions` is a negative count, holds NaN or an infinity, or reaches 2⁵³;
            `d_model` is below 1.

    Source:
        None: it is the obvious first attempt.

    Examples:
        >>> counting_encoding([0, 1, 1000], 2)
        array([[   0.,    0.],
               [   1.,    1.],
               [1000., 1000.]])
    """
    everywhere = np.ones(as_integer("d_model", d_model, least=1))
    return as_angles("positions", as_positions(positions), everywhere)


def no_encoding(positions: int | ArrayLike, d_model: int) -> NDArray[np.float64]:
    """Return a row of zeros for each position: added to a token, it changes nothing.

    Args:
        positions: as in `counting_encoding`.
        d_model: width of a row; an integer, 1 or more.

    Returns:
        Shape `(n, d_model)` for an integer n, else `(*positions.shape, d_model)`, float64; a
        new array.

    Raises:
        TypeError: `positions` holds anything but real numbers, or `d_model` is not an integer.
        ValueError: `positions` is a negative count, holds NaN or an infinity, or reaches 2⁵³;
            `d_model` is below 1.

    Source:
        Haviv et al., "Transformer Language Models without Positional Encodings Still Learn
        Positional Information" (2022), section 1: with a causal mask, models learn it without them.

    Examples:
        >>> no_encoding(2, 3)
        array([[0., 0., 0.],
               [0., 0., 0.]])
    """
    return np.zeros_like(counting_encoding(positions, d_model))
