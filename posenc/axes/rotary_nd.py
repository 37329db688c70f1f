"""Rotary positions with more than one axis: of patches, frames, or text and images together.

A point p has a coordinate on each axis, and pair i of a vector a frequency for each axis. The pair
is rotated by the sum

    θ_i(p) = Σ_a p_a·ω_{a,i}

so that the scores of rotated queries and keys depend only on the difference of their points, as
with one axis. All schemes in use are matrices of frequencies, with a row for each axis: with one
entry other than 0 in each column a pair belongs to one axis (axial RoPE, M-RoPE), with several a
pair measures a direction between the axes (mixed RoPE).

Heo et al., "Rotary Position Embedding for Vision Transformer" (2024), section 3.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import (
    LARGEST,
    as_flag,
    as_integer,
    as_list,
    as_multiple,
    as_points,
    as_reals,
)
from posenc.frequency import frequencies as frequencies_of_the_paper
from posenc.rotary.rope import _as_vectors, _halves


def apply_rope_nd(
    x: ArrayLike, positions: ArrayLike, frequencies: ArrayLike, *, layout: str = "interleaved"
) -> NDArray[np.floating]:
    """Return `x` with every pair rotated by its point: by the sum of coordinate times frequency.

    Args:
        x: queries or keys, shape `(..., length, d)`, finite; d an even number, 2 or more.
        positions: the point of each vector, integers or reals, shape `(length, axes)`, or with
            leading axes that broadcast to those of `x`.
        frequencies: radians per step on each axis for each pair, shape `(axes, d/2)`, or
            `(heads, axes, d/2)` if each head has its own; of any sign. Make them with
            `axial_frequencies`, `frequencies_by_axis`, `mixed_frequencies` or
            `mrope_frequencies`.
        layout: "interleaved", where pair i is dimensions 2i and 2i+1, or "half", where it is
            dimensions i and i + d/2 of the whole vector.

    Returns:
        A new array of the shape of `x`, and of its dtype if that is float16, float32 or float64;
        float64 for integers. Angles and products are computed in float64.

    Raises:
        TypeError: `x`, `positions` or `frequencies` holds anything but real numbers, or `layout`
            is not a string.
        ValueError: a number is not finite; the width of `x` is odd or 0; a shape does not fit; a
            coordinate or an angle reaches 2⁵³; `layout` is unknown.

    Source:
        Heo et al. (2024), section 3.

    Examples:
        >>> omega = axial_frequencies(4)
        >>> apply_rope_nd([[1.0, 0.0, 1.0, 0.0]], [[0, 1]], omega).round(4)
        array([[1.    , 0.    , 0.5403, 0.8415]])

        The score of two patches, one two rows and a column from the other, is the same anywhere:

        >>> q, k = np.array([[0.3, 0.9, -0.4, 0.1]]), np.array([[1.0, -0.2, 0.5, 0.7]])
        >>> for point in ([0, 0], [5, 3]):
        ...     there = np.add(point, [2, 1])
        ...     score = apply_rope_nd(q, [point], omega) @ apply_rope_nd(k, [there], omega).T
        ...     print(score.round(4))
        [[1.0304]]
        [[1.0304]]
    """
    vectors = _as_vectors(x)
    omega = rotary_matrix(frequencies, vectors.shape[-1])
    angles = _angles(as_points("positions", positions), omega, vectors.shape)
    first, second = _halves(vectors.shape[-1], layout)
    cos, sin = np.cos(angles), np.sin(angles)
    a, b = (vectors[..., pairs].astype(np.float64) for pairs in (first, second))
    rotated = np.empty_like(vectors)
    rotated[..., first] = a * cos - b * sin
    rotated[..., second] = a * sin + b * cos
    return rotated


def axial_frequencies(
    d: int, axes: int = 2, *, base: float = 10000.0, turns: bool = False
) -> NDArray[np.float64]:
    """Return the frequencies of axial RoPE: each pair belongs to one axis.

    Each axis has `d/(2·axes)` pairs, with the frequencies of a head `d/axes` wide.

    Args:
        d: width of one head; a multiple of twice the number of axes.
        axes: number of axes; an integer, 1 or more.
        base: see `posenc.frequencies`; published image models have 100 or 10000.
        turns: whether the axes take turns, pair by pair; otherwise the pairs of the first axis
            come first, then those of the second.

    Returns:
        Shape `(axes, d/2)`, float64, a new array.

    Raises:
        TypeError: `d` or `axes` is not an integer, `base` not a number, `turns` not a boolean.
        ValueError: `d` is not a multiple of twice the axes; `axes` is below 1; `base` is below
            1e-300, above 1e300, or 1.

    Source:
        Heo et al. (2024), section 3.

    Examples:
        >>> axial_frequencies(8)
        array([[1.  , 0.01, 0.  , 0.  ],
               [0.  , 0.  , 1.  , 0.01]])
        >>> axial_frequencies(8, turns=True)
        array([[1.  , 0.  , 0.01, 0.  ],
               [0.  , 1.  , 0.  , 0.01]])
    """
    axes = as_integer("axes", axes, least=1)
    omega = frequencies_of_the_paper(as_multiple("d", d, of=2 * axes) // axes, base=base)
    table = np.zeros((axes, axes, omega.size))  # [coordinate, axis of the pair, pair]
    table[np.arange(axes), np.arange(axes)] = omega
    if as_flag("turns", turns):
        table = table.swapaxes(1, 2)
    return table.reshape(axes, -1)


def frequencies_by_axis(frequencies: Sequence[ArrayLike]) -> NDArray[np.float64]:
    """Return the matrix of axes that rotate one part of a head each, with frequencies of their own.

    Image and video models that split a head unevenly give each axis the frequencies of a head as
    wide as its part; a longer axis may have those of a rule, such as `posenc.ntk_frequencies`.

    Args:
        frequencies: those of each axis, radians per step, shape `(pairs,)` each, with one pair or
            more; of any sign.

    Returns:
        Shape `(axes, pairs of all axes)`, float64, a new array. In row a, the pairs of axis a have
        its frequencies, and all others 0.

    Raises:
        TypeError: `frequencies` is not a sequence, or an entry holds anything but real numbers.
        ValueError: there is no axis; an entry is not of shape `(pairs,)`, or has a number that is
            not finite.

    Source:
        The rotary modules of diffusers 0.42, such as `FluxPosEmbed` and `WanRotaryPosEmbed`.

    Examples:
        >>> frequencies_by_axis([[1.0], [1.0, 0.01]])
        array([[1.  , 0.  , 0.  ],
               [0.  , 1.  , 0.01]])
    """
    allowed = "those of each axis, each of shape (pairs,), one pair or more"
    given = as_list("frequencies", frequencies, allowed)
    rows = [as_reals("frequencies", axis) for axis in given]
    wrong = [row.shape for row in rows if row.ndim != 1 or not row.size]
    if wrong or not rows:
        shown = f"an entry of shape {wrong[0]}" if wrong else "no entry"
        raise ValueError(f"frequencies must be {allowed}; got {shown}")
    owners = np.repeat(np.arange(len(rows)), [row.size for row in rows])
    table = np.zeros((len(rows), owners.size))
    table[owners, np.arange(owners.size)] = np.concatenate(rows)
    return table


def mixed_frequencies(d: int, angles: ArrayLike, *, base: float = 10.0) -> NDArray[np.float64]:
    """Return the frequencies with which mixed RoPE starts: axial ones, with the plane rotated.

    Pair j measures along the direction at `angles` to the first axis, with frequency base^(−4j/d),
    and pair j + d/4 along the direction at a right angle to it. An angle of 0 gives
    `axial_frequencies`. Training then moves every number on its own.

    Args:
        d: width of one head; a multiple of 4.
        angles: the direction of each head in radians, any shape; published models draw them
            evenly from the whole circle.
        base: see `posenc.frequencies`.

    Returns:
        Shape `(*angles.shape, 2, d/2)`, float64, a new array.

    Raises:
        TypeError: `d` is not an integer, `base` not a number, or `angles` not real numbers.
        ValueError: `d` is not a multiple of 4; an angle is not finite; `base` is below 1e-300,
            above 1e300, or 1.

    Source:
        Heo et al. (2024), section 3; the initial directions and the base of 10 are
        those of the authors' released code.

    Examples:
        >>> axial, turned = mixed_frequencies(4, [0.0, np.pi / 4]).round(2)
        >>> turned
        array([[ 0.71, -0.71],
               [ 0.71,  0.71]])
    """
    omega = frequencies_of_the_paper(as_multiple("d", d, of=4) // 2, base=base)
    turn = as_reals("angles", angles)[..., np.newaxis]
    along, across = omega * np.cos(turn), omega * np.sin(turn)
    first = np.concatenate([along, 0.0 - across], axis=-1)  # −sin would give −0 at angle 0
    second = np.concatenate([across, along], axis=-1)
    return np.stack([first, second], axis=-2)


def rotary_matrix(frequencies: ArrayLike, d: int) -> NDArray[np.float64]:
    """Return a matrix of frequencies for vectors of width `d`, checked.

    Args:
        frequencies: shape `(..., axes, d/2)`, finite, of any sign.
        d: width of a vector; an even integer, 2 or more.

    Returns:
        The same, float64, a new array.

    Raises:
        TypeError: `frequencies` holds anything but real numbers, or `d` is not an integer.
        ValueError: `frequencies` has another shape, a number that is not finite, or one of 2⁵³
            or more; `d` is odd or below 2.

    Source:
        Heo et al. (2024), section 3.

    Examples:
        >>> rotary_matrix([[1, 0], [0, 1]], 4)
        array([[1., 0.],
               [0., 1.]])
    """
    pairs = as_integer("d", d, least=2, even=True) // 2
    omega = as_reals("frequencies", frequencies)
    if omega.ndim < 2 or omega.shape[-1] != pairs or 0 in omega.shape:
        raise ValueError(
            f"frequencies must be of shape (axes, {pairs}) or (heads, axes, {pairs}); got"
            f" {omega.shape}"
        )
    if (largest := float(np.abs(omega).max())) >= LARGEST:
        raise ValueError(f"frequencies must be below 2**53 in size; got {largest:.6g}")
    return omega.copy()


def _angles(
    points: NDArray[np.float64], omega: NDArray[np.float64], shape: tuple[int, ...]
) -> NDArray[np.float64]:
    """Return the angle of every pair of vectors of this shape."""
    if points.shape[-1] != omega.shape[-2]:
        raise ValueError(
            f"positions must have a coordinate for each of {omega.shape[-2]} axes, those of the"
            f" frequencies; got shape {points.shape}"
        )
    if points.ndim == 1:  # one point for all vectors
        points = points[np.newaxis]
    _check_angles(points, omega)
    try:
        angles = points @ omega
        if len(shape) == 1:  # a single vector, without an axis of length
            angles = angles.squeeze(-2)
        np.broadcast_to(angles, (*shape[:-1], omega.shape[-1]))
    except ValueError:
        raise ValueError(
            f"positions and frequencies must broadcast to the vectors, of shape {shape}; got"
            f" {points.shape} and {omega.shape}"
        ) from None
    return angles


def _check_angles(points: NDArray[np.float64], omega: NDArray[np.float64]) -> None:
    """Raise unless every coordinate and every angle is below 2⁵³ in size."""
    far = float(np.abs(points).max(initial=0.0))
    fastest = max(1.0, float(np.abs(omega).max()))
    if far * fastest * points.shape[-1] >= LARGEST:
        raise ValueError(
            f"positions must be below 2**53 in size, and so must their angles; got {far:.6g} with"
            f" a frequency of {fastest:.6g}"
        )
