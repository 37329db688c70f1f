"""Rotary frequencies for texts longer than a model was trained on.

A model trained on L positions has seen no angle beyond Lω_i in pair i. Fast pairs have turned many
times by then and have seen them all; slow ones have not been round once. Three rules make the
angles of a text `factor` times as long fit, and none of them trains anything:

    interpolation  every pair slower       ω_i / factor
    NTK-aware      a larger base           the fastest pair as it was, the slowest interpolated
    YaRN           by turns in training    as it was from β on, interpolated up to α, mixed between

Hand what they return to `apply_rope(frequencies=)` or `posenc.nn.RotaryEmbedding(frequencies=)`.

Chen et al., "Extending Context Window of Large Language Models via Positional Interpolation"
(2023); Peng et al., "YaRN: Efficient Context Window Extension of Large Language Models" (2023).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from posenc._arguments import as_base, as_choice, as_integer, as_number
from posenc.frequencies import frequencies

# How often a pair has turned in training to be left alone, β, and to be interpolated, α: the
# authors' choice for Llama models, to be tuned for others.
FAST, SLOW = 32.0, 1.0

# What YaRN's ramp between the two is straight in: the paper's, and that of released code.
RAMPS = ("turns", "pairs")


def interpolated_frequencies(
    d: int, factor: float, *, base: float = 10000.0
) -> NDArray[np.float64]:
    """Return frequencies by which position p turns as far as p/factor did: ω_i / factor.

    Args:
        d: width of one head; an even integer, 2 or more.
        factor: how many times as long texts become; from 1 to 1e100.
        base: see `posenc.frequencies`.

    Returns:
        Shape `(d/2,)`, float64, radians per position, a new array.

    Raises:
        TypeError: `d` is not an integer, or `factor` or `base` is not a number.
        ValueError: `d` is odd or below 2; `factor` is below 1 or above 1e100; `base` is below
            1e-300, above 1e300, or 1.

    Source:
        Chen et al. (2023), section 2.3, equation 4.

    Examples:
        >>> interpolated_frequencies(8, 4)
        array([0.25   , 0.025  , 0.0025 , 0.00025])
    """
    return frequencies(d, base=base) / _as_factor(factor)


def ntk_frequencies(d: int, factor: float, *, base: float = 10000.0) -> NDArray[np.float64]:
    """Return the frequencies of a larger base: base · factor^(d/(d−2)).

    The fastest pair then turns as before, one radian per position, the slowest as if
    interpolated, and those between by a power of the factor that grows from 0 to 1.

    Args:
        d: width of one head; an even integer, 4 or more: a single pair is fastest and slowest.
        factor: how many times as long texts become; from 1 to 1e100.
        base: see `posenc.frequencies`; also the base that comes out has to stay below 1e300.

    Returns:
        Shape `(d/2,)`, float64, radians per position, a new array.

    Raises:
        TypeError: `d` is not an integer, or `factor` or `base` is not a number.
        ValueError: `d` is odd or below 4; `factor` is below 1 or above 1e100; `base` is below
            1e-300, above 1e300, or 1, or becomes so.

    Source:
        Peng et al. (2023), section 3.1; first given by bloc97 on Reddit (2023).

    Examples:
        >>> ntk_frequencies(8, 4) / frequencies(8)
        array([1.        , 0.62996052, 0.39685026, 0.25      ])
    """
    d = as_integer("d", d, least=4, even=True)
    return frequencies(d, base=as_base(base) * _as_factor(factor) ** (d / (d - 2)))


def yarn_frequencies(
    d: int,
    factor: float,
    trained_length: int,
    *,
    base: float = 10000.0,
    fast: float = FAST,
    slow: float = SLOW,
    ramp: str = "turns",
) -> NDArray[np.float64]:
    """Return frequencies changed by how often a pair has turned in training, r = Lω_i/2π.

        ((1 − γ)/factor + γ) ω_i,   γ = (r − slow) / (fast − slow), kept between 0 and 1

    That is the paper's. The code that its authors released, and that of most libraries, has a γ
    that falls with the pair i and not with r: from 1 at the last pair that turns `fast` times,
    or at pair 0 where none does, to 0 at the first that turns at most `slow` times. Where the
    second does not lie behind the first, which no model in use has, γ is a step behind the first.

    YaRN also sharpens attention, by `yarn_temperature`.

    Args:
        d: width of one head; an even integer, 2 or more.
        factor: how many times as long texts become; from 1 to 1e100.
        trained_length: L, how many positions a text had in training; an integer, 1 or more.
        base: see `posenc.frequencies`.
        fast: turns from which on a pair stays as it is; above `slow`, β in the paper.
        slow: turns up to which a pair is interpolated; 0 or more, α in the paper.
        ramp: "turns", where γ is straight in r, as in the paper, or "pairs", where it is straight
            in i, as in released code; then `slow` is above 0, and `base` above 1.

    Returns:
        Shape `(d/2,)`, float64, radians per position, a new array.

    Raises:
        TypeError: `d` or `trained_length` is not an integer, `ramp` not a string, or another
            argument not a number.
        ValueError: `d` is odd or below 2; `factor` is below 1 or above 1e100; `trained_length`
            is below 1; `slow` is negative, or `fast` not above it; `base` is below 1e-300, above
            1e300, or 1; `ramp` is unknown, or it is "pairs" and `slow` is 0 or `base` below 1.

    Source:
        Peng et al. (2023), section 3.2; for "pairs", the code released with it.

    Examples:
        >>> yarn_frequencies(8, 4, 256) / frequencies(8)
        array([1.        , 0.32437984, 0.25      , 0.25      ])
        >>> yarn_frequencies(8, 4, 256, ramp="pairs") / frequencies(8)
        array([1.   , 0.625, 0.25 , 0.25 ])
    """
    omega = frequencies(d, base=base)
    factor = _as_factor(factor)
    trained_length = as_integer("trained_length", trained_length, least=1)
    slow, fast = float(as_number("slow", slow)), float(as_number("fast", fast))
    if slow < 0:
        raise ValueError(f"slow must be a number, 0 or more; got {slow}")
    if fast <= slow:
        raise ValueError(f"fast must be above slow, {slow}; got {fast}")
    if as_choice("ramp", ramp, RAMPS) == "pairs":
        kept = _by_pairs(d, trained_length, base=float(base), fast=fast, slow=slow)
    else:
        with np.errstate(over="ignore"):  # however far above 1 it comes out, a pair stays
            kept = (trained_length * (omega / (2 * np.pi)) - slow) / (fast - slow)
    kept = np.clip(kept, 0.0, 1.0)
    return ((1 - kept) / factor + kept) * omega


def _by_pairs(
    d: int, trained_length: int, *, base: float, fast: float, slow: float
) -> NDArray[np.float64]:
    """Return the ramp of released code, which is straight from one whole pair to another."""
    if base < 1:
        raise ValueError(f'base must be above 1 where ramp is "pairs"; got {base}')
    if slow == 0:
        raise ValueError(f'slow must be above 0 where ramp is "pairs"; got {slow}')

    def pair(turns: float) -> float:  # the quotient of L and 2π turns may be no float64
        in_training = math.log(trained_length / (2 * math.pi))
        return d * (in_training - math.log(turns)) / (2 * math.log(base))

    low = min(max(math.floor(pair(fast)), 0), d)  # from the last pair on they are one
    # Where both are one pair, the ramp is a step, as theirs is. Theirs turns round where the second
    # lies before the first; a step is what is meant.
    high = max(min(math.ceil(pair(slow)), d - 1), low + 0.001)
    return (high - np.arange(d // 2, dtype=np.float64)) / (high - low)


def yarn_temperature(factor: float) -> float:
    """Return what YaRN multiplies queries, and keys too, by: 0.1 ln(factor) + 1.

    Scores are so multiplied by its square, 1/t in the paper, and attention becomes sharper.

    Args:
        factor: how many times as long texts become; from 1 to 1e100.

    Returns:
        A float, 1 or more.

    Raises:
        TypeError: `factor` is not a number.
        ValueError: `factor` is below 1 or above 1e100.

    Source:
        Peng et al. (2023), section 3.4: √(1/t), fitted to Llama models.

    Examples:
        >>> round(yarn_temperature(8), 4)
        1.2079
    """
    return 0.1 * math.log(_as_factor(factor)) + 1


def _as_factor(value: object) -> float:
    """Return how many times as long texts become, a float from 1 on."""
    factor = float(as_number("factor", value))
    if not 1 <= factor <= 1e100:
        raise ValueError(f"factor must be a number from 1 to 1e100; got {factor}")
    return factor
