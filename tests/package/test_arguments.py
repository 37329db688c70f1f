"""Bad input is refused for every argument of every public name, with a helpful message.

A message names the argument, what is allowed and what was given: `d must be an even integer,
2 or more; got 7`. No other exception and no numpy warning may occur.
"""

from __future__ import annotations

import inspect
import re
from collections import deque
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import posenc

pytestmark = pytest.mark.filterwarnings("error")

Call = Callable[..., object]


class Row(NamedTuple):
    """A bad value with the expected error, what is allowed and how the message shows it."""

    error: type[Exception]
    allowed: str
    shown: str
    value: object


def rows(error: type[Exception], allowed: str, values: dict[str, object]) -> list[Row]:
    """Return a row for each value, keyed by how the message must show it."""
    return [Row(error, allowed, shown, value) for shown, value in values.items()]


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
    LONG = np.ldexp(np.longdouble(1), 2000)

WIDTH = "an even integer, 2 or more"
COUNT = "an integer, 0 or more"
BASE = "number"
REALS = "finite integers or reals"
NUMBER = "one finite number"
FAR = "2**53 in size"
FLOAT = "float16, float32 or float64"

WIDTHS = [
    *rows(ValueError, WIDTH, {"0": 0, "1": 1, "-2": -2, "7": 7, "9": np.int16(9)}),
    *rows(ValueError, "", {"18446744073709551616": 2**64, "": UNPRINTABLE}),
    *rows(TypeError, WIDTH, NOT_ONE_INTEGER),
]

BASES = [
    *rows(ValueError, BASE, {"0": 0, "-0.0": -0.0, "-1": -1, "-10000.0": -10000.0}),
    *rows(ValueError, BASE, {"1": 1, "1.0": np.float32(1), "5e-324": 5e-324, "1e-310": 1e-310}),
    *rows(ValueError, BASE, NOT_FINITE),
    *rows(ValueError, BASE, {"": LONG}),
    *rows(TypeError, BASE, {**NOT_REALS, "[10.0]": [10.0], "array([10.])": np.array([10.0])}),
]

POSITIONS = [
    *rows(
        ValueError, "0 or more", {"-1": -1, "-5": np.int8(-5), "-9007199254740993": -(2**53) - 1}
    ),
    *rows(ValueError, "", {"9223372036854775808": 2**63, "": UNPRINTABLE}),
    *rows(ValueError, REALS, {"nan": np.nan, "inf": [0, np.inf], "-inf": [[1.0, -np.inf]]}),
    *rows(ValueError, FAR, {**TOO_FAR, "9.0072": [0, -(2**53) - 1]}),
    *rows(ValueError, "", {"": LONG}),
    *rows(TypeError, REALS, NOT_REALS),
]

OFFSETS = [
    *rows(ValueError, NUMBER, NOT_FINITE),
    *rows(ValueError, FAR, {**TOO_FAR, "9.0072": 2**53 + 1}),
    *rows(ValueError, "", {"": LONG}),
    *rows(TypeError, NUMBER, NOT_REALS),
    *rows(TypeError, NUMBER, {"(1,)": [1], "(0,)": [], "(2, 1)": np.ones((2, 1))}),
]

LAGS = [
    *rows(ValueError, REALS, {**NOT_FINITE, "nan": [0, np.nan]}),
    *rows(ValueError, FAR, {**TOO_FAR, "9.0072": 2**53 + 1}),
    *rows(ValueError, "", {"": LONG}),
    *rows(TypeError, REALS, NOT_REALS),
]

DTYPES = rows(
    TypeError,
    FLOAT,
    {
        "None (NoneType)": None,
        "<class 'int'> (type)": int,
        "<class 'complex'> (type)": complex,
        "<class 'object'> (type)": object,
        "'junk' (str)": "junk",
        "'f4,(' (str)": "f4,(",
        "'>f8' (str)": ">f8",
        "[('a', <class 'float'>)] (list)": [("a", float)],
        "3 (int)": 3,
        "True (bool)": True,
        "longdouble": np.longdouble,
        "{} (dict)": {},
        "stranger ": Stranger(),
    },
)

EYE = np.array([1.0, 0.0])
RAGGED = [[True], [True, False]]
OUT = [1.0, 1.0, 1.0, -1.0]

T5_ENDS = [
    *rows(ValueError, "above 8, where the exact range ends", {"8": 8, "1": 1}),
    *rows(ValueError, "an integer, 1 or more", {"0": 0, "-3": -3}),
    *rows(TypeError, "an integer, 1 or more", NOT_ONE_INTEGER),
]

MAXIMA = [
    *rows(ValueError, "an integer, 1 or more", {"0": 0, "-4": -4}),
    *rows(ValueError, "", {"18446744073709551616": 2**64, "": UNPRINTABLE}),
    *rows(TypeError, "an integer, 1 or more", NOT_ONE_INTEGER),
]

LENGTHS = [
    *rows(ValueError, COUNT, {"-1": -1, "-2": np.int8(-2), "": -UNPRINTABLE}),
    *rows(ValueError, "at most 4, the rows of this table", {"5": 5, "9": np.array(9)}),
    *rows(ValueError, "", {"18446744073709551616": 2**64, "": UNPRINTABLE}),
    *rows(TypeError, COUNT, NOT_ONE_INTEGER),
]

NOT_INTEGERS: dict[str, object] = NOT_REALS | {
    "0.5": 0.5,
    "[1.0, 2.0]": [1.0, 2.0],
    "array([1.])": np.array([1.0]),
}

COUNTS = [
    *rows(ValueError, COUNT, {"-1": -1, "-2": np.int8(-2), "": -UNPRINTABLE}),
    *rows(ValueError, "", {"18446744073709551616": 2**64}),
    *rows(TypeError, COUNT, NOT_ONE_INTEGER),
]

SIZES = [
    *rows(ValueError, "an integer, 1 or more", {"0": 0, "-4": -4}),
    *rows(ValueError, "", {"18446744073709551616": 2**64, "": UNPRINTABLE}),
    *rows(TypeError, "an integer, 1 or more", NOT_ONE_INTEGER),
]


def but_none(rows: list[Row]) -> list[Row]:
    """Return the rows without None, for arguments where None means the default."""
    return [row for row in rows if row.value is not None]


def reals(*wrong: tuple[str, object]) -> list[Row]:
    """Return bad values for an array of numbers: not numbers, not finite, or a `wrong` shape."""
    return [
        *rows(ValueError, "", {"nan": [[0.0, np.nan]], "inf": [[np.inf, 0.0]], "": [[10**400]]}),
        *rows(TypeError, "", NOT_REALS),
        *rows(ValueError, "", dict(wrong)),
    ]


def tables(*wrong: tuple[str, object]) -> list[Row]:
    """Return bad values for a table of rows."""
    shapes = (("(0, 2)", np.zeros((0, 2))), ("(2, 0)", np.zeros((2, 0))), ("(4,)", np.zeros(4)))
    return reals(*shapes, ("()", 0.0), *wrong)


def choices(allowed: str) -> list[Row]:
    """Return bad values for a choice among the allowed names."""
    return [
        *rows(ValueError, allowed, {"'halves' (str)": "halves", "'' (str)": ""}),
        *rows(TypeError, allowed, {"None (NoneType)": None, "2 (int)": 2}),
        *rows(TypeError, allowed, {"b'half' (bytes)": b"half", "['half']": ["half"]}),
    ]


LAYOUTS = choices('"interleaved", "half"')

FLAGS = rows(
    TypeError,
    "True or False",
    {"1 (int)": 1, "None (NoneType)": None, "'yes' (str)": "yes", "np.True_ (bool)": np.True_},
)

MASKS = [
    *rows(TypeError, "booleans", {"1 (int)": 1, "[0, 1] (list)": [0, 1], "array([1., 0.])": EYE}),
    *rows(TypeError, "booleans", {"'yes' (str)": "yes", "[[True], [True, False]]": RAGGED}),
    *rows(ValueError, "broadcast to the scores", {"(3, 2)": np.ones((3, 2), bool)}),
]

BIASES = [
    *rows(ValueError, "finite numbers or -inf", {"nan": [[np.nan]], "inf": [[0.0, np.inf]]}),
    *rows(ValueError, "broadcast to the scores", {"(3, 2)": np.ones((3, 2))}),
    *rows(TypeError, "finite numbers or -inf", NOT_REALS),
]

FREQUENCIES = [
    *rows(ValueError, "", {"(3,)": np.ones(3), "()": 1.0, "(4, 1)": np.ones((4, 1)), "-1": OUT}),
    *rows(ValueError, "", {"nan": [1.0, 1.0, 1.0, np.nan]}),
    *rows(TypeError, "", NOT_REALS),
]

FACTORS = [
    *rows(ValueError, "from 1 to 1e100", {"0": 0, "0.5": 0.5, "-2": -2, "1e+101": 1e101}),
    *rows(ValueError, "", NOT_FINITE),
    *rows(TypeError, NUMBER, NOT_REALS),
    *rows(TypeError, NUMBER, {"(1,)": [4.0], "(2, 1)": np.ones((2, 1))}),
]

TURNS = [
    *rows(ValueError, "", {"-1": -1, **NOT_FINITE}),
    *rows(TypeError, NUMBER, NOT_REALS),
    *rows(TypeError, NUMBER, {"(1,)": [4.0], "(0,)": []}),
]

TURNING = [
    *rows(ValueError, WIDTH, {"0": 0, "-2": -2, "5": 5}),
    *rows(ValueError, "at most 8, the width", {"10": 10}),
    *rows(TypeError, WIDTH, NOT_ONE_INTEGER),
]

DIVISORS = [
    *rows(
        ValueError, "(4,), one a pair", {"(3,)": np.ones(3), "()": 1.0, "(4, 1)": np.ones((4, 1))}
    ),
    *rows(ValueError, "1e-100 to 1e100", {"-1": OUT, "0": np.zeros(4), "1e+101": [1e101, 1, 1, 1]}),
    *rows(ValueError, "", {"nan": [1.0, 1.0, 1.0, np.nan]}),
    *rows(TypeError, "", NOT_REALS),
]

# Widths of heads with a fastest and a slowest pair.
SEVERAL = [
    *rows(ValueError, "an even integer, 4 or more", {"2": 2, "0": 0, "-4": -4, "7": 7}),
    *rows(TypeError, "an even integer, 4 or more", NOT_ONE_INTEGER),
]

RELATIVE = [
    *rows(ValueError, "2**53 in size", {"9007199254740992": 2**53, "9223372036854775808": 2**63}),
    *rows(TypeError, "integers", NOT_INTEGERS),
]

ROWS = [
    *rows(ValueError, "finite numbers or -inf", {"nan": [[0.0, np.nan]], "inf": [np.inf, -np.inf]}),
    *rows(ValueError, "", {"": [[10**400]]}),
    *rows(ValueError, "of shape (..., q + k - 1) with q = 3", {"()": 1.0, "(1,)": [1.0]}),
    *rows(TypeError, "", NOT_REALS),
    *rows(TypeError, "float16, float32 or float64", {"": np.ones(4, np.longdouble)}),
]

NARROW = np.zeros((4, 9), np.float32)
READ_ONLY = np.broadcast_to(np.float32(0), (4, 8))

OUTS = [
    *rows(TypeError, "a writeable float32 array of shape (4, 8)", {"float64": np.zeros((4, 8))}),
    *rows(TypeError, "", {"[[0.0]] (list)": [[0.0]], "None (": None, "0.0 (float)": 0.0}),
    *rows(TypeError, "", {"masked_array": np.ma.zeros((4, 8), np.float32)}),
    *rows(ValueError, "of shape (4, 8)", {"(4, 9)": NARROW, "(32,)": np.zeros(32, np.float32)}),
    *rows(ValueError, "writeable", {"a read-only shape (4, 8)": READ_ONLY}),
    *rows(ValueError, "in one piece", {"strides (4, 16)": np.zeros((8, 4), np.float32).T}),
    *rows(ValueError, "in one piece", {"strides (0, 4)": as_strided(NARROW, (4, 8), (0, 4))}),
]

ROTATED = [
    *rows(ValueError, "finite", {"nan": [0, np.nan], "inf": np.inf}),
    *rows(ValueError, FAR, TOO_FAR),
    *rows(ValueError, "broadcasts to (2, 3)", {"(4,)": np.arange(4), "(3, 2)": np.ones((3, 2))}),
    *rows(TypeError, REALS, NOT_REALS),
]

POINTS = [
    *rows(ValueError, REALS, {"nan": [[0, np.nan]], "inf": [[np.inf, 0]]}),
    *rows(ValueError, "", {"(0,)": [], "()": 1.0, "(2, 0)": np.ones((2, 0))}),
    *rows(ValueError, "2**53 in size", {"9.0072e+1": [[0, 2.0**53]], "1e+300": [[1e300, 0]]}),
    *rows(TypeError, REALS, NOT_REALS),
]

SECTIONS = [
    *rows(ValueError, "add up to 4", {"(2, 1)": (2, 1), "[2, 2, 2]": [2, 2, 2], "[]": []}),
    *rows(ValueError, "an integer, 0 or more", {"-1": [3, -1, 2]}),
    *rows(TypeError, "an integer", {"1.0 (float)": [2, 1.0, 1], "True": [2, True, 1]}),
    *rows(TypeError, "add up to", {"None": None, "4 (int)": 4, "'211' (str)": "211"}),
    *rows(TypeError, "add up to", {"array(4) (ndarray)": np.array(4)}),
]

MATRICES = [
    *rows(ValueError, "of shape (axes, 4)", {"(2, 3)": np.ones((2, 3)), "(4,)": np.ones(4)}),
    *rows(ValueError, "", {"()": 1.0, "(0, 4)": np.ones((0, 4)), "nan": np.full((2, 4), np.nan)}),
    *rows(TypeError, "", NOT_REALS),
    *rows(ValueError, "below 2**53 in size", {"1e+300": np.full((2, 4), -1e300)}),
]

PARTS = [
    *rows(ValueError, "an integer, 0 or more", {"-1": [2, -1]}),
    *rows(ValueError, "an integer, 1 or more", {"0": [(1, 0, 3)], "-2": [(-2, 1, 3)]}),
    *rows(ValueError, "triples", {"(2, 3) (tuple)": [(2, 3)], "[] (list)": [[]]}),
    *rows(TypeError, "an integer", {"1.5": [1.5], "None": [None], "True": [True], "'a'": ["a"]}),
    *rows(TypeError, "an integer", {"2.0": [(1, 2.0, 3)]}),
    *rows(TypeError, "triples", {"None": None, "3 (int)": 3, "'abc' (str)": "abc"}),
    *rows(TypeError, "triples", {"array(3) (ndarray)": np.array(3)}),
]

KERNELS = [
    *rows(ValueError, '"cubic", "linear"', {"'bicubic' (str)": "bicubic"}),
    *rows(TypeError, '"cubic", "linear"', {"None": None, "3 (int)": 3}),
]

SCALES = [
    *rows(ValueError, "above 0", {"0": 0, "-0.5": -0.5}),
    *rows(ValueError, NUMBER, NOT_FINITE),
    *rows(TypeError, NUMBER, NOT_REALS),
]

INTERVALS = [
    *rows(
        ValueError, "0 or more", {"-1": -1, "nan": np.nan, "inf": [np.inf], "shape (2,)": [1, 1]}
    ),
    *rows(TypeError, "0 or more", NOT_REALS),
]
DIRECTED = [
    *rows(ValueError, "of shape (nodes, nodes)", {"(2, 3)": np.ones((2, 3)), "()": 1.0}),
    *rows(ValueError, "of shape (nodes, nodes)", {"(4,)": np.ones(4), "(0, 0)": np.ones((0, 0))}),
    *rows(ValueError, "of shape (nodes, nodes)", {"(2, 2, 2)": np.ones((2, 2, 2))}),
    *rows(ValueError, "from 0 to 1e300", {"-1": -np.eye(2), "2e+300": [[0, 2e300], [2e300, 0]]}),
    *rows(ValueError, REALS, {"nan": [[np.nan, 0], [0, 0]], "inf": [[0, np.inf], [np.inf, 0]]}),
    *rows(TypeError, REALS, NOT_REALS),
]
GRAPHS = [
    *DIRECTED,
    *rows(ValueError, "symmetric", {"2 from node 0 to 1 and 1 back": [[0, 2], [1, 0]]}),
    *rows(ValueError, "symmetric", {"1 from node 0 to 1 and 0 back": np.eye(3, k=1)}),
]
PATH = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
WEAK = np.array([[0, 1, 0, 0], [1, 0, 1e-14, 0], [0, 1e-14, 0, 1], [0, 0, 1, 0]])
TREE = [
    *rows(ValueError, "from 0 to 1", {"2 (int)": [[0, 2]], "9": [[], [9]]}),
    *rows(ValueError, "an integer, 0 or more", {"-1": [[0, -1]]}),
    *rows(TypeError, "an integer, 0 or more", {"1.0 (float)": [[1.0]], "None": [[0, None]]}),
    *rows(TypeError, "an integer, 0 or more", {"True (bool)": [[True]], "'0'": [["0"]]}),
    *rows(TypeError, "sequences of integers", {"0 (int)": [0, 1], "'01' (str)": ["01"]}),
    *rows(TypeError, "a sequence of paths", {"None": None, "3 (int)": 3, "'01' (str)": "01"}),
]
POSITIVE = [
    *rows(ValueError, "a number above 0", {"0": 0, "-1": -1.0}),
    *rows(ValueError, NUMBER, NOT_FINITE),
    *rows(TypeError, NUMBER, NOT_REALS),
    *rows(TypeError, NUMBER, {"(1,)": [4.0], "(2, 1)": np.ones((2, 1))}),
]


def vectors(length: object = "heads", *, above: bool = True) -> list[Row]:
    """Return bad values for a vector, one number for each head or of a given length."""
    shapes = {"()": 1.0, "(0,)": [], "(2, 2)": np.ones((2, 2))}
    if length != "heads":
        shapes["(5,)"] = np.ones(5)
    return [
        *rows(ValueError, f"of shape ({length},)", shapes),
        *(rows(ValueError, "each above 0", {"0": [1.0, 0.0], "-2": [-2, 1]}) if above else []),
        *rows(ValueError, "", {"nan": [1.0, np.nan], "inf": [np.inf, 1.0], "": [10**400, 1]}),
        *rows(TypeError, "", NOT_REALS),
    ]


# An argument has one set of rules, unless a function is named before it.
BAD: dict[str, list[Row]] = {
    "d": WIDTHS,
    "d_model": WIDTHS,
    "embedding_dimension": WIDTHS,
    "base": BASES,
    "positions": POSITIONS,
    "offset": OFFSETS,
    "position": OFFSETS,
    "lag": LAGS,
    "dtype": DTYPES,
    "max_sequence_length": MAXIMA,
    "sequence_length": LENGTHS,
    "heads": SIZES,
    "key_heads": [*but_none(SIZES), *rows(ValueError, "divide the 2 heads", {"3": 3})],
    "window": SIZES,
    "rows": SIZES,
    "max_seq_len": SIZES,
    "seq_len": LENGTHS,
    "query_length": COUNTS,
    "key_length": but_none(COUNTS),
    "query_offset": COUNTS,
    "max_distance": COUNTS,
    "seed": but_none(COUNTS),
    "causal": FLAGS,
    "bidirectional": FLAGS,
    "layout": LAYOUTS,
    "source": LAYOUTS,
    "target": LAYOUTS,
    "arrangement": choices('"blocks", "groups"'),
    "ramp": choices('"turns", "pairs"'),
    "frequencies": but_none(FREQUENCIES),
    "rotary_d": but_none(TURNING),
    "factor": FACTORS,
    "trained_length": SIZES,
    "slow": TURNS,
    "fast": TURNS,
    "low": TURNS,
    "high": TURNS,
    "truncate": FLAGS,
    "mscale": TURNS,
    "short": DIVISORS,
    "long": DIVISORS,
    "length": SIZES,
    "ntk_frequencies.d": SEVERAL,
    "dynamic_frequencies.d": SEVERAL,
    "smallest_base.d": SEVERAL,
    "RotaryConfig.frequencies.length": but_none(SIZES),
    "config": [
        *rows(TypeError, "a mapping or the path of a file", {"None (NoneType)": None, "3 (": 3}),
        *rows(
            TypeError, "a mapping or the path of a file", {"[('head_dim', 8)]": [("head_dim", 8)]}
        ),
        *rows(ValueError, "have rotary positions", {"none, and model type": {}}),
    ],
    "layer_type": [
        *rows(TypeError, "a string or None", {"3 (int)": 3, "['a'] (list)": ["a"]}),
        *rows(
            ValueError,
            "None, as all layers are alike",
            {"'full_attention' (str)": "full_attention"},
        ),
    ],
    "smallest_base.length": [*SIZES, *rows(ValueError, "1 to 2**22", {"4194305": 2**22 + 1})],
    "proportional_frequencies.rotary_d": TURNING,
    "extended_base.length": [
        *rows(ValueError, "an integer, 256 or more", {"0": 0, "255": 255}),
        *rows(TypeError, "an integer, 256 or more", NOT_ONE_INTEGER),
    ],
    "extended_base.trained_length": [
        *SIZES,
        *rows(ValueError, "a pair completes a turn", {"6": 6}),
    ],
    "longrope_temperature.trained_length": [
        *rows(ValueError, "an integer, 2 or more", {"1": 1, "0": 0}),
        *rows(TypeError, "an integer, 2 or more", NOT_ONE_INTEGER),
    ],
    "relative": RELATIVE,
    "mask": but_none(MASKS),
    "bias": but_none(BIASES),
    "x": reals(("(2, 3, 7)", np.ones((2, 3, 7))), ("()", 1.0), ("(3, 0)", np.ones((3, 0)))),
    "q": reals(("(2,)", np.ones(2)), ("(2, 3)", np.ones((2, 3))), ("(2, 0)", np.ones((2, 0)))),
    "k": reals(("(2,)", np.ones(2)), ("(2, 3)", np.ones((2, 3)))),
    "v": reals(("(2,)", np.ones(2)), ("(3, 2)", np.ones((3, 2)))),
    "scores": reals(("(3,)", np.ones(3)), ("(4, 2)", np.ones((4, 2))), ("(0, 5)", np.ones((0, 5)))),
    "weight": reals(("()", 1.0), ("(6, 2)", np.ones((6, 2))), ("(2, 2, 2)", np.ones((2, 2, 2)))),
    "table": tables(),
    "tokens": reals(("(4,)", np.ones(4)), ("()", 1.0)),
    "token_embeddings": reals(("(2, 7)", np.ones((2, 7))), ("(8,)", np.ones(8))),
    "buckets": [
        *rows(ValueError, "an even integer, 4 or more", {"0": 0, "2": 2, "5": 5, "-8": -8}),
        *rows(TypeError, "an even integer, 4 or more", NOT_ONE_INTEGER),
    ],
    "t5_bias.table": tables(("3", np.ones((3, 2))), ("2", np.ones((2, 2)))),
    "swin_bias.table": tables(("(8, 2)", np.ones((8, 2)))),
    "t5_bucket_starts.max_distance": T5_ENDS,
    "t5_buckets.max_distance": T5_ENDS,
    "t5_bias.max_distance": T5_ENDS,
    "t5_rows.max_distance": T5_ENDS,
    "t5_rows.table": tables(("3", np.ones((3, 2))), ("2", np.ones((2, 2)))),
    "t5_rows.query_length": SIZES,
    "t5_rows.key_length": COUNTS,
    "alibi_rows.query_length": SIZES,
    "alibi_rows.key_length": COUNTS,
    "relative_row.query_length": SIZES,
    "relative_row.key_length": COUNTS,
    "relative_view.query_length": SIZES,
    "relative_view.rows": ROWS,
    "sinusoidal_table.length": COUNTS,
    "points": POINTS,
    "nerf_encoding.points": POINTS,
    "fourier_features.points": [
        *(row for row in POINTS if "2**53" not in row.allowed and row.error is ValueError),
        *rows(ValueError, "angles are below 2**53", {"2e+300": [[1e300, 0]]}),
        *rows(TypeError, REALS, NOT_REALS),
    ],
    "fourier_features.frequencies": [
        *rows(ValueError, "of shape (2, features)", {"(3, 4)": np.ones((3, 4)), "()": 1.0}),
        *rows(ValueError, "", {"(2, 0)": np.ones((2, 0)), "nan": np.full((2, 4), np.nan)}),
        *rows(TypeError, "", NOT_REALS),
    ],
    "first": [
        *rows(ValueError, '"sine", "cosine"', {"'sin' (str)": "sin"}),
        *rows(TypeError, '"sine", "cosine"', {"None": None, "True (bool)": True}),
    ],
    "features": SIZES,
    "deviation": [*SCALES, *rows(ValueError, "at most 1e300", {"1e+308": 1e308})],
    "bands": [*SIZES, *rows(ValueError, "from 1 to 50", {"51": 51})],
    "unit": [
        *rows(ValueError, "above 0", {"0": 0, "-1": -1}),
        *rows(ValueError, "below 2**53", {"1e+300": 1e300}),
        *rows(ValueError, NUMBER, NOT_FINITE),
        *rows(TypeError, NUMBER, NOT_REALS),
    ],
    "grouped": [
        *rows(ValueError, '"coordinates", "bands"', {"'axes' (str)": "axes"}),
        *rows(TypeError, '"coordinates", "bands"', {"None": None}),
    ],
    "timesteps": [
        *rows(ValueError, REALS, {"nan": np.nan, "inf": [0, np.inf]}),
        *rows(ValueError, "2**53 in size", TOO_FAR),
        *rows(TypeError, REALS, NOT_REALS),
    ],
    "shift": [
        *rows(ValueError, "from 0 to below 4", {"-1": -1, "4": 4, "7": 7}),
        *rows(ValueError, "from 1e-300 to 1e300", {"3.999": 3.999}),
        *rows(ValueError, NUMBER, NOT_FINITE),
        *rows(TypeError, NUMBER, NOT_REALS),
    ],
    "graph_laplacian.adjacency": GRAPHS,
    "laplacian_eigenvectors.adjacency": [
        *GRAPHS,
        *rows(ValueError, "hang together", {"an eigenvalue of": WEAK}),
    ],
    "laplacian_eigenvectors.k": [
        *rows(ValueError, "an integer, 1 or more", {"0": 0, "-1": -1}),
        *rows(ValueError, "at most 2", {"3 for 3 nodes in 1": 3, "9": np.int8(9)}),
        *rows(TypeError, "an integer, 1 or more", NOT_ONE_INTEGER),
    ],
    "normalized": FLAGS,
    "random_walk_encoding.adjacency": DIRECTED,
    "steps": SIZES,
    "graph_distances.adjacency": DIRECTED,
    "graphormer_index.distances": [
        *RELATIVE,
        *rows(ValueError, "0 or more, or -1", {"-2": [0, -2], "-9": -9}),
    ],
    "graphormer_bias.table": [*tables(), *rows(ValueError, "2 rows", {"(1, 2)": np.ones((1, 2))})],
    "graphormer_bias.distances": [
        *RELATIVE,
        *rows(ValueError, "0 or more, or -1", {"-2": [[0, -2]]}),
        *rows(ValueError, "of shape (query, key)", {"(2,)": [0, 1], "()": 1}),
    ],
    "centrality_rows.table": tables(),
    "degrees": [*RELATIVE, *rows(ValueError, "0 or more", {"-1": [3, -1]})],
    "paths": TREE,
    "branches": SIZES,
    "depth": SIZES,
    "decays": [
        *rows(ValueError, "between -1 and 1", {"1": [0.5, 1.0], "2": [-2]}),
        *rows(ValueError, "of shape (features,)", {"()": 0.5, "(0,)": [], "(1, 2)": [[0.5, 0.5]]}),
        *rows(ValueError, REALS, {"nan": [np.nan]}),
        *but_none(rows(TypeError, REALS, NOT_REALS)),
    ],
    "resize_weights.source": SIZES,
    "resize_weights.target": SIZES,
    "resize_weights.kernel": KERNELS,
    "resize_grid.kernel": KERNELS,
    "corners": FLAGS,
    "antialias": FLAGS,
    "resize_weights.scale": [
        *but_none(SCALES),
        *rows(ValueError, "large enough", {"1e-30": 1e-30, "1e-320": 1e-320}),
    ],
    "grid": reals(("()", 1.0), ("(3,)", np.ones(3)), ("(0, 2)", np.ones((0, 2)))),
    "resize_grid.sizes": [
        *rows(ValueError, "an integer, 1 or more", {"0": [0, 2], "-1": (3, -1)}),
        *rows(ValueError, "a sequence of 2", {"[3] (list)": [3], "(1, 2, 3)": (1, 2, 3)}),
        *rows(TypeError, "an integer", {"2.0": [2.0, 3], "None": [2, None]}),
        *rows(TypeError, "a sequence of 2", {"3 (int)": 3, "'23' (str)": "23", "None": None}),
        *rows(TypeError, "a sequence of 2", {"array(3) (ndarray)": np.array(3)}),
        *rows(TypeError, "an integer, 1 or more", {"[1, 2] (list)": [3, [1, 2]]}),
    ],
    "scales": [
        *rows(ValueError, "above 0", {"0": [0, 1], "-1": [1, -1]}),
        *rows(ValueError, "a sequence of 2", {"[2] (list)": [2]}),
        *rows(ValueError, NUMBER, {"nan": [np.nan, 1]}),
        *rows(TypeError, NUMBER, {"'2' (str)": ["2", 1]}),
        *rows(TypeError, "a sequence of 2", {"2 (int)": 2, "'22'": "22"}),
    ],
    "sizes": [
        *rows(ValueError, "an integer, 1 or more", {"0": [0, 2], "-1": (3, -1)}),
        *rows(ValueError, "one integer for each axis", {"[] (list)": []}),
        *rows(TypeError, "an integer", {"2.0": [2.0], "True": [True], "None": [None]}),
        *rows(TypeError, "sequence of integers", {"3 (int)": 3, "'23' (str)": "23", "None": None}),
        *rows(TypeError, "sequence of integers", {"array(3) (ndarray)": np.array(3)}),
        *rows(ValueError, "at most 2**53 places", {"1099511627776": (2**40, 2**40)}),
    ],
    "sinusoidal_encoding_nd.positions": POINTS,
    "sinusoidal_encoding_nd.d_model": [
        *rows(ValueError, "an integer, 4 or more", {"0": 0, "2": 2, "-4": -4}),
        *rows(ValueError, "a multiple of 4", {"6": 6, "9": np.int16(9)}),
        *rows(TypeError, "an integer, 4 or more", NOT_ONE_INTEGER),
    ],
    "sinusoidal_encoding_nd.order": [
        *rows(ValueError, "", {"'half' (str)": "half"}),
        *rows(TypeError, "", {"None": None, "2 (int)": 2}),
    ],
    "apply_rope_nd.positions": [*POINTS, *rows(ValueError, "", {"(3, 3)": np.ones((3, 3))})],
    "apply_rope_nd.frequencies": MATRICES,
    "rotary_matrix.frequencies": MATRICES,
    "axial_frequencies.d": [
        *rows(ValueError, "an integer, 4 or more", {"0": 0, "2": 2}),
        *rows(ValueError, "a multiple of 4", {"6": 6}),
        *rows(TypeError, "an integer", NOT_ONE_INTEGER),
    ],
    "axes": SIZES,
    "turns": FLAGS,
    "mixed_frequencies.d": [
        *rows(ValueError, "a multiple of 4", {"6": 6}),
        *rows(TypeError, "an integer", NOT_ONE_INTEGER),
    ],
    "angles": [
        *rows(ValueError, REALS, {"nan": np.nan, "inf": [np.inf]}),
        *rows(TypeError, REALS, NOT_REALS),
    ],
    "sections": SECTIONS,
    "interleaved": FLAGS,
    "parts": PARTS,
    "intervals": INTERVALS,
    "after": [
        *rows(ValueError, '"largest", "sides"', {"'next' (str)": "next"}),
        *rows(TypeError, '"largest", "sides"', {"None": None, "1 (int)": 1}),
    ],
    "sinusoidal_table.dtype": [
        *(row._replace(allowed="float32 or float64") for row in DTYPES),
        *rows(TypeError, "float32 or float64", {"float16": np.float16}),
    ],
    "out": but_none(OUTS),
    "counting_encoding.d_model": SIZES,
    "no_encoding.d_model": SIZES,
    "LearnedPositionalEmbedding.d_model": SIZES,
    "apply_rope.positions": ROTATED,
    "apply_rope_complex.positions": ROTATED,
    "add.positions": reals(("(4, 8)", np.ones((4, 8))), ("(3, 1)", np.ones((3, 1)))),
    "concatenate.positions": reals(("(4, 8)", np.ones((4, 8))), ("(3,)", np.ones(3))),
    "scale": vectors(),
    "kerple_log_bias.rate": vectors(2),
    "exponent": [*vectors(2), *rows(ValueError, "up to 2", {"2.5": [1.0, 2.5]})],
    "rate": POSITIVE,
    "threshold": POSITIVE,
    "scale_base": POSITIVE,
    "gamma": POSITIVE,
    "width": WIDTHS,
    "role": choices('"query", "key"'),
    "apply_xpos.positions": [
        *ROTATED,
        *rows(ValueError, "from 1e-100 to 1e100", {"2e+06": [0, 2e6, 0]}),
    ],
    "shares": reals(("(3,)", np.ones(3)), ("(1, 1, 3)", np.ones((1, 1, 3)))),
    "first_weight": vectors(2, above=False),
    "first_bias": vectors(2, above=False),
    "second_weight": tables(),
    "second_bias": vectors(1, above=False),
    "random_positions.length": [
        *rows(ValueError, COUNT, {"-1": -1}),
        *rows(TypeError, COUNT, NOT_ONE_INTEGER),
    ],
    "longest": [
        *rows(ValueError, "an integer, 4 or more", {"3": 3, "-1": -1}),
        *rows(TypeError, "an integer, 4 or more", NOT_ONE_INTEGER),
    ],
    "pose_positions.length": [
        *rows(ValueError, "an integer, 2 or more", {"1": 1, "0": 0}),
        *rows(TypeError, "an integer, 2 or more", NOT_ONE_INTEGER),
    ],
    "chunks": [*SIZES],
    "group": SIZES,
    "sinks": COUNTS,
    "step": [
        *rows(ValueError, "from 0 to 1", {"-0.5": -0.5, "2": 2}),
        *rows(ValueError, NUMBER, NOT_FINITE),
        *rows(TypeError, NUMBER, NOT_REALS),
    ],
    "log_scale.positions": POSITIONS,
    "log_scale.trained_length": [
        *rows(ValueError, "an integer, 2 or more", {"1": 1}),
        *rows(TypeError, "an integer, 2 or more", NOT_ONE_INTEGER),
    ],
    "cope_positions.scores": reals(("(3,)", np.ones(3)), ("(3, 2)", np.ones((3, 2)))),
    "cope_scores.scores": reals(("(3,)", np.ones(3)), ("(3, 2)", np.ones((3, 2)))),
    "cope_scores.table": tables(("(3, 5)", np.ones((3, 5)))),
    "log_gates": reals(("one number", -1.0), ("0.5", [-1, 0.5])),
    "layers": SIZES,
    "model_type": choices('"cohere2", "gemma2", "gemma3_text"'),
    "forgetting_bias.query_length": but_none(COUNTS),
    "path_scores.q": reals(("(2,)", np.ones(2)), ("(2, 3)", np.ones((2, 3)))),
    "direction": reals(("(2, 3)", np.ones((2, 3))), ("one", [[1, 0], [0, 0]])),
    "strength": reals(("(3,)", np.ones(3)), ("2.5", [0, 2.5]), ("-1", [-1, 2.5])),
    "dape_bias.scores": reals(("(2, 3)", np.ones((2, 3))), ("(1, 3, 3)", np.ones((1, 3, 3)))),
    "dape_bias.bias": reals(("(2, 3)", np.ones((2, 3))), ("(2, 2, 3)", np.ones((2, 2, 3)))),
    "dape_bias.first_weight": tables(("(1, 3)", np.ones((1, 3)))),
    "dape_bias.first_bias": vectors(1, above=False),
    "dape_bias.second_weight": tables(("(1, 3)", np.ones((1, 3))), ("(2, 1)", np.ones((2, 1)))),
    "deberta_index.max_distance": SIZES,
    "deberta_buckets.max_distance": [
        *rows(ValueError, "an integer, 130 or more", {"129": 129, "0": 0}),
        *rows(TypeError, "an integer, 130 or more", NOT_ONE_INTEGER),
    ],
    "disentangled_scores.relative": [
        *RELATIVE,
        *rows(ValueError, "(2, 2)", {"(1, 3)": [[1, 2, 3]]}),
    ],
    "released": FLAGS,
    "position_q": reals(("(3, 2)", np.ones((3, 2))), ("(2,)", [1, 2]), ("(6, 2)", np.ones((6, 2)))),
    "position_k": reals(("(3, 3)", np.ones((3, 3))), ("(2,)", [1, 2]), ("(7, 2)", np.ones((7, 2)))),
    "tupe_bias.rows": tables(("(3, 5)", np.ones((3, 5)))),
    "tupe_bias.heads": [*SIZES, *rows(ValueError, "fit", {"3": 3})],
    "query_weight": tables(("(5, 4)", np.ones((5, 4))), ("(4, 6)", np.ones((4, 6)))),
    "key_weight": tables(("(5, 4)", np.ones((5, 4))), ("(4, 6)", np.ones((4, 6)))),
    "untied_bias.bias": reals(("(3, 3)", np.ones((3, 3))), ("(0, 3, 3)", np.ones((0, 3, 3)))),
    "from_first": vectors(1, above=False),
    "to_first": vectors(1, above=False),
    "transformer_xl_rows.query_length": SIZES,
    "transformer_xl_rows.key_length": COUNTS,
    "content_bias": reals(("(3,)", np.ones(3)), ("()", 1.0), ("(2, 2)", np.ones((2, 2)))),
    "position_bias": reals(("(3,)", np.ones(3)), ("()", 1.0), ("(2, 2)", np.ones((2, 2)))),
    "trained_window": but_none(
        [
            *rows(ValueError, "an integer, 2 or more", {"1": 1, "0": 0}),
            *rows(TypeError, "an integer, 2 or more", NOT_ONE_INTEGER),
        ]
    ),
    "LearnedPositionalEmbedding.forward.positions": but_none(
        [
            *rows(ValueError, "from 0 to 3", {"-1": [0, 1, -1], "4": [0, 1, 4]}),
            *rows(ValueError, "of shape", {"(2,)": [0, 1], "(3, 2)": np.ones((3, 2), int)}),
            *rows(TypeError, "integers from 0 to 3", NOT_INTEGERS),
        ]
    ),
}

ROPE: dict[str, object] = {"x": np.ones((2, 3, 8)), "positions": [0, 1, 2]}
TOKENS = np.ones((2, 3, 8))
PLANE = posenc.axial_frequencies(8)
CONFIG = {"head_dim": 8, "rope_theta": 1e4}
LEARNED = posenc.LearnedPositionalEmbedding(4, 8, seed=0)

# Every public function, class and method, with arguments that are good.
CALLS: dict[str, tuple[Call, dict[str, object]]] = {
    "frequencies": (posenc.frequencies, {"d": 8}),
    "wavelengths": (posenc.wavelengths, {"d": 8}),
    "sinusoidal_encoding": (posenc.sinusoidal_encoding, {"positions": 4, "d_model": 8}),
    "shift_matrix": (posenc.shift_matrix, {"offset": 3, "d_model": 8}),
    "similarity": (posenc.similarity, {"lag": 3, "d_model": 8}),
    "PositionalEncoding": (
        posenc.PositionalEncoding,
        {"max_sequence_length": 4, "embedding_dimension": 8},
    ),
    "PositionalEncoding.get_encoding": (
        posenc.PositionalEncoding(4, 8).get_encoding,
        {"sequence_length": 2},
    ),
    "LearnedPositionalEmbedding": (
        posenc.LearnedPositionalEmbedding,
        {"max_seq_len": 4, "d_model": 8},
    ),
    "LearnedPositionalEmbedding.get_embeddings": (LEARNED.get_embeddings, {"seq_len": 2}),
    "LearnedPositionalEmbedding.forward": (LEARNED.forward, {"token_embeddings": TOKENS}),
    "resize_table": (posenc.resize_table, {"table": np.ones((4, 2)), "rows": 3}),
    "counting_encoding": (posenc.counting_encoding, {"positions": 4, "d_model": 3}),
    "no_encoding": (posenc.no_encoding, {"positions": 4, "d_model": 3}),
    "add": (posenc.add, {"tokens": TOKENS, "positions": TOKENS[0]}),
    "concatenate": (posenc.concatenate, {"tokens": TOKENS, "positions": TOKENS[0]}),
    "apply_rope": (posenc.apply_rope, ROPE),
    "apply_rope_complex": (posenc.apply_rope_complex, ROPE),
    "rope_matrix": (posenc.rope_matrix, {"position": 3, "d": 8}),
    "rotary_frequencies": (posenc.rotary_frequencies, {"d": 8}),
    "interpolated_frequencies": (posenc.interpolated_frequencies, {"d": 8, "factor": 4}),
    "ntk_frequencies": (posenc.ntk_frequencies, {"d": 8, "factor": 4}),
    "yarn_frequencies": (
        posenc.yarn_frequencies,
        {"d": 8, "factor": 4, "trained_length": 256, "ramp": "pairs"},
    ),
    "yarn_temperature": (posenc.yarn_temperature, {"factor": 4}),
    "dynamic_frequencies": (
        posenc.dynamic_frequencies,
        {"d": 8, "length": 300, "factor": 4, "trained_length": 256},
    ),
    "llama3_frequencies": (
        posenc.llama3_frequencies,
        {"d": 8, "factor": 4, "trained_length": 256},
    ),
    "longrope_frequencies": (
        posenc.longrope_frequencies,
        {"d": 8, "length": 300, "short": np.ones(4), "long": np.ones(4), "trained_length": 256},
    ),
    "longrope_temperature": (posenc.longrope_temperature, {"factor": 4, "trained_length": 256}),
    "proportional_frequencies": (posenc.proportional_frequencies, {"d": 8, "rotary_d": 4}),
    "RotaryConfig": (posenc.RotaryConfig, {"config": CONFIG}),
    "RotaryConfig.frequencies": (posenc.read_config(CONFIG).frequencies, {}),
    "read_config": (posenc.read_config, {"config": CONFIG}),
    "smallest_base": (posenc.smallest_base, {"d": 8, "length": 8}),
    "critical_dimension": (posenc.critical_dimension, {"d": 8, "trained_length": 256}),
    "extended_base": (
        posenc.extended_base,
        {"d": 8, "length": 300, "trained_length": 256},
    ),
    "convert_layout": (
        posenc.convert_layout,
        {"x": TOKENS, "source": "half", "target": "interleaved"},
    ),
    "convert_projection": (
        posenc.convert_projection,
        {"weight": np.ones((16, 3)), "heads": 2, "source": "half", "target": "interleaved"},
    ),
    "convert_qkv": (
        posenc.convert_qkv,
        {"weight": np.ones((48, 3)), "heads": 2, "source": "half", "target": "interleaved"},
    ),
    "attention": (posenc.attention, {"q": np.eye(2), "k": np.eye(2), "v": np.eye(2)}),
    "causal_mask": (posenc.causal_mask, {"query_length": 3}),
    "relative_positions": (posenc.relative_positions, {"query_length": 3, "key_length": 4}),
    "shaw_index": (posenc.shaw_index, {"relative": [-3, 0, 3], "max_distance": 2}),
    "relative_shift": (posenc.relative_shift, {"scores": np.ones((2, 4))}),
    "t5_bucket_starts": (posenc.t5_bucket_starts, {}),
    "t5_buckets": (posenc.t5_buckets, {"relative": [-3, 0, 3]}),
    "t5_bias": (posenc.t5_bias, {"table": np.ones((32, 2)), "relative": [[-3, 0, 3]]}),
    "swin_index": (posenc.swin_index, {"window": 2}),
    "swin_bias": (posenc.swin_bias, {"table": np.ones((9, 2)), "window": 2}),
    "alibi_slopes": (posenc.alibi_slopes, {"heads": 6}),
    "alibi_bias": (posenc.alibi_bias, {"heads": 6, "query_length": 3}),
    "alibi_rows": (posenc.alibi_rows, {"heads": 6, "query_length": 3, "key_length": 3}),
    "t5_rows": (
        posenc.t5_rows,
        {"table": np.ones((32, 2)), "query_length": 3, "key_length": 3},
    ),
    "relative_row": (posenc.relative_row, {"query_length": 3, "key_length": 4}),
    "relative_view": (posenc.relative_view, {"rows": np.ones((2, 6)), "query_length": 3}),
    "sinusoidal_table": (posenc.sinusoidal_table, {"length": 4, "d_model": 8}),
    "grid_positions": (posenc.grid_positions, {"sizes": (2, 3)}),
    "sinusoidal_encoding_nd": (
        posenc.sinusoidal_encoding_nd,
        {"positions": [[0, 1], [2, 3]], "d_model": 8},
    ),
    "apply_rope_nd": (
        posenc.apply_rope_nd,
        {"x": np.ones((3, 8)), "positions": [[0, 0], [0, 1], [1, 0]], "frequencies": PLANE},
    ),
    "axial_frequencies": (posenc.axial_frequencies, {"d": 8}),
    "mixed_frequencies": (posenc.mixed_frequencies, {"d": 8, "angles": 0.5}),
    "resize_weights": (posenc.resize_weights, {"source": 4, "target": 3}),
    "resize_grid": (posenc.resize_grid, {"grid": np.ones((4, 4, 2)), "sizes": (3, 5)}),
    "graph_laplacian": (posenc.graph_laplacian, {"adjacency": PATH}),
    "laplacian_eigenvectors": (posenc.laplacian_eigenvectors, {"adjacency": PATH, "k": 2}),
    "random_walk_encoding": (posenc.random_walk_encoding, {"adjacency": PATH, "steps": 3}),
    "graph_distances": (posenc.graph_distances, {"adjacency": PATH}),
    "graphormer_index": (posenc.graphormer_index, {"distances": [0, 2, -1], "max_distance": 2}),
    "graphormer_bias": (
        posenc.graphormer_bias,
        {"table": np.ones((4, 2)), "distances": [[0, 2, -1]]},
    ),
    "centrality_rows": (posenc.centrality_rows, {"table": np.ones((4, 2)), "degrees": [0, 7]}),
    "tree_choices": (posenc.tree_choices, {"paths": [[], [0, 1]], "branches": 2, "depth": 3}),
    "tree_encoding": (posenc.tree_encoding, {"paths": [[], [0, 1]], "branches": 2, "depth": 3}),
    "fourier_features": (
        posenc.fourier_features,
        {"points": [[0, 1], [2, 3]], "frequencies": np.ones((2, 4))},
    ),
    "gaussian_frequencies": (
        posenc.gaussian_frequencies,
        {"features": 4, "axes": 2, "deviation": 1.0},
    ),
    "nerf_encoding": (posenc.nerf_encoding, {"points": [[0, 1], [2, 3]], "bands": 4}),
    "timestep_embedding": (posenc.timestep_embedding, {"timesteps": [0, 1], "d_model": 8}),
    "rotary_matrix": (posenc.rotary_matrix, {"frequencies": PLANE, "d": 8}),
    "mrope_frequencies": (posenc.mrope_frequencies, {"d": 8, "sections": (2, 1, 1)}),
    "mrope_positions": (posenc.mrope_positions, {"parts": [2, (1, 2, 3), 1]}),
    "alibi_key_bias": (posenc.alibi_key_bias, {"heads": 6, "key_length": 3}),
    "kerple_log_bias": (
        posenc.kerple_log_bias,
        {"scale": [1.0, 2.0], "rate": [1.0, 0.5], "relative": [[-3, 0, 3]]},
    ),
    "kerple_power_bias": (
        posenc.kerple_power_bias,
        {"scale": [1.0, 2.0], "exponent": [2.0, 0.5], "relative": [[-3, 0, 3]]},
    ),
    "sandwich_bias": (posenc.sandwich_bias, {"heads": 2, "relative": [[-3, 0, 3]]}),
    "fire_shares": (posenc.fire_shares, {"query_length": 3}),
    "fire_bias": (
        posenc.fire_bias,
        {
            "shares": [[0.0, 0.5, 1.0]],
            "first_weight": [1.0, 2.0],
            "first_bias": [0.0, 0.5],
            "second_weight": [[1.0, -1.0]],
            "second_bias": [0.0],
        },
    ),
    "random_positions": (posenc.random_positions, {"length": 4, "longest": 9}),
    "pose_positions": (posenc.pose_positions, {"length": 4, "longest": 9}),
    "self_extend_relative": (
        posenc.self_extend_relative,
        {"query_length": 3, "key_length": 3, "window": 2, "group": 2},
    ),
    "rerope_relative": (
        posenc.rerope_relative,
        {"query_length": 3, "key_length": 3, "window": 2},
    ),
    "sink_mask": (posenc.sink_mask, {"query_length": 3, "window": 2}),
    "log_scale": (posenc.log_scale, {"positions": 4, "trained_length": 9}),
    "cope_positions": (posenc.cope_positions, {"scores": np.zeros((2, 3))}),
    "cope_scores": (
        posenc.cope_scores,
        {"q": np.zeros((2, 2)), "scores": np.zeros((2, 3)), "table": np.zeros((4, 2))},
    ),
    "layer_types": (posenc.layer_types, {"model_type": "llama4_text", "layers": 4}),
    "rotating_layers": (posenc.rotating_layers, {"model_type": "smollm3", "layers": 4}),
    "forgetting_bias": (posenc.forgetting_bias, {"log_gates": [-1.0, 0.0, -2.0]}),
    "path_scores": (
        posenc.path_scores,
        {"q": np.eye(2), "k": np.eye(2), "direction": np.eye(2), "strength": [0, 2]},
    ),
    "dape_bias": (
        posenc.dape_bias,
        {
            "scores": np.zeros((1, 2, 3)),
            "bias": np.zeros((1, 2, 3)),
            "first_weight": [[1.0, 2.0]],
            "first_bias": [0.0],
            "second_weight": [[1.0]],
            "second_bias": [0.0],
        },
    ),
    "deberta_index": (posenc.deberta_index, {"relative": [-3, 0, 3], "max_distance": 2}),
    "deberta_buckets": (posenc.deberta_buckets, {"relative": [-300, 0, 300]}),
    "disentangled_scores": (
        posenc.disentangled_scores,
        {
            "q": np.eye(2),
            "k": np.eye(2),
            "relative": [[0, 1], [-1, 0]],
            "position_q": np.ones((4, 2)),
            "position_k": np.ones((4, 2)),
        },
    ),
    "tupe_bias": (
        posenc.tupe_bias,
        {"rows": np.ones((3, 4)), "query_weight": np.eye(4), "key_weight": np.eye(4), "heads": 2},
    ),
    "untied_bias": (
        posenc.untied_bias,
        {"bias": np.zeros((1, 3, 3)), "from_first": [1.0], "to_first": [2.0]},
    ),
    "transformer_xl_rows": (
        posenc.transformer_xl_rows,
        {"query_length": 2, "key_length": 3, "d_model": 8},
    ),
    "transformer_xl_scores": (
        posenc.transformer_xl_scores,
        {
            "q": np.eye(2),
            "k": np.eye(2),
            "position_k": np.ones((3, 2)),
            "content_bias": [0.0, 1.0],
            "position_bias": [[1.0, 0.0]],
        },
    ),
    "swin_log_offsets": (posenc.swin_log_offsets, {"window": 2}),
    "xpos_decay": (posenc.xpos_decay, {"d": 8}),
    "apply_xpos": (posenc.apply_xpos, {**ROPE, "role": "query"}),
}


def bad_values(name: str, argument: str) -> list[Row]:
    """Return the values that one argument of one function must refuse."""
    return BAD.get(f"{name}.{argument}", BAD.get(argument, []))


def arguments(call: Call) -> list[str]:
    """Return the names of the arguments of a function, class or method."""
    return list(inspect.signature(call).parameters)


def cases() -> Iterator[tuple[str, str]]:
    """Yield every function and argument that has bad values."""
    for name, (call, _) in CALLS.items():
        for argument in arguments(call):
            if bad_values(name, argument):
                yield name, argument


@pytest.mark.parametrize(("name", "argument"), list(cases()))
def test_refusals_name_what_was_given_and_what_is_allowed(name: str, argument: str) -> None:
    call, good = CALLS[name]
    # An argument may be named with another that it has to fit, as q and k are.
    named = rf"(?:\w+(?:,| and) )*{argument}(?:(?:,| and) \w+)*"
    for row in bad_values(name, argument):
        with pytest.raises((TypeError, ValueError)) as refusal:
            pytest.fail(f"{row.shown} gave {call(**{**good, argument: row.value})}")
        assert refusal.type is row.error, row.shown
        message = re.fullmatch(rf"{named} must (.+?); got (.+)", str(refusal.value))
        assert message, (row.shown, str(refusal.value))
        allowed, shown = message.groups()
        assert row.allowed in allowed, row.shown
        assert row.shown in shown, row.shown
        assert len(str(refusal.value)) < 200, row.shown


def public_names() -> Iterator[str]:
    """Yield every public function, class and method."""
    for name in posenc.__all__:
        yield name
        if inspect.isclass(vars(posenc)[name]):
            methods = inspect.getmembers(vars(posenc)[name], inspect.isfunction)
            yield from (f"{name}.{method}" for method, _ in methods if method[0] != "_")


@pytest.mark.parametrize("name", [*public_names()])
def test_every_argument_of_every_public_name_has_bad_values_here(name: str) -> None:
    call, good = CALLS[name]
    call(**good)
    assert [argument for argument in arguments(call) if not bad_values(name, argument)] == []


@pytest.mark.parametrize("width", [8, np.int16(8), np.uint64(8), np.array(8)])
def test_a_width_may_be_any_kind_of_integer(width: int) -> None:
    np.testing.assert_array_equal(posenc.frequencies(width), posenc.frequencies(8))


@pytest.mark.parametrize("base", [100, 100.0, np.float16(100), np.uint8(100), np.array(100)])
def test_a_base_may_be_any_kind_of_number(base: float) -> None:
    np.testing.assert_array_equal(
        posenc.frequencies(8, base=base), posenc.frequencies(8, base=100.0)
    )


def test_positions_may_be_any_integer_below_2_to_the_53() -> None:
    for farthest in (2**53 - 1, 1 - 2**53):
        assert np.isfinite(posenc.sinusoidal_encoding(np.array(farthest), 8)).all()
        assert np.isfinite(posenc.similarity(farthest, 8)).all()
        assert np.isfinite(posenc.shift_matrix(farthest, 8)).all()


def test_above_one_radian_per_position_the_limit_is_on_the_angle() -> None:
    fast = posenc.frequencies(8, base=1e-300)[-1]
    with pytest.raises(ValueError, match=r"^lag must be .*2\*\*53 in size.*; got 1 with "):
        posenc.similarity(1, 8, base=1e-300)
    assert np.isfinite(posenc.similarity(1 / fast, 8, base=1e-300))


@pytest.mark.parametrize("lag", [1e300, -1e300])
def test_an_angle_beyond_float64_is_refused_without_a_warning(lag: float) -> None:
    with pytest.raises(ValueError, match=r"^lag must be "):
        posenc.similarity(lag, 8, base=1e-300)


def test_a_long_value_is_shortened_in_the_message() -> None:
    with pytest.raises(TypeError, match=r"\.\.\. \(Stranger\)$"):
        posenc.frequencies(Stranger())  # type: ignore[arg-type]


# Integers that say how large a result is

GIVEN: dict[str, Any] = {
    "adjacency": [[0, 1], [1, 0]], "angles": [0.0, 1.0], "axes": 2, "bands": 4, "branches": 2,
    "chunks": 2, "d": 8, "d_model": 8, "depth": 3, "deviation": 1.0, "embedding_dimension": 8,
    "factor": 2.0, "features": 8, "grid": np.ones((2, 2, 3)), "group": 2, "heads": 4, "k": 1,
    "key_length": 8, "lag": 1, "length": 8, "long": np.ones(4), "longest": 16, "max_seq_len": 8,
    "max_sequence_length": 8, "offset": 1.0, "paths": [[0, 1]], "points": np.ones((3, 2)),
    "position": 1.0, "positions": 4, "query_length": 8, "relative": [[0, 1]], "rotary_d": 4,
    "rows": 4, "sections": (2, 2), "short": np.ones(4), "sizes": (2, 2), "source": 4, "steps": 2,
    "table": np.ones((32, 2)), "target": 4, "timesteps": [1.0], "trained_length": 16, "window": 4,
}  # fmt: skip
ENDLESS = {("random_walk_encoding", "steps")}  # as many products of matrices, which are not stored


def sized() -> Iterator[tuple[str, str]]:
    """Yield each public function with each of its integers, where the rest is in `GIVEN`."""
    for name in posenc.__all__:
        function = getattr(posenc, name)
        if not callable(function) or function is posenc.RotaryConfig:
            continue
        given = inspect.signature(function).parameters.values()
        if any(one.default is one.empty and one.name not in GIVEN for one in given):
            continue
        for one in given:
            if re.match(r"int\b", str(one.annotation)) and (name, one.name) not in ENDLESS:
                yield name, one.name


@pytest.mark.parametrize(("name", "argument"), [*sized()])
def test_a_result_too_large_for_numpy_is_refused_by_name_or_by_memory(
    name: str, argument: str
) -> None:
    """No machine has room for 2**53 entries, and numpy's own words name no argument."""
    function = getattr(posenc, name)
    given = inspect.signature(function).parameters
    others = {key: GIVEN[key] for key, one in given.items() if one.default is one.empty}
    try:
        function(**others | {argument: 2**53})  # a seed or a distance may be as large
    except MemoryError:
        pass
    except ValueError as error:
        assert str(error).split()[0] in given, error


@pytest.mark.parametrize("window", [2**14, 2**31, 2**53])
def test_a_window_too_large_is_named(window: int) -> None:
    said = f"window must give a result of at most 2**53 entries; got {window}"
    for call in (posenc.swin_index, lambda window: posenc.swin_bias(np.ones((9, 1)), window)):
        with pytest.raises(ValueError, match=re.escape(said)):
            call(window)
    with pytest.raises(ValueError, match="max_seq_len and d_model must give a result of at most"):
        posenc.LearnedPositionalEmbedding(2**40, 2**40)
