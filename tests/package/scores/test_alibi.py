"""What `scores.alibi` promises, against section 3 of the paper worked out in 50 digits.

The expected slopes come from `paper_slopes`, written from the rule with mpmath, and the expected
biases from loops over heads, queries and keys; neither shares a line with the package.
"""

from __future__ import annotations

import math
from functools import cache

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from posenc.scores.alibi import alibi_bias, alibi_key_bias, alibi_slopes
from posenc.scores.dot_product import attention, causal_mask

Array = NDArray[np.float64]

quick = settings(database=None, deadline=None, derandomize=True, max_examples=50)


@cache
def falling(heads: int) -> list[mpmath.mpf]:
    """Return the paper's slopes for a power of two, in 50 digits."""
    with mpmath.workdps(50):
        return [mpmath.mpf(2) ** (mpmath.mpf(-8 * k) / heads) for k in range(1, heads + 1)]


def paper_slopes(heads: int) -> list[mpmath.mpf]:
    """Return the slopes of the paper or, for other counts, of the authors' code, in 50 digits."""
    with mpmath.workdps(50):
        lower = 2 ** math.floor(mpmath.log(heads, 2) + mpmath.mpf(10) ** -40)
    return falling(lower) + falling(2 * lower)[0::2][: heads - lower]


def loop_bias(heads: int, queries: range, keys: int, *, causal: bool) -> Array:
    """Return −m·|key − query|, one entry at a time, and −∞ ahead of the query where causal."""
    bias = np.empty((heads, len(queries), keys))
    for head, slope in enumerate(alibi_slopes(heads).tolist()):
        for row, query in enumerate(queries):
            for key in range(keys):
                hidden = causal and key > query
                bias[head, row, key] = -math.inf if hidden else -(slope * abs(key - query))
    return bias


def softmax(scores: Array) -> Array:
    """Return the weights of each row of scores."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


# The slopes


def test_eight_heads_have_the_papers_slopes() -> None:
    halves = [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]
    np.testing.assert_array_equal(alibi_slopes(8), halves)


@pytest.mark.parametrize("heads", range(1, 131))
def test_every_slope_is_the_rules_to_its_last_digit(heads: int) -> None:
    slopes, exact = alibi_slopes(heads), paper_slopes(heads)
    assert slopes.dtype == np.float64
    assert slopes.shape == (heads,) == (len(exact),)
    with mpmath.workdps(50):
        for ours, theirs in zip(slopes.tolist(), exact, strict=True):
            assert abs(mpmath.mpf(ours) - theirs) <= math.ulp(ours)
            if mpmath.frexp(theirs)[0] == 0.5:  # a power of two
                assert ours == theirs


@pytest.mark.parametrize(
    ("heads", "slopes"),
    [
        (1, [2**-8]),
        (2, [2**-4, 2**-8]),
        (3, [2**-4, 2**-8, 2**-2]),
        (5, [2**-2, 2**-4, 2**-6, 2**-8, 2**-1]),
        (6, [2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3]),
        (7, [2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3, 2**-5]),
        (12, [*(2.0**-k for k in range(1, 9)), 2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5]),
    ],
)
def test_other_head_counts_take_slopes_from_twice_the_lower_power(
    heads: int, slopes: list[float]
) -> None:
    np.testing.assert_allclose(alibi_slopes(heads), slopes, rtol=3e-16)


# The bias


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("offset", [0, 3])
@pytest.mark.parametrize(("queries", "keys"), [(1, 1), (5, 5), (2, 7), (6, 3), (0, 4), (3, 0)])
@pytest.mark.parametrize("heads", [1, 6, 8])
def test_every_entry_is_the_slope_times_the_distance(
    heads: int, queries: int, keys: int, offset: int, causal: bool
) -> None:
    bias = alibi_bias(heads, queries, keys, query_offset=offset, causal=causal)
    expected = loop_bias(heads, range(offset, offset + queries), keys, causal=causal)
    assert bias.dtype == np.float64
    assert bias.shape == (heads, queries, keys)
    np.testing.assert_array_equal(bias, expected)


def test_the_bias_of_a_querys_own_key_is_plus_zero() -> None:
    for causal in (True, False):
        own = np.diagonal(alibi_bias(5, 9, causal=causal), axis1=1, axis2=2)
        np.testing.assert_array_equal(own, 0)
        assert not np.signbit(own).any()


@quick
@given(
    heads=st.integers(1, 200),
    queries=st.integers(0, 12),
    offset=st.integers(0, 12),
    causal=st.booleans(),
)
def test_a_row_decoded_alone_equals_that_row_of_the_matrix(
    heads: int, queries: int, offset: int, causal: bool
) -> None:
    whole = alibi_bias(heads, offset + queries, causal=causal)
    decoded = alibi_bias(heads, queries, query_offset=offset, causal=causal)
    np.testing.assert_array_equal(decoded, whole[:, offset:])


# The key-only form


@pytest.mark.parametrize("heads", [1, 6, 8])
def test_key_form_is_the_slope_times_the_position(heads: int) -> None:
    bias = alibi_key_bias(heads, 5)
    assert bias.dtype == np.float64
    assert bias.shape == (heads, 1, 5)
    expected = [[[slope * key for key in range(5)]] for slope in alibi_slopes(heads).tolist()]
    np.testing.assert_array_equal(bias, expected)
    assert alibi_key_bias(heads, 0).shape == (heads, 1, 0)


@pytest.mark.parametrize("heads", [1, 6, 8, 12])
def test_each_row_of_the_key_form_exceeds_the_causal_one_by_a_constant(heads: int) -> None:
    """The constant is m·query: exactly, for slopes that are powers of two."""
    difference = alibi_key_bias(heads, 40) - alibi_bias(heads, 40)
    expected = (alibi_slopes(heads)[:, np.newaxis] * np.arange(40))[..., np.newaxis]
    seen = np.broadcast_to(causal_mask(40), difference.shape)
    constant = np.broadcast_to(expected, difference.shape)
    # Two products below 40, each rounded, and one sum.
    np.testing.assert_allclose(difference[seen], constant[seen], rtol=0, atol=3 * math.ulp(32))


@quick
@given(
    heads=st.integers(1, 20),
    queries=st.integers(1, 8),
    offset=st.integers(0, 30),
    seed=st.integers(0, 2**32 - 1),
)
def test_key_form_and_causal_form_give_equal_softmax(
    heads: int, queries: int, offset: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    keys = offset + queries
    q, k, v = (random.normal(size=(heads, n, 4)) for n in (queries, keys, keys))
    mask = causal_mask(queries, query_offset=offset)
    causal = attention(q, k, v, bias=alibi_bias(heads, queries, query_offset=offset))
    by_key = attention(q, k, v, bias=alibi_key_bias(heads, keys), mask=mask)
    for ours, theirs in zip(by_key, causal, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-13)  # scores up to 40


def test_without_a_mask_the_key_form_favours_the_last_key() -> None:
    """The key-only form equals the causal form only under a causal mask."""
    weights = softmax(alibi_key_bias(8, 6)[0])
    assert (np.diff(weights) > 0).all()
    assert weights.argmax() == 5
    assert softmax(alibi_bias(8, 6, causal=False)[0])[2].argmax() == 2


def test_in_float16_the_key_form_loses_neighbours_at_4095_and_the_causal_form_does_not() -> None:
    """With equal scores and slope 1/2 the query's own weight is 1 − e^−½ = 0.393."""
    causal, by_key = alibi_bias(8, 1, query_offset=4095)[0], alibi_key_bias(8, 4096)[0]
    own = softmax(causal)[0, -1]
    assert own == pytest.approx(1 - math.exp(-0.5), abs=1e-12)
    assert softmax(by_key)[0, -1] == pytest.approx(own, abs=1e-12)
    for form, weight in ((causal, 0.393), (by_key, 0.528)):
        rounded = form.astype(np.float16).astype(np.float64)
        assert softmax(rounded)[0, -1] == pytest.approx(weight, abs=5e-4)
    float32 = by_key.astype(np.float32).astype(np.float64)
    np.testing.assert_array_equal(float32, by_key)
    assert len(np.unique(by_key.astype(np.float16)[0, -100:])) == 51
