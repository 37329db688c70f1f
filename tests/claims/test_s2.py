"""Claims of source S2, one by one. Where the text is wrong, its test also asserts that.

docs/data/claims/002.yml cites these tests. Code of the text is rewritten here in a few lines, not
copied.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from posenc import (
    LearnedPositionalEmbedding,
    add,
    alibi_bias,
    apply_rope,
    attention,
    causal_mask,
    concatenate,
    frequencies,
    nn,
    shift_matrix,
    sinusoidal_encoding,
    t5_buckets,
    wavelengths,
)
from tests.arrays import Array, normal, self_attention

ORDER = [2, 0, 1]  # mat cat sat


def words(count: int = 3, width: int = 8) -> Array:
    """Return made-up vectors of words."""
    return normal(count, width)


def kept_table(rows: int, width: int) -> Tensor:
    """Return a table like that of the text's layer, computed entirely in float32."""
    position = torch.arange(rows).float()[:, None]
    frequency = torch.exp(torch.arange(0, width, 2).float() * -(math.log(10000.0) / width))
    table = torch.zeros(rows, width)
    table[:, 0::2] = (position * frequency).sin()
    table[:, 1::2] = (position * frequency).cos()
    return table[None]


def plus_rows(x: Tensor, table: Tensor) -> Tensor:
    """Return tokens plus the first rows of a table, without checking its length."""
    return x + table[:, : x.shape[1]]


@pytest.mark.claim("true-if", "C1-73")
@pytest.mark.claim("imprecise", "C1-01", "C1-59", "C2-03", "C2-04")
@pytest.mark.claim("false", "C2-01")
@pytest.mark.parametrize("order", [ORDER, [2, 1, 0]], ids=["rotated", "reversed"])
def test_c2_01_attention_is_equivariant_and_not_invariant(order: list[int]) -> None:
    """The mean of the outputs is invariant; a causal mask ends both."""
    x, mask = words(), causal_mask(3)
    before, after = self_attention(x), self_attention(x[order])
    np.testing.assert_allclose(after, before[order], rtol=0, atol=1e-12)
    assert np.abs(after - before).max() > 0.1  # under invariance it would be 0
    np.testing.assert_allclose(after.mean(axis=0), before.mean(axis=0), rtol=0, atol=1e-12)
    before, after = self_attention(x, mask=mask), self_attention(x[order], mask=mask)
    assert np.abs(after - before[order]).max() > 0.1


@pytest.mark.claim("false", "C2-02")
def test_c2_02_cat_sat_mat_gives_the_same_rows_in_another_order() -> None:
    before, after = self_attention(np.eye(3)), self_attention(np.eye(3)[ORDER])
    assert not np.allclose(before, after, atol=0.1)
    rows = [sorted(map(tuple, output.round(12))) for output in (before, after)]
    assert rows[0] == rows[1]


@pytest.mark.claim("true-if", "C1-04", "C1-73", "C2-05", "C2-25")
@torch.no_grad()
def test_c2_05_two_causal_layers_see_order_without_positions_and_one_does_not() -> None:
    text, swapped = torch.tensor([[1, 2, 3]]), torch.tensor([[2, 1, 3]])
    told_apart = []
    for layers in (1, 2):
        torch.manual_seed(0)
        model = nn.GPTModel(
            vocab_size=4, max_len=3, d_model=16, heads=2, layers=layers, pos_type="none"
        )
        model = model.double().eval()
        for parameter in model.parameters():
            parameter.normal_()  # weights as large as after training
        last = model(text)[0, -1], model(swapped)[0, -1]
        told_apart.append(not torch.allclose(*last, rtol=0, atol=1e-6))
    assert told_apart == [False, True]


@pytest.mark.claim("imprecise", "C2-06")
def test_c2_06_rotary_and_biases_bring_order_in_without_a_row() -> None:
    x = words()

    def turned(x: Array) -> Array:
        q = apply_rope(x, np.arange(3))
        return attention(q, q, x)[0]

    def biased(x: Array) -> Array:
        return attention(x, x, x, bias=alibi_bias(1, 3, causal=False)[0])[0]

    for scheme in (turned, biased):
        assert np.abs(scheme(x[ORDER]) - scheme(x)[ORDER]).max() > 1e-3


@pytest.mark.claim("true-if", "C2-07")
def test_c2_07_only_schemes_that_add_rows_need_unique_rows() -> None:
    x, swapped = words(4), [1, 0, 2, 3]
    rows = np.repeat([0.0, 1.0], 2)[:, np.newaxis]  # two positions share each row
    along, shuffled = self_attention(x + rows)[swapped], self_attention(x[swapped] + rows)
    np.testing.assert_allclose(along, shuffled, atol=1e-12)
    bias = alibi_bias(8, 50, causal=False)  # the same wherever the sequence starts
    np.testing.assert_array_equal(bias[:, 1:, 1:], bias[:, :-1, :-1])
    assert t5_buckets(-91) == t5_buckets(-1000)
    assert len(np.unique(sinusoidal_encoding(1001, 8), axis=0)) == 1001


@pytest.mark.claim("true", "C2-08")
@pytest.mark.parametrize("width", [4, 8, 512])
def test_c2_08_the_formula_is_the_papers(width: int) -> None:
    table = sinusoidal_encoding(50, width)
    for i in range(width // 2):
        for position in (0, 1, 7, 49):
            angle = position / 10000 ** (2 * i / width)
            assert table[position, 2 * i] == pytest.approx(math.sin(angle), abs=1e-13)
            assert table[position, 2 * i + 1] == pytest.approx(math.cos(angle), abs=1e-13)


@pytest.mark.claim("false", "C2-09")
@pytest.mark.parametrize("width", [2, 8, 512])
def test_c2_09_the_last_pair_is_half_the_width_less_one(width: int) -> None:
    pairs = np.arange(frequencies(width).size)
    assert pairs[-1] == width // 2 - 1
    owned = np.stack([2 * pairs, 2 * pairs + 1], axis=1).ravel()
    np.testing.assert_array_equal(owned, np.arange(width))  # each dimension once
    assert 2 * (width // 2) not in owned  # what i = d/2 would own


@pytest.mark.claim("false", "C1-21")
@pytest.mark.claim("true", "C1-20", "C2-10")
@pytest.mark.parametrize("width", [4, 64])
def test_c2_10_even_dimensions_are_sines_odd_ones_cosines_each_pair_slower(width: int) -> None:
    here, mirrored = sinusoidal_encoding([5], width)[0], sinusoidal_encoding([-5], width)[0]
    np.testing.assert_allclose(mirrored[0::2], -here[0::2])
    np.testing.assert_allclose(mirrored[1::2], here[1::2])
    np.testing.assert_allclose(here[0::2] ** 2 + here[1::2] ** 2, 1.0)
    assert (np.diff(frequencies(width)) < 0).all()


@pytest.mark.claim("true", "C1-17")
@pytest.mark.claim("true-if", "C0-17", "C1-12", "C1-70", "C2-11", "C2-17")
@pytest.mark.parametrize("width", [2, 4, 8, 64])
def test_c2_11_rows_are_unique_unless_positions_are_rounded(width: int) -> None:
    table = sinusoidal_encoding(2**16, width, dtype=np.float32)
    assert len({row.tobytes() for row in table}) == 2**16
    half, brain = (torch.arange(5000).to(kind).tolist() for kind in (torch.half, torch.bfloat16))
    assert (len(set(half)), len(set(brain)), len(set(brain[:512]))) == (3299, 797, 385)


@pytest.mark.claim("true-if", "C0-17", "C2-11")
def test_rounded_rows_are_unique_from_width_8_on() -> None:
    def lost(width: int, rows: int) -> int:
        table = torch.from_numpy(sinusoidal_encoding(rows, width)).bfloat16()
        return rows - len(np.unique(table.view(torch.int16).numpy(), axis=0))

    assert lost(2, 1000) == 265
    assert lost(4, 1000) == 0
    assert lost(4, 100_000) == 3125  # 100 turns of its slow pair are nearly 62 832 positions
    assert lost(8, 100_000) == 0


@pytest.mark.claim("true-if", "C1-70")
@pytest.mark.claim("true", "C1-09", "C1-22", "C2-12")
def test_c2_12_every_entry_is_between_minus_one_and_one() -> None:
    positions = np.r_[0:5000, 10**6, 10**9, -3, 0.5]
    assert np.abs(sinusoidal_encoding(positions, 64)).max() <= 1.0


@pytest.mark.claim("true", "C2-13")
@pytest.mark.parametrize("offset", [-7, 1, 100])
def test_c2_13_a_shift_is_one_matrix_wherever_it_starts(offset: int) -> None:
    starts = np.arange(0, 5000, 37)
    moved = sinusoidal_encoding(starts, 64) @ shift_matrix(offset, 64).T
    np.testing.assert_allclose(moved, sinusoidal_encoding(starts + offset, 64), atol=1e-9)


@pytest.mark.claim("false", "C1-29", "C1-62", "C2-14")
def test_c2_14_a_formula_goes_on_and_a_buffer_ends() -> None:
    tokens = torch.zeros(1, 21, 8)
    assert np.isfinite(sinusoidal_encoding([10**9], 8)).all()
    assert nn.SinusoidalPositionalEncoding(8)(tokens).shape == tokens.shape
    with pytest.raises(RuntimeError, match="must match the size"):
        plus_rows(tokens, kept_table(20, 8))
    with pytest.raises(ValueError, match="20"):
        nn.SinusoidalPositionalEncoding(8, max_len=20)(tokens)
    assert np.sum(wavelengths(512) > 512) == 133  # pairs of 256 that have not completed a turn


@pytest.mark.claim("true", "C3-12")
@pytest.mark.claim("false", "C1-16", "C2-15", "C2-16")
def test_c2_15_low_dimensions_are_the_fast_ones() -> None:
    for width in (4, 8, 64, 512):
        turns = wavelengths(width)
        assert turns[0] == pytest.approx(2 * np.pi)
        assert (np.diff(turns) > 0).all()  # slower to the right, never faster
    assert wavelengths(512)[-1] == pytest.approx(60611.5, abs=0.05)
    steps = np.abs(np.diff(sinusoidal_encoding(2, 512)[:, 0::2], axis=0))[0]
    assert steps[0] == steps.max()
    assert steps[-1] == steps.min()


@pytest.mark.claim("false", "C4-19")
@pytest.mark.claim("true", "C0-16", "C2-18", "C4-25")
@pytest.mark.parametrize("width", [2, 8, 512])
def test_c2_18_row_zero_is_zero_one_zero_one(width: int) -> None:
    row = np.tile([0.0, 1.0], width // 2)
    np.testing.assert_array_equal(sinusoidal_encoding(10, width)[0], row)


@pytest.mark.claim("false", "C2-19")
def test_c2_19_the_first_pair_is_divided_by_one() -> None:
    row, factor = sinusoidal_encoding([1], 512)[0], 10000 ** (2 / 512)
    divisors = factor ** np.arange(256)
    np.testing.assert_allclose(row[0::2], np.sin(1 / divisors), atol=1e-13)
    np.testing.assert_allclose(row[1::2], np.cos(1 / divisors), atol=1e-13)
    assert abs(row[0] - math.sin(1 / factor)) > 0.01  # as the text begins the row
    varying = 10000 ** (2 * np.arange(8) / 512)  # f as the text says that it varies
    assert np.abs(row[0:16:2] - np.sin(1 / varying ** np.arange(1, 9))).max() > 0.1


@pytest.mark.claim("true", "C2-21")
def test_c2_21_rows_beyond_the_longest_text_keep_their_initial_values() -> None:
    torch.manual_seed(0)
    layer = nn.LearnedPositionalEmbedding(max_len=512, d_model=8)
    drawn = layer.embedding.weight.detach().clone()
    trainer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for length in (128, 40, 128):
        trainer.zero_grad()
        (layer(length) - 1.0).square().sum().backward()
        trainer.step()
    changed = (layer.embedding.weight.detach() != drawn).any(dim=1)
    assert changed[:128].all()
    assert not changed[128:].any()
    with pytest.raises(ValueError, match="512"):
        layer(513)


@pytest.mark.claim("true-if", "C1-34")
@pytest.mark.claim("true", "C2-22")
def test_c2_22_addition_keeps_the_width_and_the_weights() -> None:
    """Weights of queries, keys and values behind a sum, and behind concatenations."""
    tokens, rows = np.zeros((2, 10, 512)), sinusoidal_encoding(10, 512)
    assert add(tokens, rows).shape == tokens.shape
    assert concatenate(tokens, rows).shape == (2, 10, 1024)

    def weights(width: int, out: int = 512) -> int:
        return 3 * torch.nn.Linear(width, out, bias=False, device="meta").weight.numel()

    assert weights(1024) == 2 * weights(512) == 2 * 786_432
    assert weights(1024, 1024) == 4 * weights(512)
    assert weights(512 + 32) < 1.07 * weights(512)  # a narrow position part costs little


@pytest.mark.claim("true-if", "C2-23")
def test_c2_23_a_float32_buffer_drifts_and_broadcasts_a_single_row() -> None:
    table = kept_table(5000, 512)
    exact = torch.from_numpy(sinusoidal_encoding(5000, 512))
    assert 1e-4 < float((table[0] - exact).abs().max()) < 1e-3
    assert float(table.abs().max()) <= 1.0
    stretched = plus_rows(torch.zeros(1, 7, 8), kept_table(1, 8))  # one row, seven words
    assert torch.equal(stretched[0], kept_table(1, 8)[0].expand(7, 8))
    with pytest.raises(RuntimeError):  # of shapes, not of an odd width
        kept_table(10, 7)
    assert plus_rows(torch.zeros(1, 4, 8).half(), kept_table(10, 8)).dtype is torch.float32


@pytest.mark.claim("false", "C1-64")
@pytest.mark.claim("imprecise", "C1-60")
@pytest.mark.claim("true-if", "C2-26")
def test_c2_26_rotary_and_biases_add_nothing_to_the_words() -> None:
    counts = {}
    for scheme in ("none", "sinusoidal", "rope", "alibi", "t5", "learned"):
        model = nn.GPTModel(
            vocab_size=10, max_len=8, d_model=16, heads=2, layers=1, pos_type=scheme, dropout=0.0
        )
        with torch.no_grad():
            model.embedding.token_embedding.weight.zero_()
            counts[scheme] = bool(model.embedding(torch.zeros(1, 8, dtype=torch.long)).any())
    assert counts == {
        "none": False,
        "sinusoidal": True,
        "rope": False,
        "alibi": False,
        "t5": False,
        "learned": True,
    }


@pytest.mark.claim("true-if", "C2-27")
def test_c2_27_a_learned_table_and_a_kept_table_both_end() -> None:
    with pytest.raises(ValueError, match="at most 20"):
        LearnedPositionalEmbedding(20, 8).get_embeddings(21)
    with pytest.raises(IndexError):
        torch.nn.Embedding(20, 8)(torch.tensor([20]))
    with pytest.raises(RuntimeError, match="must match the size"):
        plus_rows(torch.zeros(1, 21, 8), kept_table(20, 8))
    assert sum(p.numel() for p in nn.LearnedPositionalEmbedding(512, 128).parameters()) == 65536
    assert not list(nn.SinusoidalPositionalEncoding(128).parameters())
