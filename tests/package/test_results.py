"""Every public function returns new arrays of the promised type and leaves its arguments alone."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.schemes.table import calls

Array = NDArray[np.generic]
CALLS = calls("posenc")

RAGGED = ("parts", "paths")  # lists of unequal lists
# Functions whose result has the type of one argument, and that argument.
KEPT = {
    "LearnedPositionalEmbedding.forward": "token_embeddings",
    "add": "tokens",
    "apply_pope": "x",
    "apply_rope": "x",
    "apply_rope_complex": "x",
    "apply_rope_nd": "x",
    "apply_xpos": "x",
    "centrality_rows": "table",
    "concatenate": "tokens",
    "graphormer_bias": "table",
    "relative_shift": "scores",
    "relative_view": "rows",
    "resize_grid": "grid",
    "resize_table": "table",
    "swin_bias": "table",
    "t5_bias": "table",
    "t5_rows": "table",
}
CONVERTED = {"convert_layout": "x", "convert_projection": "weight", "convert_qkv": "weight"}


def arguments_of(name: str) -> dict[str, Any]:
    """Return good arguments, with arrays in place of lists, and a seed where chance has a part."""
    good = CALLS[name].good
    lists = {key for key, value in good.items() if isinstance(value, list) and key not in RAGGED}
    arguments = {key: np.array(value) if key in lists else value for key, value in good.items()}
    seed = {"seed": 0} if "seed" in CALLS[name].parameters else {}
    return copy.deepcopy(arguments) | seed


def arrays_in(result: object) -> list[Array]:
    """Return the array or the arrays that a function returned."""
    if isinstance(result, tuple):
        return [array for one in result for array in arrays_in(one)]
    return [result] if isinstance(result, np.ndarray) else []


@pytest.mark.parametrize("name", CALLS)
def test_results_are_new_and_arguments_unchanged(name: str) -> None:
    function, arguments = CALLS[name].bound(), arguments_of(name)
    first = arrays_in(function(**arguments))
    expected = copy.deepcopy(first)
    for array in first:
        if array.flags.writeable:  # a view of rows is read-only
            array[...] = 7
    np.testing.assert_equal(arguments, arguments_of(name))
    np.testing.assert_equal(arrays_in(function(**arguments)), expected)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4", "i1", "list"])
@pytest.mark.parametrize("name", KEPT)
def test_result_has_the_type_of_an_argument_and_is_rounded_once(name: str, dtype: str) -> None:
    function, arguments = CALLS[name].bound(), arguments_of(name)
    values = np.random.default_rng(0).normal(size=np.shape(arguments[KEPT[name]])) * 9
    values = values.astype("i1" if dtype == "list" else dtype)
    arguments[KEPT[name]] = values.tolist() if dtype == "list" else values
    (found,) = arrays_in(function(**arguments))
    arguments[KEPT[name]] = values.astype(np.float64)
    (exact,) = arrays_in(function(**arguments))
    expected = np.dtype(dtype).newbyteorder("=") if dtype in ("f2", "f4", ">f4") else np.float64
    assert found.dtype == expected
    np.testing.assert_array_equal(found, exact.astype(expected))


@pytest.mark.parametrize("dtype", ["i8", "f2", "f4", "f8"])
@pytest.mark.parametrize("name", CONVERTED)
def test_conversions_keep_the_type(name: str, dtype: str) -> None:
    function, arguments = CALLS[name].bound(), arguments_of(name)
    arguments[CONVERTED[name]] = arguments[CONVERTED[name]].astype(dtype)
    (found,) = arrays_in(function(**arguments))
    assert found.dtype == np.dtype(dtype)
