"""Scores of multi-head latent attention: compressed keys, and RoPE in a part of its own.

    score  =  ((Uᵀq)·c + q'·k') / √(d + r)       c the latent of a token, U a matrix of the head

A key is U c. The query is multiplied by Uᵀ instead, so that no key is ever computed. That needs U
to be the same at every distance, so c has no position: q' and k', r wide, are rotated, and k' is
one key for all heads. DeepSeek-AI, "DeepSeek-V2" (2024, arXiv 2405.04434), section 2.1.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import as_reals


def latent_scores(
    q: ArrayLike,
    latent: ArrayLike,
    *,
    up: ArrayLike,
    rotated_q: ArrayLike,
    rotated_k: ArrayLike,
) -> NDArray[np.float64]:
    """Return the scores of compressed keys, with the rotated part of each query and key added.

    Args:
        q: the part of the queries without positions, shape `(..., heads, query, d)`; d is
            `qk_nope_head_dim` in configurations.
        latent: what the cache holds of each token, shape `(..., key, rank)`; `kv_lora_rank`.
        up: U, which turns a latent into the key of each head, shape `(heads, d, rank)`: of the rows
            of `kv_b_proj`, the first d of each head.
        rotated_q: the other part of the queries, rotated by `posenc.apply_rope`, shape
            `(..., heads, query, r)`; r is `qk_rope_head_dim`, and may be 0.
        rotated_k: the rotated key of each token, one for all heads, shape `(..., key, r)`.

    Returns:
        A new array of shape `(..., heads, query, key)`, float64: scores that softmax takes as they
        are, unless the configuration also has a temperature; see `softmax_factor` of
        `posenc.read_config`.

    Raises:
        TypeError: an argument holds anything but real numbers.
        ValueError: shapes do not fit together, d or the rank is 0, or a number is not finite.

    Source:
        DeepSeek-AI (2024), sections 2.1.2 and 2.1.3, equations 10 and 14 to 18.

    Examples:
        Two keys that differ in their rotated part alone:

        >>> apart = {"rotated_q": [[[1.0]]], "rotated_k": [[1.0], [-1.0]]}
        >>> latent_scores([[[1.0, 0.0, 0.0]]], [[5.0], [5.0]], up=[[[1.0], [2.0], [3.0]]], **apart)
        array([[[3., 2.]]])
    """
    content, cached, matrices, turned, turned_k = _fitting(q, latent, up, rotated_q, rotated_k)
    absorbed = content @ matrices  # once, for all keys
    products = absorbed @ cached[..., np.newaxis, :, :].mT
    positional = turned @ turned_k[..., np.newaxis, :, :].mT
    scores: NDArray[np.float64] = products + positional
    return scores / math.sqrt(content.shape[-1] + turned.shape[-1])


def _fitting(
    q: ArrayLike, latent: ArrayLike, up: ArrayLike, rotated_q: ArrayLike, rotated_k: ArrayLike
) -> tuple[NDArray[np.float64], ...]:
    """Return the five arrays as float64, if their shapes fit together."""
    names = ("q", "latent", "up", "rotated_q", "rotated_k")
    values = (q, latent, up, rotated_q, rotated_k)
    arrays = tuple(as_reals(name, value) for name, value in zip(names, values, strict=True))
    content, cached, matrices, turned, turned_k = arrays
    fits = (
        content.ndim > 2
        and cached.ndim > 1
        and 0 not in matrices.shape[1:]
        and matrices.shape == (content.shape[-3], content.shape[-1], cached.shape[-1])
        and (*content.shape[:-3], cached.shape[-2]) == cached.shape[:-1] == turned_k.shape[:-1]
        and (*content.shape[:-1], turned_k.shape[-1]) == turned.shape
    )
    if not fits:
        raise ValueError(
            "q, latent, up, rotated_q and rotated_k must fit: (..., h, q, d), (..., k, c),"
            f" (h, d, c), (..., h, q, r) and (..., k, r); got {content.shape}, {cached.shape},"
            f" {matrices.shape}, {turned.shape} and {turned_k.shape}"
        )
    return arrays
