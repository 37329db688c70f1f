"""Rotary frequencies for sequences longer than a model was trained on.

A model trained on L positions has seen no angle beyond Lω_i in pair i. Over that length, fast pairs
make many full turns, so they have seen every angle; slow pairs do not complete one. Each rule
adapts the frequencies to longer sequences, most of them to sequences `factor` times as long:

    interpolation  slow every pair down      ω_i / factor
    NTK-aware      use a larger base         keep the fastest pair, interpolate the slowest
    dynamic NTK    NTK-aware, by the length  nothing changes up to the trained length
    YaRN           go by turns in training   keep from β on, interpolate up to α, blend between
    Llama 3        YaRN's rule               with other limits, and no temperature
    LongRoPE       a divisor for each pair   found by a search, one set each for short and long
    proportional   rotate the fastest only   the slowest pairs stand still
    RIFLEx         slow one pair down        the one after whose period a video repeats itself

Pass the result to `apply_rope(frequencies=)` or `posenc.nn.RotaryEmbedding(frequencies=)`. YaRN and
LongRoPE also scale queries and keys: `yarn_temperature`, `longrope_temperature`.

Chen et al., "Extending Context Window of Large Language Models via Positional Interpolation"
(2023); Peng et al., "YaRN: Efficient Context Window Extension of Large Language Models" (2023);
Grattafiori et al., "The Llama 3 Herd of Models" (2024); Ding et al., "LongRoPE: Extending LLM
Context Window Beyond 2 Million Tokens" (2024); Zhao et al., "RIFLEx: A Free Lunch for Length
Extrapolation in Video Diffusion Transformers" (2025).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import as_base, as_choice, as_flag, as_integer, as_number, as_reals
from posenc.frequency import frequencies

# β, the turns in training from which a pair is kept, and α, those up to which it is interpolated:
# the authors' choice for Llama models, to be tuned for others.
FAST, SLOW = 32.0, 1.0

# The variable in which YaRN's ramp from α to β is linear: in the paper, and in released code.
RAMPS = ("turns", "pairs")

LARGER = "make a base of at most 1e300, other than 1"


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
    d, base, factor = as_integer("d", d, least=4, even=True), as_base(base), _as_factor(factor)
    return _with_larger_base(d, factor, base=base, given=f"factor must {LARGER}; got {factor}")


def dynamic_frequencies(
    d: int, length: int, *, factor: float, trained_length: int, base: float = 10000.0
) -> NDArray[np.float64]:
    """Return NTK-aware frequencies for a sequence of this length: base · f^(d/(d−2)).

        f = 1 + factor · (length − L) / L   beyond the trained length L, and 1 up to it

    They depend on nothing but the arguments. A program that keeps the frequencies of the longest
    sequence it has met gives the same sequence different angles later; so does one whose cache
    holds keys rotated when the sequence was shorter.

    Args:
        d: width of one head; an even integer, 4 or more, since the fastest and the slowest pair
            must differ.
        length: how many positions the whole sequence has; an integer, 1 or more.
        factor: how fast f grows with the length; from 1 to 1e100. At 1, f is length/L, and the
            slowest pair never exceeds its angles of training.
        trained_length: L, how many positions a sequence had in training; an integer, 1 or more.
        base: see `posenc.frequencies`; the larger base may not exceed 1e300 either.

    Returns:
        Shape `(d/2,)`, float64, radians per position, a new array.

    Raises:
        TypeError: `d`, `length` or `trained_length` is not an integer, or `factor` or `base` is
            not a number.
        ValueError: `d` is odd or below 4; `length` or `trained_length` is below 1; `factor` is
            below 1 or above 1e100; `base` is below 1e-300, above 1e300, or 1, or the new base is.

    Source:
        Peng et al. (2023), section 3.3, for NTK-aware scaling by the length; with a factor:
        emozilla on Reddit (2023), as in transformers, where the type is called "dynamic".

    Examples:
        >>> dynamic_frequencies(8, 512, factor=2, trained_length=256) / frequencies(8)
        array([1.        , 0.69336127, 0.48074986, 0.33333333])
        >>> dynamic_frequencies(8, 200, factor=2, trained_length=256) / frequencies(8)
        array([1., 1., 1., 1.])
    """
    d = as_integer("d", d, least=4, even=True)
    length = as_integer("length", length, least=1)
    trained_length = as_integer("trained_length", trained_length, least=1)
    base, factor = as_base(base), _as_factor(factor)
    beyond = max(length - trained_length, 0) / trained_length
    return _with_larger_base(
        d,
        1 + factor * beyond,
        base=base,
        given=f"length and factor must {LARGER}; got {length} and {factor}",
    )


def yarn_frequencies(
    d: int,
    factor: float,
    trained_length: int,
    *,
    base: float = 10000.0,
    fast: float = FAST,
    slow: float = SLOW,
    ramp: str = "turns",
    truncate: bool = True,
) -> NDArray[np.float64]:
    """Return frequencies scaled by how many turns a pair makes in training, r = Lω_i/2π.

        ((1 − γ)/factor + γ) ω_i,   γ = (r − slow) / (fast − slow), clipped to [0, 1]

    This is the paper's rule. In the code that its authors released, and in most libraries, γ is
    linear in the pair i instead of r: it falls from 1 at the last pair that makes `fast` turns, or
    at pair 0 if none does, to 0 at the first pair that makes at most `slow` turns. If the second
    pair does not come after the first, as in no model in use, γ drops to 0 right after the first.
    Without `truncate` the ramp begins and ends where a pair would make `fast` and `slow` turns
    exactly, which is usually between two pairs.

    YaRN also sharpens attention, by `yarn_temperature`.

    Args:
        d: width of one head; an even integer, 2 or more.
        factor: new length divided by trained length; from 1 to 1e100.
        trained_length: L, how many positions a sequence had in training; an integer, 1 or more.
        base: see `posenc.frequencies`.
        fast: a pair that makes this many turns or more is kept; at least `slow`. β in the paper.
        slow: a pair that makes this many turns or fewer is interpolated; 0 or more. α in the paper.
        ramp: "turns", γ linear in r as in the paper, or "pairs", γ linear in i as in released
            code, which needs `slow` above 0 and `base` above 1.
        truncate: whether the ramp "pairs" begins and ends at integer pair indices, as in released
            code. Some models, such as gpt-oss, were trained without truncation.

    Returns:
        Shape `(d/2,)`, float64, radians per position, a new array.

    Raises:
        TypeError: `d` or `trained_length` is not an integer, `ramp` is not a string, `truncate` is
            not True or False, or another argument is not a number.
        ValueError: `d` is odd or below 2; `factor` is below 1 or above 1e100; `trained_length`
            is below 1; `slow` is negative, or `fast` below it; `base` is below 1e-300, above
            1e300, or 1; `ramp` is unknown, or it is "pairs" and `slow` is 0 or `base` below 1, or
            it is "turns" and `truncate` is False.

    Source:
        Peng et al. (2023), section 3.2; for "pairs", the code released with it.

    Examples:
        >>> yarn_frequencies(8, 4, 256) / frequencies(8)
        array([1.        , 0.32437984, 0.25      , 0.25      ])
        >>> yarn_frequencies(8, 4, 256, ramp="pairs") / frequencies(8)
        array([1.   , 0.625, 0.25 , 0.25 ])
        >>> yarn_frequencies(8, 4, 256, ramp="pairs", truncate=False) / frequencies(8)
        array([1.        , 0.55398637, 0.25      , 0.25      ])
    """
    omega = frequencies(d, base=base)
    factor = _as_factor(factor)
    trained_length = as_integer("trained_length", trained_length, least=1)
    slow, fast = _as_limits(slow=slow, fast=fast)
    ramp, truncate = as_choice("ramp", ramp, RAMPS), as_flag("truncate", truncate)
    if ramp == "turns":
        if not truncate:
            raise ValueError('truncate must be True when ramp is "turns"; got False')
        return _blended_frequencies(
            omega, factor, _by_turns(omega, trained_length, fast=fast, slow=slow)
        )
    first, last = _ends(d, trained_length, base=float(base), fast=fast, slow=slow)
    if truncate:
        first, last = math.floor(first), math.ceil(last)
    return _blended_frequencies(omega, factor, _ramp_over_pairs(d, first, last))


def llama3_frequencies(
    d: int,
    *,
    factor: float,
    trained_length: int,
    low: float = 1.0,
    high: float = 4.0,
    base: float = 10000.0,
) -> NDArray[np.float64]:
    """Return frequencies scaled by how many turns a pair makes in training, r = Lω_i/2π.

        ((1 − γ)/factor + γ) ω_i,   γ = (r − low) / (high − low), clipped to [0, 1]

    This is YaRN's rule as in the paper, from `low` to `high` turns instead of 1 to 32, and without
    YaRN's temperature. Llama 3.1 to 3.3 use it with factors of 8 and 32.

    Args:
        d: width of one head; an even integer, 2 or more.
        factor: by how much pairs are slowed that make `low` turns or fewer; from 1 to 1e100. It
            need not be the ratio of the lengths: Llama 3.1 has 8, from 8192 to 131072 positions.
        trained_length: L, how many positions a sequence had before its context was extended; an
            integer, 1 or more.
        low: a pair that makes this many turns or fewer is interpolated; 0 or more. In transformers
            `low_freq_factor`.
        high: a pair that makes this many turns or more is kept; at least `low`, and equal to it in
            Llama 4, where no pair is in between. In transformers `high_freq_factor`.
        base: see `posenc.frequencies`; 500000 in Llama 3.

    Returns:
        Shape `(d/2,)`, float64, radians per position, a new array.

    Raises:
        TypeError: `d` or `trained_length` is not an integer, or another argument is not a number.
        ValueError: `d` is odd or below 2; `factor` is below 1 or above 1e100; `trained_length`
            is below 1; `low` is negative, or `high` below it; `base` is below 1e-300, above
            1e300, or 1.

    Source:
        The code released with Llama 3.1 (2024). Grattafiori et al. (2024), section 3.4.2, report
        the extension in six stages, but not this rule.

    Examples:
        >>> llama3_frequencies(8, factor=8, trained_length=128) / frequencies(8)
        array([1.        , 0.42751179, 0.125     , 0.125     ])
    """
    omega = frequencies(d, base=base)
    factor = _as_factor(factor)
    trained_length = as_integer("trained_length", trained_length, least=1)
    low, high = _as_limits(low=low, high=high)
    return _blended_frequencies(
        omega, factor, _by_turns(omega, trained_length, fast=high, slow=low)
    )


def longrope_frequencies(
    d: int,
    length: int,
    *,
    short: ArrayLike,
    long: ArrayLike,
    trained_length: int,
    base: float = 10000.0,
) -> NDArray[np.float64]:
    """Return frequencies divided pair by pair: ω_i / short_i, or ω_i / long_i beyond L positions.

    The divisors come from a search with the model, and are published with it. All tokens of a
    sequence need the same set, so `length` is that of the whole sequence, prompt and answer.

    LongRoPE also sharpens attention, by `longrope_temperature`.

    Args:
        d: width of one head; an even integer, 2 or more.
        length: how many positions the whole sequence has; an integer, 1 or more. `short` is used
            up to and including `trained_length`.
        short: the divisor of each pair, shape `(d/2,)`, each from 1e-100 to 1e100.
        long: the same for longer sequences.
        trained_length: L, how many positions a sequence had before its context was extended; an
            integer, 1 or more.
        base: see `posenc.frequencies`.

    Returns:
        Shape `(d/2,)`, float64, radians per position, a new array.

    Raises:
        TypeError: `d`, `length` or `trained_length` is not an integer, `base` is not a number, or
            `short` or `long` holds anything but real numbers.
        ValueError: `d` is odd or below 2; `length` or `trained_length` is below 1; `short` or
            `long` is of another shape than `(d/2,)` or has an entry outside 1e-100 to 1e100; `base`
            is below 1e-300, above 1e300, or 1.

    Source:
        Ding et al. (2024), section 3; two sets, for short and for long sequences: the code released
        with Phi-3 (2024).

    Examples:
        >>> divisors = {"short": [1, 1, 1, 1.5], "long": [1, 2, 8, 32]}
        >>> longrope_frequencies(8, 4096, **divisors, trained_length=4096) / frequencies(8)
        array([1.        , 1.        , 1.        , 0.66666667])
        >>> longrope_frequencies(8, 4097, **divisors, trained_length=4096) / frequencies(8)
        array([1.     , 0.5    , 0.125  , 0.03125])
    """
    omega = frequencies(d, base=base)
    near = _as_divisors("short", short, omega.shape)
    far = _as_divisors("long", long, omega.shape)
    length = as_integer("length", length, least=1)
    trained_length = as_integer("trained_length", trained_length, least=1)
    return omega / (far if length > trained_length else near)


def proportional_frequencies(
    d: int, rotary_d: int, *, factor: float = 1.0, base: float = 10000.0
) -> NDArray[np.float64]:
    """Return ω_i / factor for the first rotary_d/2 pairs, and 0 for the others, which stand still.

    The slowest pairs of a large base hardly rotate anyway. Standing still, they carry content at
    any distance. Partial rotation, `rotary_d` of `posenc.apply_rope`, also leaves some
    dimensions unrotated, but different ones, and spreads all frequencies of the base over the
    rotated ones; here each pair that rotates has the frequency it has in a full rotation.

    Args:
        d: width of one head; an even integer, 2 or more.
        rotary_d: twice the number of pairs that rotate; an even integer from 2 to d.
        factor: by how much these are slowed; from 1 to 1e100.
        base: see `posenc.frequencies`.

    Returns:
        Shape `(d/2,)`, float64, radians per position, a new array.

    Raises:
        TypeError: `d` or `rotary_d` is not an integer, or `factor` or `base` is not a number.
        ValueError: `d` or `rotary_d` is odd or below 2, or `rotary_d` above `d`; `factor` is below
            1 or above 1e100; `base` is below 1e-300, above 1e300, or 1.

    Source:
        Barbero et al., "Round and Round We Go! What makes Rotary Positional Encodings useful?"
        (2024), as p-RoPE; "proportional" in transformers, as Gemma 4 uses it.

    Examples:
        >>> proportional_frequencies(8, 4)
        array([1. , 0.1, 0. , 0. ])
    """
    omega = frequencies(d, base=base) / _as_factor(factor)
    rotary_d = as_integer("rotary_d", rotary_d, least=2, even=True)
    if rotary_d > d:
        raise ValueError(f"rotary_d must be at most {d}, the width; got {rotary_d}")
    omega[rotary_d // 2 :] = 0
    return omega


def riflex_frequencies(
    d: int, length: int, *, repeats: float, share: float = 0.9, base: float = 10000.0
) -> NDArray[np.float64]:
    """Return frequencies for a longer video, one of them lowered so that it does not repeat itself.

        ω_k = share · 2π / length

    Here k is the pair whose period, 2π/ω_k, is closest to `repeats`. All other frequencies stay as
    they are, and so does ω_k if the length is at most its period. Use these frequencies for the
    frames of a video, and the usual frequencies for its rows and columns.

    Args:
        d: width of the part of a head that the frames rotate; an even integer, 2 or more.
        length: how many frames the video has, counted as the model does, after the encoder has
            merged some; an integer, 1 or more.
        repeats: after how many of these frames a longer video of the model begins to repeat itself;
            above 0, at most 1e100.
        share: the share of its new period that pair k completes in the video; above 0, at most 1.
        base: see `posenc.frequencies`.

    Returns:
        Shape `(d/2,)`, float64, radians per frame, a new array.

    Raises:
        TypeError: `d` or `length` is not an integer, or `repeats`, `share` or `base` not a number.
        ValueError: `d` is odd or below 2; `length` is below 1; `repeats` is not above 0 or exceeds
            1e100; `share` is not above 0 or exceeds 1; `base` is below 1e-300, above 1e300, or 1.

    Source:
        Zhao et al. (2025), equations 7 and 8 as in the authors' riflex_utils.py, which has the
        share of 0.9 and rounds periods; the formula of the project page has a share of 1.

    Examples:
        HunyuanVideo repeats itself after about 48 frames. Of its periods, 6, 13, 25, 50, 101 and so
        on, the closest is 50, the period of pair 3:

        >>> slower = riflex_frequencies(16, 66, repeats=48, base=256)
        >>> (frequencies(16, base=256) / slower).round(3)
        array([1.   , 1.   , 1.   , 1.459, 1.   , 1.   , 1.   , 1.   ])
        >>> round(2 * math.pi / float(slower[3]), 2)  # frames a turn: 66 / 0.9
        73.33
    """
    omega, length = frequencies(d, base=base), as_integer("length", length, least=1)
    repeats = _as_positive("repeats", repeats, most=1e100)
    share = _as_positive("share", share, most=1)
    periods = 2 * np.pi / omega
    slowed = int(np.argmin(np.abs(periods - repeats)))
    if length > periods[slowed]:
        omega[slowed] = share * 2 * np.pi / length
    return omega


def _with_larger_base(d: int, factor: float, *, base: float, given: str) -> NDArray[np.float64]:
    """Return the frequencies of base · factor^(d/(d−2)), or refuse what was given."""
    larger = base * factor ** (d / (d - 2))
    if larger > 1e300 or larger == 1:
        raise ValueError(f"{given}, which makes {larger:g}")
    return frequencies(d, base=larger)


def _by_turns(
    omega: NDArray[np.float64], trained_length: int, *, fast: float, slow: float
) -> NDArray[np.float64]:
    """Return the ramp of the paper, linear in the turns of training."""
    with np.errstate(over="ignore"):  # infinity is clipped to 1 like any large value
        turns = trained_length * (omega / (2 * np.pi))
    if fast == slow:
        return (turns >= fast).astype(np.float64)
    with np.errstate(over="ignore"):
        return (turns - slow) / (fast - slow)


def _blended_frequencies(
    omega: NDArray[np.float64], factor: float, kept: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return frequencies between kept, at 1 or above, and interpolated, at 0 or below."""
    kept = np.clip(kept, 0.0, 1.0)
    return ((1 - kept) / factor + kept) * omega


def _ends(
    d: int, trained_length: int, *, base: float, fast: float, slow: float
) -> tuple[float, float]:
    """Return which pair makes `fast` turns and which `slow`, as real numbers."""
    if base < 1:
        raise ValueError(f'base must be above 1 when ramp is "pairs"; got {base}')
    if slow == 0:
        raise ValueError(f'slow must be above 0 when ramp is "pairs"; got {slow}')

    def pair(turns: float) -> float:  # a difference of logarithms: the quotient may overflow
        in_training = math.log(trained_length / (2 * math.pi))
        return d * (in_training - math.log(turns)) / (2 * math.log(base))

    return pair(fast), pair(slow)


def _ramp_over_pairs(d: int, first: float, last: float) -> NDArray[np.float64]:
    """Return the ramp of released code, linear from one pair to another."""
    low = min(max(first, 0), d)  # all values past the last pair act alike
    # If both ends fall on the same pair, the ramp is a step, as in released code. If high falls
    # before low, the ramp of released code rises instead of falling; here it is a step again.
    high = min(last, d - 1)
    high = high if high > low else low + 0.001
    return (high - np.arange(d // 2, dtype=np.float64)) / (high - low)


def yarn_temperature(factor: float, *, mscale: float = 1.0) -> float:
    """Return the factor by which YaRN scales both queries and keys: 0.1 · mscale · ln(factor) + 1.

    This scales the scores by its square, 1/t in the paper, which sharpens attention.

    DeepSeek's models split it in two, with `mscale` and `mscale_all_dim` in their configurations.
    Rotated dimensions are multiplied by the temperature computed with `mscale`, divided by the one
    computed with `mscale_all_dim`; this is mostly 1. All scores are multiplied by the square of the
    temperature computed with `mscale_all_dim`.

    Args:
        factor: new length divided by trained length; from 1 to 1e100.
        mscale: a factor on the logarithm; from 0 to 1e100. 1 in the paper.

    Returns:
        A float, 1 or more.

    Raises:
        TypeError: `factor` or `mscale` is not a number.
        ValueError: `factor` is below 1 or above 1e100; `mscale` is negative or above 1e100.

    Source:
        Peng et al. (2023), section 3.4: √(1/t), fitted to Llama models; `mscale`: the code released
        with DeepSeek-V2 (2024).

    Examples:
        >>> round(yarn_temperature(8), 4)
        1.2079
        >>> round(yarn_temperature(40, mscale=0.707), 4)
        1.2608
    """
    mscale = float(as_number("mscale", mscale))
    if not 0 <= mscale <= 1e100:
        raise ValueError(f"mscale must be a number from 0 to 1e100; got {mscale}")
    return 0.1 * mscale * math.log(_as_factor(factor)) + 1


def longrope_temperature(factor: float, trained_length: int) -> float:
    """Return the factor by which LongRoPE scales queries and keys: √(1 + ln(factor) / ln L).

    Args:
        factor: new length divided by trained length; from 1 to 1e100.
        trained_length: L, how many positions a sequence had before its context was extended; an
            integer, 2 or more.

    Returns:
        A float, 1 or more.

    Raises:
        TypeError: `factor` is not a number, or `trained_length` not an integer.
        ValueError: `factor` is below 1 or above 1e100; `trained_length` is below 2.

    Source:
        The code released with Phi-3 (2024), and transformers.

    Examples:
        >>> round(longrope_temperature(32, 4096), 4)
        1.1902
    """
    trained_length = as_integer("trained_length", trained_length, least=2)
    return math.sqrt(1 + math.log(_as_factor(factor)) / math.log(trained_length))


def _as_limits(**limits: object) -> tuple[float, float]:
    """Return two limits as floats, the second at least the first, and both 0 or more."""
    (first, low), (second, high) = ((name, float(as_number(name, x))) for name, x in limits.items())
    if low < 0:
        raise ValueError(f"{first} must be a number, 0 or more; got {low}")
    if high < low:
        raise ValueError(f"{second} must be at least {first}, {low}; got {high}")
    return low, high


def _as_positive(name: str, value: object, *, most: float) -> float:
    """Return a number above 0 as a float."""
    number = float(as_number(name, value))
    if not 0 < number <= most:
        raise ValueError(f"{name} must be a number above 0, at most {most:g}; got {number}")
    return number


def _as_divisors(name: str, value: object, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return one divisor a pair."""
    divisors = as_reals(name, value)
    if divisors.shape != shape:
        raise ValueError(f"{name} must be of shape {shape}, one a pair; got {divisors.shape}")
    outside = divisors[(divisors < 1e-100) | (divisors > 1e100)]
    if outside.size:
        raise ValueError(f"{name} must be numbers from 1e-100 to 1e100; got {outside[0]}")
    return divisors


def _as_factor(value: object) -> float:
    """Return `factor` as a float from 1 to 1e100."""
    factor = float(as_number("factor", value))
    if not 1 <= factor <= 1e100:
        raise ValueError(f"factor must be a number from 1 to 1e100; got {factor}")
    return factor
