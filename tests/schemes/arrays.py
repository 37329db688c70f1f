"""Bad values for arguments of functions, and for the scalar arguments of modules.

A row has a bad value, the error expected, what the message must call allowed, and how it must show
the value. `BAD` has the rows of each argument name that several functions share.
"""

from __future__ import annotations

from collections import deque
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np


class Row(NamedTuple):
    """A bad value with the expected error, what is allowed and how the message shows it."""

    error: type[Exception]
    allowed: str
    shown: str
    value: object


def rows(error: type[Exception], allowed: str, *values: object) -> list[Row]:
    """Return a row for each value; a mapping has values by how the message must show them."""
    found = []
    for value in values:
        if isinstance(value, dict):
            found += [Row(error, allowed, shown, bad) for shown, bad in value.items()]
        else:
            found.append(Row(error, allowed, repr(value), value))
    return found


def shapes(allowed: str, *wrong: tuple[int, ...]) -> list[Row]:
    """Return a row for an array of each wrong shape."""
    return rows(ValueError, allowed, {str(shape): np.ones(shape) for shape in wrong})


def without_none(values: list[Row]) -> list[Row]:
    """Return the rows without None, for arguments where None means the default."""
    return [row for row in values if row.value is not None]


class Stranger:
    """An object that is not a number."""

    def __repr__(self) -> str:
        """Return a text so long that a message must shorten it."""
        return "stranger " * 20


NOT_NUMBERS: dict[str, object] = {
    "True (bool)": True,
    "np.True_ (bool": np.True_,
    "array(True) (ndarray)": np.array(True),
    "'8' (str)": "8",
    "b'8' (bytes)": b"8",
    "None (NoneType)": None,
    "8j (complex)": 8j,
    "Fraction(8, 1) (Fraction)": Fraction(8),
    "Decimal('8') (Decimal)": Decimal(8),
    "np.timedelta64(8,'s') (timedelta64)": np.timedelta64(8, "s"),
    "array(8, dtype=object) (ndarray)": np.array(8, dtype=object),
    "masked (MaskedConstant)": np.ma.masked,
    "masked_array(data=--": np.ma.array(8, mask=True),
    "{} (dict)": {},
    "<class 'int'> (type)": int,
    "stranger ": Stranger(),
}
NOT_ONE_INTEGER: dict[str, object] = NOT_NUMBERS | {
    "8.0 (float)": 8.0,
    "np.float64(8.0) (float64)": np.float64(8),
    "nan (float)": float("nan"),
    "inf (float)": float("inf"),
    "[8] (list)": [8],
    "array([8]) (ndarray)": np.array([8]),
    "array([4, 4]) (ndarray)": np.array([4, 4]),
    "array(8.) (ndarray)": np.array(8.0),
}
NOT_REALS: dict[str, object] = NOT_NUMBERS | {
    "[True, False] (list)": [True, False],
    "[True, 2] (list)": [True, 2],
    "[array(True), 1] (list)": [np.array(True), 1],
    "deque([True, 2]) (deque)": deque([True, 2]),
    "bytearray(b'a') (bytearray)": bytearray(b"a"),
    "<memory at": memoryview(b"a"),
    "[masked_array(data=[1.0, --]": [np.ma.masked_array([1.0, 99.0], [False, True])],
    "[masked, 1.0] (list)": [np.ma.masked, 1.0],
    "['1', '2'] (list)": ["1", "2"],
    "[None] (list)": [None],
    "[1j] (list)": [1j],
    "[[1], [2, 3]] (list)": [[1], [2, 3]],
    "array([1], dtype=object) (ndarray)": np.array([1], dtype=object),
    "masked_array(data=[1, --]": np.ma.array([1, 2], mask=[False, True]),
    "array(['2020']": np.array(["2020"], dtype="M8[Y]"),
    "array([(0.,)]": np.zeros(1, dtype=[("a", float)]),
}
NOT_INTEGERS: dict[str, object] = NOT_REALS | {
    "0.5": 0.5,
    "[1.0, 2.0]": [1.0, 2.0],
    "array([1.])": np.array([1.0]),
}

# In Python 3.11 an integer of more than 4300 digits has no repr; the message must do without.
UNPRINTABLE = 10**5000
NOT_FINITE: dict[str, object] = {
    "nan": float("nan"),
    "inf": float("inf"),
    "-inf": np.array(-np.inf),
    "1000000000": 10**400,  # no float64 is as large
    "[1, 1000000000": [1, 10**400],
    "": UNPRINTABLE,
}
# Larger than 2**53 in size. The first is the smallest integer that float64 cannot hold.
TOO_FAR: dict[str, object] = {
    "9.0072e+15": np.array(2**53 + 1),
    "9.0072e+1": -(2.0**53) - 2,
    "1e+16": np.array(1e16),
    "1e+300": 1e300,
    "9.22337e+18": np.array(2**63, np.uint64),
}
# Finite, and no float64 is as large. Where long doubles are no longer than doubles it is inf.
with np.errstate(over="ignore"):
    LONG = rows(ValueError, "", {"": np.ldexp(np.longdouble(1), 2000)})

REALS = "finite integers or reals"
NUMBER = "one finite number"
FAR = "2**53 in size"


FLOAT = "float16, float32 or float64"


def at_least(least: int, *others: int, even: bool = False) -> list[Row]:
    """Return bad values for an integer: too small, others, too large, or of another type."""
    allowed = f"an {'even ' * even}integer, {least} or more"
    small = dict.fromkeys([least - 1, -2, least - 2 if even else least - 5, *others])
    narrow = {str(least - 1): np.array(least - 1, np.int16)}
    return [
        *rows(ValueError, allowed, *small, narrow),
        *rows(ValueError, "", {"18446744073709551616": 2**64, "": UNPRINTABLE}),
        *rows(TypeError, allowed, NOT_ONE_INTEGER),
    ]


def reals(*wrong: tuple[int, ...], also: dict[str, object] | None = None) -> list[Row]:
    """Return bad values for an array of numbers: not numbers, not finite, or of a wrong shape."""
    return [
        *rows(ValueError, "", {"nan": [[0.0, np.nan]], "inf": [[np.inf, 0.0]], "": [[10**400]]}),
        *rows(TypeError, "", NOT_REALS),
        *shapes("", *wrong),
        *rows(ValueError, "", also or {}),
    ]


def tables(*wrong: tuple[int, ...], also: dict[str, object] | None = None) -> list[Row]:
    """Return bad values for a table of rows."""
    return reals((0, 2), (2, 0), (4,), (), *wrong, also=also)


def vector(length: object = "heads", *, above: bool = True) -> list[Row]:
    """Return bad values for a vector, one number for each head or of a given length."""
    return [
        *shapes(f"of shape ({length},)", (), (0,), (2, 2), *([] if length == "heads" else [(5,)])),
        *(rows(ValueError, "each above 0", {"0": [1.0, 0.0], "-2": [-2, 1]}) if above else []),
        *rows(ValueError, "", {"nan": [1.0, np.nan], "inf": [np.inf, 1.0], "": [10**400, 1]}),
        *rows(TypeError, "", NOT_REALS),
    ]


def number(allowed: str, *wrong: float) -> list[Row]:
    """Return bad values for one number: outside of a range, not finite, not one or not a number."""
    return [
        *rows(ValueError, allowed, {f"{value:g}": value for value in wrong}),
        *rows(ValueError, "", NOT_FINITE),
        *rows(TypeError, NUMBER, NOT_REALS, {"(1,)": [4.0], "(0,)": [], "(2, 1)": np.ones((2, 1))}),
    ]


def choices(allowed: str) -> list[Row]:
    """Return bad values for a choice among the allowed names."""
    return [
        *rows(ValueError, allowed, "no such choice", ""),
        *rows(TypeError, allowed, None, 2, True, b"half", ["half"]),
    ]


WIDTHS = at_least(2, 7, 9, even=True)
SIZES = at_least(1, -4)
COUNTS = at_least(0)
# Widths of heads with a fastest and a slowest pair.
SEVERAL = at_least(4, 7, even=True)
BASES = [
    *rows(ValueError, "number", 0, -0.0, -1, -10000.0, 1, 5e-324, 1e-310, {"1.0": np.float32(1)}),
    *rows(ValueError, "number", NOT_FINITE),
    *LONG,
    *rows(TypeError, "number", NOT_REALS, [10.0], {"array([10.])": np.array([10.0])}),
]
POSITIONS = [
    *rows(ValueError, "0 or more", -1, {"-5": np.int8(-5)}, -(2**53) - 1),
    *rows(ValueError, "", 2**63, {"": UNPRINTABLE}),
    *rows(ValueError, REALS, {"nan": np.nan, "inf": [0, np.inf], "-inf": [[1.0, -np.inf]]}),
    *rows(ValueError, FAR, {**TOO_FAR, "9.0072": [0, -(2**53) - 1]}),
    *LONG,
    *rows(TypeError, REALS, NOT_REALS),
]
OFFSETS = [
    *rows(ValueError, FAR, {**TOO_FAR, "9.0072": 2**53 + 1}),
    *LONG,
    *number(NUMBER),
]
LAGS = [
    *rows(ValueError, REALS, {**NOT_FINITE, "nan": [0, np.nan]}),
    *rows(ValueError, FAR, {**TOO_FAR, "9.0072": 2**53 + 1}),
    *LONG,
    *rows(TypeError, REALS, NOT_REALS),
]
# Positions of the two rows of three vectors that are rotated.
ROTATED = [
    *rows(ValueError, "finite", {"nan": [0, np.nan], "inf": np.inf}),
    *rows(ValueError, FAR, TOO_FAR),
    *shapes("broadcasts to (2, 3)", (4,), (3, 2)),
    *rows(TypeError, REALS, NOT_REALS),
]
POINTS = [
    *rows(ValueError, REALS, {"nan": [[0, np.nan]], "inf": [[np.inf, 0]]}),
    *shapes("", (0,), (), (2, 0)),
    *rows(ValueError, FAR, {"9.0072e+1": [[0, 2.0**53]], "1e+300": [[1e300, 0]]}),
    *rows(TypeError, REALS, NOT_REALS),
]
FREQUENCIES = [
    *shapes("", (3,), (), (4, 1)),
    *rows(ValueError, "", {"-1": [1.0, 1.0, 1.0, -1.0], "nan": [1.0, 1.0, 1.0, np.nan]}),
    *rows(TypeError, "", NOT_REALS),
]
DTYPES = [
    *rows(TypeError, FLOAT, None, int, complex, object, "junk", "f4,(", ">f8", [("a", float)]),
    *rows(TypeError, FLOAT, 3, True, {"longdouble": np.longdouble, "{}": {}, "str": Stranger()}),
]
FLAGS = rows(TypeError, "True or False", 1, 0, None, "yes", 1.0, {"np.True_ (bool)": np.True_})
FACTORS = number("from 1 to 1e100", 0, 0.5, -2, 1e101)
POSITIVE = number("a number above 0", 0, -1.0)
RELATIVE = [
    *rows(ValueError, FAR, 2**53, 2**63),
    *rows(TypeError, "integers", NOT_INTEGERS),
]

# The rows of an argument, unless its function has its own. Those of a module's tensors are in
# tensors.py.
BAD: dict[str, list[Row]] = {
    "d": WIDTHS,
    "d_model": WIDTHS,
    "width": WIDTHS,
    "base": BASES,
    "positions": POSITIONS,
    "offset": OFFSETS,
    "dtype": DTYPES,
    "layout": choices('"interleaved", "half"'),
    "source": choices('"interleaved", "half"'),
    "target": choices('"interleaved", "half"'),
    "role": choices('"query", "key"'),
    "kernel": choices('"cubic", "linear"'),
    "frequencies": without_none(FREQUENCIES),
    "rotary_d": without_none([*WIDTHS, *rows(ValueError, "at most 8, the width", 10)]),
    "factor": FACTORS,
    "scale": vector(),
    "relative": RELATIVE,
    "x": reals((2, 3, 7), (), (3, 0)),
    "q": reals((2,), (2, 3), (2, 0)),
    "k": reals((2,), (2, 3)),
    "weight": reals((), (6, 2), (2, 2, 2)),
    "table": tables(),
    "tokens": reals((4,), ()),
    "points": POINTS,
    "first": choices('"sine", "cosine"'),
    "buckets": SEVERAL,
    "seed": without_none(COUNTS),
    "key_length": without_none(COUNTS),
    **dict.fromkeys(("query_length", "query_offset", "max_distance", "sinks", "center"), COUNTS),
    **dict.fromkeys(("heads", "window", "length", "trained_length", "layers", "rank"), SIZES),
    **dict.fromkeys(("branches", "depth", "features", "hidden", "axes", "steps", "rows"), SIZES),
    **dict.fromkeys(("causal", "bidirectional", "released", "corners", "antialias"), FLAGS),
    **dict.fromkeys(
        ("add_special_tokens", "normalized", "learned", "turns", "interleaved", "truncate"), FLAGS
    ),
    **dict.fromkeys(("threshold", "rate", "scale_base", "gamma"), POSITIVE),
    "trained_window": without_none(at_least(2)),
}
