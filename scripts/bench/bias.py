"""Biases on all pairs of positions, against filling such a matrix; attention with, and without."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from posenc import alibi_rows, relative_view
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


def cases(heads: int = 32, length: int = 4096) -> Iterator[Case]:
    """Yield the matrix as a view, the matrix written out, and peers, who write it out."""
    biases: dict[str, Bias] = {
        "ALiBi": ALiBi(heads, causal=False),
        "T5": T5RelativeBias(heads).requires_grad_(False),
    }

    def fill() -> Tensor:
        return torch.full((heads, length, length), 1.0)

    def seen(bias: Bias) -> Pair:
        return Pair(lambda: reversed_view(bias(relative_row(length, length))[:, 0], length), fill)

    def seen_in_numpy() -> Pair:
        return Pair(lambda: relative_view(alibi_rows(heads, length, length), length), fill)

    def written(bias: Bias) -> Pair:
        return Pair(lambda: bias(relative_positions(length)), fill)

    def transformers() -> Pair:
        from transformers import T5Config
        from transformers.models.t5.modeling_t5 import T5Attention

        config = T5Config(num_heads=heads, d_kv=4, d_model=4 * heads)
        layer = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
        layer.requires_grad_(False)
        return Pair(lambda: layer.compute_bias(length, length), fill)

    def x_transformers() -> Pair:
        from x_transformers.x_transformers import AlibiPositionalBias

        # A layer keeps its matrix, so that each round needs a new one.
        return Pair(lambda: AlibiPositionalBias(heads)(length, length), fill)

    matrix = "a matrix filled"
    for name, bias in biases.items():
        make = lambda bias=bias: seen(bias)  # noqa: E731
        yield Case(f"{name} seen", f"{name}, rows and view", matrix, make, 0.01)
    yield Case("ALiBi seen in numpy", "ALiBi in numpy, rows and view", matrix, seen_in_numpy, 0.01)
    for name, bias in biases.items():
        make = lambda bias=bias: written(bias)  # noqa: E731
        yield Case(f"{name} written", f"{name}, the definition", matrix, make)
    yield Case("transformers", "transformers, T5", matrix, transformers)
    yield Case("x-transformers", "x-transformers, ALiBi", matrix, x_transformers)


def attention_cases(heads: int = 32, length: int = 4096, d: int = 128) -> Iterator[Case]:
    """Yield attention with a bias by rows, and with the matrix."""
    alibi = ALiBi(heads, causal=False)
    q, k, v = torch.randn(3, 1, heads, length, d, generator=torch.Generator().manual_seed(0))

    def without() -> Tensor:
        return scaled_dot_product_attention(q, k, v)

    def by_rows() -> Pair:
        def work() -> Tensor:
            return relative_attention(q, k, v, alibi(relative_row(length, length))[:, 0])

        return Pair(work, without)

    def by_matrix() -> Pair:
        bias = alibi(relative_positions(length))[None]
        return Pair(lambda: scaled_dot_product_attention(q, k, v, attn_mask=bias), without)

    bare = "attention, no bias"
    yield Case("rows", "`relative_attention`, rows made too", bare, by_rows, 1.5)
    yield Case("matrix", "torch’s own, the matrix made before", bare, by_matrix)
