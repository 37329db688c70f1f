"""What the learned layer promises: the rows asked for, no others, and tables of another length."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from posenc.embeddings.learned import LearnedPositionalEmbedding as NumpyEmbedding
from posenc.embeddings.learned import resize_table
from posenc.nn.learned import LearnedPositionalEmbedding


def learned(max_len: int = 6, d_model: int = 4) -> LearnedPositionalEmbedding:
    torch.manual_seed(0)
    return LearnedPositionalEmbedding(max_len, d_model)


def table(layer: LearnedPositionalEmbedding) -> Tensor:
    return layer.embedding.weight.detach()


# The rows


def test_an_integer_gives_the_first_rows() -> None:
    layer = learned()
    for count in (0, 1, 6, np.int64(3)):
        assert torch.equal(layer(count), table(layer)[:count])


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int16, torch.uint8])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 0), (2, 1, 3)])
def test_ids_of_any_shape_give_a_row_each(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    layer = learned()
    ids = torch.randint(0, 6, shape, generator=torch.Generator().manual_seed(1)).to(dtype)
    rows = layer(ids)
    assert rows.shape == (*shape, 4)
    for index in np.ndindex(shape):
        assert torch.equal(rows[index], table(layer)[int(ids[index])])


def test_max_len_and_d_model_follow_the_table() -> None:
    layer = learned(6, 4)
    layer.embedding = learned(9, 5).embedding
    assert (layer.max_len, layer.d_model) == (9, 5)
    assert layer(9).shape == layer(torch.arange(9)).shape == (9, 5)
    layer.embedding.weight = torch.nn.Parameter(torch.ones(3, 5))
    with pytest.raises(ValueError, match=r"^positions must be from 0 to 2; got 3$"):
        layer(torch.tensor([3]))
    with pytest.raises(ValueError, match=r"^positions must be at most max_len, 3; got 4$"):
        layer(4)
    assert layer.resized(4).max_len == 4


def test_the_numpy_class_gives_the_same_sum() -> None:
    layer, in_numpy = learned().double(), NumpyEmbedding(6, 4)
    in_numpy.position_embeddings = table(layer).numpy()
    tokens, ids = torch.randn(2, 3, 4).double(), torch.tensor([[0, 1, 2], [5, 5, 0]])
    expected = in_numpy.forward(tokens.numpy(), ids.numpy())
    np.testing.assert_array_equal((tokens + layer(ids)).detach(), expected)


def test_the_table_starts_with_standard_deviation_0_02() -> None:
    weights = table(learned(1000, 100))
    # 100 000 draws: their deviation is within 1 % and their mean within 4 standard errors.
    assert weights.std().item() == pytest.approx(0.02, rel=0.01)
    assert abs(weights.mean().item()) < 4 * 0.02 / 100_000**0.5


# What is refused


def test_too_long_sequence_error_names_both_lengths() -> None:
    with pytest.raises(ValueError, match=r"^positions must be at most max_len, 20; got 21$"):
        learned(20, 8)(21)


# Tables of another length

SIZES = [(1, 1), (1, 5), (5, 1), (2, 3), (6, 6), (6, 11), (11, 6), (49, 64), (64, 49), (512, 1000)]


@pytest.mark.parametrize(("old", "new"), SIZES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_a_resized_table_equals_the_numpy_definition(
    old: int, new: int, dtype: torch.dtype
) -> None:
    layer = learned(old, 3).to(dtype)
    exact = resize_table(table(layer).double().numpy(), new)
    longer = layer.resized(new)
    assert longer.max_len == new
    assert torch.equal(longer(new), torch.from_numpy(exact).double().to(dtype))


@pytest.mark.parametrize(("old", "new"), [pair for pair in SIZES if pair[1] > 1])
def test_a_resized_table_equals_torchs_interpolation_with_aligned_corners(
    old: int, new: int
) -> None:
    layer = learned(old, 3).double()
    expected = torch.nn.functional.interpolate(
        table(layer).T[None], size=new, mode="linear", align_corners=True
    )[0].T
    # Entries near 0.02, whose weights both sides round in their own order: places up to 512 are
    # good to 1e-13, and a row changes by some 0.1 from one place to the next.
    torch.testing.assert_close(layer.resized(new)(new), expected, rtol=0, atol=1e-14)


def test_a_resized_layer_shares_nothing_with_the_old_one() -> None:
    layer = learned()
    before, state = table(layer).clone(), torch.get_rng_state()
    table(layer.resized(6)).fill_(9)
    assert torch.equal(table(layer), before)
    assert torch.equal(torch.get_rng_state(), state)  # no random numbers are drawn either


def test_a_resized_layer_keeps_mode_and_requires_grad() -> None:
    layer = learned().eval()
    longer = layer.resized(9)
    assert not longer.training
    assert longer.embedding.num_embeddings == 9
    longer(9).sum().backward()
    assert layer.embedding.weight.grad is None
    assert longer.embedding.weight.grad is not None
    layer.embedding.weight.requires_grad_(False)
    assert not layer.resized(9).embedding.weight.requires_grad


def test_resizing_on_the_meta_device_keeps_the_shapes() -> None:
    with torch.device("meta"):
        longer = LearnedPositionalEmbedding(6, 4).resized(9)
    assert longer.embedding.weight.is_meta
    assert longer.embedding.weight.shape == (9, 4)


@pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf])
def test_a_table_with_nan_is_not_resized(value: float) -> None:
    layer = learned()
    with torch.no_grad():
        layer.embedding.weight[2, 1] = value
    with pytest.raises(ValueError, match=r"^embedding.weight must be finite; got -?(nan|inf)$"):
        layer.resized(9)
