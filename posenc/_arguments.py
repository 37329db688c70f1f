"""Argument checks shared by all public functions.

Each check returns the argument in the form the caller computes with, or raises `TypeError` for a
wrong type and `ValueError` for a wrong value. The message names the argument, what is allowed and
what was given.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

# float64 holds every integer up to here; beyond it, neighbouring positions coincide.
LARGEST = 2**53

FLOATS = (np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64))


def as_integer(name: str, value: object, *, least: int, even: bool = False) -> int:
    """Return `value` as an int that is at least `least`, and even if `even` is set."""
    allowed = f"an {'even ' if even else ''}integer, {least} or more"
    if isinstance(value, (bool, np.bool_, np.ma.MaskedArray)):
        raise TypeError(f"{name} must be {allowed}; got {_shown(value)}")
    try:
        # operator.index would turn a length into a constant: under torch.compile, where it looks
        # like an int, every new length would recompile; torch.export, where it is a SymInt, would
        # accept no other length.
        kept = type(value) is int or type(value).__name__ == "SymInt"
        number: int = value if kept else operator.index(value)  # type: ignore[assignment, arg-type]
    except TypeError:
        raise TypeError(f"{name} must be {allowed}; got {_shown(value)}") from None
    if not least <= number <= LARGEST or (even and number % 2):
        allowed = allowed if number <= LARGEST else f"{allowed}, and at most 2**53"
        got = number if abs(number) < 10**60 else f"one of {number.bit_length()} bits"
        raise ValueError(f"{name} must be {allowed}; got {got}")
    return number


def check_entries(count: int, **given: int) -> None:
    """Raise `ValueError` if arguments ask for a result with more entries than 2⁵³."""
    if count > LARGEST:
        names = " and ".join(given)
        got = " and ".join(map(str, given.values()))
        raise ValueError(f"{names} must give a result of at most 2**53 entries; got {got}")


def as_base(value: object) -> float:
    """Return `base` as a float other than 1, which would give every pair the same frequency."""
    allowed = "a number from 1e-300 to 1e300, other than 1"
    number = as_reals("base", value, allowed=allowed)
    if number.ndim:
        raise TypeError(f"base must be {allowed}; got {_shown(value)}")
    # Closer to the limits of float64, a frequency or a wavelength would overflow.
    if not 1e-300 <= number <= 1e300 or number == 1:
        raise ValueError(f"base must be {allowed}; got {number}")
    return float(number)


def as_number(name: str, value: object) -> NDArray[np.float64]:
    """Return `value`, one finite number, as a 0-d array."""
    number = as_reals(name, value, allowed="one finite number")
    if number.ndim:
        raise TypeError(f"{name} must be one finite number; got an array of shape {number.shape}")
    return number


def as_reals(
    name: str, value: object, *, allowed: str = "finite integers or reals"
) -> NDArray[np.float64]:
    """Return `value` as a float64 array of the same shape, every entry finite."""
    try:
        if isinstance(value, Sequence):
            _reject_non_numbers(value)
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"{name} must be {allowed}; got {_shown(value)}") from None
    if array.dtype.kind not in "iuf" or isinstance(value, np.ma.MaskedArray):
        # numpy stores integers beyond 64 bits as Python objects: the right type, but too large.
        numbers = list(array.flat) if array.dtype == object else []
        huge = bool(numbers) and all(type(number) is int for number in numbers)
        error = ValueError if huge and max(map(abs, numbers)) >= 2**63 else TypeError
        raise error(f"{name} must be {allowed}; got {_shown(value)}")
    with np.errstate(over="ignore"):  # a long double may be finite and still overflow float64
        reals = array.astype(np.float64)
    _check_finite(name, reals, array, allowed)
    return reals


def as_angles(
    name: str, positions: NDArray[np.float64], frequencies: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the angle of every pair at every position, shape `(*positions.shape, pairs)`."""
    # Python floats, because their product overflows without a warning.
    fastest = max(1.0, float(frequencies.max()))
    largest = float(np.abs(positions).max(initial=0.0))
    if largest * fastest >= LARGEST:  # >=, because 2**53 + 1 has already been rounded to 2**53
        raise ValueError(
            f"{name} must be below 2**53 in size, and so must their angles; got {largest:.6g}"
            f" with a frequency of {fastest:.6g}"
        )
    return positions[..., np.newaxis] * frequencies


def as_float_dtype(value: DTypeLike) -> np.dtype[Any]:
    """Return `value` as a dtype, one of the three float types that results are cast to."""
    allowed = "float16, float32 or float64"
    try:
        dtype = np.dtype(value)
    except (TypeError, ValueError, SyntaxError):  # numpy parses strings such as "f4,i8"
        raise TypeError(f"dtype must be {allowed}; got {_shown(value)}") from None
    if value is None or isinstance(value, np.generic) or dtype not in FLOATS:
        raise TypeError(f"dtype must be {allowed}; got {_shown(value)}")
    return dtype


def _check_finite(
    name: str, reals: NDArray[np.floating], given: NDArray[Any], allowed: str
) -> None:
    """Raise `ValueError`, quoting the first entry as given, unless all numbers are finite."""
    finite = np.isfinite(reals)
    if not finite.all():
        raise ValueError(f"{name} must be {allowed}; got {given[~finite].flat[0]}")


def _reject_non_numbers(values: Sequence[object]) -> None:
    """Raise `TypeError` if numpy would silently convert something in the sequence to numbers."""
    if isinstance(values, bytes | bytearray | memoryview):
        raise TypeError("bytes are not numbers")
    if any(isinstance(value, np.ma.MaskedArray) for value in values):
        raise TypeError("masked entries would count as numbers")
    if any(np.asarray(value).dtype.kind == "b" for value in np.asarray(values, object).flat):
        raise TypeError("a boolean would count as 0 or 1")


def _shown(value: object) -> str:
    """Return a value as error messages show it: its repr, shortened, and its type."""
    try:
        said = repr(value).replace("\n", " ")
    except ValueError:  # an integer with more digits than Python is willing to print
        said = "a number too long to print"
    except RecursionError:
        said = "a value too deep to print"
    return f"{said if len(said) <= 60 else said[:57] + '...'} ({type(value).__name__})"


def as_choice(name: str, value: object, allowed: Sequence[str]) -> str:
    """Return `value`, which must be one of the `allowed` names."""
    names = ", ".join(f'"{choice}"' for choice in allowed)
    if not isinstance(value, str):
        raise TypeError(f"{name} must be one of {names}; got {_shown(value)}")
    if value not in allowed:
        raise ValueError(f"{name} must be one of {names}; got {_shown(value)}")
    return value


def as_flag(name: str, value: object) -> bool:
    """Return `value`, True or False and nothing that merely counts as one of them."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False; got {_shown(value)}")
    return value


def as_floats(
    name: str, value: object, *, allowed: str = "finite integers or reals"
) -> NDArray[np.floating]:
    """Return `value`, all finite, in the dtype of the result: its own float type, or float64.

    The array is new, so the caller may write into it.
    """
    if type(value) is np.ndarray and value.dtype in FLOATS:  # often large: avoid a float64 copy
        _check_finite(name, value, value, allowed)
        return value.copy(order="K")
    reals = as_reals(name, value, allowed=allowed)
    dtype = np.asarray(value).dtype.newbyteorder("=")
    if dtype.kind == "f" and dtype not in FLOATS:
        raise TypeError(f"{name} must be of float16, float32 or float64, or integers; got {dtype}")
    return reals.astype(dtype if dtype.kind == "f" else np.float64)


def as_biases(name: str, value: object) -> NDArray[np.floating]:
    """Return `value` as `as_floats` does, but allow −inf, which hides a key."""
    allowed = "finite numbers or -inf"
    try:
        return as_floats(name, value, allowed=allowed)
    except ValueError:
        array = np.asarray(value)
        if array.dtype.kind != "f":  # an integer that no float64 can hold
            raise
    hidden = np.isneginf(array)
    biases = as_floats(name, np.where(hidden, array.dtype.type(0), array), allowed=allowed)
    biases[hidden] = -np.inf
    return biases


def as_out(
    name: str, value: object, shape: tuple[int, int], dtype: np.dtype[Any]
) -> NDArray[np.floating]:
    """Return an array to write rows into: each row contiguous, and no two overlapping."""
    allowed = f"a writeable {dtype} array of shape {shape} with every row in one piece"
    if not isinstance(value, np.ndarray) or isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} must be {allowed}; got {_shown(value)}")
    if value.dtype != dtype:
        raise TypeError(f"{name} must be {allowed}; got one of {value.dtype}")
    if value.shape != shape or not value.flags.writeable:
        kind = "" if value.flags.writeable else "a read-only "
        raise ValueError(f"{name} must be {allowed}; got {kind}shape {value.shape}")
    if not value.size:  # the strides of an empty array are arbitrary
        return value
    between, within = value.strides
    apart = shape[0] < 2 or abs(between) >= shape[1] * dtype.itemsize
    if within != dtype.itemsize or not apart:
        raise ValueError(f"{name} must be {allowed}; got strides {value.strides}")
    return value


def as_table(name: str, value: object) -> NDArray[np.floating]:
    """Return a non-empty table of finite numbers, shape `(rows, width)`."""
    table = as_floats(name, value)
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(f"{name} must be of shape (rows, width), 1 or more; got {table.shape}")
    return table


def as_vector(
    name: str, value: object, *, length: int | None = None, above: float | None = None
) -> NDArray[np.float64]:
    """Return a vector of finite numbers, of this length if given, each above a bound if given."""
    bound = "" if above is None else f", each above {above:g}"
    allowed = f"of shape ({length or 'heads'},){bound}"
    vector = as_reals(name, value, allowed=allowed)
    if vector.ndim != 1 or not vector.size or length not in (None, vector.size):
        raise ValueError(f"{name} must be {allowed}; got an array of shape {vector.shape}")
    if above is not None and vector.min() <= above:
        raise ValueError(f"{name} must be {allowed}; got {vector.min():g}")
    return vector


def as_pairs(name: str, value: object) -> NDArray[np.int64]:
    """Return relative positions of queries and keys, an int64 array of shape (query, key)."""
    relative = as_relative(name, value)
    if relative.ndim != 2:
        raise ValueError(f"{name} must be of shape (query, key); got {relative.shape}")
    return relative


def as_positive(name: str, value: object) -> float:
    """Return `value`, one finite number above 0, as a float."""
    number = as_number(name, value)
    if number <= 0:
        raise ValueError(f"{name} must be a number above 0; got {number:g}")
    return float(number)


def as_ids(name: str, value: object, *, below: int) -> NDArray[np.int64]:
    """Return `value` as an int64 array of the same shape, every entry from 0 to below − 1."""
    allowed = f"integers from 0 to {below - 1}"
    reals = as_reals(name, value, allowed=allowed)
    if reals.size and np.asarray(value).dtype.kind == "f":  # numpy calls an empty list float64
        raise TypeError(f"{name} must be {allowed}; got {_shown(value)}")
    outside = reals[(reals < 0) | (reals >= below)]
    if outside.size:
        raise ValueError(f"{name} must be {allowed}; got {outside[0]:.0f}")
    return reals.astype(np.int64)


def as_positions(positions: object) -> NDArray[np.float64]:
    """Return 0 … n−1 for an integer n, and any other positions as a float64 array."""
    if isinstance(positions, (bool, np.timedelta64)):  # both are subclasses of an integer type
        return as_reals("positions", positions)
    if isinstance(positions, (int, np.integer)):
        return np.arange(as_integer("positions", positions, least=0), dtype=np.float64)
    return as_reals("positions", positions)


def as_relative(name: str, value: object) -> NDArray[np.int64]:
    """Return relative positions as an int64 array of the same shape."""
    allowed = "integers below 2**53 in size"
    reals = as_reals(name, value, allowed=allowed)
    array: NDArray[Any] = np.asarray(value)
    if array.dtype.kind == "f" and array.size:  # numpy calls an empty list float64
        raise TypeError(f"{name} must be {allowed}; got {_shown(value)}")
    if np.abs(reals).max(initial=0.0) >= LARGEST:
        largest = array.flat[np.abs(reals).argmax()]
        raise ValueError(f"{name} must be {allowed}; got {largest}")
    return array.astype(np.int64)


def as_multiple(name: str, value: object, *, of: int) -> int:
    """Return `value` as an int that is a multiple of `of`, and at least `of`."""
    number = as_integer(name, value, least=of)
    if number % of:
        raise ValueError(f"{name} must be a multiple of {of}; got {number}")
    return number


def as_points(name: str, value: object) -> NDArray[np.float64]:
    """Return points as a float64 array of shape `(..., axes)`, with one axis or more."""
    points = as_reals(name, value)
    if not points.ndim or not points.shape[-1]:
        raise ValueError(f"{name} must be of shape (..., axes), 1 or more; got {points.shape}")
    return points


def as_sizes(sizes: object) -> tuple[int, ...]:
    """Return the sizes of a grid: one integer or more, each 1 or more."""
    given = as_list("sizes", sizes, "a sequence of integers")
    shape = tuple(as_integer("sizes", size, least=1) for size in given)
    if not shape:
        raise ValueError(f"sizes must be one integer for each axis; got {_shown(sizes)}")
    if math.prod(shape) > LARGEST:
        raise ValueError(f"sizes must be of a grid with at most 2**53 places; got {_shown(sizes)}")
    return shape


def as_list(name: str, values: object, allowed: str) -> list[Any]:
    """Return the entries of a sequence, or of an array along its first axis."""
    if isinstance(values, str | bytes) or not (
        isinstance(values, Sequence) or (isinstance(values, np.ndarray) and values.ndim)
    ):
        raise TypeError(f"{name} must be {allowed}; got {_shown(values)}")
    return list(values)


def as_adjacency(name: str, value: object, *, symmetric: bool = False) -> NDArray[np.float64]:
    """Return the weights of a graph's edges, shape `(nodes, nodes)`, with one node or more."""
    weights = as_reals(name, value)
    if weights.ndim != 2 or not weights.size or weights.shape[0] != weights.shape[1]:
        raise ValueError(f"{name} must be of shape (nodes, nodes), 1 or more; got {weights.shape}")
    outside = weights[(weights < 0) | (weights > 1e300)]  # sums of larger ones would overflow
    if outside.size:
        raise ValueError(f"{name} must be weights from 0 to 1e300; got {outside[0]:g}")
    if symmetric and (weights != weights.T).any():
        row, column = np.argwhere(weights != weights.T)[0]
        there, back = weights[row, column], weights[column, row]
        raise ValueError(
            f"{name} must be symmetric, of a graph without directions; got {there:g} from node"
            f" {row} to {column} and {back:g} back"
        )
    return weights
