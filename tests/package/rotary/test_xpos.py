"""What `rotary.xpos` promises, against the formula in 50 digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from posenc import apply_rope, apply_xpos, frequencies, xpos_decay

RANDOM = np.random.default_rng(0)
Q, K = RANDOM.normal(size=(2, 8))


def score(m: float, n: float, layout: str = "interleaved", scale_base: float = 512.0) -> float:
    """Return the score of Q at m and K at n."""
    options = {"layout": layout, "scale_base": scale_base}
    query = apply_xpos(Q, m, role="query", **options)  # type: ignore[arg-type]
    key = apply_xpos(K, n, role="key", **options)  # type: ignore[arg-type]
    return float(query @ key)


def exact(m: int, n: int, layout: str, scale_base: float) -> float:
    """Return that score in 50 digits: pair by pair, ζ^((m−n)/s)·Re(q k̄ e^(i(m−n)ω))."""
    total = mpmath.mpf(0)
    with mpmath.workdps(50):
        for i in range(4):
            a, b = (2 * i, 2 * i + 1) if layout == "interleaved" else (i, i + 4)
            q, k = (mpmath.mpc(x[a], x[b]) for x in (Q, K))
            omega = mpmath.mpf(10000) ** (-mpmath.mpf(2 * i) / 8)
            decay = (mpmath.mpf(2 * i) / 8 + mpmath.mpf("0.4")) / mpmath.mpf("1.4")
            turned = q * mpmath.conj(k) * mpmath.expj((m - n) * omega)
            total += decay ** (mpmath.mpf(m - n) / scale_base) * turned.real
    return float(total)


@pytest.mark.parametrize("layout", ["interleaved", "half"])
@pytest.mark.parametrize(("m", "n"), [(0, 0), (5, 3), (3, 5), (1000, 0), (-200, -900)])
@pytest.mark.parametrize("scale_base", [512.0, 64.0])
def test_a_score_is_the_formulas_in_50_digits(
    layout: str, m: int, n: int, scale_base: float
) -> None:
    found = score(m, n, layout, scale_base)
    assert found == pytest.approx(exact(m, n, layout, scale_base), rel=1e-9, abs=1e-11)


def test_the_decay_rises_from_pair_to_pair_and_stays_below_one() -> None:
    decay = xpos_decay(128)
    assert decay.shape == (64,)
    assert decay[0] == pytest.approx(0.4 / 1.4, rel=1e-15)
    assert (np.diff(decay) > 0).all()
    assert decay[-1] == pytest.approx((126 / 128 + 0.4) / 1.4, rel=1e-15)
    assert (xpos_decay(128, gamma=1.0) > decay).all()


def test_each_pair_fades_with_the_distance_and_grows_ahead_of_the_query() -> None:
    """So it is for decoders: over 512 positions pair i keeps ζ_i, and gains 1/ζ_i ahead."""
    for i in range(4):
        unit = np.zeros(8)
        unit[2 * i] = 1
        query = apply_xpos(unit, 512, role="query")
        behind, ahead = (apply_xpos(unit, n, role="key") for n in (0, 1024))
        turned = np.cos(512 * frequencies(8)[i])
        assert query @ behind == pytest.approx(xpos_decay(8)[i] * turned, rel=1e-12)
        assert query @ ahead == pytest.approx(turned / xpos_decay(8)[i], rel=1e-12)


def test_without_distance_and_with_a_slow_scale_it_is_rope() -> None:
    x = RANDOM.normal(size=(2, 5, 8))
    np.testing.assert_allclose(
        apply_xpos(x, range(5), role="query", scale_base=1e18),
        apply_rope(x, range(5)),
        rtol=1e-15,
    )


def test_no_vectors_give_no_vectors() -> None:
    assert apply_xpos(np.ones((0, 4)), np.arange(0), role="query").shape == (0, 4)


def test_positions_are_counted_from_the_middle_of_a_long_sequence() -> None:
    """At 100,000 from the start a scale is 10^±106; from the middle it is fine."""
    with pytest.raises(ValueError, match=r"^positions must keep .*; got 100000$"):
        apply_xpos(np.ones(8), 100_000, role="query")
    assert np.isfinite(apply_xpos(np.ones(8), 50_000, role="query")).all()
    furthest = int(100 * np.log(10) / -np.log(xpos_decay(8)[0]) * 512)  # a scale of 1e-100
    for position in (furthest, -furthest):
        assert np.isfinite(apply_xpos(np.ones(8), position, role="key")).all()
        with pytest.raises(ValueError, match=r"from 1e-100 to 1e100"):
            apply_xpos(np.ones(8), position + np.sign(position), role="key")
