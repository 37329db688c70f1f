"""T5's buckets and bias against transformers, whose code is the authors', and x-transformers."""

from __future__ import annotations

import itertools
from typing import Any

import mpmath
import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from posenc.nn.attention import attention
from posenc.nn.relative import relative_positions
from posenc.nn.t5 import T5RelativeBias
from posenc.scores.dot_product import causal_mask
from posenc.scores.t5 import t5_buckets
from tests.oracles.libraries import in_transformers, library

Integers = NDArray[np.int64]

EVERY = np.arange(-20_000, 20_001)
# Values of max_distance: powers of 2, whose shares are often whole numbers, and others.
ENDS = (33, 64, 100, 128, 256, 500, 512, 729, 1000, 1024, 4096, 5000, 10_000, 16_384, 20_000)


def transformers_bucket(relative: torch.Tensor, **options: Any) -> torch.Tensor:
    """Return T5's buckets in transformers, which uses a float32 logarithm."""
    rule = in_transformers("t5", "T5Attention")._relative_position_bucket
    buckets: torch.Tensor = rule(relative, **options)
    return buckets


def x_transformers_bucket(relative: torch.Tensor, **options: Any) -> torch.Tensor:
    """Return the buckets of x-transformers."""
    rule = library("x_transformers.x_transformers", "RelativePositionBias")
    buckets: torch.Tensor = rule._relative_position_bucket(relative, **options)
    return buckets


def ours(both: bool, buckets: int, end: int) -> Integers:
    """Return our buckets of every relative position."""
    return np.asarray(
        t5_buckets(EVERY, bidirectional=both, buckets=buckets, max_distance=end), np.int64
    )


def exact_share(distance: int, buckets: int, end: int) -> mpmath.mpf:
    """Return (n − E)·log(distance/E)/log(end/E), for n buckets per side, with 50 digits."""
    exact = buckets // 2
    with mpmath.workdps(50):
        return (
            mpmath.log(mpmath.mpf(distance) / exact)
            / mpmath.log(mpmath.mpf(end) / exact)
            * (buckets - exact)
        )


def t5_attention(heads: int, *, decoder: bool, layer: int = 0) -> Any:
    """Return transformers' attention with a relative bias and a standard normal table."""
    from transformers import T5Config
    from transformers.models.t5.modeling_t5 import T5Attention

    torch.manual_seed(0)
    config = T5Config(d_model=16, d_kv=4, num_heads=heads, is_decoder=decoder)
    attention = T5Attention(config, has_relative_attention_bias=True, layer_idx=layer)
    torch.nn.init.normal_(attention.relative_attention_bias.weight)
    return attention


@pytest.mark.parametrize("both", [True, False])
def test_t5s_own_buckets_agree_for_every_distance_to_20_000(both: bool) -> None:
    expected = transformers_bucket(torch.from_numpy(EVERY), bidirectional=both)
    np.testing.assert_array_equal(ours(both, 32, 128), expected)


def test_transformers_differs_only_where_float32_cannot_tell_two_buckets_apart() -> None:
    behind = torch.from_numpy(EVERY[:20_001])
    for side, end in itertools.product(range(2, 65), ENDS):
        found = ours(False, side, end)[:20_001]
        expected = transformers_bucket(
            behind, bidirectional=False, num_buckets=side, max_distance=end
        ).numpy()
        for distance in 20_000 - np.flatnonzero(found != expected):
            share = exact_share(int(distance), side, end)
            # float32 holds numbers up to 64 to 4e-6, and three operations led to this one.
            assert abs(share - mpmath.nint(share)) < 2e-5
            assert abs(found[20_000 - distance] - expected[20_000 - distance]) == 1


@pytest.mark.parametrize("decoder", [False, True])
def test_t5s_bias_is_that_of_transformers_with_the_same_table(decoder: bool) -> None:
    attention = t5_attention(4, decoder=decoder)
    bias = T5RelativeBias(4, bidirectional=not decoder)
    bias.load_state_dict({"table": attention.relative_attention_bias.weight})
    for queries, keys in ((300, 300), (7, 200), (1, 1)):
        expected = attention.compute_bias(queries, keys)
        assert torch.equal(bias(relative_positions(queries, keys)), expected[0])
    for cached in (0, 1, 90, 199):
        expected = attention.compute_bias(1, cached + 1, past_seen_tokens=cached)
        relative = relative_positions(torch.tensor([cached]), cached + 1)
        assert torch.equal(bias(relative), expected[0])


@pytest.mark.parametrize(("end", "outside"), [(8, True), (7, True), (1, False)])
def test_a_max_distance_within_the_exact_range_is_an_error_here_and_garbage_elsewhere(
    end: int, outside: bool
) -> None:
    # The rule divides by log(max_distance/E), which is then 0 or below: with E = 8, buckets from
    # -9223372036854775800 at 8, below 0 at 7, and falling again with the distance at 1.
    behind = -torch.arange(40)
    expected = transformers_bucket(behind, max_distance=end)
    assert torch.equal(expected, x_transformers_bucket(behind, causal=False, max_distance=end))
    assert (expected.diff() < 0).any()
    assert (expected < 0).any().item() == outside
    with pytest.raises(ValueError, match=f"max_distance must be above 8, .* got {end}"):
        t5_buckets(behind.numpy(), max_distance=end)


def test_an_odd_number_of_buckets_is_an_error_here_and_leaves_a_row_unused_elsewhere() -> None:
    every = torch.from_numpy(EVERY)
    expected = transformers_bucket(every, num_buckets=31)
    assert torch.equal(expected, x_transformers_bucket(every, causal=False, num_buckets=31))
    assert expected.max() == 29  # two halves of 15, so row 30 is never trained
    with pytest.raises(ValueError, match="buckets must be an even integer"):
        t5_buckets(EVERY, buckets=31)


@pytest.mark.parametrize("both", [True, False])
def test_the_buckets_of_x_transformers_are_ours(both: bool) -> None:
    # It negates the relative position and tests for values below 0, which is the authors' order.
    for buckets, end in ((32, 128), (16, 100), (64, 512)):
        expected = x_transformers_bucket(
            torch.from_numpy(EVERY), causal=not both, num_buckets=buckets, max_distance=end
        )
        np.testing.assert_array_equal(ours(both, buckets, end), expected)


@pytest.mark.parametrize("both", [True, False])
def test_x_transformers_scales_the_bias_that_the_authors_add_unscaled(both: bool) -> None:
    # Section 2.1: a scalar that is added to the logit. x-transformers makes it √d times as large.
    from x_transformers.x_transformers import RelativePositionBias

    torch.manual_seed(0)
    peer = RelativePositionBias(scale=8.0, causal=not both, heads=3)  # 8 is √64, a head's width
    bias = T5RelativeBias(3, bidirectional=both)
    bias.load_state_dict({"table": peer.relative_attention_bias.weight})
    queries = torch.arange(40, 60)  # with fewer queries than keys, those are the last ones
    found = bias(relative_positions(queries, 60))
    torch.testing.assert_close(peer(20, 60), 8 * found, rtol=0, atol=0)


def test_in_an_encoder_no_relative_position_falls_into_the_first_bucket_ahead() -> None:
    # Bucket 16 of 32 would hold keys ahead at distance 0, and there are none.
    expected = transformers_bucket(torch.from_numpy(EVERY))
    assert sorted(set(expected.tolist())) == [*range(16), *range(17, 32)]
    assert set(ours(True, 32, 128).tolist()) == set(expected.tolist())


@pytest.mark.parametrize("decoder", [False, True])
def test_attention_with_queries_times_the_root_of_d_has_the_scores_of_t5(decoder: bool) -> None:
    peer = t5_attention(4, decoder=decoder).eval()
    bias = T5RelativeBias(4, bidirectional=not decoder)
    bias.load_state_dict({"table": peer.state_dict()["relative_attention_bias.weight"]})
    x = torch.randn(1, 9, 16, generator=torch.Generator().manual_seed(1))
    mask = torch.from_numpy(causal_mask(9)) if decoder else None
    hidden = None if mask is None else torch.zeros(1, 1, 9, 9).masked_fill(~mask, -torch.inf)
    q, k, v = (
        projection(x).view(1, 9, 4, 4).transpose(1, 2) for projection in (peer.q, peer.k, peer.v)
    )
    output, _ = attention(q * 4**0.5, k, v, bias=bias(relative_positions(9)), mask=mask)
    found = peer.o(output.transpose(1, 2).reshape(1, 9, 16))
    torch.testing.assert_close(found, peer(x, mask=hidden)[0], rtol=0, atol=1e-5)


def test_one_table_serves_all_layers_of_t5_and_x_transformers_scales_it_by_a_heads_width() -> None:
    from transformers import T5Config, T5EncoderModel
    from x_transformers import Encoder

    config = T5Config(vocab_size=4, d_model=16, d_kv=4, d_ff=8, num_layers=3, num_heads=4)
    names = [name for name in T5EncoderModel(config).state_dict() if "relative" in name]
    assert names == ["encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"]
    encoder = Encoder(dim=32, depth=3, heads=2, attn_dim_head=16, rel_pos_bias=True)
    assert [name for name in encoder.state_dict() if "relative" in name] == [
        "rel_pos.relative_attention_bias.weight"
    ]
    assert encoder.rel_pos.scale == 16**0.5
