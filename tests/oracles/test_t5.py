"""T5's buckets and bias against transformers, whose code is the authors', and x-transformers."""

from __future__ import annotations

import itertools
from collections.abc import Callable
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

Integers = NDArray[np.int64]

EVERY = np.arange(-20_000, 20_001)
# Values of max_distance: powers of 2, whose shares are often whole numbers, and others.
ENDS = (33, 64, 100, 128, 256, 500, 512, 729, 1000, 1024, 4096, 5000, 10_000, 16_384, 20_000)


@pytest.fixture(scope="module")
def transformers_bucket() -> Callable[..., torch.Tensor]:
    """Return T5's rule of transformers, which uses a float32 logarithm."""
    from transformers.models.t5.modeling_t5 import T5Attention

    rule: Callable[..., torch.Tensor] = T5Attention._relative_position_bucket
    return rule


@pytest.fixture(scope="module")
def x_bucket() -> Callable[..., torch.Tensor]:
    """Return the rule of x-transformers."""
    from x_transformers.x_transformers import RelativePositionBias

    rule: Callable[..., torch.Tensor] = RelativePositionBias._relative_position_bucket
    return rule


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
def test_t5s_own_buckets_agree_for_every_distance_to_20_000(
    both: bool, transformers_bucket: Callable[..., torch.Tensor]
) -> None:
    theirs = transformers_bucket(torch.from_numpy(EVERY), bidirectional=both)
    np.testing.assert_array_equal(ours(both, 32, 128), theirs)


def test_transformers_differs_only_where_float32_cannot_tell_two_buckets_apart(
    transformers_bucket: Callable[..., torch.Tensor],
) -> None:
    behind = torch.from_numpy(EVERY[:20_001])
    for side, end in itertools.product(range(2, 65), ENDS):
        mine = ours(False, side, end)[:20_001]
        theirs = transformers_bucket(
            behind, bidirectional=False, num_buckets=side, max_distance=end
        ).numpy()
        for distance in 20_000 - np.flatnonzero(mine != theirs):
            share = exact_share(int(distance), side, end)
            # float32 holds numbers up to 64 to 4e-6, and three operations led to this one.
            assert abs(share - mpmath.nint(share)) < 2e-5
            assert abs(mine[20_000 - distance] - theirs[20_000 - distance]) == 1


@pytest.mark.parametrize(
    ("distance", "side", "end", "bucket"),
    [(6186, 56, 20_000, 50), (10_763, 60, 16_384, 57), (3602, 62, 5000, 60)],
)
def test_exact_arithmetic_gives_our_bucket_where_float32_crosses_a_bound(
    distance: int,
    side: int,
    end: int,
    bucket: int,
    transformers_bucket: Callable[..., torch.Tensor],
) -> None:
    # All that the test above finds on x86, where transformers says 51, 58 and 59: logarithms
    # that make 22.9999992, 27.9999998 and 29.0000007 come out as 23, 28 and 28.999998.
    share = exact_share(distance, side, end)
    assert abs(share - mpmath.nint(share)) < 1e-6
    assert side // 2 + int(mpmath.floor(share)) == bucket
    behind = t5_buckets(-distance, bidirectional=False, buckets=side, max_distance=end)
    assert behind == bucket
    theirs = transformers_bucket(
        torch.tensor([-distance]), bidirectional=False, num_buckets=side, max_distance=end
    )
    assert abs(theirs.item() - bucket) <= 1  # 0 on machines with another logarithm


@pytest.mark.parametrize("decoder", [False, True])
def test_t5s_bias_is_that_of_transformers_with_the_same_table(decoder: bool) -> None:
    attention = t5_attention(4, decoder=decoder)
    bias = T5RelativeBias(4, bidirectional=not decoder)
    bias.load_state_dict({"table": attention.relative_attention_bias.weight})
    for queries, keys in ((300, 300), (7, 200), (1, 1)):
        theirs = attention.compute_bias(queries, keys)
        assert torch.equal(bias(relative_positions(queries, keys)), theirs[0])


@pytest.mark.parametrize("seen", [0, 1, 90, 199])
def test_the_bias_of_a_decoding_step_is_that_of_transformers(seen: int) -> None:
    attention = t5_attention(4, decoder=True)
    bias = T5RelativeBias(4, bidirectional=False)
    bias.load_state_dict({"table": attention.relative_attention_bias.weight})
    theirs = attention.compute_bias(1, seen + 1, past_seen_tokens=seen)
    assert torch.equal(bias(relative_positions(torch.tensor([seen]), seen + 1)), theirs[0])


@pytest.mark.parametrize(("end", "outside"), [(8, True), (7, True), (1, False)])
def test_a_max_distance_within_the_exact_range_is_an_error_here_and_garbage_elsewhere(
    end: int,
    outside: bool,
    transformers_bucket: Callable[..., torch.Tensor],
    x_bucket: Callable[..., torch.Tensor],
) -> None:
    # The rule divides by log(max_distance/E), which is then 0 or below: with E = 8, buckets from
    # -9223372036854775800 at 8, below 0 at 7, and falling again with the distance at 1.
    behind = -torch.arange(40)
    theirs = transformers_bucket(behind, max_distance=end)
    assert torch.equal(theirs, x_bucket(behind, causal=False, max_distance=end))
    assert (theirs.diff() < 0).any()
    assert (theirs < 0).any().item() == outside
    with pytest.raises(ValueError, match=f"max_distance must be above 8, .* got {end}"):
        t5_buckets(behind.numpy(), max_distance=end)


def test_an_odd_number_of_buckets_is_an_error_here_and_leaves_a_row_unused_elsewhere(
    transformers_bucket: Callable[..., torch.Tensor], x_bucket: Callable[..., torch.Tensor]
) -> None:
    every = torch.from_numpy(EVERY)
    theirs = transformers_bucket(every, num_buckets=31)
    assert torch.equal(theirs, x_bucket(every, causal=False, num_buckets=31))
    assert theirs.max() == 29  # two halves of 15, so row 30 is never trained
    with pytest.raises(ValueError, match="buckets must be an even integer"):
        t5_buckets(EVERY, buckets=31)


@pytest.mark.parametrize("both", [True, False])
def test_the_buckets_of_x_transformers_are_ours(
    both: bool, x_bucket: Callable[..., torch.Tensor]
) -> None:
    # It negates the relative position and tests for values below 0, which is the authors' order.
    for buckets, end in ((32, 128), (16, 100), (64, 512)):
        theirs = x_bucket(
            torch.from_numpy(EVERY), causal=not both, num_buckets=buckets, max_distance=end
        )
        np.testing.assert_array_equal(ours(both, buckets, end), theirs)


@pytest.mark.parametrize("both", [True, False])
def test_x_transformers_scales_the_bias_that_the_authors_add_unscaled(both: bool) -> None:
    # Section 2.1: a scalar that is added to the logit. x-transformers makes it √d times as large.
    from x_transformers.x_transformers import RelativePositionBias

    torch.manual_seed(0)
    peer = RelativePositionBias(scale=8.0, causal=not both, heads=3)  # 8 is √64, a head's width
    bias = T5RelativeBias(3, bidirectional=both)
    bias.load_state_dict({"table": peer.relative_attention_bias.weight})
    queries = torch.arange(40, 60)  # with fewer queries than keys, those are the last ones
    mine = bias(relative_positions(queries, 60))
    torch.testing.assert_close(peer(20, 60), 8 * mine, rtol=0, atol=0)


def test_in_an_encoder_no_relative_position_falls_into_the_first_bucket_ahead(
    transformers_bucket: Callable[..., torch.Tensor],
) -> None:
    # Bucket 16 of 32 would hold keys ahead at distance 0, and there are none.
    theirs = transformers_bucket(torch.from_numpy(EVERY))
    assert sorted(set(theirs.tolist())) == [*range(16), *range(17, 32)]
    assert set(ours(True, 32, 128).tolist()) == set(theirs.tolist())


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
    mine = peer.o(output.transpose(1, 2).reshape(1, 9, 16))
    torch.testing.assert_close(mine, peer(x, mask=hidden)[0], rtol=0, atol=1e-5)


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
