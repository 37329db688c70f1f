"""Arrays of every float type are read exactly and never written into, by every public function."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.package.test_arguments import CALLS

pytestmark = pytest.mark.filterwarnings("error")

RAGGED = ("parts", "paths")  # lists of unequal lists, of integers
WHOLE = ("degrees", "distances", "mask", "relative")  # arrays of integers or of truth values

# Reals in place of the integers, the one number or the nothing that `CALLS` has.
PLACES, POINTS = [0.5, 1.5, 20.5], [[0.5, 1.5], [2.5, 30.5]]
EDGES = [[0.0, 1.0, 0.0, 3.0], [1.0, 0.0, 2.0, 0.0], [0.0, 2.0, 0.0, 1.0], [3.0, 0.0, 1.0, 0.0]]
OMEGA = [1.0, 0.5, 0.25, 0.125]
REALS: dict[str, dict[str, object]] = {
    "apply_rope": {"positions": PLACES, "frequencies": OMEGA},
    "apply_rope_complex": {"positions": PLACES, "frequencies": OMEGA},
    "apply_rope_nd": {"positions": [*POINTS, [5.5, 0.5]]},
    "apply_xpos": {"positions": PLACES},
    "attention": {"bias": [[0.5, -2.0], [0.0, 1.5]]},
    "counting_encoding": {"positions": PLACES},
    "fourier_features": {"points": POINTS},
    "graph_distances": {"adjacency": EDGES},
    "graph_laplacian": {"adjacency": EDGES},
    "laplacian_eigenvectors": {"adjacency": EDGES},
    "log_scale": {"positions": [4.5, 90.5]},
    "mixed_frequencies": {"angles": [0.5, 9.5]},
    "mrope_positions": {"parts": [2, (9, 2, 3), 1], "intervals": [12.5]},
    "nerf_encoding": {"points": POINTS},
    "no_encoding": {"positions": PLACES},
    "path_scores": {"strength": [0.5, 2.0]},
    "random_walk_encoding": {"adjacency": EDGES},
    "rope_matrix": {"frequencies": OMEGA},
    "rotary_frequencies": {"frequencies": OMEGA},
    "similarity": {"lag": PLACES},
    "sinusoidal_encoding": {"positions": PLACES},
    "sinusoidal_encoding_nd": {"positions": POINTS},
    "timestep_embedding": {"timesteps": PLACES},
    "tree_encoding": {"decays": [0.5, 3.0]},
}

Array = NDArray[np.floating]


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


GOOD = {name: {**good, **REALS.get(name, {})} for name, (_, good) in CALLS.items()}
ARRAYS = {name: real_arrays(good) for name, good in GOOD.items()}
READERS = [name for name, arrays in ARRAYS.items() if arrays]


def results(name: str, arrays: Mapping[str, Array]) -> tuple[Array, ...]:
    """Return the result, or the results, of a function whose arrays are these."""
    found = CALLS[name][0](**{**GOOD[name], **arrays})
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.parametrize("name", CALLS)
def test_every_argument_that_takes_reals_is_given_some(name: str) -> None:
    parameters = inspect.signature(CALLS[name][0]).parameters
    takers = {key for key, taken in parameters.items() if "ArrayLike" in str(taken.annotation)}
    if name == "LearnedPositionalEmbedding.forward":
        takers.remove("positions")  # indices of rows
    assert takers.difference(WHOLE) <= {*ARRAYS[name]}


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
