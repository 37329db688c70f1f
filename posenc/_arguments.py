"""What every public function does with a bad argument: say its name, what it was, what may be.

Each checker returns the argument in the form the caller computes with, or raises `TypeError`
for the wrong kind of thing and `ValueError` for the wrong value.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

# float64 holds every integer up to here; beyond it, neighbouring positions fall together.
LARGEST = 2**53

FLOATS = (np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64))


def as_integer(name: str, value: object, *, least: int, even: bool = False) -> int:
    """Return `value` as an int that is at least `least`, and even where `even` is set."""
    allowed = f"an {'even ' if even else ''}integer, {least} or more"
    if isinstance(value, (bool, np.bool_, np.ma.MaskedArray)):
        raise TypeError(f"{name} must be {allowed}; got {_shown(value)}")
    try:
        # To a compiler, operator.index makes a constant of a length, and it starts anew for each.
        number = value if type(value) is int else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} must be {allowed}; got {_shown(value)}") from None
    if not least <= number <= LARGEST or (even and number % 2):
        allowed = allowed if number <= LARGEST else f"{allowed}, and at most 2**53"
        got = number if abs(number) < 10**60 else f"one of {number.bit_length()} bits"
        raise ValueError(f"{name} must be {allowed}; got {got}")
    return number


def as_base(value: object) -> float:
    """Return `base` as a float, and not 1, where all clocks run alike."""
    allowed = "a number from 1e-300 to 1e300, other than 1"
    number = as_reals("base", value, allowed=allowed)
    if number.ndim:
        raise TypeError(f"base must be {allowed}; got {_shown(value)}")
    # Nearer the ends of float64, a frequency or a wavelength would overflow.
    if not 1e-300 <= number <= 1e300 or number == 1:
        raise ValueError(f"base must be {allowed}; got {number}")
    return float(number)


def as_number(name: str, value: object) -> NDArray[np.float64]:
    """Return `value`, one finite number, as an array without axes."""
    number = as_reals(name, value, allowed="one finite number")
    if number.ndim:
        raise TypeError(f"{name} must be one finite number; got an array of shape {number.shape}")
    return number


def as_reals(
    name: str, value: object, *, allowed: str = "finite integers or reals"
) -> NDArray[np.float64]:
    """Return `value` as a float64 array of its own shape, every entry finite."""
    try:
        if isinstance(value, Sequence):
            _refuse_disguised(value)
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"{name} must be {allowed}; got {_shown(value)}") from None
    if array.dtype.kind not in "iuf" or isinstance(value, np.ma.MaskedArray):
        # Integers beyond 64 bits numpy keeps as Python's own: the right kind, and too large.
        numbers = list(array.flat) if array.dtype == object else []
        huge = bool(numbers) and all(type(number) is int for number in numbers)
        error = ValueError if huge and max(map(abs, numbers)) >= 2**63 else TypeError
        raise error(f"{name} must be {allowed}; got {_shown(value)}")
    with np.errstate(over="ignore"):  # a long double may be finite and no float64 as large
        reals = array.astype(np.float64)
    _check_finite(name, reals, array, allowed)
    return reals


def as_angles(
    name: str, positions: NDArray[np.float64], frequencies: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the angle of every pair at every position, shape `(*positions.shape, pairs)`."""
    # As Python's floats, whose product overflows without a warning.
    fastest = max(1.0, float(frequencies.max()))
    largest = float(np.abs(positions).max(initial=0.0))
    if largest * fastest >= LARGEST:  # 2**53 + 1 has become 2**53 by now
        raise ValueError(
            f"{name} must be below 2**53 in size, and so must their angles; got {largest:.6g}"
            f" with a frequency of {fastest:.6g}"
        )
    return positions[..., np.newaxis] * frequencies


def as_float_dtype(value: DTypeLike) -> np.dtype[Any]:
    """Return `value` as one of the three float types that a float64 result can be cast to."""
    allowed = "float16, float32 or float64"
    try:
        dtype = np.dtype(value)
    except (TypeError, ValueError, SyntaxError):  # numpy parses a string as a small language
        raise TypeError(f"dtype must be {allowed}; got {_shown(value)}") from None
    if value is None or isinstance(value, np.generic) or dtype not in FLOATS:
        raise TypeError(f"dtype must be {allowed}; got {_shown(value)}")
    return dtype


def _check_finite(
    name: str, reals: NDArray[np.floating], given: NDArray[Any], allowed: str
) -> None:
    """Raise `ValueError`, which says what was given, where a number is not finite."""
    finite = np.isfinite(reals)
    if not finite.all():
        raise ValueError(f"{name} must be {allowed}; got {given[~finite].flat[0]}")


def _refuse_disguised(values: Sequence[object]) -> None:
    """Raise `TypeError` for what numpy would quietly take for numbers inside a sequence."""
    if isinstance(values, bytes | bytearray | memoryview):
        raise TypeError("bytes are not numbers")
    if any(isinstance(value, np.ma.MaskedArray) for value in values):
        raise TypeError("what is masked would count")
    if any(np.asarray(value).dtype.kind == "b" for value in np.asarray(values, object).flat):
        raise TypeError("a boolean would count as 0 or 1")


def _shown(value: object) -> str:
    """Return a value as an error message shows it: in short, and its kind."""
    try:
        said = repr(value).replace("\n", " ")
    except ValueError:  # an integer of more digits than Python agrees to print
        said = "a number too long to print"
    return f"{said if len(said) <= 60 else said[:57] + '...'} ({type(value).__name__})"


def as_choice(name: str, value: object, allowed: Sequence[str]) -> str:
    """Return `value`, one of the names that are `allowed`."""
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
    """Return `value`, all finite, in the type its result will have: its own, or float64.

    It is a new array, and the caller may write into it.
    """
    if type(value) is np.ndarray and value.dtype in FLOATS:  # often large: no copy in float64
        _check_finite(name, value, value, allowed)
        return value.copy(order="K")
    reals = as_reals(name, value, allowed=allowed)
    dtype = np.asarray(value).dtype.newbyteorder("=")
    if dtype.kind == "f" and dtype not in FLOATS:
        raise TypeError(f"{name} must be of float16, float32 or float64, or integers; got {dtype}")
    return reals.astype(dtype if dtype.kind == "f" else np.float64)


def as_biases(name: str, value: object) -> NDArray[np.floating]:
    """Return `value` as `as_floats` does, where −inf is allowed as well: it hides a key."""
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
    """Return an array to write rows into: every row in one piece, and none upon another."""
    allowed = f"a writeable {dtype} array of shape {shape} with every row in one piece"
    if not isinstance(value, np.ndarray) or isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} must be {allowed}; got {_shown(value)}")
    if value.dtype != dtype:
        raise TypeError(f"{name} must be {allowed}; got one of {value.dtype}")
    if value.shape != shape or not value.flags.writeable:
        kind = "" if value.flags.writeable else "a read-only "
        raise ValueError(f"{name} must be {allowed}; got {kind}shape {value.shape}")
    if not value.size:  # numpy gives an empty array whatever strides
        return value
    between, within = value.strides
    apart = shape[0] < 2 or abs(between) >= shape[1] * dtype.itemsize
    if within != dtype.itemsize or not apart:
        raise ValueError(f"{name} must be {allowed}; got strides {value.strides}")
    return value


def as_table(name: str, value: object) -> NDArray[np.floating]:
    """Return a table of rows, `(rows, width)`, neither of them 0, all finite."""
    table = as_floats(name, value)
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(f"{name} must be of shape (rows, width), 1 or more; got {table.shape}")
    return table


def as_ids(name: str, value: object, *, below: int) -> NDArray[np.int64]:
    """Return `value` as an int64 array of its own shape, every entry from 0 to below − 1."""
    allowed = f"integers from 0 to {below - 1}"
    reals = as_reals(name, value, allowed=allowed)
    if reals.size and np.asarray(value).dtype.kind == "f":  # an empty list has no type to ask for
        raise TypeError(f"{name} must be {allowed}; got {_shown(value)}")
    outside = reals[(reals < 0) | (reals >= below)]
    if outside.size:
        raise ValueError(f"{name} must be {allowed}; got {outside[0]:.0f}")
    return reals.astype(np.int64)


def as_positions(positions: object) -> NDArray[np.float64]:
    """Return 0 … n−1 for an integer n, and any other positions as the array they are."""
    if isinstance(positions, (bool, np.timedelta64)):  # Python and numpy call these integers
        return as_reals("positions", positions)
    if isinstance(positions, (int, np.integer)):
        return np.arange(as_integer("positions", positions, least=0), dtype=np.float64)
    return as_reals("positions", positions)


def as_relative(name: str, value: object) -> NDArray[np.int64]:
    """Return relative positions as an int64 array of their own shape."""
    allowed = "integers below 2**53 in size"
    reals = as_reals(name, value, allowed=allowed)
    array: NDArray[Any] = np.asarray(value)
    if array.dtype.kind == "f" and array.size:  # an empty list has no kind of its own
        raise TypeError(f"{name} must be {allowed}; got {_shown(value)}")
    if np.abs(reals).max(initial=0.0) >= LARGEST:
        largest = array.flat[np.abs(reals).argmax()]
        raise ValueError(f"{name} must be {allowed}; got {largest}")
    return array.astype(np.int64)
