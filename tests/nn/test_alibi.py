"""`posenc.nn.alibi` keeps its promises, compared with `scores.alibi`, which has its own tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from posenc.nn.alibi import ALiBi
from posenc.scores.alibi import alibi_bias, alibi_key_bias, alibi_slopes

pytestmark = pytest.mark.filterwarnings("error")


def relative(queries: int, keys: int | None = None, offset: int = 0) -> Tensor:
    """Return key − query, with queries at offset, offset + 1, …"""
    query = torch.arange(offset, offset + queries)
    return torch.arange(offset + queries if keys is None else keys) - query[:, None]


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(
    ("queries", "keys", "offset"), [(5, 5, 0), (1, 9, 8), (3, 2, 4), (2, 6, 1)]
)
@pytest.mark.parametrize("heads", [1, 8, 12])  # slopes of 12 heads are no powers of two
def test_bias_equals_the_numpy_bias(
    heads: int, queries: int, keys: int, offset: int, causal: bool
) -> None:
    expected = alibi_bias(heads, queries, keys, query_offset=offset, causal=causal)
    bias = ALiBi(heads, causal=causal)(relative(queries, keys, offset), dtype=torch.float64)
    np.testing.assert_array_equal(bias, expected)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_another_dtype_is_the_float64_bias_rounded_once(dtype: torch.dtype, causal: bool) -> None:
    far = relative(3, 4000, 3990)
    alibi = ALiBi(12, causal=causal)
    bias = alibi(far, dtype=dtype)
    assert bias.dtype == dtype
    assert torch.equal(bias, alibi(far, dtype=torch.float64).to(dtype))


def test_default_dtype_is_float32() -> None:
    assert ALiBi(2)(relative(3)).dtype == torch.float32


@pytest.mark.parametrize("kind", [torch.int32, torch.int16, torch.int8])
def test_relative_positions_may_be_of_any_signed_integer_type(kind: torch.dtype) -> None:
    """−128 has no negation in int8; its distance is 128 all the same."""
    far = torch.tensor([[-128, -1, 0, 127]])
    assert torch.equal(ALiBi(2)(far.to(kind)), ALiBi(2)(far))


def test_no_entry_is_minus_zero() -> None:
    own = ALiBi(6)(relative(4)).diagonal(dim1=-2, dim2=-1)
    assert (own == 0).all()
    assert not own.signbit().any()


def test_in_bfloat16_the_key_form_loses_neighbours_at_4095_and_the_causal_form_does_not() -> None:
    """With equal scores and slope 1/2 the query's own weight is 0.393, as the docstring says."""
    far, dtype = relative(1, offset=4095), torch.bfloat16
    by_key = torch.from_numpy(alibi_key_bias(8, 4096))
    own = torch.softmax(ALiBi(8)(far, dtype=dtype).double(), -1)[0, 0, -1]
    assert own.item() == pytest.approx(1 - math.exp(-0.5), abs=1e-4)
    rounded = torch.softmax(by_key.to(dtype).double(), -1)[0, 0, -1]
    assert rounded.item() == pytest.approx(0.125, abs=5e-4)
    runs = torch.unique(by_key.to(dtype)[0, 0, -1000:], return_counts=True)[1]
    assert set(runs[1:-1].tolist()) == {15, 17}  # a tie goes to the even neighbour
    exact = torch.softmax(by_key.float().double(), -1)[0, 0, -1]
    assert exact.item() == pytest.approx(1 - math.exp(-0.5), abs=1e-12)


def test_slopes_are_those_of_the_numpy_function() -> None:
    assert ALiBi(12).slopes == tuple(alibi_slopes(12).tolist())
