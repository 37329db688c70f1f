"""Arrays of every float type are read exactly and never written into, by every public function."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.schemes.table import calls

pytestmark = pytest.mark.filterwarnings("error")

RAGGED = ("parts", "paths")  # lists of unequal lists, of integers
WHOLE = ("degrees", "distances", "mask", "relative")  # arrays of integers or of truth values
INDICES = {"LearnedPositionalEmbedding.forward": {"positions"}}  # of rows

Array = NDArray[np.floating]
CALLS = calls("posenc")


def real_arrays(arguments: Mapping[str, object]) -> dict[str, Array]:
    """Return the arguments that are arrays or lists of reals, with entries no float type holds."""
    random = np.random.default_rng(0)
    found: dict[str, Array] = {}
    for name, value in arguments.items():
        if isinstance(value, (np.ndarray, list)) and name not in RAGGED:
            array = np.asarray(value)
            if array.dtype.kind == "f":
                drawn = array * random.uniform(0.2, 0.3, array.shape)
                found[name] = (drawn + drawn.T) / 2 if name == "adjacency" else drawn
    return found


ARRAYS = {name: real_arrays({**call.good, **call.reals}) for name, call in CALLS.items()}
READERS = [name for name, arrays in ARRAYS.items() if arrays]


def results(name: str, arrays: Mapping[str, Array]) -> tuple[Array, ...]:
    """Return the result, or the results, of a function whose arrays are these."""
    found = CALLS[name](**{**CALLS[name].reals, **arrays})
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.parametrize("name", CALLS)
def test_every_argument_that_takes_reals_is_given_some(name: str) -> None:
    parameters = CALLS[name].parameters
    takers = {key for key, taken in parameters.items() if "ArrayLike" in str(taken.annotation)}
    missing = takers - {*WHOLE, *INDICES.get(name, ()), *ARRAYS[name]}
    assert not missing, f"add arrays of reals for {missing} to the call of {name}, by with_reals(…)"


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("name", READERS)
def test_a_narrow_array_gives_what_its_exact_values_give(
    name: str, dtype: type[np.floating]
) -> None:
    narrow = {key: array.astype(dtype) for key, array in ARRAYS[name].items()}
    kept = {key: array.copy() for key, array in narrow.items()}
    exact = results(name, {key: array.astype(np.float64) for key, array in narrow.items()})
    for found, expected in zip(results(name, narrow), exact, strict=True):
        if expected.dtype == np.int64:
            np.testing.assert_array_equal(found, expected)
            continue
        assert expected.dtype == np.float64
        assert found.dtype in (dtype, np.float64)
        error = float(np.finfo(found.dtype).eps)
        np.testing.assert_allclose(found.astype(np.float64), expected, rtol=error, atol=error)
    for key, array in narrow.items():
        np.testing.assert_array_equal(array, kept[key])


@pytest.mark.parametrize("name", READERS)
def test_writing_into_a_result_changes_neither_arguments_nor_later_results(name: str) -> None:
    given = {key: array.copy() for key, array in ARRAYS[name].items()}
    first = results(name, given)
    kept = [found.copy() for found in first]
    for found in first:
        if found.flags.writeable:  # a view of rows is read-only
            found[...] = 7
    for key, array in given.items():
        np.testing.assert_array_equal(array, ARRAYS[name][key])
    for found, before in zip(results(name, given), kept, strict=True):
        np.testing.assert_array_equal(found, before)
