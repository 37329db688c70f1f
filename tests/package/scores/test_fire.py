"""What `scores.fire` promises, against loops in 50 digits and the schemes that it contains."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from posenc import alibi_bias, fire_bias, fire_shares, kerple_log_bias, relative_positions


@pytest.mark.parametrize(("rate", "threshold"), [(0.1, 512.0), (1.0, 1.0), (1e-9, 7.5), (50.0, 3)])
def test_every_share_is_the_papers_in_50_digits(rate: float, threshold: float) -> None:
    shares = fire_shares(3, 20, rate=rate, threshold=threshold, query_offset=6)
    assert shares.shape == (3, 20)
    assert shares.dtype == np.float64
    with mpmath.workdps(50):
        c = mpmath.mpf(rate)
        for row, query in enumerate(range(6, 9)):
            furthest = max(mpmath.mpf(threshold), mpmath.mpf(query))
            for key in range(20):
                exact = mpmath.log(1 + c * abs(query - key)) / mpmath.log(1 + c * furthest)
                assert shares[row, key] == pytest.approx(float(exact), rel=1e-14)


def test_shares_of_seen_keys_lie_between_0_and_1() -> None:
    shares = fire_shares(100, rate=0.3, threshold=10)
    seen = np.tril(np.ones((100, 100), bool))
    assert shares[seen].min() == 0
    assert shares[seen].max() == 1
    np.testing.assert_array_equal(shares[10:, 0], 1)  # the furthest key, of every later query


def network(*bends: tuple[float, float]) -> dict[str, list[float] | list[list[float]]]:
    """Return a network of one head whose slope changes by `by` at each share `at`."""
    return {
        "first_weight": [1.0] * len(bends),
        "first_bias": [-at for at, _ in bends],
        "second_weight": [[by for _, by in bends]],
        "second_bias": [0.0],
    }


def test_up_to_the_threshold_it_can_be_kerples_logarithm() -> None:
    """A network that multiplies the share: −r₁·log(1 + c·L) is the factor."""
    scale, rate, threshold = 2.0, 0.3, 64
    shares = fire_shares(40, rate=rate, threshold=threshold)
    bias = fire_bias(shares, **network((0.0, -scale * np.log1p(rate * threshold))))
    expected = kerple_log_bias([scale], [rate], relative_positions(40, 40))
    np.testing.assert_allclose(bias, expected, atol=1e-12)


def test_with_a_tiny_rate_it_can_be_alibi() -> None:
    shares = fire_shares(40, rate=1e-12, threshold=64)
    bias = fire_bias(shares, **network((0.0, -64 / 256)))
    np.testing.assert_allclose(bias, alibi_bias(1, 40, causal=False), atol=1e-9)


def test_beyond_the_threshold_equal_distances_get_different_biases() -> None:
    """So it is no function of key − query, and a cache of biases by distance would be wrong."""
    shares = fire_shares(30, threshold=10)
    bias = fire_bias(shares, **network((0.0, -4.0)))[0]
    assert bias[9, 4] == bias[10, 5]
    assert bias[20, 15] != bias[29, 24]


def test_a_bias_is_the_network_applied_to_each_share() -> None:
    random = np.random.default_rng(0)
    shares = random.uniform(size=(4, 5))
    w1, b1, w2, b2 = (random.normal(size=shape) for shape in (7, 7, (3, 7), 3))
    found = fire_bias(shares, first_weight=w1, first_bias=b1, second_weight=w2, second_bias=b2)
    assert found.shape == (3, 4, 5)
    with mpmath.workdps(50):
        for head, query, key in np.ndindex(3, 4, 5):
            share = mpmath.mpf(shares[query, key])
            units = [
                max(mpmath.mpf(0), mpmath.mpf(w) * share + b) for w, b in zip(w1, b1, strict=True)
            ]
            exact = mpmath.fdot(w2[head].tolist(), units) + b2[head]
            assert found[head, query, key] == pytest.approx(float(exact), abs=1e-14)
