"""The sinusoidal table, 8192 positions of width 1024 in float32, against filling such an array."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from posenc import sinusoidal_encoding, sinusoidal_table
from scripts.bench.measure import Case, Pair

Array = NDArray[np.floating]


def cases(length: int = 8192, d_model: int = 1024) -> Iterator[Case]:
    """Yield our table, new and into an array, the definition, and other libraries."""
    shape = length, d_model
    truth = sinusoidal_encoding(length, d_model)

    def fill() -> Array:
        return np.full(shape, 1.0, np.float32)

    def off(found: Array) -> float:
        return furthest(found, truth)

    def new() -> Pair:
        return Pair(lambda: sinusoidal_table(length, d_model), fill, off)

    def into() -> Pair:
        there = np.empty(shape, np.float32)
        work = partial(sinusoidal_table, length, d_model, out=there)
        return Pair(work, lambda: there.fill(1.0), off)

    def memory() -> Pair:
        there = np.empty(shape, np.float32)
        return Pair(fill, lambda: there.fill(1.0), lambda found: furthest(found, np.ones(shape)))

    def definition() -> Pair:
        return Pair(lambda: sinusoidal_encoding(length, d_model, dtype=np.float32), fill, off)

    def transformers() -> Pair:
        from transformers.models.m2m_100 import modeling_m2m_100

        peer = modeling_m2m_100.M2M100SinusoidalPositionalEmbedding.get_embedding
        pairs = np.arange(d_model // 2) / (d_model // 2 - 1)  # its last frequency is 1/base
        angles = np.arange(length)[:, np.newaxis] * 10000.0**-pairs
        own = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
        return Pair(lambda: peer(length, d_model), fill, lambda found: furthest(found.numpy(), own))

    def x_transformers() -> Pair:
        import torch
        from x_transformers.x_transformers import ScaledSinusoidalEmbedding

        layer, x = ScaledSinusoidalEmbedding(d_model).requires_grad_(False), torch.zeros(1, length)
        own = np.concatenate([truth[:, 0::2], truth[:, 1::2]], axis=1)
        scale = d_model**0.5  # its rows have length 1/√2
        return Pair(lambda: layer(x), fill, lambda found: furthest(found.numpy() * scale, own))

    array, there = "a new array filled", "an existing array filled"
    yield Case("new", "`sinusoidal_table`, new", array, new, 1.5)
    yield Case("into", "`sinusoidal_table`, into `out`", there, into)
    yield Case("memory", array, there, memory)
    yield Case("definition", "`sinusoidal_encoding`, new", array, definition)
    yield Case("transformers", "transformers, M2M-100, new", array, transformers)
    yield Case("x-transformers", "x-transformers, new", array, x_transformers)


def furthest(found: Array, truth: Array) -> float:
    """Return the largest error."""
    return float(np.abs(found - truth).max())
