"""`posenc.nn.grid`: the layer's rows, and its table resized as by the numpy definition."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from posenc import grid_positions, resize_grid
from posenc.nn import LearnedGridEmbedding

pytestmark = pytest.mark.filterwarnings("error")


def random_layer(*sizes: int) -> LearnedGridEmbedding:
    """Return a float64 layer whose rows are large enough to tell apart."""
    layer = LearnedGridEmbedding(sizes or (4, 6), 5).double()
    nn.init.normal_(layer.table, generator=torch.Generator().manual_seed(0))
    return layer


def test_writing_into_the_rows_does_not_change_the_table() -> None:
    layer = random_layer(2, 3)
    before = layer.table.detach().clone()
    layer().detach().fill_(9)
    assert torch.equal(layer.table, before)


@pytest.mark.parametrize("sizes", [(4,), (2, 3), (2, 3, 4)])
def test_rows_come_in_the_order_of_the_places(sizes: tuple[int, ...]) -> None:
    layer = random_layer(*sizes)
    assert layer.sizes == sizes
    for place, row in zip(grid_positions(sizes), layer(), strict=True):
        assert torch.equal(row, layer.table[tuple(place)])


@pytest.mark.parametrize("kernel", ["linear", "cubic"])
@pytest.mark.parametrize(("corners", "antialias"), [(False, False), (True, False), (False, True)])
def test_a_resized_layer_has_the_grid_of_the_numpy_definition(
    kernel: str, corners: bool, antialias: bool
) -> None:
    layer = random_layer()
    resized = layer.resized((7, 3), kernel=kernel, corners=corners, antialias=antialias)
    expected = resize_grid(
        layer.table.detach().numpy(), (7, 3), kernel=kernel, corners=corners, antialias=antialias
    )
    np.testing.assert_allclose(resized.table.detach(), expected, rtol=0, atol=1e-14)
    assert resized.sizes == (7, 3)
    assert resized().shape == (21, 5)


def test_a_resized_layer_keeps_dtype_mode_and_whether_it_trains() -> None:
    layer = random_layer().bfloat16().eval()
    layer.table.requires_grad_(False)
    resized = layer.resized((3, 3))
    assert resized.table.dtype == torch.bfloat16
    assert not resized.training
    assert not resized.table.requires_grad
    assert resized.table.is_contiguous()
    exact = resize_grid(layer.table.double().numpy(), (3, 3))
    assert torch.equal(resized.table, torch.from_numpy(exact).bfloat16())


def test_resizing_draws_no_random_numbers_and_leaves_the_layer_alone() -> None:
    layer = random_layer()
    before, state = layer.table.detach().clone(), torch.get_rng_state()
    layer.resized((3, 3)).table.data.fill_(7)
    layer.resized((4, 6)).table.data.fill_(7)
    assert torch.equal(layer.table, before)
    assert torch.equal(torch.get_rng_state(), state)


def test_repr_shows_the_sizes() -> None:
    assert repr(random_layer()) == "LearnedGridEmbedding((4, 6), d_model=5)"
    assert random_layer().d_model == 5


def test_a_table_with_nan_is_not_resized() -> None:
    layer = random_layer()
    nn.init.constant_(layer.table, torch.nan)
    with pytest.raises(ValueError, match=r"^table must be finite; got nan$"):
        layer.resized((3, 3))


def test_a_module_made_on_meta_works_after_a_reset() -> None:
    with torch.device("meta"):
        layer = LearnedGridEmbedding((50, 50), 25)
        assert layer().is_meta
    torch.manual_seed(0)
    layer.to_empty(device="cpu").reset_parameters()
    spread, mean = torch.std_mean(layer.table.detach())
    # 62 500 draws: five times the error that a standard deviation and a mean of so many have.
    assert abs(spread.item() - 0.02) < 3e-4
    assert abs(mean.item()) < 4e-4
