"""Norms of queries and keys before and after `apply_rope`: what docs/schemes/norms.md proves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from posenc import apply_rope, frequencies

D = 6
RANDOM = np.random.default_rng(0)
Q, K = RANDOM.normal(size=(2, D))
GAINS, KEY_GAINS = RANDOM.uniform(0.5, 2, size=(2, D))
POSITIONS = (0, 1, 17, 4000, -3.5)

Order = Callable[[ArrayLike, float, ArrayLike, str], NDArray[np.floating]]


def rms_norm(x: ArrayLike, gain: ArrayLike) -> NDArray[np.float64]:
    """Return each vector divided by the root of its mean square, times the gains."""
    x = np.asarray(x, dtype=np.float64)
    normed: NDArray[np.float64] = np.asarray(gain) * x / np.sqrt((x**2).mean(-1, keepdims=True))
    return normed


def layer_norm(x: ArrayLike) -> NDArray[np.float64]:
    """Return the RMS norm, without gains, of each vector less its mean."""
    x = np.asarray(x)
    return rms_norm(x - x.mean(axis=-1, keepdims=True), 1.0)


def norm_first(x: ArrayLike, p: float, gain: ArrayLike, layout: str) -> NDArray[np.floating]:
    return apply_rope(rms_norm(x, gain), p, layout=layout)


def rope_first(x: ArrayLike, p: float, gain: ArrayLike, layout: str) -> NDArray[np.floating]:
    return rms_norm(apply_rope(x, p, layout=layout), gain)


def pairs(x: ArrayLike, layout: str) -> NDArray[np.float64]:
    """Return the pairs of a vector, shape `(d/2, 2)`."""
    x = np.asarray(x, dtype=np.float64)
    return x.reshape(-1, 2) if layout == "interleaved" else x.reshape(2, -1).T


def score(order: Order, m: float, n: float, gains: ArrayLike, key_gains: ArrayLike) -> float:
    return float(order(Q, m, gains, "half") @ order(K, n, key_gains, "half"))


@pytest.mark.parametrize("layout", ["interleaved", "half"])
@pytest.mark.parametrize("position", POSITIONS)
def test_with_one_gain_for_each_pair_a_norm_and_a_rotation_can_be_exchanged(
    position: float, layout: str
) -> None:
    one = GAINS[: D // 2]
    gain = np.repeat(one, 2) if layout == "interleaved" else np.tile(one, 2)
    expected = norm_first(Q, position, gain, layout)
    np.testing.assert_allclose(rope_first(Q, position, gain, layout), expected, atol=1e-12)


@pytest.mark.parametrize("layout", ["interleaved", "half"])
@pytest.mark.parametrize("pair", range(D // 2))
def test_with_two_gains_in_a_pair_they_cannot(pair: int, layout: str) -> None:
    gain = np.ones(D)
    gain[2 * pair if layout == "interleaved" else pair] = 1.5
    found, other = (order(Q, 1, gain, layout) for order in (norm_first, rope_first))
    differ = np.abs(pairs(found, layout) - pairs(other, layout)).max(axis=-1)
    x, y = np.abs(pairs(rms_norm(Q, 1.0), layout)[pair])
    assert differ[pair] == pytest.approx(0.5 * np.sin(frequencies(D)[pair]) * max(x, y))
    assert np.delete(differ, pair).max() < 1e-12


@pytest.mark.parametrize(("m", "n"), [(0, 0), (5, 3), (3, 5), (1000, 1003), (-7.5, 2)])
def test_gains_after_the_rotation_add_a_term_in_the_sum_of_the_positions(
    m: float, n: float
) -> None:
    (x, y), omega = (pairs(rms_norm(v, 1.0), "half") for v in (Q, K)), frequencies(D)
    r, s = np.hypot(*x.T), np.hypot(*y.T)
    alpha, beta = np.arctan2(*x.T[::-1]), np.arctan2(*y.T[::-1])
    a, b = pairs(GAINS * KEY_GAINS, "half").T
    apart = (a + b) / 2 * r * s * np.cos((n - m) * omega + beta - alpha)
    together = (a - b) / 2 * r * s * np.cos((n + m) * omega + beta + alpha)
    found = score(rope_first, m, n, GAINS, KEY_GAINS)
    assert found == pytest.approx((apart + together).sum(), abs=1e-12)
    assert np.abs(together).max() > 0.01  # so that the term counts


@pytest.mark.parametrize("distance", [-5, 0, 1, 300])
def test_gains_before_the_rotation_leave_scores_relative(distance: int) -> None:
    places = (0, 1, 50, 4000)
    found, other = (
        np.array([score(order, m, m + distance, GAINS, KEY_GAINS) for m in places])
        for order in (norm_first, rope_first)
    )
    np.testing.assert_allclose(found, found[0], atol=1e-10)
    assert np.ptp(other) > 0.1  # after the rotation they are not


def test_layer_norm_and_a_rotation_cannot_be_exchanged_even_without_gains() -> None:
    rotated = apply_rope(layer_norm(Q), 1)
    assert np.abs(layer_norm(apply_rope(Q, 1)) - rotated).max() > 0.1
    alike = rms_norm(apply_rope(Q, 1), 1.0) - apply_rope(rms_norm(Q, 1.0), 1)
    assert np.abs(alike).max() < 1e-12


def test_a_norm_over_all_heads_leaves_a_single_head_almost_all_of_the_norm() -> None:
    """So its scores are larger by the number of heads, here 32 of queries and of keys."""
    heads, d = 32, 128
    loud = np.full((heads, d), 1e-9)
    loud[3] = 1.0
    together = rms_norm(loud.ravel(), 1.0).reshape(heads, d)[3]
    alone = rms_norm(loud, 1.0)[3]
    assert alone @ alone / d**0.5 == pytest.approx(d**0.5)
    assert together @ together / d**0.5 == pytest.approx(heads * d**0.5)


def test_the_wrong_width_of_a_partial_rotation_shows_only_away_from_position_zero() -> None:
    normed = rms_norm(RANDOM.normal(size=(3, 8)), RANDOM.uniform(0.5, 2, size=8))
    whole = frequencies(8)[:2]  # the right number of pairs, by the width of the head
    for layout in ("interleaved", "half"):
        for wrong in ({"rotary_d": 8}, {"rotary_d": 4, "frequencies": whole}):
            start, later = (
                np.abs(
                    apply_rope(normed, p, layout=layout, **wrong)
                    - apply_rope(normed, p, layout=layout, rotary_d=4)
                ).max()
                for p in (0, 5000)
            )
            assert start == 0
            assert later > 0.1
