"""Rotary frequencies for sequences longer than a model was trained on.

A model trained on L positions has seen no angle beyond Lω_i in pair i. Over that length, fast pairs
make many full turns, so they have seen every angle; slow pairs do not complete one. Three rules
adapt the frequencies to sequences `factor` times as long, without training:

    interpolation  slow every pair down      ω_i / factor
    NTK-aware      use a larger base         keep the fastest pair, interpolate the slowest
    YaRN           go by turns in training   keep from β on, interpolate up to α, blend between

Pass the result to `apply_rope(frequencies=)` or `posenc.nn.RotaryEmbedding(frequencies=)`.

Chen et al., "Extending Context Window of Large Language Models via Positional Interpolation"
(2023); Peng et al., "YaRN: Efficient Context Window Extension of Large Language Models" (2023).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from posenc._arguments import as_base, as_choice, as_integer, as_number
from posenc.frequencies import frequencies

# β, the turns in training from which a pair is kept, and α, those up to which it is interpolated:
# the authors' choice for Llama models, to be tuned for others.
FAST, SLOW = 32.0, 1.0

# The variable in which YaRN's ramp from α to β is linear: in the paper, and in released code.
RAMPS = ("turns", "pairs")


def interpolated_frequencies(
    d: int, factor: float, *, base: float = 10000.0
) -> NDArray[np.float64]:
    """Return frequencies that rotate position p as far as p/factor before: ω_i / factor.

    Args:
        d: width of one head; an even integer, 2 or more.
        factor: new length divided by trained length; from 1 to 1e100.
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

    The fastest pair rotates as before, one radian per position, and the slowest as if
    interpolated. Pairs in between are slowed by a power of the factor, with an exponent from 0
    to 1.

    Args:
        d: width of one head; an even integer, 4 or more, since the fastest and the slowest pair
            must differ.
        factor: new length divided by trained length; from 1 to 1e100.
        base: see `posenc.frequencies`; the larger base may not exceed 1e300 either.

    Returns:
        Shape `(d/2,)`, float64, radians per position, a new array.

    Raises:
        TypeError: `d` is not an integer, or `factor` or `base` is not a number.
        ValueError: `d` is odd or below 4; `factor` is below 1 or above 1e100; `base` is below
            1e-300, above 1e300, or 1, or the new base is.

    Source:
        Peng et al. (2023), section 3.1; first proposed by bloc97 on Reddit (2023).

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
    """Return frequencies scaled by how many turns a pair makes in training, r = Lω_i/2π.

        ((1 − γ)/factor + γ) ω_i,   γ = (r − slow) / (fast − slow), clipped to [0, 1]

    This is the paper's rule. In the code that its authors released, and in most libraries, γ is
    linear in the pair i instead of r: it falls from 1 at the last pair that makes `fast` turns, or
    at pair 0 if none does, to 0 at the first pair that makes at most `slow` turns. If the second
    pair does not come after the first, as in no model in use, γ drops to 0 right after the first.

    YaRN also sharpens attention, by `yarn_temperature`.

    Args:
        d: width of one head; an even integer, 2 or more.
        factor: new length divided by trained length; from 1 to 1e100.
        trained_length: L, how many positions a sequence had in training; an integer, 1 or more.
        base: see `posenc.frequencies`.
        fast: a pair that makes this many turns or more is kept; above `slow`. β in the paper.
        slow: a pair that makes this many turns or fewer is interpolated; 0 or more. α in the paper.
        ramp: "turns", γ linear in r as in the paper, or "pairs", γ linear in i as in released
            code, which needs `slow` above 0 and `base` above 1.

    Returns:
        Shape `(d/2,)`, float64, radians per position, a new array.

    Raises:
        TypeError: `d` or `trained_length` is not an integer, `ramp` is not a string, or another
            argument is not a number.
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
        with np.errstate(over="ignore"):  # infinity is clipped to 1 like any large value
            kept = (trained_length * (omega / (2 * np.pi)) - slow) / (fast - slow)
    kept = np.clip(kept, 0.0, 1.0)
    return ((1 - kept) / factor + kept) * omega


def _by_pairs(
    d: int, trained_length: int, *, base: float, fast: float, slow: float
) -> NDArray[np.float64]:
    """Return the ramp of released code, linear from one whole pair to another."""
    if base < 1:
        raise ValueError(f'base must be above 1 when ramp is "pairs"; got {base}')
    if slow == 0:
        raise ValueError(f'slow must be above 0 when ramp is "pairs"; got {slow}')

    def pair(turns: float) -> float:  # a difference of logarithms: the quotient may overflow
        in_training = math.log(trained_length / (2 * math.pi))
        return d * (in_training - math.log(turns)) / (2 * math.log(base))

    low = min(max(math.floor(pair(fast)), 0), d)  # all values past the last pair act alike
    # If both ends fall on the same pair, the ramp is a step, as in released code. If high falls
    # before low, the ramp of released code rises instead of falling; here it is a step again.
    high = max(min(math.ceil(pair(slow)), d - 1), low + 0.001)
    return (high - np.arange(d // 2, dtype=np.float64)) / (high - low)


def yarn_temperature(factor: float) -> float:
    """Return the factor by which YaRN scales both queries and keys: 0.1 ln(factor) + 1.

    This scales the scores by its square, 1/t in the paper, which sharpens attention.

    Args:
        factor: new length divided by trained length; from 1 to 1e100.

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
    """Return `factor` as a float from 1 to 1e100."""
    factor = float(as_number("factor", value))
    if not 1 <= factor <= 1e100:
        raise ValueError(f"factor must be a number from 1 to 1e100; got {factor}")
    return factor
