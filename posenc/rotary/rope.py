"""Rotary positions (RoPE): every pair of a query or a key is rotated by its position.

    (x, y)  →  (x·cos pω_i − y·sin pω_i,  x·sin pω_i + y·cos pω_i)

Rotating every pair is multiplying by one matrix, R(p), and R(m)ᵀ R(n) = R(n − m). So the score of
a query rotated to position m and a key rotated to position n,

    ⟨R(m) q, R(n) k⟩ = ⟨q, R(n − m) k⟩

depends on their contents and on the signed relative position n − m, key minus query, but not on
m and n themselves. Nothing is added to the vectors, and no vector changes its length.

The paper pairs neighbours, dimensions 2i and 2i+1: the layout "interleaved". Much code pairs
dimension i with i + d/2 instead: "half". The two are the same scheme with the dimensions in a
different order; `convert_layout`, `convert_projection` and `convert_qkv` convert between them.

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
from posenc.frequency import frequencies as frequencies_of_the_paper

LAYOUTS = ("interleaved", "half")
ARRANGEMENTS = ("blocks", "groups")  # of the heads in a fused projection
# How many numbers are rotated at a time: with their float64 products they fit into the CPU cache.
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
    """Return `x` with every pair rotated by its position: R(p) x, computed pair by pair.

    Rotate queries and keys before computing their scores; leave values as they are.

    Args:
        x: queries or keys, shape `(..., length, d)`, finite; d an even number, 2 or more.
        positions: the position of each vector, integers or reals, in a shape that broadcasts to
            `x.shape[:-1]`: `(length,)` if all heads and sequences share them. A single number is
            the position of every vector, not a count.
        base: see `posenc.frequencies`.
        layout: "interleaved", where pair i is dimensions 2i and 2i+1, as in the paper, or "half",
            where it is dimensions i and i + d/2.
        frequencies: the frequency of each pair in radians per position, in place of `base`; shape
            `(d/2,)`, each 0 or more. For long-context scaling, pass the scaled frequencies here.
        rotary_d: how many of the first dimensions to rotate; the rest pass through. An even
            number from 2 to d, or None for all d. Base, layout and frequencies then apply to a
            vector of width `rotary_d`.

    Returns:
        A new array of the shape of `x`, and of its dtype if that is float16, float32 or float64;
        float64 for integers. A rotated component can be up to √2 times as large as the larger one
        of its pair: one that overflows its dtype becomes infinite, and numpy warns.

    Raises:
        TypeError: `x`, `positions` or `frequencies` holds anything but real numbers, or `x` has a
            wider dtype than float64; `base` is not a number, `layout` not a string, or `rotary_d`
            not an integer.
        ValueError: a number is not finite; the width of `x` is odd or 0; `positions` does not
            broadcast, or reaches 2⁵³; `layout` is unknown; `rotary_d` is odd, below 2 or above
            d; `frequencies` has the wrong shape or a negative entry, or is given together with a
            base other than 10000; `base` is below 1e-300, above 1e300, or 1.

    Source:
        Su et al. (2021), section 3.4.2, equation 34; partial rotation: Wang and Komatsuzaki,
        "GPT-J-6B" (2021), which rotates 64 of 256 dimensions.

    Examples:
        >>> apply_rope([1.0, 0.0, 1.0, 0.0], 1).round(4)
        array([0.5403, 0.8415, 1.    , 0.01  ])
        >>> apply_rope([1.0, 1.0, 0.0, 0.0], 1, layout="half").round(4)
        array([0.5403, 1.    , 0.8415, 0.01  ])

        The score of two vectors 4 positions apart is the same at any position:

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
    rotated = np.ascontiguousarray(vectors)  # `_as_vectors` has copied x already
    for piece in _pieces(rotated.shape):  # each small enough for the CPU cache
        a, b = (rotated[piece][..., pairs].astype(np.float64) for pairs in (first, second))
        rotated[piece][..., first] = a * cos[piece] - b * sin[piece]
        rotated[piece][..., second] = a * sin[piece] + b * cos[piece]
    return rotated


def apply_rope_complex(
    x: ArrayLike,
    positions: ArrayLike,
    *,
    base: float = 10000.0,
    layout: str = "interleaved",
    frequencies: ArrayLike | None = None,
    rotary_d: int | None = None,
) -> NDArray[np.floating]:
    """Return what `apply_rope` returns, computed with each pair (x, y) as a number x + iy.

    Rotating a pair is multiplying its number by e^{i·pω}, and the theorem about scores becomes one
    line: a score is the real part of Σ q·k̄ over the pairs, and e^{imω}·e^{−inω} = e^{−i(n−m)ω}.

    Args:
        x: see `apply_rope` for this and all other arguments.
        positions: in a shape that broadcasts to `x.shape[:-1]`.
        base: see `posenc.frequencies`.
        layout: "interleaved" or "half".
        frequencies: shape `(d/2,)`, in place of a base.
        rotary_d: how many of the first dimensions to rotate; None for all.

    Returns:
        A new real array of the same shape and dtype as `apply_rope` returns.

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
    rotated = vectors.copy()
    rotated[..., first], rotated[..., second] = numbers.real, numbers.imag
    return rotated


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

    In the rows and columns of the two dimensions of each pair, it is a 2 × 2 rotation:

        [cos  −sin]
        [sin   cos]

    so R is orthogonal, R(a) @ R(b) = R(a + b), and R(m)ᵀ @ R(n) = R(n − m).

    It is the transpose of `posenc.shift_matrix(p, d)`, which rotates the other way because the
    sinusoidal encoding puts the sine first: its pairs are (sin, cos), the point on the unit circle
    as (y, x). With each of its pairs swapped, PE(p) is R(p) applied to (1, 0) in every pair.

    Args:
        position: a single number, integer or real.
        d: width of a vector; an even integer, 2 or more.
        base: see `posenc.frequencies`.
        layout: "interleaved" or "half", see `apply_rope`.
        frequencies: shape `(d/2,)`, in place of a base, see `apply_rope`.
        rotary_d: how many of the first dimensions to rotate; the rest of the diagonal is 1.

    Returns:
        Shape `(d, d)`, float64, a new array.

    Raises:
        TypeError: `position` is not one real number, or `d` is not an integer; otherwise as
            `apply_rope`.
        ValueError: `position` is not finite or reaches 2⁵³; `d` is odd or below 2; otherwise as
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
    matrix[first, second] = 0.0 - np.sin(angles)  # −sin would give −0 at position 0
    return matrix


def convert_layout(
    x: ArrayLike, *, source: str, target: str, rotary_d: int | None = None
) -> NDArray[Any]:
    """Return `x` with its last axis reordered from one layout to another; pairs stay together.

    Converting and then rotating in the target layout gives the same as rotating in the source
    layout and then converting. A score sums over all dimensions, so it is the same in either
    layout as long as query and key use the same one.

    Args:
        x: queries or keys, shape `(..., d)`, real and finite; d an even number, 2 or more.
        source: the layout of `x`, "interleaved" or "half".
        target: the layout to convert to.
        rotary_d: how many of the first dimensions are rotated, as in `apply_rope`; the rest stay
            where they are. None for all.

    Returns:
        The shape and dtype of `x`; a new array, even if the two layouts are the same.

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
    """Return a query or key projection with the outputs of each head in another layout.

    Convert a checkpoint once, and its queries and keys come out in the target layout from then on.
    Convert the weights, and biases if there are any, of both the query and the key projection.
    With grouped-query attention, the key projection has its own, smaller number of heads. Values
    are never rotated, so leave their projection as it is. `convert_qkv` converts a fused projection
    of queries, keys and values.

    Args:
        weight: shape `(heads·d, d_model)`, one row per output like `torch.nn.Linear.weight`, or a
            bias of shape `(heads·d,)`; real and finite.
        heads: number of heads in this projection; an integer, 1 or more.
        source: the current layout of the outputs, "interleaved" or "half".
        target: the layout to convert to.
        rotary_d: how many of a head's first dimensions are rotated; None for all.

    Returns:
        The shape and dtype of `weight`; a new array.

    Raises:
        TypeError: `weight` holds anything but real numbers; `heads` or `rotary_d` is not an
            integer; a layout is not a string.
        ValueError: a number is not finite; `weight` does not have one or two axes, or an even
            number of rows per head; `heads` is below 1; a layout is unknown; `rotary_d` is odd,
            below 2 or above d.

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


def convert_qkv(
    weight: ArrayLike,
    *,
    heads: int,
    key_heads: int | None = None,
    arrangement: str = "blocks",
    source: str,
    target: str,
    rotary_d: int | None = None,
) -> NDArray[Any]:
    """Return a fused projection with its queries and keys in another layout; values do not change.

    Programs put the heads of one matrix in two different orders. In "blocks" all query heads come
    first, then all key heads, then all value heads. In "groups" each key head has a group: the
    query heads that share it, then the key head itself, then its value head.

    Args:
        weight: shape `((heads + 2·key_heads)·d, d_model)`, one row per output like
            `torch.nn.Linear.weight`, or a bias of one axis; real and finite.
        heads: number of heads of queries; an integer, 1 or more.
        key_heads: number of heads of keys, and of values; it divides `heads`. None for `heads`.
        arrangement: "blocks" or "groups".
        source: the current layout of queries and keys, "interleaved" or "half".
        target: the layout to convert to.
        rotary_d: how many of a head's first dimensions are rotated; None for all.

    Returns:
        The shape and dtype of `weight`; a new array.

    Raises:
        TypeError: `weight` holds anything but real numbers; `heads`, `key_heads` or `rotary_d` is
            not an integer; a layout or `arrangement` is not a string.
        ValueError: a number is not finite; `weight` does not have one or two axes, or an even
            number of rows per head; a number of heads is below 1, or `key_heads` does not divide
            `heads`; a layout or `arrangement` is unknown; `rotary_d` is odd, below 2 or above d.

    Source:
        Follows from Su et al. (2021), equation 34, by renaming dimensions. "groups" with as many
        key heads as heads: Black et al., "GPT-NeoX-20B" (2022), in its released code.

    Examples:
        Two heads of queries, one of keys and one of values, each of four dimensions:

        >>> convert_qkv(np.arange(16), heads=2, key_heads=1, source="interleaved", target="half")
        array([ 0,  2,  1,  3,  4,  6,  5,  7,  8, 10,  9, 11, 12, 13, 14, 15])
    """
    as_reals("weight", weight)
    rows = np.array(weight, order="C")  # so that what is reshaped below is a view of it
    heads = as_integer("heads", heads, least=1)
    key_heads = heads if key_heads is None else as_integer("key_heads", key_heads, least=1)
    if heads % key_heads:
        raise ValueError(f"key_heads must divide the {heads} heads; got {key_heads}")
    groups = 1 if as_choice("arrangement", arrangement, ARRANGEMENTS) == "blocks" else key_heads
    total = heads + 2 * key_heads
    if rows.ndim not in (1, 2) or len(rows) == 0 or len(rows) % (2 * total):
        raise ValueError(
            "weight must be of shape ((heads + 2·key_heads)·d, d_model), or have its first axis"
            f" alone, with d even, 2 or more, {heads} heads and {key_heads} key_heads; got"
            f" {rows.shape}"
        )
    d = len(rows) // total
    by_head = rows.reshape(groups, total // groups, d, *rows.shape[1:])
    rotated = by_head[:, : -key_heads // groups]  # in each group the values come last
    rotated[:] = rotated[:, :, _order(d, source, target, rotary_d)]
    return rows


def rotary_frequencies(
    d: int,
    *,
    base: float = 10000.0,
    frequencies: ArrayLike | None = None,
    rotary_d: int | None = None,
) -> NDArray[np.float64]:
    """Return the frequency of each rotated pair, in radians per position.

    Every form of the rotation calls this function, so all treat these four arguments alike.

    Args:
        d: width of a vector; an even integer, 2 or more.
        base: see `posenc.frequencies`.
        frequencies: used as given, in place of a base; each 0 or more.
        rotary_d: how many of the d dimensions to rotate; an even integer from 2 to d; None for all.

    Returns:
        Shape `(rotary_d/2,)`, float64, a new array.

    Raises:
        TypeError: `d` or `rotary_d` is not an integer, `base` not a number, or `frequencies`
            holds anything but real numbers.
        ValueError: `d` is odd or below 2; `rotary_d` is odd, below 2 or above d; `frequencies`
            has the wrong shape, a negative entry or one that is not finite, or is given together
            with a base other than 10000; `base` is below 1e-300, above 1e300, or 1.

    Source:
        Su et al. (2021), section 3.2.2, which adopts the frequencies of Vaswani et al. (2017).

    Examples:
        >>> rotary_frequencies(64, rotary_d=4)
        array([1.  , 0.01])
        >>> rotary_frequencies(4, frequencies=[0.5, 0])
        array([0.5, 0. ])
    """
    width = _rotary_width(as_integer("d", d, least=2, even=True), rotary_d)
    if frequencies is None:
        return frequencies_of_the_paper(width, base=base)
    omega = as_reals("frequencies", frequencies)
    if omega.shape != (width // 2,):
        raise ValueError(
            f"frequencies must be of shape ({width // 2},), one for each rotated pair; got"
            f" {omega.shape}"
        )
    if omega.min() < 0:
        raise ValueError(f"frequencies must each be 0 or more; got {omega.min()}")
    if as_base(base) != 10000.0:  # one of the two would be silently ignored
        raise ValueError(f"base must be left out when frequencies are given; got {base}")
    return omega.copy()


def _rotary_width(d: int, rotary_d: int | None) -> int:
    """Return how many of `d` dimensions are rotated."""
    if rotary_d is None:
        return d
    width = as_integer("rotary_d", rotary_d, least=2, even=True)
    if width > d:
        raise ValueError(f"rotary_d must be at most {d}, the width of a vector; got {width}")
    return width


def _pairs(width: int, name: str, layout: str) -> NDArray[np.int64]:
    """Return the two dimensions of every pair in a layout, shape `(width/2, 2)`."""
    layout = as_choice(name, layout, LAYOUTS)
    dimensions = np.arange(width)
    return dimensions.reshape(-1, 2) if layout == "interleaved" else dimensions.reshape(2, -1).T


def _halves(width: int, layout: str) -> tuple[slice, slice]:
    """Return the first and the second dimensions of all pairs, as slices, which avoid a copy."""
    layout = as_choice("layout", layout, LAYOUTS)
    if layout == "interleaved":
        return slice(0, width, 2), slice(1, width, 2)
    return slice(0, width // 2), slice(width // 2, width)


def _pieces(shape: tuple[int, ...]) -> Iterator[tuple[slice, ...]]:
    """Yield the index of each piece: at most `PIECE` numbers, or a single vector."""
    steps: list[int] = []
    room = PIECE // shape[-1]
    for size in reversed(shape[:-1]):
        steps.insert(0, max(1, min(size, room)))
        room //= steps[0]
    starts = (range(0, size, step) for size, step in zip(shape[:-1], steps, strict=True))
    for corner in product(*starts):
        yield tuple(slice(start, start + step) for start, step in zip(corner, steps, strict=True))


def _order(d: int, source: str, target: str, rotary_d: int | None) -> NDArray[np.int64]:
    """Return the index that reorders the dimensions of a vector from `source` to `target`."""
    width = _rotary_width(d, rotary_d)
    order = np.arange(d)
    order[_pairs(width, "target", target)] = _pairs(width, "source", source)
    return order


def _as_vectors(x: ArrayLike) -> NDArray[np.floating]:
    """Return `x` in the dtype of the result; its last axis must consist of pairs."""
    vectors = as_floats("x", x)
    _width(vectors.shape)
    return vectors


def _width(shape: tuple[int, ...]) -> int:
    """Return the length of the last axis, an even number, 2 or more."""
    if not shape or shape[-1] < 2 or shape[-1] % 2:
        raise ValueError(f"x must be of shape (..., d), with d even, 2 or more; got {shape}")
    return shape[-1]


def _as_positions(positions: ArrayLike, vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the positions as an array whose shape broadcasts to that of the vectors."""
    places = as_reals("positions", positions)
    try:
        np.broadcast_to(places, vectors.shape[:-1])
    except ValueError:
        raise ValueError(
            f"positions must be of a shape that broadcasts to {vectors.shape[:-1]}, that of x"
            f" without its last axis; got {places.shape}"
        ) from None
    return places
