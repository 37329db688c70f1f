"""What `rotary.pope` promises, against the formula in 50 digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from posenc import apply_pope, apply_rope, frequencies

D = 6
RANDOM = np.random.default_rng(0)
Q, K = RANDOM.normal(size=(2, D)) * 2
PHASE = RANDOM.uniform(-2 * np.pi, 0, size=D)


def score(m: float, n: float, phase: ArrayLike | None = None, base: float = 10000.0) -> float:
    """Return the score of Q at m and K at n."""
    key = apply_pope(K, n, phase=phase, base=base)
    return float(apply_pope(Q, m, base=base) @ key)


def exact(m: float, n: float, phase: NDArray[np.float64], base: float) -> float:
    """Return that score in 50 digits: Σ μ(q)·μ(k)·cos((n − m)ω + δ)."""
    total = mpmath.mpf(0)
    with mpmath.workdps(50):
        for c in range(D):
            mu_q, mu_k = (mpmath.log1p(mpmath.exp(mpmath.mpf(x[c]))) for x in (Q, K))
            omega = mpmath.mpf(base) ** (-mpmath.mpf(c) / D)
            angle = (mpmath.mpf(n) - mpmath.mpf(m)) * omega + mpmath.mpf(phase[c])
            total += mu_q * mu_k * mpmath.cos(angle)
    return float(total)


def angles(pairs: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the angle of each pair."""
    cosines, sines = np.split(pairs.astype(np.float64), 2, axis=-1)
    return np.arctan2(sines, cosines)


@pytest.mark.parametrize("phase", [np.zeros(D), PHASE], ids=["without phases", "with phases"])
@pytest.mark.parametrize("base", [10000.0, 50.0])
@pytest.mark.parametrize(("m", "n"), [(0, 0), (5, 3), (3, 5), (1000, 0), (-200.5, -900)])
def test_a_polar_score_is_the_papers_in_50_digits(
    m: float, n: float, base: float, phase: NDArray[np.float64]
) -> None:
    found = score(m, n, phase, base)
    assert found == pytest.approx(exact(m, n, phase, base), rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("phase", [None, PHASE], ids=["without phases", "with phases"])
def test_a_polar_score_depends_on_the_distance_alone(phase: ArrayLike | None) -> None:
    for distance in (-7, 0, 1, 300):
        scores = [score(p, p + distance, phase) for p in (0, 1, 50, 4000)]
        np.testing.assert_allclose(scores, scores[0], rtol=1e-10, atol=1e-11)
    assert score(0, 5) != pytest.approx(score(0, 6))


def test_each_dimension_has_a_frequency_of_its_own_half_a_step_from_ropes() -> None:
    np.testing.assert_allclose(angles(apply_pope(Q, 1)), 10000.0 ** (-np.arange(D) / D), rtol=1e-12)
    np.testing.assert_allclose(angles(apply_pope(Q, 1))[::2], frequencies(D), rtol=1e-12)


def test_content_changes_magnitudes_and_no_angle() -> None:
    """In RoPE, by contrast, the angles of the pairs follow from the content."""
    np.testing.assert_allclose(angles(apply_pope(Q, 3)), angles(apply_pope(-Q, 3)), rtol=1e-12)
    magnitudes = np.hypot(*np.split(apply_pope(Q, 3, phase=PHASE), 2))
    np.testing.assert_allclose(magnitudes, np.log1p(np.exp(Q)), rtol=1e-12)


def test_without_phases_no_distance_scores_higher_than_none_at_all() -> None:
    """At the same position all angles are equal, whatever the contents."""
    for q, k in RANDOM.normal(size=(20, 2, D)) * 3:
        scores = apply_pope(q, 0) @ apply_pope(np.tile(k, (401, 1)), np.arange(-200, 201)).T
        assert scores.argmax() == 200
        assert scores[200] == pytest.approx(np.log1p(np.exp(q)) @ np.log1p(np.exp(k)))


def test_a_phase_moves_the_distance_that_a_dimension_prefers() -> None:
    """One dimension of frequency 1 and phase −2 scores highest 2 positions ahead, or 2π before."""
    reach = np.arange(-800, 800) / 100
    keys = apply_pope(np.ones((reach.size, 1)), reach, phase=[-2.0])
    scores = keys @ apply_pope([1.0], 0)
    highest = np.sort(reach[np.argsort(scores)[-2:]])
    np.testing.assert_allclose(highest, [2 - 2 * np.pi, 2], atol=0.01)


def test_phases_are_clipped_to_one_turn_backwards() -> None:
    inside = np.array([-2 * np.pi, -2 * np.pi, -3.0, -1.0, 0.0, 0.0])
    outside = np.array([-100.0, -6.5, -3.0, -1.0, 1e-3, 7.0])
    np.testing.assert_array_equal(
        apply_pope(K, 3, phase=outside), apply_pope(K, 3, phase=inside), strict=True
    )


def test_each_head_may_have_its_own_phases() -> None:
    keys = RANDOM.normal(size=(2, 3, 5, D))  # batch, heads, length, d
    phases = RANDOM.uniform(-6, 0, size=(3, 1, D))
    found = apply_pope(keys, range(5), phase=phases)
    assert found.shape == (2, 3, 5, 2 * D)
    for head in range(3):
        alone = apply_pope(keys[:, head], range(5), phase=phases[head, 0])
        np.testing.assert_array_equal(found[:, head], alone)


def test_it_is_rope_of_pairs_that_begin_at_angle_0() -> None:
    pairs = np.concatenate([np.log1p(np.exp(Q)), np.zeros(D)])
    expected = apply_rope(pairs, 9, layout="half")
    np.testing.assert_allclose(apply_pope(Q, 9), expected, rtol=1e-13, atol=1e-15)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_largest_and_the_smallest_numbers_of_a_dtype_neither_overflow_nor_turn_negative(
    dtype: type[np.floating],
) -> None:
    largest = np.finfo(dtype).max
    found = apply_pope(np.array([largest, -largest, 0], dtype), 0)
    np.testing.assert_array_equal(found, np.array([largest, 0, np.log(2), 0, 0, 0], dtype))


def test_a_single_dimension_and_an_odd_number_of_them_are_allowed() -> None:
    assert apply_pope([2.0], 5).shape == (2,)
    assert apply_pope(np.ones((4, 7)), range(4)).shape == (4, 14)


def test_no_vectors_give_no_pairs() -> None:
    assert apply_pope(np.ones((0, 3)), np.arange(0)).shape == (0, 6)
