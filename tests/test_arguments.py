"""Bad input is refused: every argument of every public name, and what the refusal says.

A message names the argument, what is allowed and what was given: `d must be an even integer,
2 or more; got 7`. Nothing else may come out, neither another exception nor a numpy warning.
"""

from __future__ import annotations

import inspect
import re
from collections import deque
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest

import posenc

pytestmark = pytest.mark.filterwarnings("error")

Call = Callable[..., object]


class Row(NamedTuple):
    """One bad value: what must be raised, what is allowed, what the message shows of it."""

    error: type[Exception]
    allowed: str
    shown: str
    value: object


def rows(error: type[Exception], allowed: str, values: dict[str, object]) -> list[Row]:
    """Return a row for each value, keyed by what the message must show of it."""
    return [Row(error, allowed, shown, value) for shown, value in values.items()]


class Stranger:
    """An object that is no number of any kind."""

    def __repr__(self) -> str:
        """Say so, at a length that a message must cut."""
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

# An argument has one set of rules, whichever function takes it.
BAD: dict[str, list[Row]] = {
    "d": WIDTHS,
    "d_model": WIDTHS,
    "embedding_dimension": WIDTHS,
    "base": BASES,
    "positions": POSITIONS,
    "offset": OFFSETS,
    "lag": LAGS,
    "dtype": DTYPES,
    "max_sequence_length": MAXIMA,
    "sequence_length": LENGTHS,
}

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
}


def arguments(call: Call) -> list[str]:
    """Return the names of what a function, a class or a method takes."""
    return list(inspect.signature(call).parameters)


def cases() -> Iterator[object]:
    """Yield every function, argument and bad value, under a name that says which."""
    for name, (call, _) in CALLS.items():
        for argument in arguments(call):
            for number, row in enumerate(BAD.get(argument, [])):
                case = f"{name}-{argument}-{number}-{row.shown}"
                yield pytest.param(name, argument, row, id=case)


@pytest.mark.parametrize(("name", "argument", "row"), [*cases()])
def test_bad_input_is_refused_with_what_it_was_and_what_may_be(
    name: str, argument: str, row: Row
) -> None:
    call, good = CALLS[name]
    with pytest.raises((TypeError, ValueError)) as refusal:
        call(**{**good, argument: row.value})
    assert refusal.type is row.error
    message = re.fullmatch(rf"{argument} must be (.+?); got (.+)", str(refusal.value))
    assert message, str(refusal.value)
    allowed, shown = message.groups()
    assert row.allowed in allowed
    assert row.shown in shown
    assert len(str(refusal.value)) < 200


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
    assert [argument for argument in arguments(call) if not BAD.get(argument)] == []


@pytest.mark.parametrize("width", [8, np.int16(8), np.uint64(8), np.array(8)])
def test_a_width_may_be_any_kind_of_integer(width: int) -> None:
    np.testing.assert_array_equal(posenc.frequencies(width), posenc.frequencies(8))


@pytest.mark.parametrize("base", [100, 100.0, np.float16(100), np.uint8(100), np.array(100)])
def test_a_base_may_be_any_kind_of_number(base: float) -> None:
    np.testing.assert_array_equal(
        posenc.frequencies(8, base=base), posenc.frequencies(8, base=100.0)
    )


def test_positions_may_be_any_integer_that_float64_tells_from_its_neighbours() -> None:
    for farthest in (2**53 - 1, 1 - 2**53):
        assert np.isfinite(posenc.sinusoidal_encoding(np.array(farthest), 8)).all()
        assert np.isfinite(posenc.similarity(farthest, 8)).all()
        assert np.isfinite(posenc.shift_matrix(farthest, 8)).all()


def test_the_limit_is_on_the_angle_where_a_pair_turns_faster_than_a_radian() -> None:
    fast = posenc.frequencies(8, base=1e-300)[-1]
    with pytest.raises(ValueError, match=r"^lag must be .*2\*\*53 in size.*; got 1 with "):
        posenc.similarity(1, 8, base=1e-300)
    assert np.isfinite(posenc.similarity(1 / fast, 8, base=1e-300))


@pytest.mark.parametrize("lag", [1e300, -1e300])
def test_an_angle_beyond_float64_is_refused_without_a_warning(lag: float) -> None:
    with pytest.raises(ValueError, match=r"^lag must be "):
        posenc.similarity(lag, 8, base=1e-300)


def test_a_long_value_is_cut_short_in_the_message() -> None:
    with pytest.raises(TypeError, match=r"\.\.\. \(Stranger\)$"):
        posenc.frequencies(Stranger())  # type: ignore[arg-type]
