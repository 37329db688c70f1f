"""How named models encode positions: small ones with random weights, against our layers.

The sum of tokens and positions is compared before any normalisation. PaLM has no released code; its
paper's description is compared with an implementation of the same.
"""

from __future__ import annotations

import importlib
from typing import Any

import pytest
import torch
from torch import Tensor

from posenc.nn import PositionalEmbedding, RotaryEmbedding, attention
from scripts.book.citations import fact

IDS = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6]])
VOCAB, ROWS, D = 11, 12, 8


def learned(words: Tensor, positions: Tensor) -> PositionalEmbedding:
    """Return our layer of tokens and learned positions with a model's two tables."""
    layer = PositionalEmbedding(len(words), len(positions), words.shape[1], dropout=0.0)
    assert layer.pos_embedding is not None
    layer.token_embedding.load_state_dict({"weight": words})
    layer.pos_embedding.embedding.load_state_dict({"weight": positions})
    return layer


@torch.no_grad()
def test_the_transformer_adds_the_papers_rows_to_tokens_times_the_root_of_the_width() -> None:
    """Marian is the paper's model with all sines before all cosines: an encoder of no layers."""
    from transformers import MarianConfig
    from transformers.models.marian.modeling_marian import MarianEncoder

    config = MarianConfig(
        vocab_size=VOCAB,
        d_model=D,
        encoder_layers=0,
        encoder_attention_heads=1,
        max_position_embeddings=ROWS,
        scale_embedding=True,
        pad_token_id=0,
    )
    peer: Any = MarianEncoder(config).eval()
    rows = peer.embed_positions.weight
    rows.copy_(peer.embed_positions.create_weight())
    ours = PositionalEmbedding(
        VOCAB, ROWS, D, pos_type="sinusoidal", dropout=0.0, scale_tokens=True
    )
    # Their dimension j is our 2j, or 2j − d + 1 in the second half.
    order = torch.cat([torch.arange(0, D, 2), torch.arange(1, D, 2)])
    ours.token_embedding.weight[:, order] = peer.embed_tokens.weight
    expected = peer(IDS).last_hidden_state
    torch.testing.assert_close(expected, ours(IDS)[..., order], rtol=0, atol=1e-6)


@torch.no_grad()
def test_bert_adds_a_learned_row_for_each_position() -> None:
    from transformers import BertConfig
    from transformers.models.bert.modeling_bert import BertEmbeddings

    assert BertConfig().max_position_embeddings == fact("bert-positions")
    small = BertConfig(vocab_size=VOCAB, hidden_size=D, max_position_embeddings=ROWS)
    peer: Any = BertEmbeddings(small).eval()
    peer.LayerNorm = torch.nn.Identity()
    peer.token_type_embeddings.weight.zero_()  # they mark which of two sentences it is
    ours = learned(peer.word_embeddings.weight, peer.position_embeddings.weight)
    torch.testing.assert_close(peer(IDS), ours(IDS), rtol=0, atol=0)
    assert isinstance(peer.position_embeddings.weight, torch.nn.Parameter)


@torch.no_grad()
def test_gpt_adds_a_learned_row_before_its_first_layer() -> None:
    from transformers import OpenAIGPTConfig, OpenAIGPTModel

    config = OpenAIGPTConfig(vocab_size=VOCAB, n_positions=ROWS, n_embd=D, n_layer=1, n_head=1)
    peer: Any = OpenAIGPTModel(config).eval()
    ours = learned(peer.tokens_embed.weight, peer.positions_embed.weight)
    found = peer(IDS, output_hidden_states=True).hidden_states[0]
    torch.testing.assert_close(found, ours(IDS), rtol=0, atol=0)


@torch.no_grad()
def test_gpt2_adds_a_learned_row_for_each_position() -> None:
    from transformers import GPT2Config, GPT2Model

    assert GPT2Config().n_positions == fact("gpt2-positions")
    peer: Any = GPT2Model(
        GPT2Config(vocab_size=VOCAB, n_positions=ROWS, n_embd=D, n_layer=1, n_head=1)
    ).eval()
    ours = learned(peer.wte.weight, peer.wpe.weight)
    found = peer(IDS, output_hidden_states=True).hidden_states[0]
    torch.testing.assert_close(found, ours(IDS), rtol=0, atol=0)


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_a_learned_model_ends_at_its_last_row(family: str) -> None:
    """The planted fault: with one more position the model fails, and ours names both numbers."""
    from transformers import BertConfig, BertModel, GPT2Config, GPT2Model

    peer: Any = {
        "bert": lambda: BertModel(
            BertConfig(
                vocab_size=VOCAB,
                hidden_size=D,
                num_hidden_layers=1,
                num_attention_heads=1,
                intermediate_size=D,
                max_position_embeddings=ROWS,
            )
        ),
        "gpt2": lambda: GPT2Model(
            GPT2Config(vocab_size=VOCAB, n_positions=ROWS, n_embd=D, n_layer=1, n_head=1)
        ),
    }[family]().eval()
    ids = torch.zeros(1, ROWS + 1, dtype=torch.long)
    with torch.no_grad(), pytest.raises((IndexError, RuntimeError)):
        peer(ids)
    with pytest.raises(ValueError, match=f"{ROWS}"):
        PositionalEmbedding(VOCAB, ROWS, D)(ids)


@torch.no_grad()
def test_palms_stated_attention_is_that_of_x_transformers() -> None:
    """Rotary queries in several heads, and one rotary key and one value for all of them."""
    module = importlib.import_module("x_transformers.x_transformers")
    heads, d, d_model, length = 4, 16, 32, 10
    torch.manual_seed(0)
    peer = module.Attention(d_model, heads=heads, dim_head=d, one_kv_head=True, causal=True)
    x = torch.randn(1, length, d_model)
    turning = module.RotaryEmbedding(d)
    expected = peer(x, rotary_pos_emb=turning.forward_from_seq_len(length))
    rope = RotaryEmbedding(d)
    q = peer.to_q(x).reshape(1, length, heads, d).transpose(1, 2)
    k, v = peer.to_k(x)[:, None], peer.to_v(x)[:, None]  # one head each
    mask = torch.ones(length, length, dtype=torch.bool).tril()
    out = attention(rope(q), rope(k), v, mask=mask)[0]
    ours = peer.to_out(out.transpose(1, 2).reshape(1, length, heads * d))
    torch.testing.assert_close(ours, expected, rtol=0, atol=1e-5)
    unturned = attention(q, k, v, mask=mask)[0].transpose(1, 2).reshape(1, length, heads * d)
    assert float((peer.to_out(unturned) - expected).abs().max()) > 0.01
