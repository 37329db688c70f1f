"""Attention against PyTorch's own `scaled_dot_product_attention`, over shapes, dtypes and masks.

They agree wherever both are defined. For a fully masked query PyTorch returns zeros, which are not
an average of any values; `posenc` raises an error that names the query.
"""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from posenc.nn.attention import attention
from posenc.scores.dot_product import causal_mask

DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)

# Sums of numbers around 1 in another order. In the narrow dtypes PyTorch rounds intermediate
# results, which are below 4, to 2**-8 or 2**-11; we round at the end.
CLOSE = {torch.float64: 1e-14, torch.float32: 3e-6, torch.bfloat16: 2**-5, torch.float16: 2**-8}

SHAPES = [
    ((1, 1, 1, 1), 1, 1),  # (batch, heads, query, d), keys, d_v
    ((2, 3, 4, 8), 6, 8),
    ((2, 4, 1, 16), 9, 16),
    ((1, 2, 33, 64), 33, 64),
    ((3, 1, 7, 5), 2, 11),
]


def vectors(
    shape: tuple[int, ...], keys: int, d_v: int, dtype: torch.dtype
) -> tuple[Tensor, Tensor, Tensor]:
    """Return queries of this shape, and keys and values to go with them."""
    generator = torch.Generator().manual_seed(0)
    *leading, _, d = shape
    shapes = (shape, (*leading, keys, d), (*leading, keys, d_v))
    q, k, v = (torch.randn(s, generator=generator, dtype=torch.float64).to(dtype) for s in shapes)
    return q, k, v


def assert_same(ours: Tensor, expected: Tensor) -> None:
    """Compare full tensors, including their type."""
    torch.testing.assert_close(ours, expected, rtol=0, atol=CLOSE[expected.dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("masked", ["key", "query and key", "head", "text"])
@pytest.mark.parametrize(("shape", "keys", "d_v"), SHAPES)
def test_a_boolean_mask_means_what_it_means_to_pytorch(
    shape: tuple[int, ...], keys: int, d_v: int, masked: str, dtype: torch.dtype
) -> None:
    q, k, v = vectors(shape, keys, d_v, dtype)
    batch, heads, queries, _ = shape
    over = {
        "key": (keys,),
        "query and key": (queries, keys),
        "head": (heads, queries, keys),
        "text": (batch, 1, 1, keys),
    }[masked]
    mask = torch.rand(over, generator=torch.Generator().manual_seed(1)) > 0.5
    mask[..., 0] = True
    expected = scaled_dot_product_attention(
        q, k, v, attn_mask=mask.expand(batch, heads, queries, keys)
    )
    assert_same(attention(q, k, v, mask=mask)[0], expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "keys", "d_v"), SHAPES)
def test_a_bias_and_a_mask_are_pytorchs_float_mask(
    shape: tuple[int, ...], keys: int, d_v: int, dtype: torch.dtype
) -> None:
    q, k, v = vectors(shape, keys, d_v, dtype)
    assert_same(attention(q, k, v)[0], scaled_dot_product_attention(q, k, v))
    generator = torch.Generator().manual_seed(2)
    bias = torch.randn(*shape[:-1], keys, generator=generator, dtype=torch.float64).to(dtype)
    mask = torch.rand(shape[-2], keys, generator=generator) > 0.5
    mask[..., 0] = True
    both = bias.masked_fill(~mask, -math.inf)
    expected = scaled_dot_product_attention(q, k, v, attn_mask=both)
    assert_same(attention(q, k, v, bias=both)[0], expected)
    assert_same(attention(q, k, v, bias=bias, mask=mask)[0], expected)


def test_grouped_key_heads_are_pytorchs_enable_gqa() -> None:
    """Eight query heads over two key heads: four to each, as neighbours."""
    q, _, _ = vectors((2, 8, 5, 16), 5, 16, torch.float64)
    _, k, v = vectors((2, 2, 5, 16), 5, 16, torch.float64)
    expected = scaled_dot_product_attention(q, k, v, enable_gqa=True)
    ours, _ = attention(q.reshape(2, 2, 4, 5, 16), k.unsqueeze(2), v.unsqueeze(2))
    assert_same(ours.flatten(1, 2), expected)


def test_a_fully_masked_query_gives_zeros_in_pytorch_and_an_error_here() -> None:
    q, k, v = vectors((1, 1, 3, 4), 3, 4, torch.float64)
    mask = torch.from_numpy(causal_mask(3))
    mask[0] = False
    expected = scaled_dot_product_attention(q, k, v, attn_mask=mask)
    assert torch.equal(expected[0, 0, 0], torch.zeros(4, dtype=torch.float64))
    with pytest.raises(ValueError, match=r"got none for query \[0, 0, 0\]$"):
        attention(q, k, v, mask=mask)


def test_a_fully_masked_query_gives_nan_in_multihead_attention() -> None:
    x = vectors((1, 1, 3, 4), 3, 4, torch.float32)[0][0, 0]
    layer = torch.nn.MultiheadAttention(4, num_heads=1)
    hidden = torch.zeros(3, 3, dtype=torch.bool)
    hidden[0] = True  # there, True masks
    output, weights = layer(x, x, x, attn_mask=hidden)
    assert output[0].isnan().all()
    assert weights[0].isnan().all()
    assert output[1:].isfinite().all()


def test_with_a_cache_pytorchs_is_causal_hides_what_the_queries_should_see() -> None:
    """Its mask starts at the upper left: the first query sees only the first key."""
    q, k, v = vectors((1, 2, 2, 4), 5, 4, torch.float64)
    expected = scaled_dot_product_attention(q, k, v, is_causal=True)
    upper_left, _ = attention(q, k, v, mask=torch.from_numpy(causal_mask(2, 5)))
    decoded, _ = attention(q, k, v, mask=torch.from_numpy(causal_mask(2, query_offset=3)))
    torch.testing.assert_close(expected, upper_left, rtol=0, atol=1e-14)
    assert (expected - decoded).abs().max() > 0.1
