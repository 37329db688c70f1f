"""The sinusoidal encoding: each pair of dimensions holds the sine and cosine of one angle.

    PE(p)_{2i}   = sin(p·ω_i)
    PE(p)_{2i+1} = cos(p·ω_i)

Vaswani et al., "Attention Is All You Need" (2017), section 3.5. Angles are always computed in
float64, and only the result is cast to the dtype asked for.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from posenc._arguments import (
    _shown,
    as_angles,
    as_float_dtype,
    as_integer,
    as_number,
    as_out,
    as_positions,
    as_reals,
)
from posenc.frequency import frequencies


def sinusoidal_encoding(
    positions: int | ArrayLike,
    d_model: int,
    *,
    base: float = 10000.0,
    dtype: DTypeLike = np.float64,
) -> NDArray[np.floating]:
    """Return the row PE(p) of each position: sin(p·ω_i) in column 2i, cos(p·ω_i) in column 2i+1.

    Args:
        positions: an integer n for the positions 0 … n−1, or an array of positions of any
            shape, integers or reals, negative ones too. `np.array(7)` and the real number `7.0`
            are the single position 7.
        d_model: width of a row; an even integer, 2 or more.
        base: see `posenc.frequencies`.
        dtype: float64, float32 or float16; the result is cast to it at the end.

    Returns:
        Shape `(n, d_model)` for an integer n, else `(*positions.shape, d_model)`; a new array.
        With a base above 1 a float64 entry is within 4e-16·(1 + |p|) of the exact value,
        which is better than 1e-9 at p = 1,000,000, and three decimals at p = 10¹².

    Raises:
        TypeError: `positions` holds booleans, strings or anything else that is not a real
            number; `d_model` is not an integer, `base` not a number, `dtype` not one of the three.
        ValueError: `positions` is a negative count, holds NaN or an infinity, or reaches 2⁵³,
            beyond which float64 cannot represent every integer; `d_model` is odd or below 2;
            `base` is below 1e-300, above 1e300, or 1.

    Source:
        Vaswani et al. (2017), section 3.5.

    Examples:
        >>> sinusoidal_encoding(3, 4).round(4)
        array([[ 0.    ,  1.    ,  0.    ,  1.    ],
               [ 0.8415,  0.5403,  0.01  ,  1.    ],
               [ 0.9093, -0.4161,  0.02  ,  0.9998]])
        >>> sinusoidal_encoding([[0.5], [-0.5]], 4).shape
        (2, 1, 4)
    """
    dtype = as_float_dtype(dtype)
    omega = frequencies(as_integer("d_model", d_model, least=2, even=True), base=base)
    angles = as_angles("positions", as_positions(positions), omega)  # (*shape, d_model/2)
    encoding = np.empty((*angles.shape[:-1], 2 * omega.size), dtype)
    encoding[..., 0::2] = np.sin(angles)
    encoding[..., 1::2] = np.cos(angles)
    return encoding


def sinusoidal_table(
    length: int,
    d_model: int,
    *,
    offset: float = 0,
    base: float = 10000.0,
    dtype: DTypeLike = np.float32,
    out: NDArray[np.floating] | None = None,
) -> NDArray[np.floating]:
    """Return the rows of `length` consecutive positions, in the time of a few memory fills.

    A faster `sinusoidal_encoding`. It computes few sines, because each row follows from an earlier
    one. Read a pair (sin, cos) as the complex number S(p) = sin + i·cos = i·e^(−ipω). Then moving
    by b positions is multiplying by e^(−ibω):

        S(a + b) = S(a)·e^(−ibω)

    which is `shift_matrix` for one pair. With a = 0, B, 2B, … and b = 0 … B−1, two small tables,
    built by doubling, hold all factors, and one product writes the whole table with sines and
    cosines already interleaved.

    Args:
        length: how many rows; an integer, 0 or more.
        d_model: width of a row; an even integer, 2 or more.
        offset: the position of the first row, an integer or a real, positive or negative.
        base: see `posenc.frequencies`.
        dtype: float32 or float64.
        out: an array of that dtype and of shape `(length, d_model)` to write into, with contiguous
            rows; None for a new one.

    Returns:
        Shape `(length, d_model)`: `out`, or a new array. With a base above 1 and positions of
        absolute value up to p, an entry is off by at most 2e-7 + 4e-16·p in float32 and
        1e-14 + 4e-16·p in float64. The factors are computed in float64 and rounded once; in
        float32 two factors, two products and their sum add an error of at most 1.75e-7.

    Raises:
        TypeError: `length` or `d_model` is not an integer, `offset` or `base` not one number,
            `dtype` not one of the two, or `out` not an array of it.
        ValueError: `length` is negative, `d_model` odd or below 2; a position reaches 2⁵³, or
            `offset` is not finite; `base` is below 1e-300, above 1e300, or 1; `out` has the wrong
            shape, is read-only, or has rows that overlap or are not contiguous.

    Source:
        Follows from Vaswani et al. (2017), section 3.5, by e^(x+y) = e^x·e^y.

    Examples:
        >>> sinusoidal_table(3, 4).round(4)
        array([[ 0.    ,  1.    ,  0.    ,  1.    ],
               [ 0.8415,  0.5403,  0.01  ,  1.    ],
               [ 0.9093, -0.4161,  0.02  ,  0.9998]], dtype=float32)
    """
    length = as_integer("length", length, least=0)
    omega = frequencies(as_integer("d_model", d_model, least=2, even=True), base=base)
    reals, numbers = _table_dtypes(dtype)
    first = as_number("offset", offset)
    as_angles("offset and length", first + length, omega)
    shape = length, 2 * omega.size
    table = np.empty(shape, reals) if out is None else as_out("out", out, shape, reals)

    block = 1 << max(0, length.bit_length() - 3) // 2  # fewer near than far: near stays in cache
    whole, rest = divmod(length, block)
    start = 1j * np.exp(-1j * as_angles("offset", first, omega))  # S(offset)
    near = _rotations(np.ones_like(start), omega, block, numbers)
    far = _rotations(start, block * omega, whole + 1, numbers)
    pairs = table.view(numbers)
    blocks = pairs[: whole * block].reshape(whole, block, omega.size)
    np.multiply(far[:whole, np.newaxis], near, out=blocks)
    np.multiply(far[whole], near[:rest], out=pairs[whole * block :])
    return table


def shift_matrix(offset: float, d_model: int, *, base: float = 10000.0) -> NDArray[np.float64]:
    """Return the matrix M with PE(p + offset) = M @ PE(p) at every position p.

    It is block-diagonal, with a 2 × 2 rotation by offset·ω_i for each pair:

        [ cos  sin]
        [−sin  cos]

    so M is orthogonal, and M(a) @ M(b) = M(a + b).

    Args:
        offset: how many positions to move, an integer or a real, positive or negative.
        d_model: width of a row; an even integer, 2 or more.
        base: see `posenc.frequencies`.

    Returns:
        Shape `(d_model, d_model)`, float64, a new array.

    Raises:
        TypeError: `offset` or `base` is not one real number, or `d_model` is not an integer.
        ValueError: `offset` is not finite or reaches 2⁵³; `d_model` is odd or below 2; `base`
            is below 1e-300, above 1e300, or 1.

    Source:
        Vaswani et al. (2017), section 3.5: "PE(pos+k) can be represented as a linear function
        of PE(pos)".

    Examples:
        >>> there = shift_matrix(3, 8) @ sinusoidal_encoding(np.array(4), 8)
        >>> bool(np.allclose(there, sinusoidal_encoding(np.array(7), 8)))
        True
    """
    d_model = as_integer("d_model", d_model, least=2, even=True)
    omega = frequencies(d_model, base=base)
    angles = as_angles("offset", as_number("offset", offset), omega)  # (d_model/2,)
    even = np.arange(0, d_model, 2)
    matrix = np.zeros((d_model, d_model))
    matrix[even, even] = matrix[even + 1, even + 1] = np.cos(angles)
    matrix[even, even + 1] = np.sin(angles)
    matrix[even + 1, even] = 0.0 - np.sin(angles)  # −sin would give −0 at offset 0
    return matrix


def similarity(
    lag: ArrayLike, d_model: int, *, base: float = 10000.0
) -> np.float64 | NDArray[np.float64]:
    """Return the cosine similarity of any two rows that are `lag` positions apart.

    The dot product of PE(p) and PE(p + lag) is Σ cos(lag·ω_i), whatever p is, and every row
    has the length √(d/2), so the similarity is the mean of cos(lag·ω_i) over the pairs. It is
    the same for +lag and −lag: it depends on the distance, not on the direction.

    Args:
        lag: a distance or an array of distances, integers or reals, of any shape.
        d_model: width of a row; an even integer, 2 or more.
        base: see `posenc.frequencies`.

    Returns:
        Values in [−1, 1], float64, in the shape of `lag`.

    Raises:
        TypeError: `lag` holds anything but real numbers, `base` is not a number, or `d_model`
            is not an integer.
        ValueError: `lag` holds NaN or an infinity, or reaches 2⁵³; `d_model` is odd or below
            2; `base` is below 1e-300, above 1e300, or 1.

    Source:
        Follows from Vaswani et al. (2017), section 3.5, by cos(a − b) = cos a cos b + sin a sin b.

    Examples:
        >>> similarity([0, 1, 2, 3], 8).round(2)
        array([1.  , 0.88, 0.64, 0.49])
    """
    d_model = as_integer("d_model", d_model, least=2, even=True)
    angles = as_angles("lag", as_reals("lag", lag), frequencies(d_model, base=base))
    mean: np.float64 | NDArray[np.float64] = np.cos(angles).mean(axis=-1)  # over the pairs
    return mean


class PositionalEncoding:
    """A precomputed table of the first rows.

    Args:
        max_sequence_length: how many rows to compute; an integer, 1 or more.
        embedding_dimension: width of a row; an even integer, 2 or more.
        base: see `posenc.frequencies`.

    Attributes:
        max_sequence_length: how many rows there are.
        embedding_dimension: width of a row.
        encoding_table: shape `(max_sequence_length, embedding_dimension)`, float64, read-only.

    Raises:
        TypeError: a size is not an integer, or `base` is not a number.
        ValueError: a size is below its minimum, or the width is odd; `base` is below 1e-300,
            above 1e300, or 1.

    Source:
        Vaswani et al. (2017), section 3.5.

    Examples:
        >>> table = PositionalEncoding(512, 128)
        >>> table.get_encoding(10).shape
        (10, 128)
    """

    def __init__(
        self, max_sequence_length: int, embedding_dimension: int, *, base: float = 10000.0
    ) -> None:
        self.max_sequence_length = as_integer("max_sequence_length", max_sequence_length, least=1)
        self.embedding_dimension = as_integer(
            "embedding_dimension", embedding_dimension, least=2, even=True
        )
        table = sinusoidal_encoding(self.max_sequence_length, self.embedding_dimension, base=base)
        table.flags.writeable = False
        # A view cannot be made writeable again while `table`, its base, is read-only.
        self.encoding_table = table[:]

    def get_encoding(self, sequence_length: int) -> NDArray[np.floating]:
        """Return a copy of the rows of positions 0 … sequence_length−1.

        Args:
            sequence_length: how many rows; an integer from 0 to `max_sequence_length`.

        Returns:
            Shape `(sequence_length, embedding_dimension)`, float64.

        Raises:
            TypeError: `sequence_length` is not an integer.
            ValueError: `sequence_length` is negative or exceeds the rows of the table.

        Examples:
            >>> PositionalEncoding(4, 8).get_encoding(5)
            Traceback (most recent call last):
                ...
            ValueError: sequence_length must be at most 4, the rows of this table; got 5
        """
        length = as_integer("sequence_length", sequence_length, least=0)
        rows = len(self.encoding_table)
        if length > rows:
            raise ValueError(
                f"sequence_length must be at most {rows}, the rows of this table; got {length}"
            )
        return self.encoding_table[:length].copy()


def _table_dtypes(dtype: DTypeLike) -> tuple[np.dtype[np.floating], np.dtype[np.complexfloating]]:
    """Return a float dtype and the complex dtype of twice its size."""
    allowed = "float32 or float64"
    try:
        reals = as_float_dtype(dtype)
    except TypeError:
        raise TypeError(f"dtype must be {allowed}; got {_shown(dtype)}") from None
    if reals == np.float16:  # numpy has no complex dtype for it
        raise TypeError(f"dtype must be {allowed}; got {reals}")
    return reals, np.result_type(reals, np.complex64)


def _rotations(
    first: NDArray[np.complex128],
    angles: NDArray[np.float64],
    count: int,
    dtype: np.dtype[np.complexfloating],
) -> NDArray[np.complexfloating]:
    """Return first·e^(−ik·angles) for k = 0 … count−1, each a product of two, rounded once."""
    few = 1 << count.bit_length() // 2
    near = _doubled_rows(np.ones_like(first), angles, few)
    far = _doubled_rows(first, few * angles, -(-count // few))
    rows = np.empty((len(far), few, first.size), dtype)
    np.multiply(far[:, np.newaxis], near, out=rows, casting="same_kind")
    return rows.reshape(-1, first.size)[:count]


def _doubled_rows(
    first: NDArray[np.complex128], angles: NDArray[np.float64], count: int
) -> NDArray[np.complex128]:
    """Return first·e^(−ik·angles) for k = 0 … count−1, doubling the number of rows each step."""
    rows = np.empty((count, first.size), np.complex128)
    rows[0] = first
    done = 1
    while done < count:
        more = min(done, count - done)
        np.multiply(rows[:more], np.exp(-1j * done * angles), out=rows[done : done + more])
        done += more
    return rows
