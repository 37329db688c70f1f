"""Bad input is refused for every argument of every public name, with a helpful message.

A message names the argument, what is allowed and what was given: `d must be an even integer,
2 or more; got 7`. No other exception and no numpy warning may occur.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

import posenc
from tests.schemes.arrays import Stranger
from tests.schemes.table import (
    calls,
    cases,
    check_call_is_complete,
    check_refusals,
    public_calls,
)

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.parametrize(("name", "argument"), [*cases("posenc")])
def test_refusals_name_what_was_given_and_what_is_allowed(name: str, argument: str) -> None:
    check_refusals("posenc", name, argument)


@pytest.mark.parametrize("name", [*public_calls(posenc)])
def test_every_argument_of_every_public_name_has_bad_values_here(name: str) -> None:
    check_call_is_complete("posenc", name)


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

# Loops of so many steps.
ENDLESS = {
    ("random_walk_encoding", "steps"),
    ("layer_types", "layers"),
    ("rotating_layers", "layers"),
}
INTEGERS = [
    (name, key)
    for name, one in calls("posenc").items()
    for key, parameter in one.parameters.items()
    if re.match(r"int\b", str(parameter.annotation)) and (name, key) not in ENDLESS
]


@pytest.mark.parametrize(("name", "argument"), INTEGERS)
def test_a_result_too_large_for_numpy_is_refused_by_name_or_by_memory(
    name: str, argument: str
) -> None:
    """No machine has room for 2**53 entries, and numpy's own message names no argument."""
    try:
        calls("posenc")[name](**{argument: 2**53})  # a seed or a distance may be as large
    except MemoryError:
        pass
    except ValueError as error:
        assert re.split(r"\W", str(error))[0] in calls("posenc")[name].parameters, error


@pytest.mark.parametrize("window", [2**14, 2**31, 2**53])
def test_a_window_too_large_is_named(window: int) -> None:
    message = f"window must give a result of at most 2**53 entries; got {window}"
    for call in (posenc.swin_index, lambda window: posenc.swin_bias(np.ones((9, 1)), window)):
        with pytest.raises(ValueError, match=re.escape(message)):
            call(window)
    with pytest.raises(ValueError, match="max_seq_len and d_model must give a result of at most"):
        posenc.LearnedPositionalEmbedding(2**40, 2**40)
