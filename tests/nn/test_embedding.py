"""The embedding layer adds the rows of token and position, and refuses what is out of range."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from posenc import counting_encoding, no_encoding, sinusoidal_encoding
from posenc.nn import GPTModel
from posenc.nn.embedding import POSITION_TYPES, PositionalEmbedding

IDS = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])


def embedding(pos_type: str, **options: Any) -> PositionalEmbedding:
    torch.manual_seed(0)
    return PositionalEmbedding(100, 20, 8, pos_type, 0.0, **options)


def position_rows(layer: PositionalEmbedding, positions: Tensor) -> Tensor:
    """Return the rows of whole positions by their definitions, float64."""
    if layer.pos_embedding is not None:
        return layer.pos_embedding.embedding.weight.detach()[positions].double()
    encoding: Any = {
        "none": no_encoding,
        "counting": counting_encoding,
        "sinusoidal": sinusoidal_encoding,
    }[layer.pos_type]
    return torch.from_numpy(encoding(positions.numpy(), layer.d_model)).double()


# Tables and their sum


def test_parameter_counts_are_960_and_800() -> None:
    counts = {
        pos_type: sum(weight.numel() for weight in embedding(pos_type).parameters())
        for pos_type in POSITION_TYPES
    }
    assert counts == {"learned": 960, "sinusoidal": 800, "counting": 800, "none": 800}
    assert counts["learned"] - counts["sinusoidal"] == 20 * 8 == 160


def test_defaults_are_learned_positions_and_dropout_of_a_tenth() -> None:
    layer = PositionalEmbedding(100, 20, 8)
    assert layer.pos_type == "learned"
    assert layer.dropout.p == 0.1
    assert not layer.scale_tokens
    assert (layer.vocab_size, layer.max_len, layer.d_model) == (100, 20, 8)


@pytest.mark.parametrize("pos_type", POSITION_TYPES)
def test_token_table_starts_with_standard_deviation_0_02(pos_type: str) -> None:
    torch.manual_seed(0)
    layer = PositionalEmbedding(1000, 500, 100, pos_type)
    # 100 000 draws, and 50 000: within 1 % of the deviation.
    assert layer.token_embedding.weight.std().item() == pytest.approx(0.02, rel=0.01)
    if layer.pos_embedding is not None:
        assert layer.pos_embedding(500).std().item() == pytest.approx(0.02, rel=0.01)


@pytest.mark.parametrize("pos_type", POSITION_TYPES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_each_row_is_the_sum_of_token_and_position_rows(pos_type: str, dtype: torch.dtype) -> None:
    layer = embedding(pos_type).to(dtype)
    tokens = layer.token_embedding.weight.detach()[IDS]
    rows = position_rows(layer, torch.arange(5)).to(dtype)
    out = layer(IDS)
    assert out.dtype is dtype
    assert out.shape == (2, 5, 8)
    assert torch.equal(out, tokens + rows)


def test_an_unscaled_sinusoid_outweighs_its_token_and_scaling_helps() -> None:
    """Row lengths: about 0.02·√8 = 0.057 of the token, √(8/2) = 2 of the position."""
    plain, scaled = embedding("none"), embedding("none", scale_tokens=True)
    assert torch.equal(scaled(IDS), plain(IDS) * math.sqrt(8))
    ids = torch.arange(100)[:, None]
    length = plain(ids).norm(dim=-1).mean().item()
    assert 0.05 < length < 0.06
    position = embedding("sinusoidal")(IDS) - plain(IDS)
    torch.testing.assert_close(position.norm(dim=-1), torch.full((2, 5), 2.0), rtol=1e-6, atol=0)


@pytest.mark.parametrize("pos_type", POSITION_TYPES)
def test_scaling_applies_to_tokens_and_not_to_positions(pos_type: str) -> None:
    layer = embedding(pos_type, scale_tokens=True).double()
    tokens = layer.token_embedding.weight.detach()[IDS]
    expected = tokens * math.sqrt(8) + position_rows(layer, torch.arange(5))
    # One unit in the last place of numbers up to 4.
    torch.testing.assert_close(layer(IDS), expected, rtol=0, atol=1e-15)


def test_without_positions_shuffled_tokens_give_shuffled_rows() -> None:
    order = torch.tensor([2, 0, 4, 1, 3])
    for pos_type in POSITION_TYPES:
        layer = embedding(pos_type)
        same = torch.equal(layer(IDS[:, order]), layer(IDS)[:, order])
        assert same == (pos_type == "none")


def test_the_same_token_at_two_positions_has_two_rows() -> None:
    for pos_type in POSITION_TYPES:
        first = embedding(pos_type)(IDS)[0]  # token 1 at positions 1 and 3
        assert torch.equal(first[1], first[3]) == (pos_type == "none")


def test_dropout_is_active_in_training_mode_only() -> None:
    torch.manual_seed(0)
    layer = PositionalEmbedding(100, 400, 8, "sinusoidal", 0.5)
    ids = torch.zeros(1, 400, dtype=torch.long)
    # 3 200 coins, more than 5 deviations either way.
    assert 0.45 < (layer(ids) == 0).float().mean().item() < 0.55
    layer.eval()
    assert torch.equal(layer(ids), layer(ids))


# Positions


@pytest.mark.parametrize("pos_type", POSITION_TYPES)
def test_each_sequence_has_the_positions_given_for_it(pos_type: str) -> None:
    layer = embedding(pos_type).double()
    positions = torch.tensor([[0, 0, 0, 1, 2], [0, 1, 0, 1, 2]])  # left-padded; two texts packed
    expected = layer.token_embedding.weight.detach()[IDS] + position_rows(layer, positions)
    found = layer(IDS, positions=positions)
    torch.testing.assert_close(found, expected, rtol=0, atol=2.0**-52)  # torch's and numpy's sines


@pytest.mark.parametrize("pos_type", POSITION_TYPES)
def test_no_tokens_give_an_empty_result(pos_type: str) -> None:
    layer = embedding(pos_type)
    assert layer(torch.zeros(2, 0, dtype=torch.long)).shape == (2, 0, 8)
    assert layer(torch.zeros(0, 3, dtype=torch.long)).shape == (0, 3, 8)


@pytest.mark.parametrize("pos_type", POSITION_TYPES)
def test_gradients_reach_the_rows_used_and_no_others(pos_type: str) -> None:
    layer = embedding(pos_type)
    layer(IDS, offset=2).sum().backward()
    gradient = layer.token_embedding.weight.grad
    assert gradient is not None
    assert gradient[:, 0].tolist() == torch.bincount(IDS.flatten(), minlength=100).tolist()
    if layer.pos_embedding is not None:
        rows = layer.pos_embedding.embedding.weight.grad
        assert rows is not None
        assert rows[:, 0].tolist() == [0] * 2 + [2] * 5 + [0] * 13


@pytest.mark.slow
@pytest.mark.no_cover  # coverage would trace the compiler too
@pytest.mark.parametrize("pos_type", POSITION_TYPES)
def test_it_exports_for_any_length(pos_type: str) -> None:
    layer = embedding(pos_type)
    length = torch.export.Dim("length", min=2, max=20)
    ids = IDS[:, :3].contiguous()
    program = torch.export.export(layer, (ids,), dynamic_shapes={"token_ids": {1: length}})
    assert torch.equal(program.module()(IDS), layer(IDS))


def test_repr_shows_the_arguments() -> None:
    assert "max_len=20, pos_type='sinusoidal'" in repr(embedding("sinusoidal"))
    assert "max_len=None, pos_type='none'" in repr(PositionalEmbedding(100, None, 8, "none"))
    assert str(2**53) not in repr(GPTModel(10, 8, 8, 2, 1, "shaw"))


@pytest.mark.parametrize("pos_type", ["none", "counting", "sinusoidal"])
def test_a_formula_needs_no_limit_and_accepts_any_real_position(pos_type: str) -> None:
    layer = PositionalEmbedding(100, None, 8, pos_type, 0.0)
    assert layer.max_len is None
    assert layer(IDS, positions=torch.tensor([-1.0, 0.5, 2, 3, 19.5])).isfinite().all()
    assert layer(IDS, offset=2**53 - IDS.shape[1]).isfinite().all()
    with pytest.raises(ValueError, match=r"^offset must keep positions and their angles below"):
        layer(IDS, offset=2**53 - IDS.shape[1] + 1)
    with pytest.raises(TypeError, match=r"^max_len must be an integer, 1 or more; got None"):
        PositionalEmbedding(100, None, 8)


def test_max_len_follows_a_replaced_table() -> None:
    layer = embedding("learned")
    assert layer.pos_embedding is not None
    layer.pos_embedding = layer.pos_embedding.resized(40)
    assert layer.max_len == 40
    assert layer(IDS, offset=35).shape == (2, 5, 8)
    with pytest.raises(ValueError, match=r"^offset \+ length must be at most max_len, 40; got 36 "):
        layer(IDS, offset=36)


# What is refused


@pytest.mark.parametrize("pos_type", POSITION_TYPES)
def test_sequences_longer_than_max_len_are_refused_by_every_scheme(pos_type: str) -> None:
    layer = embedding(pos_type)
    assert layer(torch.zeros(1, 20, dtype=torch.long)).shape == (1, 20, 8)
    message = r"^offset \+ length must be at most max_len, 20; got 0 \+ 21"
    with pytest.raises(ValueError, match=message):
        layer(torch.zeros(1, 21, dtype=torch.long))
    with pytest.raises(ValueError, match=r"^positions must be below max_len, 20, .*; got 20"):
        layer(IDS, positions=torch.tensor([0, 1, 2, 3, 20]))


def test_an_odd_width_is_refused_only_where_pairs_are_needed() -> None:
    for pos_type in ("none", "counting", "learned"):
        assert PositionalEmbedding(100, 20, 7, pos_type)(IDS).shape == (2, 5, 7)
    with pytest.raises(ValueError, match=r"^d_model must be an even integer, 2 or more; got 7$"):
        PositionalEmbedding(100, 20, 7, "sinusoidal")


@pytest.mark.parametrize("last", [-1, 4.0])
def test_learned_positions_must_be_integers_from_zero(last: float) -> None:
    with pytest.raises((TypeError, ValueError), match=r"^positions must be .*; got "):
        embedding("learned")(IDS, positions=torch.tensor([0, 1, 2, 3, last]))
