"""Rotary positions (RoPE): every pair of a query or a key is turned by its position.

    (x, y)  →  (x·cos pω_i − y·sin pω_i,  x·sin pω_i + y·cos pω_i)

That turn of every pair is one matrix, R(p), and R(m)ᵀ R(n) = R(n − m). So where a query at m and
a key at n are both turned, their score

    ⟨R(m) q, R(n) k⟩ = ⟨q, R(n − m) k⟩

knows the two contents and the relative position n − m, key minus query, with its sign, and
nothing else of where they stand. Nothing is added to the vectors and no vector changes its length.

The paper pairs neighbours, dimensions 2i and 2i+1: the layout "interleaved". Much code pairs
dimension i with i + d/2 instead: "half". The two are the same scheme with the dimensions in
another order, and `convert_layout` and `convert_projection` lead from either to the other.

Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding" (2021), sections 3.2 to
3.4. Angles and products are computed in float64, and only the result is cast.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import (
    as_angles,
    as_base,
    as_choice,
    as_floats,
    as_integer,
    as_number,
    as_reals,
)
from posenc.frequencies import frequencies as frequencies_of_the_paper

LAYOUTS = ("interleaved", "half")
# How many numbers are turned at a time: with their products in float64, what a cache holds.
PIECE = 2**15


def apply_rope(
    x: ArrayLike,
    positions: ArrayLike,
    *,
    base: float = 10000.0,
    layout: str = "interleaved",
    frequencies: ArrayLike | None = None,
    rotary_d: int | None = None,
) -> NDArray[np.floating]:
    """Return `x` with every pair turned by its position: R(p) x, worked out pair by pair.

    Turn queries and keys alike, before their scores; values stay as they are.

    Args:
        x: queries or keys, shape `(..., length, d)`, finite; d an even number, 2 or more.
        positions: the position of each vector, integers or reals, in a shape that broadcasts to
            `x.shape[:-1]`: `(length,)` for all heads and texts alike. A single number is the one
            position of every vector, and not a count, for `x` has its length already.
        base: see `posenc.frequencies`.
        layout: "interleaved", where pair i is dimensions 2i and 2i+1, as in the paper, or "half",
            where it is dimensions i and i + d/2.
        frequencies: the frequency of each pair in radians per position, in place of those that
            follow from a base; shape `(d/2,)`, each 0 or more. Long-context scaling goes in here.
        rotary_d: how many of the first dimensions turn, the rest passing through; an even
            number from 2 to d; None for all d. Base, layout and frequencies are then those of
            a width of `rotary_d`.

    Returns:
        The shape of `x`, and its dtype where that is float16, float32 or float64; integers come
        back as float64. A new array. A turned component can be up to √2 times as large as the
        larger of its pair: one that outgrows its dtype is infinite, and numpy warns.

    Raises:
        TypeError: `x`, `positions` or `frequencies` holds anything but real numbers, or `x` those
            of a longer type than float64; `base` is not a number, `layout` not a string, or
            `rotary_d` not an integer.
        ValueError: a number is not finite; the width of `x` is odd or 0; `positions` does not
            broadcast, or reaches 2**53; `layout` is unknown; `rotary_d` is odd, below 2 or above
            d; `frequencies` has another shape or a negative entry, or is given together with
            another base than 10000; `base` is below 1e-300, above 1e300, or 1.

    Source:
        Su et al. (2021), section 3.4.2, equation 34; partial rotation: Wang and Komatsuzaki,
        "GPT-J-6B" (2021), which turns 64 of 256 dimensions.

    Examples:
        >>> apply_rope([1.0, 0.0, 1.0, 0.0], 1).round(4)
        array([0.5403, 0.8415, 1.    , 0.01  ])
        >>> apply_rope([1.0, 1.0, 0.0, 0.0], 1, layout="half").round(4)
        array([0.5403, 1.    , 0.8415, 0.01  ])

        The same two contents 4 apart, anywhere:

        >>> q, k = np.array([0.3, 0.9, -0.4, 0.1]), np.array([1.0, -0.2, 0.5, 0.7])
        >>> [round(float(apply_rope(q, p) @ apply_rope(k, p + 4)), 4) for p in (0, 7, 1000)]
        [-0.9217, -0.9217, -0.9217]
    """
    vectors = _as_vectors(x)
    omega = rotary_frequencies(
        vectors.shape[-1], base=base, frequencies=frequencies, rotary_d=rotary_d
    )
    first, second = _halves(2 * omega.size, layout)
    angles = as_angles("positions", _as_positions(positions, vectors), omega)
    shape = (*vectors.shape[:-1], omega.size)
    cos, sin = (np.broadcast_to(of(angles), shape) for of in (np.cos, np.sin))
    turned = np.ascontiguousarray(vectors)  # a copy already
    for piece in _pieces(turned.shape):  # each as large as a cache likes it
        a, b = (turned[piece][..., pairs].astype(np.float64) for pairs in (first, second))
        turned[piece][..., first] = a * cos[piece] - b * sin[piece]
        turned[piece][..., second] = a * sin[piece] + b * cos[piece]
    return turned


def apply_rope_complex(
    x: ArrayLike,
    positions: ArrayLike,
    *,
    base: float = 10000.0,
    layout: str = "interleaved",
    frequencies: ArrayLike | None = None,
    rotary_d: int | None = None,
) -> NDArray[np.floating]:
    """Return what `apply_rope` returns, reading each pair (x, y) as the number x + iy.

    To turn it by an angle is to multiply it by e^{i·pω}, and the theorem about scores is one line:
    a score is the real part of Σ q·k̄ over the pairs, and there e^{imω}·e^{−inω} = e^{−i(n−m)ω}.

    Args:
        x: see `apply_rope`, and so for all that follow.
        positions: in a shape that broadcasts to `x.shape[:-1]`.
        base: see `posenc.frequencies`.
        layout: "interleaved" or "half".
        frequencies: shape `(d/2,)`, in place of a base.
        rotary_d: how many of the first dimensions turn; None for all.

    Returns:
        The shape and dtype of `apply_rope`, real again; a new array.

    Raises:
        TypeError: see `apply_rope`.
        ValueError: see `apply_rope`.

    Source:
        Su et al. (2021), section 3.2.1, equation 12.

    Examples:
        >>> apply_rope_complex([1.0, 0.0, 1.0, 0.0], 1).round(4)
        array([0.5403, 0.8415, 1.    , 0.01  ])
    """
    vectors = _as_vectors(x)
    omega = rotary_frequencies(
        vectors.shape[-1], base=base, frequencies=frequencies, rotary_d=rotary_d
    )
    first, second = _pairs(2 * omega.size, "layout", layout).T
    angles = as_angles("positions", _as_positions(positions, vectors), omega)
    numbers = (vectors[..., first] + 1j * vectors[..., second]) * np.exp(1j * angles)
    turned = vectors.copy()
    turned[..., first], turned[..., second] = numbers.real, numbers.imag
    return turned


def rope_matrix(
    position: float,
    d: int,
    *,
    base: float = 10000.0,
    layout: str = "interleaved",
    frequencies: ArrayLike | None = None,
    rotary_d: int | None = None,
) -> NDArray[np.float64]:
    """Return the matrix R(p) with R(p) @ x = apply_rope(x, p) for every vector x.

    Each pair has its 2 × 2 rotation, in the rows and columns of its two dimensions:

        [cos  −sin]
        [sin   cos]

    so R is orthogonal, R(a) @ R(b) = R(a + b), and R(m)ᵀ @ R(n) = R(n − m).

    It is the transpose of `posenc.shift_matrix(p, d)`, which turns the other way because the
    sinusoidal encoding puts the sine first: a row of it is a clock hand read as (sin, cos), that
    is as (y, x). With each of its pairs swapped, PE(p) is R(p) applied to (1, 0) in every pair.

    Args:
        position: one number, an integer or a real.
        d: width of a vector; an even integer, 2 or more.
        base: see `posenc.frequencies`.
        layout: "interleaved" or "half", see `apply_rope`.
        frequencies: shape `(d/2,)`, in place of a base, see `apply_rope`.
        rotary_d: how many of the first dimensions turn; the rest of the diagonal is 1.

    Returns:
        Shape `(d, d)`, float64, a new array.

    Raises:
        TypeError: `position` is not one real number, or `d` not an integer; else see `apply_rope`.
        ValueError: `position` is not finite or reaches 2**53; `d` is odd or below 2; else see
            `apply_rope`.

    Source:
        Su et al. (2021), section 3.2.2, equations 14 to 16.

    Examples:
        >>> rope_matrix(1, 4).round(4) + 0.0
        array([[ 0.5403, -0.8415,  0.    ,  0.    ],
               [ 0.8415,  0.5403,  0.    ,  0.    ],
               [ 0.    ,  0.    ,  1.    , -0.01  ],
               [ 0.    ,  0.    ,  0.01  ,  1.    ]])
        >>> from posenc import shift_matrix
        >>> bool((rope_matrix(3, 8) == shift_matrix(3, 8).T).all())
        True
    """
    d = as_integer("d", d, least=2, even=True)
    omega = rotary_frequencies(d, base=base, frequencies=frequencies, rotary_d=rotary_d)
    first, second = _pairs(2 * omega.size, "layout", layout).T
    angles = as_angles("position", as_number("position", position), omega)
    matrix = np.eye(d)
    matrix[first, first] = matrix[second, second] = np.cos(angles)
    matrix[second, first] = np.sin(angles)
    matrix[first, second] = 0.0 - np.sin(angles)  # 0 at position 0, where −sin would be −0
    return matrix


def convert_layout(
    x: ArrayLike, *, source: str, target: str, rotary_d: int | None = None
) -> NDArray[Any]:
    """Return `x` with its last axis in the order of another layout, every pair the same pair.

    To convert and then turn in the target layout, or to turn in the source layout and then
    convert, is the same. A score sums over all dimensions, so it is the same in either layout as
    long as query and key are both in it.

    Args:
        x: queries or keys, shape `(..., d)`, real and finite; d an even number, 2 or more.
        source: the layout `x` is in, "interleaved" or "half".
        target: the layout that is wanted.
        rotary_d: how many of the first dimensions turn, as in `apply_rope`; the rest stay where
            they are. None for all.

    Returns:
        The shape and dtype of `x`; a new array, even where the two layouts are one.

    Raises:
        TypeError: `x` holds anything but real numbers; a layout is not a string; `rotary_d` is
            not an integer.
        ValueError: a number is not finite; the width is odd or 0; a layout is unknown; `rotary_d`
            is odd, below 2 or above d.

    Source:
        Follows from Su et al. (2021), equation 34, by renaming dimensions.

    Examples:
        >>> convert_layout(np.arange(8), source="interleaved", target="half")
        array([0, 2, 4, 6, 1, 3, 5, 7])
    """
    as_reals("x", x)
    values = np.asarray(x)
    return values[..., _order(_width(values.shape), source, target, rotary_d)]


def convert_projection(
    weight: ArrayLike, *, heads: int, source: str, target: str, rotary_d: int | None = None
) -> NDArray[Any]:
    """Return a query or key projection whose outputs are in another layout, head by head.

    A model's checkpoint is converted once, here, and its vectors then come out in the target
    layout by themselves. Convert the weight and the bias, if there is one, of both the query and
    the key projection. Where key heads are grouped, the key projection has its own, smaller,
    number of heads. Values are never turned, so theirs stays as it is; a projection that makes
    queries, keys and values at once has to be split first.

    Args:
        weight: shape `(heads·d, d_model)`, a row an output, as `torch.nn.Linear` keeps it, or a
            bias of shape `(heads·d,)`; real and finite.
        heads: how many heads this projection feeds; an integer, 1 or more.
        source: the layout the outputs are in now, "interleaved" or "half".
        target: the layout that is wanted.
        rotary_d: how many of a head's first dimensions turn; None for all.

    Returns:
        The shape and dtype of `weight`; a new array.

    Raises:
        TypeError: `weight` holds anything but real numbers; `heads` or `rotary_d` is not an
            integer; a layout is not a string.
        ValueError: a number is not finite; `weight` has neither one axis nor two, or its rows
            are not an even number for each head; `heads` is below 1; a layout is unknown;
            `rotary_d` is odd, below 2 or above d.

    Source:
        Follows from Su et al. (2021), equation 34, by renaming dimensions.

    Examples:
        Two heads of four dimensions:

        >>> convert_projection(np.arange(8), heads=2, source="interleaved", target="half")
        array([0, 2, 1, 3, 4, 6, 5, 7])
    """
    as_reals("weight", weight)
    rows = np.asarray(weight)
    heads = as_integer("heads", heads, least=1)
    if rows.ndim not in (1, 2) or len(rows) == 0 or len(rows) % (2 * heads):
        raise ValueError(
            "weight must be of shape (heads·d, d_model) or (heads·d,), with d even, 2 or more, and"
            f" {heads} heads; got {rows.shape}"
        )
    order = _order(len(rows) // heads, source, target, rotary_d)
    return rows.reshape(heads, -1, *rows.shape[1:])[:, order].reshape(rows.shape)


def rotary_frequencies(
    d: int,
    *,
    base: float = 10000.0,
    frequencies: ArrayLike | None = None,
    rotary_d: int | None = None,
) -> NDArray[np.float64]:
    """Return the frequency of each pair that turns, in radians per position.

    Every form of the rotation asks here, so that all read these four arguments alike.

    Args:
        d: width of a vector; an even integer, 2 or more.
        base: see `posenc.frequencies`.
        frequencies: the answer itself, in place of a base; each 0 or more.
        rotary_d: how many of the d dimensions turn; an even integer from 2 to d; None for all.

    Returns:
        Shape `(rotary_d/2,)`, float64, a new array.

    Raises:
        TypeError: `d` or `rotary_d` is not an integer, `base` not a number, or `frequencies`
            holds anything but real numbers.
        ValueError: `d` is odd or below 2; `rotary_d` is odd, below 2 or above d; `frequencies`
            has another shape, a negative entry or one that is not finite, or is given together
            with another base than 10000; `base` is below 1e-300, above 1e300, or 1.

    Source:
        Su et al. (2021), section 3.2.2, which takes over the frequencies of Vaswani et al. (2017).

    Examples:
        >>> rotary_frequencies(64, rotary_d=4)
        array([1.  , 0.01])
        >>> rotary_frequencies(4, frequencies=[0.5, 0])
        array([0.5, 0. ])
    """
    turning = _turning(as_integer("d", d, least=2, even=True), rotary_d)
    if frequencies is None:
        return frequencies_of_the_paper(turning, base=base)
    omega = as_reals("frequencies", frequencies)
    if omega.shape != (turning // 2,):
        raise ValueError(
            f"frequencies must be of shape ({turning // 2},), one for each pair that turns; got"
            f" {omega.shape}"
        )
    if omega.min() < 0:
        raise ValueError(f"frequencies must be 0 or more, each; got {omega.min()}")
    if as_base(base) != 10000.0:  # one of the two would be ignored without a word
        raise ValueError(f"base must be left out where frequencies are given; got {base}")
    return omega.copy()


def _turning(d: int, rotary_d: int | None) -> int:
    """Return how many of `d` dimensions turn."""
    if rotary_d is None:
        return d
    turning = as_integer("rotary_d", rotary_d, least=2, even=True)
    if turning > d:
        raise ValueError(f"rotary_d must be at most {d}, the width of a vector; got {turning}")
    return turning


def _pairs(width: int, name: str, layout: str) -> NDArray[np.int64]:
    """Return the two dimensions of every pair, a row a pair: all that a layout is."""
    layout = as_choice(name, layout, LAYOUTS)
    dimensions = np.arange(width)
    return dimensions.reshape(-1, 2) if layout == "interleaved" else dimensions.reshape(2, -1).T


def _halves(width: int, layout: str) -> tuple[slice, slice]:
    """Return the first and the second dimensions of all pairs, as slices, which copy nothing."""
    layout = as_choice("layout", layout, LAYOUTS)
    if layout == "interleaved":
        return slice(0, width, 2), slice(1, width, 2)
    return slice(0, width // 2), slice(width // 2, width)


def _pieces(shape: tuple[int, ...]) -> Iterator[tuple[slice, ...]]:
    """Yield which vectors make up each piece, of `PIECE` numbers at most or one vector."""
    steps: list[int] = []
    room = PIECE // shape[-1]
    for size in reversed(shape[:-1]):
        steps.insert(0, max(1, min(size, room)))
        room //= steps[0]
    starts = (range(0, size, step) for size, step in zip(shape[:-1], steps, strict=True))
    for corner in product(*starts):
        yield tuple(slice(start, start + step) for start, step in zip(corner, steps, strict=True))


def _order(d: int, source: str, target: str, rotary_d: int | None) -> NDArray[np.int64]:
    """Return which dimension of a vector in `source` goes to each place of one in `target`."""
    turning = _turning(d, rotary_d)
    order = np.arange(d)
    order[_pairs(turning, "target", target)] = _pairs(turning, "source", source)
    return order


def _as_vectors(x: ArrayLike) -> NDArray[np.floating]:
    """Return `x` in the type that the result will have, its last axis a number of pairs."""
    vectors = as_floats("x", x)
    _width(vectors.shape)
    return vectors


def _width(shape: tuple[int, ...]) -> int:
    """Return the length of the last axis, an even number from 2 on."""
    if not shape or shape[-1] < 2 or shape[-1] % 2:
        raise ValueError(f"x must be of shape (..., d), with d even, 2 or more; got {shape}")
    return shape[-1]


def _as_positions(positions: ArrayLike, vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the positions in their own shape, which has to broadcast to that of the vectors."""
    places = as_reals("positions", positions)
    try:
        np.broadcast_to(places, vectors.shape[:-1])
    except ValueError:
        raise ValueError(
            f"positions must be of a shape that broadcasts to {vectors.shape[:-1]}, that of x"
            f" without its last axis; got {places.shape}"
        ) from None
    return places
