"""The base that a length asks for: by attraction at every lag, and by pairs with a full turn."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posenc import critical_dimension, extended_base, frequencies, smallest_base, wavelengths

# Men et al. (2024), for heads of 128: lengths in thousands, and the smallest base.
PUBLISHED = {1: 4.3e3, 2: 1.6e4, 4: 2.7e4, 8: 8.4e4, 16: 3.1e5, 32: 6.4e5, 64: 2.1e6}


def attraction(d: int, base: float, length: int) -> float:
    """Return the least sum of cosines at a lag from 0 to this length."""
    lags = np.arange(length + 1)[:, None]
    return float(np.cos(lags * frequencies(d, base=base)).sum(axis=1).min())


@pytest.mark.parametrize("d", [4, 8, 64, 128])
@pytest.mark.parametrize("length", [1, 10, 1000, 5000])
def test_no_smaller_base_of_two_digits_attracts_at_every_lag(d: int, length: int) -> None:
    base = smallest_base(d, length)
    assert attraction(d, base, length) >= 0
    assert float(f"{base:.1e}") == base
    smaller = [digits * 10.0**power for power in range(-1, 30) for digits in range(10, 100)]
    smaller = [one for one in smaller if 1 < one < base * 0.999]
    assert all(attraction(d, one, length) < 0 for one in smaller[-40:])


@pytest.mark.parametrize("thousands", PUBLISHED)
def test_smallest_bases_are_those_of_the_paper_within_a_tenth(thousands: int) -> None:
    """Within a tenth, because the set of bases has gaps, and so depends on which are tried."""
    found = smallest_base(128, 1000 * thousands)
    assert found == pytest.approx(PUBLISHED[thousands], rel=0.1)


@pytest.mark.parametrize("base", [100.0, 10000.0, 500000.0])
@pytest.mark.parametrize("length", [1, 6, 7, 100, 4096, 10**9])
@pytest.mark.parametrize("d", [2, 8, 128])
def test_pairs_before_the_critical_dimension_complete_a_turn_and_no_others(
    d: int, length: int, base: float
) -> None:
    pairs = critical_dimension(d, length, base=base) // 2
    assert (wavelengths(d, base=base)[:pairs] <= length).all()
    assert (wavelengths(d, base=base)[pairs:] > length).all()


@pytest.mark.parametrize("length", [7, 100, 2048, 4096, 16384])
def test_the_critical_dimension_is_the_papers_ceiling(length: int) -> None:
    ceiling = 2 * math.ceil(64 * math.log(length / (2 * math.pi), 10000))
    assert critical_dimension(128, length) == min(ceiling, 128)


@pytest.mark.parametrize("length", [4096, 32768, 10**6])
def test_the_extended_base_gives_the_critical_dimension_the_asked_wavelength(length: int) -> None:
    base = extended_base(128, length, trained_length=4096)
    seen = critical_dimension(128, 4096)
    assert 2 * math.pi * base ** (seen / 128) == pytest.approx(length, rel=1e-12)
    assert base > 0.8 * 10000


def test_a_base_that_leaves_float64_is_refused() -> None:
    says = "length must ask for a base of at most 1e300; got 4503599627370496, with a critical"
    with pytest.raises(ValueError, match=says):
        extended_base(1024, 2**52, trained_length=7)


def test_a_trained_length_without_a_full_turn_is_refused() -> None:
    with pytest.raises(ValueError, match="so long that a pair completes a turn; got 6"):
        extended_base(128, 7, trained_length=6)


def test_the_base_to_extend_is_10000_and_a_trained_length_of_0_is_refused() -> None:
    given = extended_base(64, 8192, trained_length=4096, base=10000.0)
    assert extended_base(64, 8192, trained_length=4096) == given
    with pytest.raises(ValueError, match=r"^trained_length must be an integer, 1 or more; got 0"):
        extended_base(64, 8192, trained_length=0)
