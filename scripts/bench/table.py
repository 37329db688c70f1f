"""The sinusoidal table, 8192 positions of width 1024 in float32, against filling such an array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posenc import sinusoidal_encoding, sinusoidal_table
from scripts.bench.measure import Case, Pair

Array = NDArray[np.floating]


def cases(length: int = 8192, d_model: int = 1024) -> Iterator[Case]:
    """Yield ours, new and into an array that is there, the definition, and peers."""
    shape = length, d_model
    there = np.empty(shape, np.float32)
    truth = sinusoidal_encoding(length, d_model)

    def fill() -> Array:
        return np.full(shape, 1.0, np.float32)

    def ours(**keywords: Any) -> Array:
        return sinusoidal_table(length, d_model, **keywords)

    def definition() -> Array:
        return sinusoidal_encoding(length, d_model, dtype=np.float32)

    def into() -> Pair:
        return Pair(lambda: ours(out=there), lambda: there.fill(1.0), furthest(ours(), truth))

    def x_transformers() -> Pair:
        import torch
        from x_transformers.x_transformers import ScaledSinusoidalEmbedding

        layer, x = ScaledSinusoidalEmbedding(d_model).requires_grad_(False), torch.zeros(1, length)
        found = layer(x).numpy() * d_model**0.5  # its rows have length 1/√2
        halves = np.concatenate([truth[:, 0::2], truth[:, 1::2]], axis=1)
        return Pair(lambda: layer(x), fill, furthest(found, halves))

    def transformers() -> Pair:
        from transformers.models.m2m_100 import modeling_m2m_100

        peer = modeling_m2m_100.M2M100SinusoidalPositionalEmbedding.get_embedding
        pairs = np.arange(d_model // 2) / (d_model // 2 - 1)  # its last frequency is 1/base
        angles = np.arange(length)[:, np.newaxis] * 10000.0**-pairs
        own = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
        found = peer(length, d_model).numpy()
        return Pair(lambda: peer(length, d_model), fill, furthest(found, own))

    new = "an array filled"
    yield Case(
        "new",
        "`sinusoidal_table`, new",
        new,
        lambda: Pair(ours, fill, furthest(ours(), truth)),
        1.5,
    )
    yield Case("into", "`sinusoidal_table`, into `out`", "that array filled", into)
    yield Case(
        "definition",
        "`sinusoidal_encoding`",
        new,
        lambda: Pair(definition, fill, furthest(definition(), truth)),
    )
    yield Case("transformers", "transformers, M2M-100", new, transformers)
    yield Case("x-transformers", "x-transformers", new, x_transformers)


def furthest(found: Array, truth: Array) -> float:
    """Return the largest error."""
    return float(np.abs(found - truth).max())
