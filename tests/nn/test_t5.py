"""`posenc.nn.t5` equals the numpy definition, which is tested against the authors' rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

import posenc.scores.t5
from posenc.nn.relative import relative_positions
from posenc.nn.t5 import T5RelativeBias

pytestmark = pytest.mark.filterwarnings("error")

quick = settings(database=None, deadline=None, derandomize=True, max_examples=40)


def random_bias(heads: int = 3, **options: Any) -> T5RelativeBias:
    """Return a float64 bias whose numbers are large enough to tell apart in any dtype."""
    bias = T5RelativeBias(heads, **options).double()
    nn.init.normal_(bias.table, generator=torch.Generator().manual_seed(0))
    return bias


def in_numpy(bias: T5RelativeBias, relative: Tensor) -> np.ndarray[Any, Any]:
    """Return the numpy definition for the same table and one matrix of relative positions."""
    return posenc.scores.t5.t5_bias(
        bias.table.detach().numpy(),
        relative.numpy(),
        bidirectional=bias.bidirectional,
        max_distance=bias.max_distance,
    )


@quick
@given(
    side=st.integers(2, 20),
    end=st.integers(11, 3000),
    both=st.booleans(),
    relative=st.lists(st.integers(-5000, 5000), min_size=1),
)
def test_the_bias_equals_the_numpy_definition(
    side: int, end: int, both: bool, relative: list[int]
) -> None:
    bias = random_bias(bidirectional=both, buckets=2 * side if both else side, max_distance=end)
    matrix = torch.tensor([relative])
    np.testing.assert_array_equal(bias(matrix).detach(), in_numpy(bias, matrix))


def test_positions_may_be_of_any_integer_type() -> None:
    bias, relative = random_bias(), torch.tensor([[-128, 0, 127]])
    for dtype in (torch.int8, torch.int16, torch.int32):
        assert torch.equal(bias(relative.to(dtype)), bias(relative))


def test_positions_may_have_any_strides() -> None:
    bias, relative = random_bias(), relative_positions(40)
    backwards = relative.mT
    assert not backwards.is_contiguous()
    np.testing.assert_array_equal(bias(backwards).detach(), in_numpy(bias, backwards))
    assert torch.equal(bias(relative[:, ::2]), bias(relative)[..., ::2])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_buckets_do_not_depend_on_the_dtype(dtype: torch.dtype) -> None:
    # A table that holds its own row numbers, all of them exact in eight bits.
    bias = T5RelativeBias(1, max_distance=5000)
    with torch.no_grad():
        bias.table[:] = torch.arange(32.0).unsqueeze(1)
    relative = relative_positions(1000)
    narrow = bias.to(dtype)(relative)
    assert narrow.dtype == dtype
    expected = posenc.scores.t5.t5_buckets(relative.numpy(), max_distance=5000)
    np.testing.assert_array_equal(narrow[0].detach().float(), expected)


@pytest.mark.parametrize("both", [True, False])
def test_gradients_reach_the_buckets_in_use_and_no_other(both: bool) -> None:
    bias, relative = random_bias(bidirectional=both), relative_positions(12, 20)
    bias(relative).sum().backward()
    used = posenc.scores.t5.t5_buckets(relative.numpy(), bidirectional=both)
    # The gradient of a sum: how many pairs share the bucket.
    expected = np.bincount(np.ravel(used), minlength=32)
    assert bias.table.grad is not None
    np.testing.assert_array_equal(bias.table.grad, np.tile(expected[:, np.newaxis], 3))


def test_keys_of_a_query_are_contiguous_in_memory() -> None:
    # As the fused attention kernels want a bias.
    for relative in (relative_positions(5), relative_positions(5).expand(2, 5, 5)):
        assert random_bias()(relative).stride(-1) == 1
