"""What `posenc.attention` promises, against equation 1 of the paper worked out in 50 digits.

The expected outputs come from `paper_attention`, which takes one query at a time, sums with
mpmath, and shares no line with the package.
"""

from __future__ import annotations

import math
import re
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from posenc.scores.dot_product import attention, causal_mask

Array = NDArray[np.float64]

# A dot product of a few numbers around 1, then an exponential and a sum of a few: some 2**-53.
SUMMED = 1e-14

quick = settings(database=None, deadline=None, derandomize=True, max_examples=60)
numbers = st.floats(-30, 30, allow_subnormal=False)


def matrix(rows: int | st.SearchStrategy[int], columns: int) -> st.SearchStrategy[Array]:
    """Return matrices of numbers that no exponential overflows on."""
    sizes = st.just(rows) if isinstance(rows, int) else rows
    return sizes.flatmap(lambda n: arrays.arrays(np.float64, (n, columns), elements=numbers))


def paper_row(query: Array, keys: Array, bias: Array, seen: NDArray[np.bool_]) -> list[float]:
    """Return the weights of one query: e^s/Σe^s with s = q·k/√d + bias, over the keys it sees."""
    with mpmath.workdps(50):
        scores = [
            mpmath.fdot(query.tolist(), key.tolist()) / mpmath.sqrt(len(query)) + added
            for key, added in zip(keys, bias.tolist(), strict=True)
        ]
        powers = [mpmath.exp(s) if see else 0 for s, see in zip(scores, seen, strict=True)]
        return [float(power / sum(powers)) for power in powers]


def paper_attention(q: Array, k: Array, v: Array, bias: Any = 0.0, mask: Any = True) -> Array:
    """Return output and weights, concatenated, for equal leading shapes."""
    shape = (*q.shape[:-1], k.shape[-2])
    bias, mask = np.broadcast_to(bias, shape), np.broadcast_to(mask, shape)
    both = np.empty((*q.shape[:-1], v.shape[-1] + k.shape[-2]))
    for place in np.ndindex(*q.shape[:-1]):
        row = paper_row(q[place], k[place[:-1]], bias[place], mask[place])
        taken = [math.fsum(np.multiply(row, column)) for column in v[place[:-1]].T]
        both[place] = taken + row
    return both


def random(*shape: int, seed: int = 0) -> Array:
    """Return normal numbers, the same ones every time."""
    return np.random.default_rng(seed).normal(size=shape)


def assert_equals_the_paper(q: Array, k: Array, v: Array, **more: Any) -> None:
    """Compare output and weights with the definition."""
    both = np.concatenate(attention(q, k, v, **more), axis=-1)
    np.testing.assert_allclose(both, paper_attention(q, k, v, **more), rtol=0, atol=SUMMED)


# The formula


@pytest.mark.parametrize("leading", [(), (3,), (2, 3)])
@pytest.mark.parametrize(
    ("queries", "keys", "d", "d_v"), [(1, 1, 1, 1), (4, 4, 8, 8), (2, 5, 3, 7)]
)
def test_output_and_weights_follow_the_papers_formula(
    leading: tuple[int, ...], queries: int, keys: int, d: int, d_v: int
) -> None:
    q, k = random(*leading, queries, d), random(*leading, keys, d, seed=1)
    v = random(*leading, keys, d_v, seed=2)
    assert_equals_the_paper(q, k, v)
    bias, mask = random(queries, keys, seed=3), random(queries, keys, seed=4) > -1
    mask[:, 0] = True
    assert_equals_the_paper(q, k, v, bias=bias)
    assert_equals_the_paper(q, k, v, mask=mask)
    assert_equals_the_paper(q, k, v, bias=bias, mask=mask)


def test_the_bias_is_added_after_the_division_by_the_root_of_d() -> None:
    q = k = np.full((2, 16), 0.5)
    bias = [[0.0, math.log(3)], [math.log(3), 0.0]]
    _, weights = attention(q, k, np.eye(2), bias=bias)
    np.testing.assert_allclose(weights, [[0.25, 0.75], [0.75, 0.25]], rtol=0, atol=SUMMED)


def test_leading_shapes_broadcast() -> None:
    q, k, v = random(2, 3, 4, 5), random(3, 6, 5, seed=1), random(1, 6, 7, seed=2)
    full = (np.broadcast_to(k, (2, 3, 6, 5)), np.broadcast_to(v, (2, 3, 6, 7)))
    output, weights = attention(q, k, v)
    assert output.shape == (2, 3, 4, 7)
    assert weights.shape == (2, 3, 4, 6)
    both = np.concatenate([output, weights], axis=-1)
    np.testing.assert_allclose(both, paper_attention(q, *full), rtol=0, atol=SUMMED)


@pytest.mark.parametrize("shape", [(), (5,), (4, 1), (4, 5), (3, 4, 5), (2, 1, 1, 5), (2, 3, 4, 5)])
def test_bias_and_mask_broadcast_to_the_scores(shape: tuple[int, ...]) -> None:
    q, k, v = random(2, 3, 4, 6), random(2, 3, 5, 6, seed=1), random(2, 3, 5, 2, seed=2)
    assert_equals_the_paper(q, k, v, bias=random(*shape, seed=3))
    mask = np.array(random(*shape, seed=4) > -0.5)
    np.atleast_1d(mask)[..., 0] = True  # each query sees the first key at least
    assert_equals_the_paper(q, k, v, mask=mask)


def test_a_bias_of_minus_infinity_hides_what_the_mask_would() -> None:
    q, k, v = random(3, 4, 6)
    mask = causal_mask(4)
    hidden = np.where(mask, 0.0, -np.inf)
    biases: list[Any] = [hidden, hidden.tolist(), hidden.astype(np.float16)]
    for bias in biases:
        for found, expected in zip(
            attention(q, k, v, bias=bias), attention(q, k, v, mask=mask), strict=True
        ):
            np.testing.assert_array_equal(found, expected)
    half = np.where(np.arange(4) < 2, 0.0, -np.inf)
    both = attention(q, k, v, bias=half, mask=mask)[1]
    np.testing.assert_array_equal(both > 0, mask & (np.arange(4) < 2))


@pytest.mark.parametrize("size", [1.0, 1e4, 1e150])
def test_scores_of_any_size_overflow_no_exponential(size: float) -> None:
    q, k = np.full((2, 4), math.sqrt(size)), np.array([[1.0], [0.0], [-1.0]]) * math.sqrt(size)
    output, weights = attention(q, np.repeat(k, 4, axis=1), np.eye(3))
    assert np.isfinite(output).all()
    expected = paper_attention(
        np.full((1, 4), 1.0), np.repeat(k, 4, 1) * math.sqrt(size), np.eye(3)
    )
    np.testing.assert_allclose(weights[:1], expected[:, 3:], rtol=0, atol=SUMMED)


def test_a_large_score_of_one_query_leaves_the_weights_of_others() -> None:
    assert_equals_the_paper(np.array([[1e4], [1.0]]), np.array([[1.0], [0.0]]), np.eye(2))


def test_with_scores_at_the_ends_of_float64_the_larger_takes_all() -> None:
    _, weights = attention([[0.0]], [[0.0], [0.0]], np.eye(2), bias=[1.7e308, -1.7e308])
    np.testing.assert_array_equal(weights, [[1, 0]])


def test_any_integer_or_real_dtype_is_accepted() -> None:
    q = np.array([[1, 2], [3, 4]])
    expected = attention(q.astype(float), q.astype(float), q.astype(float))
    for kind in ("i1", "u4", "f2", "f4", ">f8"):
        for found, same in zip(attention(q.astype(kind), q.tolist(), q), expected, strict=True):
            np.testing.assert_array_equal(found, same)
            assert found.dtype == np.float64


@pytest.mark.parametrize(
    ("q", "k", "v"),
    [
        ((0, 4), (3, 4), (3, 2)),
        ((2, 0, 4), (2, 0, 4), (2, 0, 5)),
        ((0, 2, 4), (0, 3, 4), (0, 3, 5)),
        ((2, 4), (3, 4), (3, 0)),
    ],
    ids=["no queries", "no keys", "no batch", "no values"],
)
def test_empty_arrays_give_empty_results(
    q: tuple[int, ...], k: tuple[int, ...], v: tuple[int, ...]
) -> None:
    mask = np.zeros((*q[:-1], k[-2]), bool) if q[0] == 0 else None
    output, weights = attention(np.zeros(q), np.zeros(k), np.zeros(v), mask=mask)
    assert (output.shape, weights.shape) == ((*q[:-1], v[-1]), (*q[:-1], k[-2]))


# What follows from the formula


@quick
@given(q=matrix(2, 3), k=matrix(5, 3), v=matrix(5, 2), order=st.permutations(range(5)))
def test_keys_reordered_with_their_values_change_nothing(
    q: Array, k: Array, v: Array, order: list[int]
) -> None:
    np.testing.assert_allclose(
        attention(q, k[order], v[order])[0], attention(q, k, v)[0], rtol=0, atol=1e-10
    )


def test_a_bias_by_distance_ends_the_equivariance_without_any_mask() -> None:
    words, order = random(3, 8), [1, 0, 2]
    bias = -np.abs(np.arange(3) - np.arange(3)[:, np.newaxis])
    near = attention(words, words, words, bias=bias)[0]
    turned = attention(*[words[order]] * 3, bias=bias)[0]
    assert np.abs(turned - near[order]).max() > 0.1


# The causal mask


@pytest.mark.parametrize("offset", [0, 1, 3])
@pytest.mark.parametrize("keys", [None, 0, 1, 4, 9])
@pytest.mark.parametrize("queries", [0, 1, 5])
def test_causal_mask_shows_each_query_itself_and_earlier_keys(
    queries: int, keys: int | None, offset: int
) -> None:
    mask = causal_mask(queries, keys, query_offset=offset)
    width = offset + queries if keys is None else keys
    assert mask.dtype == np.bool_
    assert mask.shape == (queries, width)
    expected = [[key <= query for key in range(width)] for query in range(offset, offset + queries)]
    assert mask.tolist() == expected


# Bad input

GOOD: dict[str, Any] = {"q": np.ones((2, 4)), "k": np.ones((3, 4)), "v": np.ones((3, 5))}
NAN, INF = float("nan"), float("inf")


SHAPES: list[tuple[dict[str, tuple[int, ...]], str]] = [
    ({"q": ()}, "q must have 2 dimensions or more; got shape ()"),
    ({"k": (4,)}, "k must have 2 dimensions or more; got shape (4,)"),
    ({"v": (3,)}, "v must have 2 dimensions or more; got shape (3,)"),
    ({"q": (2, 5)}, "q and k must have the same width, 1 or more; got shapes (2, 5) and (3, 4)"),
    (
        {"q": (2, 0), "k": (3, 0)},
        "q and k must have the same width, 1 or more; got shapes (2, 0) and (3, 0)",
    ),
    ({"v": (4, 5)}, "v must have a row for each key, 3; got shape (4, 5)"),
    ({"k": (0, 4), "v": (0, 5)}, "k must hold at least one key; got shape (0, 4)"),
    (
        {"q": (2, 2, 4), "k": (3, 3, 4)},
        "q, k and v must have leading shapes that broadcast; got (2,), (3,), ()",
    ),
    (
        {"q": (2, 2, 4), "v": (3, 3, 5)},
        "q, k and v must have leading shapes that broadcast; got (2,), (), (3,)",
    ),
    ({"bias": (2, 4)}, "bias must broadcast to the scores, of shape (2, 3); got shape (2, 4)"),
    (
        {"bias": (1, 2, 3)},
        "bias must broadcast to the scores, of shape (2, 3); got shape (1, 2, 3)",
    ),
    ({"mask": (2, 0)}, "mask must broadcast to the scores, of shape (2, 3); got shape (2, 0)"),
    (
        {"mask": (4, 2, 3)},
        "mask must broadcast to the scores, of shape (2, 3); got shape (4, 2, 3)",
    ),
]


@pytest.mark.parametrize(("shapes", "refusal"), SHAPES)
def test_shapes_that_do_not_fit_are_refused(
    shapes: dict[str, tuple[int, ...]], refusal: str
) -> None:
    bad = {
        name: np.ones(shape, bool if name == "mask" else float) for name, shape in shapes.items()
    }
    with pytest.raises(ValueError, match=f"^{re.escape(refusal)}$"):
        attention(**GOOD | bad)


@pytest.mark.parametrize(
    ("mask", "bias", "query"),
    [
        ([[True] * 3, [False] * 3], None, [1]),
        (False, None, [0]),
        (None, [[-INF] * 3, [0.0] * 3], [0]),
        ([True, False, False], [[0.0] * 3, [-INF, 0.0, 0.0]], [1]),
    ],
)
def test_a_query_without_visible_keys_is_refused(mask: Any, bias: Any, query: list[int]) -> None:
    refusal = f"bias and mask must leave each query a key to look at; got none for query {query}"
    with pytest.raises(ValueError, match=f"^{re.escape(refusal)}$"):
        attention(**GOOD, bias=bias, mask=mask)


def test_the_first_query_without_visible_keys_is_named() -> None:
    mask = np.ones((2, 3, 4, 4), bool)
    mask[1, 0, 2:] = False
    with pytest.raises(ValueError, match=r"got none for query \[1, 0, 2\]$"):
        attention(*np.ones((3, 2, 3, 4, 8)), mask=mask)


@pytest.mark.parametrize(
    "given",
    [
        {"q": np.full((2, 4), 1e200), "k": np.full((3, 4), 1e200)},
        {"q": np.full((2, 4), 1e200), "k": np.full((3, 4), -1e200)},
        {"q": np.full((2, 4), 1e154), "k": np.full((3, 4), 4e153), "bias": 1.7e308},
    ],
)
def test_scores_beyond_float64_are_refused(given: dict[str, Any]) -> None:
    refusal = "^q, k and bias must give scores that float64 can hold; got an infinity$"
    with pytest.raises(ValueError, match=refusal):
        attention(**GOOD | given)


def test_a_bias_of_integers_too_large_and_a_mask_of_ragged_or_masked_rows_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^bias must be finite numbers or -inf; got 1000"):
        attention(**GOOD, bias=10**400)
    masked = np.ma.masked_array([True, False, True], [False, True, False])
    for mask in (masked, [masked, masked], [[True], [True, False]]):
        with pytest.raises(TypeError, match=r"^mask must be booleans"):
            attention(**GOOD, mask=mask)
