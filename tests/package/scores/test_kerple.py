"""What `scores.kerple` promises, against the formulas in 50 digits and Schoenberg's condition."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from posenc import (
    alibi_bias,
    alibi_slopes,
    attention,
    causal_mask,
    kerple_log_bias,
    kerple_power_bias,
    relative_positions,
)

pytestmark = pytest.mark.filterwarnings("error")

SCALES, RATES, EXPONENTS = [0.01, 1.0, 7.5], [3.0, 0.01, 0.4], [0.01, 1.0, 2.0]
FAR = np.array([[-(10**6), -4096, -17, -1, 0, 1, 900]])


def test_every_entry_is_the_formulas_in_50_digits() -> None:
    logarithmic = kerple_log_bias(SCALES, RATES, FAR)
    power = kerple_power_bias(SCALES, EXPONENTS, FAR)
    assert logarithmic.shape == power.shape == (3, 1, 7)
    assert logarithmic.dtype == power.dtype == np.float64
    with mpmath.workdps(50):
        for head, r1 in enumerate(map(mpmath.mpf, SCALES)):
            for key, relative in enumerate(FAR[0].tolist()):
                distance = mpmath.mpf(abs(relative))
                exact = -r1 * mpmath.log(1 + mpmath.mpf(RATES[head]) * distance)
                assert logarithmic[head, 0, key] == pytest.approx(float(exact), rel=1e-15)
                exact = -r1 * distance ** mpmath.mpf(EXPONENTS[head])
                assert power[head, 0, key] == pytest.approx(float(exact), rel=1e-14)


def test_a_rate_far_below_one_loses_no_digits() -> None:
    """log(1 + x) of a small x, where 1 + x would round."""
    found = kerple_log_bias([1.0], [1e-20], [[3]])[0, 0, 0]
    assert found == pytest.approx(-3e-20, rel=1e-15, abs=0)


def test_the_power_form_with_exponent_one_is_alibi() -> None:
    relative = relative_positions(6, 9, query_offset=3)
    bias = kerple_power_bias(alibi_slopes(12), np.ones(12), relative)
    expected = alibi_bias(12, 6, 9, query_offset=3, causal=False)
    np.testing.assert_array_equal(bias, expected)
    assert not np.signbit(bias[bias == 0]).any()


def weights_sum_to_zero(count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return random vectors whose entries sum to 0."""
    random = np.random.default_rng(0).normal(size=(200, count))
    return np.asarray(random - random.mean(axis=1, keepdims=True))


@pytest.mark.parametrize("r2", [0.1, 1.0, 10.0])
def test_kernels_are_conditionally_positive_definite(r2: float) -> None:
    """Σ c_i c_j k(i, j) ≥ 0 for all c that sum to 0, which is what the kernels promise."""
    relative = relative_positions(30, 30)
    kernels = [kerple_log_bias([1.0], [r2], relative)[0]]
    kernels += [kerple_power_bias([1.0], [min(r2, 2.0)], relative)[0]]
    for c in weights_sum_to_zero(30):
        for kernel in kernels:
            assert c @ kernel @ c >= -1e-9 * np.abs(kernel).max()


def test_an_exponent_above_two_would_not_be_conditionally_positive_definite() -> None:
    """Why it is refused: −|i − j|³ of three positions, with the weights 1, −2 and 1."""
    c, kernel = np.array([1.0, -2.0, 1.0]), -(np.abs(relative_positions(3, 3)) ** 3.0)
    assert c @ kernel @ c == -8
    with pytest.raises(ValueError, match=r"^exponent must be above 0 and up to 2; got 3$"):
        kerple_power_bias([1.0], [3.0], [[0]])


def test_plus_a_constant_a_kernel_is_an_inner_product_of_positions() -> None:
    """And softmax ignores the constant: the weights are those of vectors p_i · p_j."""
    kernel = kerple_log_bias([2.0], [0.5], relative_positions(20, 20))[0]
    constant = -kernel.min() * 20
    values, vectors = np.linalg.eigh(kernel + constant)
    assert values.min() > 0
    rows = vectors * np.sqrt(values)  # one vector for each position
    random = np.random.default_rng(1).normal(size=(20, 4))
    plain = attention(random, random, random, bias=kernel, mask=causal_mask(20))[1]
    product = attention(random, random, random, bias=rows @ rows.T, mask=causal_mask(20))[1]
    np.testing.assert_allclose(product, plain, atol=1e-12)


def test_a_logarithmic_weight_falls_like_a_power_of_the_distance() -> None:
    """Twice as far divides exp(bias) by 2^r₁ in the end; ALiBi's by ever more."""
    far = np.array([[-(2**30), -(2**29)]])
    twice, once = np.exp(kerple_log_bias([1.5], [0.01], far)[0, 0])
    assert once / twice == pytest.approx(2**1.5, rel=1e-6)
    assert math.exp(-0.01 * 2**14) < 1e-71  # ALiBi of slope 0.01, at 16,384


def test_each_call_returns_a_new_array() -> None:
    kept = kerple_log_bias([1.0], [1.0], [[0, 1]])
    kept.fill(9)
    assert kerple_log_bias([1.0], [1.0], [[0, 1]])[0, 0, 0] == 0
