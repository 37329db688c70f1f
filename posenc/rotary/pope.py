"""PoPE: each dimension becomes a pair with content as its length and position as its angle.

    query at m:  (μ·cos mω_c, μ·sin mω_c)                  μ = softplus(x_c) = log(1 + e^{x_c})
    key at n:    (μ·cos(nω_c + δ_c), μ·sin(nω_c + δ_c))    ω_c = base^(−c/d),  c = 0 … d−1

so the score of a query and a key is Σ μ(q_c)·μ(k_c)·cos((n − m)ω_c + δ_c). Content is in the
factors μ alone, and distance in the cosines alone; in RoPE the angle of a pair depends on both.

Gopalakrishnan, Csordás, Schmidhuber and Mozer, "Decoupling the 'What' and 'Where' with Polar
Coordinate Positional Embedding" (ICML 2026, arXiv 2509.10534), section 3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import as_floats, as_reals
from posenc.rotary.rope import apply_rope


def apply_pope(
    x: ArrayLike,
    positions: ArrayLike,
    *,
    phase: ArrayLike | None = None,
    base: float = 10000.0,
) -> NDArray[np.floating]:
    """Return the pair of each dimension: all cosine parts, then all sine parts.

    Apply it to queries, and with the learned phases to keys, before computing their scores; leave
    values as they are. It is RoPE in the layout "half" of a vector twice as wide, whose pair of
    dimension c is `(softplus(x[c]), 0)`, rotated by the phase.

    Args:
        x: queries or keys, shape `(..., length, d)`, finite; d is 1 or more, even or odd.
        positions: the position of each vector, integers or reals, in a shape that broadcasts to
            `x.shape[:-1]`.
        phase: δ in radians, the paper's learned bias, of keys; in a shape that broadcasts to
            that of `x`: `(d,)`, or `(heads, 1, d)` for phases of each head. Clipped to
            [−2π, 0]. None for queries, and for keys without phases.
        base: see `posenc.frequencies`.

    Returns:
        Shape `(..., length, 2d)`, a new array, of the dtype of `x` if that is float16, float32 or
        float64; float64 for integers. Everything is computed in float64, and only the result cast.

    Raises:
        TypeError: `x`, `positions` or `phase` holds anything but real numbers, or `x` has a wider
            dtype than float64; `base` is not a number.
        ValueError: a number is not finite; the width of `x` is 0; `positions` does not broadcast,
            or reaches 2⁵³; `phase` does not broadcast; `base` is below 1e-300, above 1e300, or 1.

    Source:
        Gopalakrishnan et al. (2026), section 3, equations 3 to 8. x-transformers divides the scores
        by √d, with d the width of `x`; the paper has no divisor.

    Examples:
        >>> apply_pope([0.0, 2.0], 1).round(4)  # softplus(0) is 0.6931, softplus(2) is 2.1269
        array([0.3745, 2.1268, 0.5833, 0.0213])

        The score of two vectors 4 positions apart is the same at any position:

        >>> q, k, delta = np.array([0.3, 0.9]), np.array([1.0, -0.2]), [-1.0, -0.5]
        >>> [round(float(apply_pope(q, p) @ apply_pope(k, p + 4, phase=delta)), 4) for p in (0, 99)]
        [-0.4456, -0.4456]
    """
    vectors = as_floats("x", x)
    if not vectors.ndim or not vectors.shape[-1]:
        raise ValueError(f"x must be of shape (..., d), with d 1 or more; got {vectors.shape}")
    delta = _phases(0.0 if phase is None else phase, vectors.shape)
    magnitudes = np.logaddexp(0.0, vectors.astype(np.float64))
    pairs = np.concatenate([magnitudes * np.cos(delta), magnitudes * np.sin(delta)], axis=-1)
    turned: NDArray[np.floating] = apply_rope(pairs, positions, base=base, layout="half")
    return turned.astype(vectors.dtype)


def _phases(phase: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the phases, clipped, in a shape that broadcasts to that of the vectors."""
    delta = as_reals("phase", phase)
    try:
        np.broadcast_to(delta, shape)
    except ValueError:
        raise ValueError(
            f"phase must be of a shape that broadcasts to {shape}, that of x; got {delta.shape}"
        ) from None
    return np.clip(delta, -2 * np.pi, 0.0)
