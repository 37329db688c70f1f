"""xPos: rotary positions whose score also decays with distance, faster in fast pairs.

    query at m:  ζ_i^(m/s)·R(m) q      key at n:  ζ_i^(−n/s)·R(n) k      ζ_i = (2i/d + γ) / (1 + γ)

so pair i of their product has the factor ζ_i^((m − n)/s), below 1 for keys behind the query. Sun,
Dong, Patra, Ma, Huang, Benhaim, Chaudhary, Song and Wei, "A Length-Extrapolatable Transformer" (ACL
2023, arXiv 2212.10554), section 3. It is for decoders: ahead of the query the factor would grow.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import as_choice, as_floats, as_integer, as_positive, as_reals
from posenc.rotary.rope import apply_rope

ROLES = ("query", "key")


def xpos_decay(d: int, *, gamma: float = 0.4) -> NDArray[np.float64]:
    """Return ζ_i of each pair: the factor on its part of the score over `scale_base` positions.

    Args:
        d: width of one head; an even integer, 2 or more.
        gamma: γ, above 0; the larger γ is, the more slowly all pairs decay.

    Returns:
        Shape `(d/2,)`, float64, rising from γ/(1 + γ) for the fastest pair to below 1 for the
        slowest; a new array.

    Raises:
        TypeError: `d` is not an integer, or `gamma` not a number.
        ValueError: `d` is odd or below 2, or `gamma` not above 0.

    Source:
        Sun et al. (2023), section 3.2 and algorithm 1; γ = 0.4 is from the authors' code.

    Examples:
        >>> xpos_decay(8).round(4)
        array([0.2857, 0.4643, 0.6429, 0.8214])
    """
    width = as_integer("d", d, least=2, even=True)
    slack = as_positive("gamma", gamma)
    decay: NDArray[np.float64] = (np.arange(0, width, 2) / width + slack) / (1 + slack)
    return decay


def apply_xpos(
    x: ArrayLike,
    positions: ArrayLike,
    *,
    role: str,
    base: float = 10000.0,
    layout: str = "interleaved",
    scale_base: float = 512.0,
    gamma: float = 0.4,
) -> NDArray[np.floating]:
    """Return `x` rotated as by `apply_rope`, with pair i scaled by ζ_i^(±position/scale_base).

    The scale grows for one of the two roles and falls for the other; only their product matters.
    Far from position 0 both of them leave the range of a float, so number the positions of a
    long sequence from its middle, −n/2 … n/2: moving all positions changes no score.

    Args:
        x: queries or keys, shape `(..., length, d)`, finite; d an even number, 2 or more.
        positions: the position of each vector, in a shape that broadcasts to `x.shape[:-1]`.
        role: "query" for the exponent position/scale_base, "key" for −position/scale_base.
        base: see `posenc.frequencies`.
        layout: see `posenc.apply_rope`.
        scale_base: s, the number of positions over which pair i decays to ζ_i; above 0.
        gamma: see `xpos_decay`.

    Returns:
        A new array of the shape of `x`, and of its dtype if that is float16, float32 or float64;
        float64 for integers. Scales are computed in float64; a component too large for its dtype
        becomes infinite, and numpy warns.

    Raises:
        TypeError: as `apply_rope`; `role` is not a string, `scale_base` or `gamma` not a number.
        ValueError: as `apply_rope`; `role` is unknown; `scale_base` or `gamma` is not above 0; a
            position is so far from 0 that a scale is beyond 1e100 or below 1e-100.

    Source:
        Sun et al. (2023), section 3.2 and algorithm 1, where the exponent is the position. The
        authors' code, torchscale, scales by ζ_i^(position/512) and centres the positions of a
        sequence.

    Examples:
        >>> q, k = np.array([1.0, 0.0, 1.0, 0.0]), np.array([1.0, 0.0, 1.0, 0.0])
        >>> def score(m, n):
        ...     return apply_xpos(q, m, role="query") @ apply_xpos(k, n, role="key")
        >>> [round(float(score(100 + m, 100)), 4) for m in (0, 512, -50)]
        [2.0, -0.03, 2.0068]
        >>> [round(float(score(m, 0)), 4) for m in (0, 512, -50)]
        [2.0, -0.03, 2.0068]
    """
    vectors = as_floats("x", x)
    rotated = apply_rope(vectors.astype(np.float64), positions, base=base, layout=layout)
    decay = np.log(xpos_decay(vectors.shape[-1], gamma=gamma))
    sign = 1 if as_choice("role", role, ROLES) == "query" else -1
    exponents = sign * as_reals("positions", positions) / as_positive("scale_base", scale_base)
    power = exponents[..., np.newaxis] * decay
    _check_power(positions, power)
    scale = np.exp(power)
    scales = np.concatenate([scale, scale], -1) if layout == "half" else np.repeat(scale, 2, -1)
    scaled: NDArray[np.floating] = (rotated * scales).astype(vectors.dtype)
    return scaled


def _check_power(positions: ArrayLike, power: NDArray[np.float64]) -> None:
    """Raise if a scale would be beyond 1e100 or below 1e-100, which float64 still holds well."""
    if np.abs(power).max(initial=0.0) > 100 * np.log(10):
        furthest = np.abs(as_reals("positions", positions)).max()
        raise ValueError(
            "positions must keep every scale from 1e-100 to 1e100, so count from the middle of the"
            f" sequence; got {furthest:g}"
        )
