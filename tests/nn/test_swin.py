"""`posenc.nn.swin` equals the numpy definition, which is tested against loops."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

import posenc.scores.swin
from posenc.nn.swin import SwinRelativeBias

pytestmark = pytest.mark.filterwarnings("error")


def random_bias(heads: int = 3, window: int = 4) -> SwinRelativeBias:
    """Return a float64 bias whose numbers are large enough to tell apart in any dtype."""
    bias = SwinRelativeBias(heads, window).double()
    nn.init.normal_(bias.table, generator=torch.Generator().manual_seed(0))
    return bias


@pytest.mark.parametrize("window", range(1, 13))
def test_the_bias_equals_the_numpy_definition(window: int) -> None:
    bias = random_bias(2, window)
    assert bias.table.shape == ((2 * window - 1) ** 2, 2)
    assert bias().shape == (2, window**2, window**2)
    expected = posenc.scores.swin.swin_bias(bias.table.detach().numpy(), window)
    np.testing.assert_array_equal(bias().detach(), expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_the_index_does_not_depend_on_the_dtype(dtype: torch.dtype) -> None:
    # 529 rows, more than bfloat16 can count exactly: each must come from its own index.
    exact, narrow = random_bias(2, 12), random_bias(2, 12).to(dtype)
    assert narrow().dtype == dtype
    assert torch.equal(narrow(), exact().to(dtype))


def test_gradients_of_one_pair_reach_its_row_and_no_other() -> None:
    bias = random_bias()
    bias()[1, 2, 7].backward()
    assert bias.table.grad is not None
    row = posenc.scores.swin.swin_index(4)[2, 7]
    assert bias.table.grad.nonzero().tolist() == [[row, 1]]
