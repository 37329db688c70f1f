"""The frequency of each pair of dimensions. No other module computes these exponents.

Pair `i` of a width `d` owns dimensions `2i` and `2i+1` and rotates by

    ω_i = base^(−2i/d)   radians per position,   i = 0 … d/2−1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from posenc._arguments import as_base, as_integer


def frequencies(d: int, *, base: float = 10000.0) -> NDArray[np.float64]:
    """Return the frequency ω_i = base^(−2i/d) of each pair, in radians per position.

    Pair 0 rotates by one radian per position whatever the width and the base, and with a base
    above 1 it is the fastest. The power is computed directly: the often-copied
    exp(−2i·log(base)/d) is no safer and several times less accurate.

    Args:
        d: width; an even integer, 2 or more.
        base: from 1e-300 to 1e300, not 1. The last frequency approaches 1/base as d grows.

    Returns:
        Shape `(d/2,)`, float64, a new array.

    Raises:
        TypeError: `d` is not an integer, or `base` is not a number.
        ValueError: `d` is odd or below 2; `base` is below 1e-300, above 1e300, or 1.

    Source:
        Vaswani et al., "Attention Is All You Need" (2017), section 3.5.

    Examples:
        >>> frequencies(8)
        array([1.   , 0.1  , 0.01 , 0.001])
    """
    d = as_integer("d", d, least=2, even=True)
    return np.power(as_base(base), -np.arange(0, d, 2) / d)


def wavelengths(d: int, *, base: float = 10000.0) -> NDArray[np.float64]:
    """Return the wavelength 2π/ω_i of each pair: how many positions a full rotation takes.

    With a base above 1 the shortest is 2π, and the longest 2π·base^((d−2)/d) is still below
    2π·base.

    Args:
        d: width; an even integer, 2 or more.
        base: from 1e-300 to 1e300, not 1.

    Returns:
        Shape `(d/2,)`, float64, in positions, a new array.

    Raises:
        TypeError: `d` is not an integer, or `base` is not a number.
        ValueError: `d` is odd or below 2; `base` is below 1e-300, above 1e300, or 1.

    Source:
        Vaswani et al. (2017), section 3.5, which gives the limit 10000·2π as the maximum.

    Examples:
        >>> wavelengths(8).round(1)
        array([   6.3,   62.8,  628.3, 6283.2])
    """
    return 2 * np.pi / frequencies(d, base=base)
