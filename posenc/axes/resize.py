"""Learned positions of a grid, resized to another resolution: a matrix for each axis.

    T' = W_rows · T · W_columnsᵀ        row r of W:  place (r + ½)/s − ½ of the old axis

Every way to resize in use is a choice of W: where the new places lie between the old ones, which
kernel weighs the neighbours, and whether the kernel widens when the grid shrinks. The rows of W add
up to 1, so a constant stays what it is.

Dosovitskiy et al., "An Image Is Worth 16×16 Words" (2021), section 3.2; the cubic kernel: Keys,
"Cubic Convolution Interpolation for Digital Image Processing" (1981).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import (
    LARGEST,
    _shown,
    as_choice,
    as_flag,
    as_floats,
    as_integer,
    as_list,
    as_number,
)

KERNELS = ("cubic", "linear")


def resize_weights(
    source: int,
    target: int,
    *,
    kernel: str = "cubic",
    corners: bool = False,
    antialias: bool = False,
    scale: float | None = None,
) -> NDArray[np.float64]:
    """Return the matrix W with W @ column = the column of another length.

    Args:
        source: how many places the axis has; an integer, 1 or more.
        target: how many it is to have; an integer, 1 or more.
        kernel: "linear", the two neighbours, or "cubic", four of them, of which the outer two
            weigh less than 0.
        corners: whether the first and the last place stay, so that new place r lies at
            r·(n−1)/(n'−1). Otherwise places are the middles of equal cells, and the whole axis
            stays: r lies at (r + ½)/s − ½.
        antialias: whether the kernel grows with the step where the axis becomes shorter, so that
            every old place counts. The cubic one is then the sharper of two (Keys' a = −1/2 in
            place of −3/4), and weights beyond the ends are dropped rather than given to the ends.
        scale: the s above, above 0; None for n'/n. Some programs give another, such as
            (n' + 0.1)/n, which moves every place a little.

    Returns:
        Shape `(target, source)`, float64, a new array; each row adds up to 1.

    Raises:
        TypeError: a size is not an integer, `kernel` not a string, `corners` or `antialias` not a
            boolean, or `scale` not a number.
        ValueError: a size is below 1; `kernel` is unknown; `scale` is not a finite number above 0,
            or so small that the last place lies out of reach of the old ones; `corners` is given
            together with `antialias` or `scale`, which it contradicts.

    Source:
        Keys (1981), equation 15; the choices are those of `torch.nn.functional.interpolate`.

    Examples:
        >>> resize_weights(2, 4, kernel="linear")
        array([[1.  , 0.  ],
               [0.75, 0.25],
               [0.25, 0.75],
               [0.  , 1.  ]])
        >>> resize_weights(2, 3, kernel="linear", corners=True)
        array([[1. , 0. ],
               [0.5, 0.5],
               [0. , 1. ]])
    """
    n = as_integer("source", source, least=1)
    m = as_integer("target", target, least=1)
    cubic = as_choice("kernel", kernel, KERNELS) == "cubic"
    corners, wide = as_flag("corners", corners), as_flag("antialias", antialias)
    step = 1 / _scale(scale, m / n)
    if corners and (wide or scale is not None):
        other = "antialias" if wide else "scale"
        raise ValueError(f"corners must be False where {other} is given; got True")
    places = (np.arange(m) + 0.5) * step - 0.5
    if corners:
        places = np.arange(0.0, m) * (n - 1) / max(m - 1, 1)
    width = max(step, 1.0)
    if not places[-1] < (n - 1 + width if wide else LARGEST):  # no old place would weigh anything
        raise ValueError(
            f"scale must be large enough to leave new places near the {n} old ones; got {scale},"
            f" which puts the last of {m} at {places[-1]:.6g}"
        )
    if wide:
        return _kernel_weights(places, np.arange(n), width, -0.5 if cubic else None)
    return _clamped_weights(places, n, -0.75 if cubic else None)


def resize_grid(
    grid: ArrayLike,
    sizes: Sequence[int],
    *,
    kernel: str = "cubic",
    corners: bool = False,
    antialias: bool = False,
    scales: Sequence[float] | None = None,
) -> NDArray[np.floating]:
    """Return a grid of rows at another resolution, each axis resized by its own matrix.

    Remove rows that are not places, such as that of a class token, before the call and put them
    back after it.

    Args:
        grid: `(height, width, d_model)`, or any other number of axes before the last; real numbers.
        sizes: the new size of each axis but the last, integers, 1 or more.
        kernel: see `resize_weights`.
        corners: see `resize_weights`.
        antialias: see `resize_weights`.
        scales: a scale for each axis; None for the ratios of the sizes.

    Returns:
        Shape `(*sizes, d_model)`, dtype of the grid, float64 for integers; a new array. Computed in
        float64.

    Raises:
        TypeError: `grid` does not hold real numbers; otherwise as `resize_weights`.
        ValueError: `grid` has an empty axis, or a number that is not finite; `sizes` or `scales`
            does not have one for each axis but the last; otherwise as `resize_weights`.

    Source:
        Dosovitskiy et al. (2021), section 3.2: "2D interpolation of the pre-trained position
        embeddings, according to their location in the original image".

    Examples:
        >>> grid = np.arange(4.0).reshape(2, 2, 1)  # two rows of two places
        >>> resize_grid(grid, (3, 3), kernel="linear", corners=True)[..., 0]
        array([[0. , 0.5, 1. ],
               [1. , 1.5, 2. ],
               [2. , 2.5, 3. ]])
    """
    rows = as_floats("grid", grid)
    if rows.ndim < 2 or 0 in rows.shape:
        raise ValueError(f"grid must be of shape (..., d_model), 1 or more; got {rows.shape}")
    axes = rows.ndim - 1
    shape = _value_per_axis("sizes", sizes, axes)
    given = [None] * axes if scales is None else _value_per_axis("scales", scales, axes)
    exact: NDArray[np.floating] = rows.astype(np.float64)
    for axis, (size, scale) in enumerate(zip(shape, given, strict=True)):
        weights = resize_weights(
            rows.shape[axis],
            as_integer("sizes", size, least=1),
            kernel=kernel,
            corners=corners,
            antialias=antialias,
            scale=None if scale is None else _scale(scale, 1.0, "scales"),
        )
        exact = np.moveaxis(np.tensordot(weights, exact, axes=(1, axis)), 0, axis)
    return np.ascontiguousarray(exact, rows.dtype)


def _clamped_weights(
    places: NDArray[np.floating], n: int, sharp: float | None
) -> NDArray[np.float64]:
    """Return the weights of the nearest places; what lies beyond an end is added to that end."""
    lower = np.floor(places).astype(np.int64)
    reach = (0, 1) if sharp is None else (-1, 0, 1, 2)
    weights = np.zeros((places.size, n))
    for offset in reach:
        near = _kernel(places - (lower + offset), sharp)
        np.add.at(weights, (np.arange(places.size), (lower + offset).clip(0, n - 1)), near)
    return weights


def _kernel_weights(
    places: NDArray[np.floating], old: NDArray[np.int64], width: float, sharp: float | None
) -> NDArray[np.float64]:
    """Return the weights of all old places under a kernel of this width, each row over its sum."""
    weights = _kernel((places[:, np.newaxis] - old) / width, sharp)
    normed: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return normed


def _kernel(distance: NDArray[np.floating], sharp: float | None) -> NDArray[np.float64]:
    """Return a hat, or Keys' cubic with this value of a, at these distances."""
    x = np.abs(distance)
    if sharp is None:
        hat: NDArray[np.float64] = np.clip(1 - x, 0, None)
        return hat
    near = ((sharp + 2) * x - (sharp + 3)) * x * x + 1
    far = sharp * (((x - 5) * x + 8) * x - 4)
    return np.where(x <= 1, near, np.where(x < 2, far, 0.0))


def _scale(value: object, usual: float, name: str = "scale") -> float:
    """Return a scale, a number above 0, or the usual one for None."""
    if value is None:
        return usual
    scale = float(as_number(name, value))
    if scale <= 0:
        raise ValueError(f"{name} must be above 0; got {scale}")
    return scale


def _value_per_axis(name: str, values: object, axes: int) -> list[object]:
    """Return a list of one value for each axis."""
    allowed = f"a sequence of {axes}, one for each axis of the grid but the last"
    given = as_list(name, values, allowed)
    if len(given) != axes:
        raise ValueError(f"{name} must be {allowed}; got {_shown(values)}")
    return given
