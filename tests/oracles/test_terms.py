"""Schemes that score content and distance as separate terms, against DeBERTa, XLNet, Swin V2.

Transformer-XL itself is no longer in transformers; XLNet has its scores. Whole matrices of weights
are compared, from the same tables, in float64.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from posenc import (
    deberta_buckets,
    disentangled_scores,
    relative_positions,
    swin_log_offsets,
    transformer_xl_rows,
    transformer_xl_scores,
)
from posenc.nn import SwinContinuousBias

LENGTH, HEADS, D = 9, 2, 8
WIDTH = HEADS * D


def by_head(x: Tensor) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return (length, heads·d) as (heads, length, d)."""
    heads = x.detach().double().reshape(-1, HEADS, D).movedim(1, 0)
    return np.asarray(heads.numpy())


def softmax(scores: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the weights of each row of scores."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


@pytest.mark.parametrize("furthest", [4, 9, 20])
@torch.no_grad()
def test_weights_of_deberta_in_transformers_are_those_of_disentangled_scores(furthest: int) -> None:
    from transformers import DebertaConfig

    module = importlib.import_module("transformers.models.deberta.modeling_deberta")
    config = DebertaConfig(
        hidden_size=WIDTH,
        num_attention_heads=HEADS,
        relative_attention=True,
        pos_att_type=["c2p", "p2c"],
        max_relative_positions=furthest,
    )
    torch.manual_seed(0)
    attention = module.DisentangledSelfAttention(config).double().eval()
    x, table = torch.randn(1, LENGTH, WIDTH).double(), torch.randn(2 * furthest, WIDTH).double()
    places = torch.arange(LENGTH)
    weights = attention(
        x,
        torch.ones(1, 1, LENGTH, LENGTH),
        output_attentions=True,
        relative_pos=(places[:, None] - places)[None],
        rel_embeddings=table,
    )[1]
    # Each head's query, key and value stand together in their projection.
    q, k, _ = attention.in_proj(x[0]).unflatten(-1, (HEADS, 3, D)).movedim(0, 2).unbind(1)
    span = min(LENGTH, furthest)  # they use no more rows than there are tokens
    rows = table[furthest - span : furthest + span]
    ours = disentangled_scores(
        q.numpy(),
        k.numpy(),
        relative_positions(LENGTH, LENGTH),
        position_q=by_head(attention.pos_q_proj(rows)),
        position_k=by_head(attention.pos_proj(rows)),
        released=True,
    )
    np.testing.assert_allclose(weights[0].numpy(), softmax(ours), atol=1e-7)  # √ in float32


@pytest.mark.parametrize("length", [9, 40])
@torch.no_grad()
def test_weights_of_deberta_v2_are_those_with_buckets(length: int) -> None:
    from transformers import DebertaV2Config

    module = importlib.import_module("transformers.models.deberta_v2.modeling_deberta_v2")
    config = DebertaV2Config(
        hidden_size=WIDTH,
        num_attention_heads=HEADS,
        relative_attention=True,
        pos_att_type=["c2p", "p2c"],
        max_relative_positions=33,
        position_buckets=8,
        share_att_key=True,
    )
    torch.manual_seed(0)
    attention = module.DisentangledSelfAttention(config).double().eval()
    x, table = torch.randn(1, length, WIDTH).double(), torch.randn(16, WIDTH).double()
    weights = attention(
        x, torch.ones(1, 1, length, length), output_attentions=True, rel_embeddings=table
    )[1]
    ours = disentangled_scores(
        by_head(attention.query_proj(x[0])),
        by_head(attention.key_proj(x[0])),
        deberta_buckets(relative_positions(length, length), buckets=8, max_distance=33),
        position_q=by_head(attention.query_proj(table)),  # the content's matrices, shared
        position_k=by_head(attention.key_proj(table)),
        released=True,
    )
    np.testing.assert_allclose(weights.reshape(ours.shape).numpy(), softmax(ours), atol=1e-6)


def test_buckets_of_transformers_are_ours_wherever_float32_can_tell() -> None:
    module = importlib.import_module("transformers.models.deberta_v2.modeling_deberta_v2")
    for buckets, end in ((256, 512), (32, 128), (8, 33)):
        relative = torch.arange(-end, end + 1)
        expected = module.make_log_bucket_position(relative, buckets, end).numpy()
        ours = np.asarray(deberta_buckets(relative.numpy(), buckets=buckets, max_distance=end))
        np.testing.assert_array_equal(np.clip(expected, -buckets, buckets)[1:-1], ours[1:-1])


@pytest.mark.parametrize("memory", [0, 4])
@torch.no_grad()
def test_weights_of_xlnet_are_those_of_transformer_xl(memory: int) -> None:
    from transformers import XLNetConfig

    module = importlib.import_module("transformers.models.xlnet.modeling_xlnet")
    config = XLNetConfig(vocab_size=5, d_model=WIDTH, n_layer=1, n_head=HEADS, dropout=0.0)
    torch.manual_seed(0)
    attention = module.XLNetRelativeAttention(config).double().eval()
    for parameter in attention.parameters():
        torch.nn.init.normal_(parameter)
    x = torch.randn(LENGTH + memory, WIDTH).double()
    rows = transformer_xl_rows(LENGTH, LENGTH + memory, WIDTH, query_offset=memory)
    # XLNet's shift wants one distance more, at the front.
    front = transformer_xl_rows(1, 1, WIDTH, query_offset=LENGTH + memory)
    q, k, v = (
        torch.einsum("lm,mhd->lhd", y, weight)
        for y, weight in ((x[memory:], attention.q), (x, attention.k), (x, attention.v))
    )
    far = torch.einsum("lm,mhd->lhd", torch.from_numpy(np.concatenate([front, rows])), attention.r)
    weights = attention.rel_attn_core(
        q[:, None], k[:, None], v[:, None], far[:, None], output_attentions=True
    )[1]
    ours = transformer_xl_scores(
        q.movedim(1, 0).numpy(),
        k.movedim(1, 0).numpy(),
        far[1:].movedim(1, 0).numpy(),
        content_bias=attention.r_w_bias[:, None].numpy(),
        position_bias=attention.r_r_bias[:, None].numpy(),
    )
    np.testing.assert_allclose(weights[:, :, 0].movedim(-1, 0).numpy(), softmax(ours), atol=1e-12)


@torch.no_grad()
def test_rows_of_xlnet_are_those_of_transformer_xl_and_one_more() -> None:
    from transformers import XLNetConfig

    module = importlib.import_module("transformers.models.xlnet.modeling_xlnet")
    model = module.XLNetModel(XLNetConfig(vocab_size=5, d_model=WIDTH, n_layer=1, n_head=HEADS))
    expected = model.relative_positional_encoding(LENGTH, LENGTH + 4)[:, 0]
    ours = transformer_xl_rows(LENGTH, LENGTH + 4, WIDTH, query_offset=4)
    np.testing.assert_allclose(expected[1:].numpy(), ours, atol=1e-5)


@pytest.mark.parametrize(("window", "trained"), [(4, 0), (8, 0), (8, 4), (7, 12)])
@torch.no_grad()
def test_swin_v2s_bias_is_that_of_transformers_with_the_same_network(
    window: int, trained: int
) -> None:
    from transformers import Swinv2Config

    module = importlib.import_module("transformers.models.swinv2.modeling_swinv2")
    attention = module.Swinv2SelfAttention(
        Swinv2Config(), WIDTH, HEADS, window, pretrained_window_size=[trained, trained]
    ).eval()
    ours = SwinContinuousBias(HEADS, window, trained_window=trained or None)
    first, _, last = attention.continuous_position_bias_mlp
    for mine, expected in (
        (ours.first_weight, first.weight),
        (ours.first_bias, first.bias),
        (ours.second_weight, last.weight),
    ):
        mine.copy_(torch.nn.init.normal_(expected))
    table = attention.relative_coords_table.reshape(-1, 2).numpy()
    np.testing.assert_allclose(
        table, swin_log_offsets(window, trained_window=trained or None), atol=1e-6
    )
    biases = attention.continuous_position_bias_mlp(attention.relative_coords_table)
    index = attention.relative_position_index
    expected = 16 * biases.view(-1, HEADS)[index].movedim(-1, 0).sigmoid()
    # Sixteen times a sigmoid, of a sum of 512 products in float32: processors add in other orders.
    np.testing.assert_allclose(ours().numpy(), expected.numpy(), atol=1e-4)
