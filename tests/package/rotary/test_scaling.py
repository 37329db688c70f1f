"""Rotary frequencies for longer contexts follow the papers' rules and bound the angles."""

from __future__ import annotations

import re
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posenc import (
    apply_rope,
    critical_dimension,
    dynamic_frequencies,
    frequencies,
    interpolated_frequencies,
    llama3_frequencies,
    longrope_frequencies,
    longrope_temperature,
    ntk_frequencies,
    proportional_frequencies,
    riflex_frequencies,
    wavelengths,
    yarn_frequencies,
    yarn_temperature,
)
from posenc.rotary.scaling import FAST, RAMPS, SLOW

WIDTHS = (4, 8, 64, 128)
FACTORS = (1.0, 1.5, 4.0, 32.0)
LENGTHS = (64, 2048, 4096)
# A power, a quotient and a sum, each off by a rounding or two, the power by |ln ω| more.
CLOSE = 1e-14


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("d", WIDTHS)
def test_interpolation_rotates_position_p_like_p_over_factor(d: int, factor: float) -> None:
    x = np.random.default_rng(0).normal(size=(5, d))
    positions = np.array([0, 1, 63, 64, 8191])
    slower = apply_rope(x, positions, frequencies=interpolated_frequencies(d, factor))
    np.testing.assert_allclose(slower, apply_rope(x, positions / factor), rtol=0, atol=1e-11)


@pytest.mark.parametrize("base", [10000.0, 500000.0])
@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("d", WIDTHS)
def test_ntk_frequencies_are_those_of_the_larger_base(d: int, factor: float, base: float) -> None:
    with mpmath.workdps(50):
        larger = mpmath.mpf(base) * mpmath.mpf(factor) ** (mpmath.mpf(d) / (d - 2))
        exact = [float(larger ** (-mpmath.mpf(2 * i) / d)) for i in range(d // 2)]
    np.testing.assert_allclose(ntk_frequencies(d, factor, base=base), exact, rtol=CLOSE)


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("d", WIDTHS)
def test_ntk_leaves_the_fastest_pair_and_interpolates_the_slowest(d: int, factor: float) -> None:
    scaled = ntk_frequencies(d, factor)
    assert scaled[0] == 1
    assert scaled[-1] == pytest.approx(interpolated_frequencies(d, factor)[-1], rel=CLOSE)
    slowed = frequencies(d) / scaled
    assert (np.diff(slowed) >= 0).all()  # the slower a pair, the more it is slowed


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("d", WIDTHS)
def test_yarn_frequencies_follow_the_paper(d: int, factor: float, length: int) -> None:
    """Each pair by itself, in the paper's terms: wavelength, turns, ramp."""
    for wave, found in zip(wavelengths(d), yarn_frequencies(d, factor, length), strict=True):
        turns = length / wave
        kept = 0 if turns < 1 else 1 if turns > 32 else (turns - 1) / 31
        omega = 2 * np.pi / wave
        assert found == pytest.approx((1 - kept) * omega / factor + kept * omega, rel=CLOSE)


@pytest.mark.parametrize("length", LENGTHS)
def test_yarn_leaves_fast_pairs_and_interpolates_slow_ones(length: int) -> None:
    turns = length / wavelengths(128)
    slowed = frequencies(128) / yarn_frequencies(128, 8, length)
    np.testing.assert_array_equal(slowed[turns >= 32], 1.0)
    np.testing.assert_allclose(slowed[turns <= 1], 8, rtol=CLOSE)
    between = slowed[(turns > 1) & (turns < 32)]
    assert between.size
    assert ((between > 1) & (between < 8)).all()


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("d", (8, 64, 128))
def test_the_released_ramp_is_linear_between_two_whole_pairs(
    d: int, factor: float, length: int
) -> None:
    """From the last pair that makes 32 turns, or pair 0, to the first that makes one at most."""
    turns = length / wavelengths(d)
    fast = np.flatnonzero(turns >= 32)
    low = fast[-1] if fast.size else 0
    high = np.flatnonzero(turns <= 1)[0]
    found = yarn_frequencies(d, factor, length, ramp="pairs") / frequencies(d)
    assert found[: low + 1] == pytest.approx(1, rel=CLOSE)
    assert found[high:] == pytest.approx(1 / factor, rel=CLOSE)
    steps = np.diff(found[low : high + 1])
    assert steps == pytest.approx((1 / factor - 1) / (high - low), rel=1e-12, abs=CLOSE)


def test_a_released_ramp_of_zero_width_is_a_step() -> None:
    """After the first pair if no pair makes a turn, after the last if all make 32."""
    np.testing.assert_array_equal(
        yarn_frequencies(8, 4, 1, ramp="pairs") / frequencies(8), [1, 0.25, 0.25, 0.25]
    )
    np.testing.assert_array_equal(yarn_frequencies(8, 4, 10**12, ramp="pairs"), frequencies(8))


@pytest.mark.parametrize("base", [1 + 3e-16, 2.0, 1e4, 1e300])
@pytest.mark.parametrize("length", [1, 64, 2**53])
@pytest.mark.parametrize(
    ("slow", "fast"), [(5e-324, 1e-320), (5e-324, 1.7e308), (1e-300, 32.0), (1e300, 1.7e308)]
)
def test_extreme_limits_follow_the_formulas(
    slow: float, fast: float, length: int, base: float
) -> None:
    """Without a warning, however far a limit is beyond the existing turns and pairs."""
    d, factor = 8, 4.0
    omega = frequencies(d, base=base)
    with mpmath.workdps(50):
        turns = [length * mpmath.mpf(w) / (2 * mpmath.pi) for w in omega.tolist()]
        by_turns = [(r - slow) / (mpmath.mpf(fast) - slow) for r in turns]
        at = [
            d * mpmath.log(length / (mpmath.mpf(r) * 2 * mpmath.pi)) / (2 * mpmath.log(base))
            for r in (fast, slow)
        ]
        low = max(mpmath.floor(at[0]), 0)
        high = max(min(mpmath.ceil(at[1]), d - 1), low + mpmath.mpf("0.001"))
        by_pairs = [(high - i) / (high - low) for i in range(d // 2)]
        for ramp, kept in (("turns", by_turns), ("pairs", by_pairs)):
            exact = [(1 - g) / factor + g for g in (float(min(max(k, 0), 1)) for k in kept)]
            found = yarn_frequencies(d, factor, length, base=base, slow=slow, fast=fast, ramp=ramp)
            np.testing.assert_allclose(found / omega, exact, rtol=CLOSE)


def test_a_pair_with_infinitely_many_turns_is_kept() -> None:
    slowest = yarn_frequencies(128, 4, 10**15, base=1e-300, fast=1e-320, slow=0)
    np.testing.assert_array_equal(slowest, frequencies(128, base=1e-300))


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({"ramp": "straight"}, 'ramp must be one of "turns", "pairs"; got \'straight\' (str)'),
        ({"ramp": "pairs", "slow": 0}, 'slow must be above 0 when ramp is "pairs"; got 0.0'),
        ({"ramp": "pairs", "base": 0.5}, 'base must be above 1 when ramp is "pairs"; got 0.5'),
        ({"truncate": False}, 'truncate must be True when ramp is "turns"; got False'),
    ],
)
def test_bad_ramp_arguments_are_refused(bad: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        yarn_frequencies(8, 4, 256, **bad)


def test_yarn_in_its_limits_equals_plain_rope_and_interpolation() -> None:
    plain = yarn_frequencies(64, 8, 4096, slow=0.0, fast=1e-9)
    np.testing.assert_array_equal(plain, frequencies(64))
    slow = yarn_frequencies(64, 8, 4096, slow=1e9, fast=2e9)
    np.testing.assert_array_equal(slow, interpolated_frequencies(64, 8))


@settings(database=None, deadline=None, derandomize=True, max_examples=50)
@given(
    half=st.integers(2, 64),
    factor=st.floats(1, 1e6),
    length=st.integers(1, 10**6),
    base=st.floats(2, 1e8),
)
def test_every_rule_lies_between_plain_rope_and_interpolation(
    half: int, factor: float, length: int, base: float
) -> None:
    plain = frequencies(2 * half, base=base)
    for scaled in (
        interpolated_frequencies(2 * half, factor, base=base),
        ntk_frequencies(2 * half, factor, base=base),
        yarn_frequencies(2 * half, factor, length, base=base),
        yarn_frequencies(2 * half, factor, length, base=base, ramp="pairs"),
        yarn_frequencies(2 * half, factor, length, base=base, ramp="pairs", truncate=False),
        llama3_frequencies(2 * half, factor=factor, trained_length=length, base=base),
    ):
        assert scaled.shape == plain.shape
        assert (scaled <= plain * (1 + CLOSE)).all()
        assert (scaled >= plain / factor * (1 - CLOSE)).all()


@pytest.mark.parametrize("d", WIDTHS)
def test_a_factor_of_one_changes_nothing(d: int) -> None:
    np.testing.assert_array_equal(interpolated_frequencies(d, 1), frequencies(d))
    np.testing.assert_array_equal(ntk_frequencies(d, 1), frequencies(d))
    for ramp in RAMPS:
        scaled = yarn_frequencies(d, 1, 100, ramp=ramp)
        np.testing.assert_allclose(scaled, frequencies(d), rtol=CLOSE)
    assert yarn_temperature(1) == 1


@pytest.mark.parametrize("length", [64, 512, 4096])
@pytest.mark.parametrize("factor", [1.5, 4, 8])
def test_interpolated_angles_stay_below_the_trained_length_times_the_frequency(
    factor: float, length: int
) -> None:
    """At the last position of the longer sequence, above the last training angle and below Lω."""
    d = 64
    seen, bound = (length - 1) * frequencies(d), length * frequencies(d)
    last = factor * length - 1
    interpolated = last * interpolated_frequencies(d, factor)
    np.testing.assert_allclose(interpolated, (length - 1 / factor) * frequencies(d), rtol=CLOSE)
    assert ((interpolated > seen) & (interpolated < bound)).all()
    never_round = wavelengths(d) > length
    assert (last * frequencies(d) > bound)[never_round].all()
    for fast, slow in ((FAST, SLOW), (length / (2 * np.pi), SLOW), (FAST, 5.0)):
        yarn = last * yarn_frequencies(d, factor, length, fast=fast, slow=slow)
        assert (yarn < bound)[never_round].all()
    # NTK-aware interpolates only the slowest pair fully; other slow pairs exceed trained angles.
    beyond = last * ntk_frequencies(d, factor) > bound
    assert beyond[never_round].sum() == never_round.sum() - 1


@pytest.mark.parametrize("length", [64, 512, 4096])
@pytest.mark.parametrize("factor", [1.5, 4, 8])
def test_ntk_by_a_larger_factor_leaves_no_angle_new(factor: float, length: int) -> None:
    """By so much that the first pair without a full turn is slowed by the ratio of the lengths."""
    d = 64
    never_round = wavelengths(d) > length
    enough = factor ** ((d - 2) / critical_dimension(d, length))
    bound = (length * frequencies(d))[never_round]
    last = factor * length - 1
    assert (last * ntk_frequencies(d, enough)[never_round] < bound).all()
    assert last * ntk_frequencies(d, 0.9 * enough)[never_round][0] > bound[0]


@pytest.mark.parametrize("factor", FACTORS)
def test_temperature_is_a_tenth_of_the_logarithm_and_one(factor: float) -> None:
    with mpmath.workdps(50):
        exact = float(mpmath.log(mpmath.mpf(factor)) / 10 + 1)
    assert yarn_temperature(factor) == pytest.approx(exact, rel=1e-15)


@pytest.mark.parametrize(("slow", "fast"), [(32.0, 1.0), (1.0, 0.5)])
def test_fast_must_not_be_below_slow(slow: float, fast: float) -> None:
    with pytest.raises(ValueError, match=f"fast must be at least slow, {slow}; got {fast}"):
        yarn_frequencies(8, 2, 64, slow=slow, fast=fast)


def test_a_base_that_grows_too_large_is_refused() -> None:
    """The base that was given is not at fault."""
    says = "factor must make a base of at most 1e300, other than 1; got 1e+90, which makes inf"
    with pytest.raises(ValueError, match=re.escape(says)):
        ntk_frequencies(4, 1e90, base=1e250)
    says = "length and factor must make a base of at most 1e300, other than 1; got 1000 and 1e+100"
    with pytest.raises(ValueError, match=re.escape(says)):
        dynamic_frequencies(4, 1000, factor=1e100, trained_length=1, base=1e200)
    with pytest.raises(ValueError, match=r"factor must .* got 4.0, which makes 1$"):
        ntk_frequencies(4, 4, base=1 / 16)
    assert dynamic_frequencies(128, 2**53, factor=1e100, trained_length=1)[-1] > 0


# Untruncated ramps


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("d", (8, 64, 128))
def test_an_untruncated_ramp_begins_and_ends_between_pairs(d: int, length: int) -> None:
    """It is 1 where a pair would make 32 turns, 0 where it would make one, and linear between."""
    with mpmath.workdps(50):
        first, last = (
            mpmath.log(length / (turns * 2 * mpmath.pi)) * d / (2 * mpmath.log(10000))
            for turns in (32, 1)
        )
        first, last = max(first, 0), min(last, d - 1)
        kept = [float(min(max((last - i) / (last - first), 0), 1)) for i in range(d // 2)]
    found = yarn_frequencies(d, 4, length, ramp="pairs", truncate=False) / frequencies(d)
    np.testing.assert_allclose(found, [(1 - g) / 4 + g for g in kept], rtol=1e-13)


def test_truncation_only_widens_the_ramp() -> None:
    """So it changes pairs in between, and no pair that makes 32 turns or fewer than one."""
    whole = yarn_frequencies(128, 8, 4096, ramp="pairs")
    exact = yarn_frequencies(128, 8, 4096, ramp="pairs", truncate=False)
    turns = 4096 / wavelengths(128)
    outside = (turns >= 32) | (turns <= 1)
    np.testing.assert_array_equal(whole[outside], exact[outside])
    assert (whole != exact)[~outside].all()


# Llama 3


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize(("d", "length", "base"), [(128, 8192, 5e5), (64, 8192, 5e5), (8, 64, 1e4)])
def test_llama3_frequencies_follow_the_released_code(
    d: int, length: int, base: float, factor: float
) -> None:
    """Each pair by its wavelength: kept below L/4, interpolated above L/1, smooth in between."""
    found = llama3_frequencies(d, factor=factor, trained_length=length, base=base)
    for wave, rate in zip(wavelengths(d, base=base), found, strict=True):
        omega = 2 * np.pi / wave
        smooth = (length / wave - 1) / (4 - 1)
        if wave < length / 4:
            expected = omega
        elif wave > length:
            expected = omega / factor
        else:
            expected = (1 - smooth) * omega / factor + smooth * omega
        assert rate == pytest.approx(expected, rel=CLOSE)


def test_llama3_is_yarn_of_the_paper_with_other_limits() -> None:
    np.testing.assert_array_equal(
        llama3_frequencies(128, factor=8, trained_length=8192, low=2, high=5, base=5e5),
        yarn_frequencies(128, 8, 8192, slow=2, fast=5, base=5e5),
    )


def test_between_equal_limits_no_pair_is_blended() -> None:
    """As in Llama 4, and in Kimi K2, whose released ramp goes from one pair to the next."""
    turns = 8192 / wavelengths(128, base=5e5)
    slowed = np.where(turns >= 1, 1.0, 16.0)
    found = llama3_frequencies(128, factor=16, trained_length=8192, low=1, high=1, base=5e5)
    np.testing.assert_allclose(frequencies(128, base=5e5) / found, slowed, rtol=CLOSE)
    kimi = yarn_frequencies(64, 32, 4096, fast=1, slow=1, base=5e4, ramp="pairs")
    turns = 4096 / wavelengths(64, base=5e4)
    slowed = np.where(turns >= 1, 1.0, 32.0)
    np.testing.assert_allclose(frequencies(64, base=5e4) / kimi, slowed, rtol=CLOSE)


@pytest.mark.parametrize(("low", "high"), [(4.0, 1.0), (1.0, 0.5)])
def test_high_must_not_be_below_low(low: float, high: float) -> None:
    with pytest.raises(ValueError, match=f"high must be at least low, {low}; got {high}"):
        llama3_frequencies(8, factor=2, trained_length=64, low=low, high=high)


# Rules that go by the length


@pytest.mark.parametrize("d", WIDTHS)
@pytest.mark.parametrize("factor", FACTORS)
def test_dynamic_ntk_changes_nothing_up_to_the_trained_length(d: int, factor: float) -> None:
    for length in (1, 255, 256):
        found = dynamic_frequencies(d, length, factor=factor, trained_length=256)
        np.testing.assert_array_equal(found, frequencies(d))
    beyond = dynamic_frequencies(d, 257, factor=factor, trained_length=256)
    assert (beyond < frequencies(d))[1:].all()


@pytest.mark.parametrize("length", [257, 512, 5000])
@pytest.mark.parametrize("factor", FACTORS)
def test_dynamic_ntk_enlarges_the_base_by_the_length(length: int, factor: float) -> None:
    with mpmath.workdps(50):
        larger = factor * mpmath.mpf(length) / 256 - (mpmath.mpf(factor) - 1)
        base = 10000 * larger ** (mpmath.mpf(64) / 62)
        exact = [float(base ** (-mpmath.mpf(2 * i) / 64)) for i in range(32)]
    found = dynamic_frequencies(64, length, factor=factor, trained_length=256)
    np.testing.assert_allclose(found, exact, rtol=CLOSE)


@pytest.mark.parametrize("length", [257, 512, 5000])
def test_dynamic_ntk_with_factor_one_keeps_the_slowest_pair_within_training(length: int) -> None:
    found = dynamic_frequencies(64, length, factor=1, trained_length=256)
    assert found[-1] * length == pytest.approx(256 * frequencies(64)[-1], rel=1e-13)


def test_longrope_divides_by_the_long_set_only_beyond_the_trained_length() -> None:
    short, long = np.linspace(1, 2, 32), np.linspace(1, 60, 32)
    for length, divisors in ((1, short), (4096, short), (4097, long), (10**6, long)):
        found = longrope_frequencies(64, length, short=short, long=long, trained_length=4096)
        np.testing.assert_array_equal(found, frequencies(64) / divisors)


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("length", LENGTHS)
def test_longrope_temperature_is_the_root_of_a_quotient_of_logarithms(
    factor: float, length: int
) -> None:
    with mpmath.workdps(50):
        exact = float(mpmath.sqrt(1 + mpmath.log(factor) / mpmath.log(length)))
    assert longrope_temperature(factor, length) == pytest.approx(exact, rel=1e-15)


# Others


@pytest.mark.parametrize("rotary_d", [2, 16, 62, 64])
def test_proportional_frequencies_are_the_fastest_of_the_full_rotation(rotary_d: int) -> None:
    found = proportional_frequencies(64, rotary_d, factor=4)
    np.testing.assert_array_equal(found[: rotary_d // 2], frequencies(64)[: rotary_d // 2] / 4)
    assert not found[rotary_d // 2 :].any()


@pytest.mark.parametrize(("base", "repeats", "pair"), [(256, 48, 3), (256, 5, 0), (1e4, 20, 1)])
def test_riflex_lowers_the_pair_whose_period_is_closest_to_the_repetition(
    base: float, repeats: float, pair: int
) -> None:
    """The pairs of HunyuanVideo and CogVideoX, 3 and 1, are those that the authors name."""
    changed = riflex_frequencies(16, 66, repeats=repeats, base=base) != frequencies(16, base=base)
    assert np.flatnonzero(changed).tolist() == [pair]


@pytest.mark.parametrize("share", [0.9, 1.0, 0.25])
@pytest.mark.parametrize("length", [51, 66, 100.0, 1000])
@pytest.mark.parametrize("base", [256, 10000])
def test_riflex_is_the_released_formula(base: float, length: int, share: float) -> None:
    """Pair by pair, with the smallest distance between a period and the repetition."""
    length = int(length)
    found = riflex_frequencies(16, length, repeats=48, share=share, base=base)
    expected = [float(mpmath.mpf(base) ** (-mpmath.mpf(2 * i) / 16)) for i in range(8)]
    distances = [abs(2 * float(mpmath.pi) / omega - 48) for omega in expected]
    expected[distances.index(min(distances))] = share * 2 * float(mpmath.pi) / length
    if length > 2 * float(mpmath.pi) / frequencies(16, base=base)[int(np.argmin(distances))]:
        np.testing.assert_allclose(found, expected, rtol=CLOSE)
    else:
        np.testing.assert_array_equal(found, frequencies(16, base=base))


def test_a_video_within_the_period_of_its_pair_is_left_as_it_is() -> None:
    """The period is 50.3 frames: 50 fit into it, and 51 do not."""
    original = frequencies(16, base=256)
    kept = riflex_frequencies(16, 50, repeats=48, base=256)
    np.testing.assert_array_equal(kept, original)
    slowed = riflex_frequencies(16, 51, repeats=48, base=256)
    assert slowed[3] == pytest.approx(0.9 * 2 * np.pi / 51)


def test_a_pair_that_stands_still_keeps_its_content_at_any_distance() -> None:
    x = np.random.default_rng(0).normal(size=(2, 8))
    far = apply_rope(x, [0, 10**6], frequencies=proportional_frequencies(8, 4), layout="half")
    np.testing.assert_array_equal(far[:, [2, 3, 6, 7]], x[:, [2, 3, 6, 7]])


def test_mscale_weighs_the_logarithm() -> None:
    assert yarn_temperature(40, mscale=0) == 1
    for mscale in (0.707, 1.0, 2.0):
        grown = yarn_temperature(40, mscale=mscale) - 1
        assert grown == pytest.approx(mscale * (yarn_temperature(40) - 1), rel=1e-14)
