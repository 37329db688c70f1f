"""Which base rotary positions need for sequences of a given length.

A larger base slows all pairs but the first. Two theories say how large it should be:

    by decay   a token must prefer tokens like itself, on average, at every distance (Men)
    by turns   pairs that complete a turn within the trained length must carry the longer one (Liu)

Both are about training, or fine-tuning, with that base; neither is a rule to apply to a model
without training, as the rules of `posenc.rotary.scaling` are.

Men et al., "Base of RoPE Bounds Context Length" (2024, arXiv:2405.14591); Liu et al., "Scaling Laws
of RoPE-based Extrapolation" (2024, arXiv:2310.05209).
"""

from __future__ import annotations

import math
from itertools import count

import numpy as np

from posenc._arguments import as_integer
from posenc.frequency import frequencies, wavelengths

# Lags are summed in blocks: the first small, since most bases fail there, and none too large.
FIRST, LARGEST = 64, 2**13


def smallest_base(d: int, length: int) -> float:
    """Return the smallest base with which similar tokens attract at all lags up to `length`.

        Σ_i cos(rω_i) ≥ 0   for 0 ≤ r ≤ length

    If the entries of a query and a random key are independent, and a similar key is the query with
    some noise, then this sum says by how much the score of the similar key exceeds that of the
    random one, r positions away, on average. Below 0, the random one gets more attention. A model
    trained with a smaller base has, as the authors call it, a superficial long-context ability.

    Args:
        d: width of one head; an even integer, 4 or more, since a single pair has no such base.
        length: the longest lag, up to which the context is to be used; an integer from 1 to 2²².
            A million takes minutes.

    Returns:
        A float with two significant digits, above 1: the smallest such base that satisfies the
        bound. Larger bases need not satisfy it: the set has gaps.

    Raises:
        TypeError: `d` or `length` is not an integer.
        ValueError: `d` is odd or below 4; `length` is below 1 or above 2²².

    Source:
        Men et al. (2024), section 4, theorem 1. Their lower bounds for heads of 128, from 4.3e3 for
        1k to 2.1e6 for 64k positions, come out here within a tenth: the difference is in which
        bases are tried.

    Examples:
        >>> smallest_base(128, 4000), smallest_base(128, 8000)
        (27000.0, 84000.0)
    """
    d = as_integer("d", d, least=4, even=True)
    length = as_integer("length", length, least=1)
    if length > 2**22:
        raise ValueError(f"length must be an integer from 1 to 2**22; got {length}")
    bases = (float(f"{digits}e{power}") for power in count(-1) for digits in range(10, 100))
    return next(base for base in bases if base > 1 and _attracts(d, base, length))


def _attracts(d: int, base: float, length: int) -> bool:
    """Say whether Σ cos(mω_i) is 0 or more at all lags m up to `length`, the largest first."""
    omega = frequencies(d, base=base)
    end, size = length + 1, FIRST
    while end > 0:
        lags = np.arange(max(end - size, 0), end)
        if (np.cos(lags[:, np.newaxis] * omega).sum(axis=1) < 0).any():
            return False
        end, size = end - size, min(4 * size, LARGEST)
    return True


def critical_dimension(d: int, trained_length: int, *, base: float = 10000.0) -> int:
    """Return how many dimensions belong to pairs that complete a turn within the trained length.

    The dimensions after these have not met all their angles. Liu et al. take this to be the reason
    why a model fails beyond the trained length.

    Args:
        d: width of one head; an even integer, 2 or more.
        trained_length: how many positions a sequence had in training; an integer, 1 or more.
        base: see `posenc.frequencies`; that of training.

    Returns:
        An even integer from 0 to d: twice the number of pairs with 2π/ω_i ≤ trained_length. That is
        2⌈d/2 · log_base(trained_length/2π)⌉ up to d, except if a wavelength equals the trained
        length.

    Raises:
        TypeError: `d` or `trained_length` is not an integer, or `base` is not a number.
        ValueError: `d` is odd or below 2; `trained_length` is below 1; `base` is below 1e-300,
            above 1e300, or 1.

    Source:
        The critical dimension for extrapolation of Liu et al. (2024), here by its definition: the
        example is a head of Llama 2.

    Examples:
        >>> critical_dimension(128, 4096)
        92
    """
    trained_length = as_integer("trained_length", trained_length, least=1)
    return 2 * int((wavelengths(d, base=base) <= trained_length).sum())


def extended_base(d: int, length: int, *, trained_length: int, base: float = 10000.0) -> float:
    """Return the base to fine-tune with, so that pairs seen in full carry `length` positions.

        (length/2π)^(d/c),   c = critical_dimension(d, trained_length, base=base)

    With this base, the first pair that completed no turn in training has the wavelength `length`.

    Args:
        d: width of one head; an even integer, 2 or more.
        length: how many positions a sequence is to have; an integer, at least `trained_length`.
        trained_length: how many positions it had in training; an integer large enough for a
            pair to complete a turn, at least 7 with a base above 1.
        base: see `posenc.frequencies`; that of training.

    Returns:
        A float. Since c is rounded to whole pairs, the result can be somewhat below `base` if
        `length` is hardly above `trained_length`.

    Raises:
        TypeError: `d`, `length` or `trained_length` is not an integer, or `base` is not a number.
        ValueError: `d` is odd or below 2; `length` is below `trained_length`; no pair completes a
            turn within `trained_length`; `base` or the result is below 1e-300, above 1e300, or 1.

    Source:
        Derived here from the critical dimension of Liu et al. (2024), whose scaling laws say the
        converse: how long a sequence a given base supports.

    Examples:
        >>> round(extended_base(128, 32768, trained_length=4096))
        148544
    """
    seen = critical_dimension(d, trained_length, base=base)
    length = as_integer(
        "length", length, least=as_integer("trained_length", trained_length, least=1)
    )
    if not seen:
        raise ValueError(
            f"trained_length must be so long that a pair completes a turn; got {trained_length}"
        )
    turned = length / (2 * math.pi)
    if d / seen * math.log10(turned) > 300:
        raise ValueError(
            f"length must ask for a base of at most 1e300; got {length}, with a critical dimension"
            f" of {seen} among {d}"
        )
    return float(turned ** (d / seen))
