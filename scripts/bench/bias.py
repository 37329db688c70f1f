"""Bias matrices, against filling a matrix; attention with a bias, against attention without."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

import posenc
from posenc import alibi_bias, alibi_rows, attention, relative_view, t5_bias
from posenc.nn import (
    ALiBi,
    T5RelativeBias,
    relative_attention,
    relative_positions,
    relative_row,
    reversed_view,
)
from scripts.bench.measure import Case, Pair

Bias = Callable[[Tensor], Tensor]
# Returns the bias by the definition in float64, given the first query and the number of queries.
Defined = Callable[[int, int], NDArray[np.floating]]
AT_ONCE = 256  # queries; the whole matrix would take gigabytes in float64


def cases(heads: int = 32, length: int = 4096) -> Iterator[Case]:
    """Yield biases as a view, as a full matrix, and those of other libraries, as full matrices."""
    alibi, t5 = ALiBi(heads, causal=False), T5RelativeBias(heads).requires_grad_(False)
    alibi_defined = exact_alibi(heads, length)
    biases: dict[str, tuple[Bias, Defined]] = {
        "ALiBi": (alibi, alibi_defined),
        "T5": (t5, exact_t5(t5.table, length)),
    }

    def fill() -> Tensor:
        return torch.full((heads, length, length), 1.0)

    def seen(bias: Bias, defined: Defined) -> Pair:
        def work() -> Tensor:
            return reversed_view(bias(relative_row(length, length))[:, 0], length)

        # The view has its queries in reverse order.
        return Pair(work, fill, lambda found: furthest(found.numpy()[:, ::-1], defined))

    def seen_in_numpy() -> Pair:
        work = lambda: relative_view(alibi_rows(heads, length, length, causal=False), length)  # noqa: E731
        return Pair(work, fill, lambda found: furthest(found, alibi_defined))

    def written(bias: Bias, defined: Defined) -> Pair:
        work = lambda: bias(relative_positions(length))  # noqa: E731
        return Pair(work, fill, lambda found: furthest(found.numpy(), defined))

    def transformers() -> Pair:
        from transformers import T5Config
        from transformers.models.t5.modeling_t5 import T5Attention

        config = T5Config(num_heads=heads, d_kv=4, d_model=4 * heads)
        layer = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
        layer.requires_grad_(False)
        defined = exact_t5(layer.relative_attention_bias.weight, length)
        work = partial(layer.compute_bias, length, length)
        return Pair(work, fill, lambda found: furthest(found[0].numpy(), defined))

    def x_transformers() -> Pair:
        from x_transformers.x_transformers import AlibiPositionalBias

        # A layer caches its matrix, so each round needs a new layer.
        work = lambda: AlibiPositionalBias(heads)(length, length)  # noqa: E731
        return Pair(work, fill, lambda found: furthest(found.numpy(), alibi_defined))

    matrix = "a new matrix filled"
    for name, both in biases.items():
        make = lambda both=both: seen(*both)  # noqa: E731
        yield Case(f"{name} seen", f"{name}, rows and view", matrix, make, 0.01)
    yield Case("ALiBi seen in numpy", "ALiBi in numpy, rows and view", matrix, seen_in_numpy, 0.01)
    for name, both in biases.items():
        make = lambda both=both: written(*both)  # noqa: E731
        yield Case(f"{name} written", f"{name}, the definition", matrix, make)
    yield Case("transformers", "transformers, T5", matrix, transformers)
    yield Case("x-transformers", "x-transformers, ALiBi", matrix, x_transformers)


def attention_cases(heads: int = 32, length: int = 4096, d: int = 128) -> Iterator[Case]:
    """Yield attention with the bias as rows, and as a full matrix."""
    alibi = ALiBi(heads, causal=False)
    q, k, v = torch.randn(3, 1, heads, length, d, generator=torch.Generator().manual_seed(0))

    @cache
    def exact() -> NDArray[np.floating]:
        return exact_attention(q, k, v, exact_alibi(heads, length))

    def off(found: Tensor) -> float:
        return float(np.abs(found.numpy() - exact()).max())

    def without() -> Tensor:
        return scaled_dot_product_attention(q, k, v)

    def by_rows() -> Pair:
        def work() -> Tensor:
            return relative_attention(q, k, v, alibi(relative_row(length, length))[:, 0])

        return Pair(work, without, off)

    def by_matrix() -> Pair:
        bias = alibi(relative_positions(length))[None]
        return Pair(lambda: scaled_dot_product_attention(q, k, v, attn_mask=bias), without, off)

    bare = "attention, no bias"
    yield Case("rows", "`relative_attention`, rows included", bare, by_rows, 1.5)
    yield Case("matrix", "torch’s own, matrix made beforehand", bare, by_matrix)


# Exact results, in float64


def exact_alibi(heads: int, length: int) -> Defined:
    """Return a function that computes rows of ALiBi's bias without a causal mask."""
    return lambda first, several: alibi_bias(
        heads, several, length, query_offset=first, causal=False
    )


def exact_t5(table: Tensor, length: int) -> Defined:
    """Return a function that computes rows of T5's bidirectional bias."""
    numbers = table.detach().double().numpy()
    return lambda first, several: t5_bias(
        numbers, posenc.relative_positions(several, length, query_offset=first)
    )


def pieces(length: int) -> Iterator[tuple[int, int]]:
    """Yield the first query and the number of queries of each chunk."""
    for first in range(0, length, AT_ONCE):
        yield first, min(AT_ONCE, length - first)


def furthest(found: NDArray[np.floating], defined: Defined) -> float:
    """Return the largest error of a bias `(heads, query, key)` against the definition."""
    errors = (
        np.abs(found[:, first : first + several] - defined(first, several)).max()
        for first, several in pieces(found.shape[1])
    )
    return float(np.max(list(errors)))


def exact_attention(q: Tensor, k: Tensor, v: Tensor, defined: Defined) -> NDArray[np.floating]:
    """Return the output of attention by the definition, in float64."""
    queries, keys, values = (x.double().numpy() for x in (q, k, v))
    found = [
        attention(
            queries[:, :, first : first + several], keys, values, bias=defined(first, several)
        )[0]
        for first, several in pieces(q.shape[2])
    ]
    return np.concatenate(found, axis=2)
