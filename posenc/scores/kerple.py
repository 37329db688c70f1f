"""KERPLE: biases that fall ever more slowly with distance, with two learned numbers for each head.

    logarithmic   −r₁·log(1 + r₂·|key − query|)
    power         −r₁·|key − query|^r₂,   with r₂ up to 2

Chi, Fan, Ramadge and Rudnicky, "KERPLE: Kernelized Relative Positional Embedding for Length
Extrapolation" (NeurIPS 2022, arXiv 2205.09921). Both are *conditionally positive definite* kernels.
With a constant added, which softmax ignores, each kernel is an inner product of vectors, one for
each position, unless the exponent is 2, where no constant is large enough. ALiBi is the power form
with the exponent 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import as_pairs, as_vector


def kerple_log_bias(scale: ArrayLike, rate: ArrayLike, relative: ArrayLike) -> NDArray[np.float64]:
    """Return the logarithmic bias of each head: −r₁·log(1 + r₂·|key − query|).

    Once distances are well above 1/r₂, doubling the distance costs r₁·log 2 more, wherever the key
    is. A weight that is exp(bias) therefore falls like a power of the distance,
    (1 + r₂·distance)^(−r₁), where ALiBi's falls exponentially.

    Args:
        scale: r₁ of each head, shape `(heads,)`, above 0.
        rate: r₂ of each head, shape `(heads,)`, above 0.
        relative: key − query, integers, shape `(query, key)`; see `posenc.relative_positions`.

    Returns:
        Shape `(heads, query, key)`, float64, a new array: 0 or below, symmetric in the sign of
        `relative`. It does not hide keys ahead, so a decoder adds a causal mask.

    Raises:
        TypeError: `scale` or `rate` holds anything but real numbers, or `relative` anything but
            integers.
        ValueError: `scale` or `rate` is not a vector, they differ in length, or an entry is not
            above 0; `relative` does not have two dimensions or reaches 2⁵³ in size.

    Source:
        Chi et al. (2022), section 4, the logarithmic variant; added there before the division by
        √d, and in the authors' code after it.

    Examples:
        >>> from posenc import relative_positions
        >>> kerple_log_bias([1.0], [1.0], relative_positions(1, 4, query_offset=3)).round(4)
        array([[[-1.3863, -1.0986, -0.6931,  0.    ]]])
    """
    r1, r2, distance = _checked_parameters("rate", scale, rate, relative)
    return 0.0 - r1 * np.log1p(r2 * distance)  # 0.0 and not −0.0 where the distance is 0


def kerple_power_bias(
    scale: ArrayLike, exponent: ArrayLike, relative: ArrayLike
) -> NDArray[np.float64]:
    """Return the power bias of each head: −r₁·|key − query|^r₂.

    With the exponent 1 it is ALiBi's, with r₁ for the slope; with 2 it falls like a Gaussian's
    logarithm, and no constant makes it an inner product of positions. Above 2 the kernel would not
    even be conditionally positive definite, so it is refused.

    Args:
        scale: r₁ of each head, shape `(heads,)`, above 0.
        exponent: r₂ of each head, shape `(heads,)`, above 0 and up to 2.
        relative: key − query, integers, shape `(query, key)`; see `posenc.relative_positions`.

    Returns:
        Shape `(heads, query, key)`, float64, a new array: 0 or below, symmetric in the sign of
        `relative`. It does not hide keys ahead, so a decoder adds a causal mask.

    Raises:
        TypeError: `scale` or `exponent` holds anything but real numbers, or `relative` anything
            but integers.
        ValueError: `scale` or `exponent` is not a vector, they differ in length, an entry is not
            above 0, or an exponent above 2; `relative` does not have two dimensions or reaches
            2⁵³ in size.

    Source:
        Chi et al. (2022), section 4, the power variant; added there before the division by √d, and
        in the authors' code after it.

    Examples:
        >>> from posenc import relative_positions
        >>> kerple_power_bias([2.0], [0.5], relative_positions(1, 5, query_offset=4)).round(4)
        array([[[-4.    , -3.4641, -2.8284, -2.    ,  0.    ]]])
    """
    r1, r2, distance = _checked_parameters("exponent", scale, exponent, relative)
    if r2.max() > 2:
        raise ValueError(f"exponent must be above 0 and up to 2; got {r2.max():g}")
    return 0.0 - r1 * distance**r2


def _checked_parameters(
    name: str, scale: ArrayLike, second: ArrayLike, relative: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return both numbers of each head, (heads, 1, 1), and the distances, (query, key)."""
    r1 = as_vector("scale", scale, above=0)
    r2 = as_vector(name, second, length=r1.size, above=0)
    distance = np.abs(as_pairs("relative", relative)).astype(np.float64)
    return r1[:, np.newaxis, np.newaxis], r2[:, np.newaxis, np.newaxis], distance
