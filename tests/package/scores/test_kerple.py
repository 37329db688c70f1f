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


@pytest.mark.parametrize("r2", [0.1, 1.0, 1.9, 10.0])
def test_kernels_are_conditionally_positive_definite(r2: float) -> None:
    """Σ c_i c_j k(i, j) > 0 for all c ≠ 0 that sum to 0, which is what the kernels promise."""
    relative = relative_positions(30, 30)
    kernels = [kerple_log_bias([1.0], [r2], relative)[0]]
    kernels += [kerple_power_bias([1.0], [min(r2, 1.95)], relative)[0]]
    onto = np.linalg.qr(np.eye(30) - 1 / 30)[0][:, :-1]  # a basis of what sums to 0
    for kernel in kernels:
        assert np.linalg.eigvalsh(onto.T @ kernel @ onto)[0] > 1e-6


def test_at_the_exponent_two_no_constant_makes_an_inner_product() -> None:
    """The least eigenvalue approaches 0 like 1/C and stays negative, on the positions 0 to 3."""
    kernel = kerple_power_bias([1.0], [2.0], relative_positions(4, 4))[0]
    for constant, least in ((1e3, -4e-3), (1e4, -4e-4), (1e5, -4e-5), (1e6, -4e-6)):
        assert np.linalg.eigvalsh(kernel + constant)[0] == pytest.approx(least, rel=0.05)
        c = np.array([1.0, -1.0, -1.0, 1.0])  # sums to 0, and so does c times the positions
        v = c - (c @ kernel).sum() / (kernel + constant).sum()
        assert c @ kernel @ c == 0
        assert v @ (kernel + constant) @ v < 0


def test_an_exponent_above_two_would_not_be_conditionally_positive_definite() -> None:
    """Why it is refused: −|i − j|³ of three positions, with the weights 1, −2 and 1."""
    c, kernel = np.array([1.0, -2.0, 1.0]), -(np.abs(relative_positions(3, 3)) ** 3.0)
    assert c @ kernel @ c == -8
    with pytest.raises(ValueError, match=r"^exponent must be above 0 and up to 2; got 3$"):
        kerple_power_bias([1.0], [3.0], [[0]])


@pytest.mark.parametrize(
    "kernel",
    [
        kerple_log_bias([2.0], [0.5], relative_positions(20, 20))[0],
        kerple_power_bias([0.1], [1.5], relative_positions(20, 20))[0],
    ],
)
def test_plus_a_constant_a_kernel_is_an_inner_product_of_positions(
    kernel: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> None:
    """And softmax ignores the constant: the weights are those of vectors p_i · p_j."""
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
