"""`posenc.nn.alibi` keeps its promises, compared with `scores.alibi`, which has its own tests."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from posenc.nn.alibi import ALiBi
from posenc.nn.attention import attention
from posenc.scores.alibi import alibi_bias, alibi_key_bias, alibi_slopes

pytestmark = pytest.mark.filterwarnings("error")

DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)

quick = settings(database=None, deadline=None, derandomize=True, max_examples=40)


def relative(queries: int, keys: int | None = None, offset: int = 0) -> Tensor:
    """Return key − query, with queries at offset, offset + 1, …"""
    query = torch.arange(offset, offset + queries)
    return torch.arange(offset + queries if keys is None else keys) - query[:, None]


def paper_bias(heads: int, relative: Tensor, *, causal: bool) -> Tensor:
    """Return −m·|key − query| entry by entry, in float64, and −∞ ahead where causal."""
    bias = torch.empty(heads, *relative.shape, dtype=torch.float64)
    for place in np.ndindex(*bias.shape):
        slope, far = float(alibi_slopes(heads)[place[0]]), int(relative[place[1:]])
        bias[place] = -math.inf if causal and far > 0 else -(slope * abs(far))
    return bias


# The bias


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(
    ("queries", "keys", "offset"), [(5, 5, 0), (1, 9, 8), (3, 2, 4), (2, 6, 1)]
)
@pytest.mark.parametrize("heads", [1, 6, 8])
def test_bias_equals_the_numpy_bias(
    heads: int, queries: int, keys: int, offset: int, causal: bool
) -> None:
    far = relative(queries, keys, offset)
    expected = alibi_bias(heads, queries, keys, query_offset=offset, causal=causal)
    bias = ALiBi(heads, causal=causal)(far, dtype=torch.float64)
    np.testing.assert_array_equal(bias, expected)
    assert torch.equal(bias, paper_bias(heads, far, causal=causal))


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
def test_another_dtype_is_the_float64_bias_rounded_once(dtype: torch.dtype, causal: bool) -> None:
    far = relative(3, 4000, 3990)
    alibi = ALiBi(12, causal=causal)
    bias = alibi(far, dtype=dtype)
    assert bias.dtype == dtype
    assert torch.equal(bias, alibi(far, dtype=torch.float64).to(dtype))


def test_default_dtype_is_float32() -> None:
    assert ALiBi(2)(relative(3)).dtype == torch.float32


def test_float32_arithmetic_would_change_one_entry_in_fourteen() -> None:
    """The reason for float64: slopes that are not powers of two."""
    far = relative(512)
    exact = ALiBi(12, causal=False)(far)
    slopes = torch.tensor(alibi_slopes(12), dtype=torch.float32)
    narrow = slopes[:, None, None] * -far.abs()
    assert (narrow != exact).float().mean() == pytest.approx(1 / 14, abs=0.005)
    torch.testing.assert_close(narrow, exact, rtol=2**-23, atol=0)


@pytest.mark.parametrize("causal", [True, False])
def test_each_sequence_of_a_batch_may_have_its_own_positions(causal: bool) -> None:
    """Left padding, two packed documents, and a sequence with neither."""
    positions = torch.tensor([[0, 1, 2, 3, 4], [-2, -1, 0, 1, 2], [0, 1, 0, 1, 2]])
    far = positions[:, None, :] - positions[:, :, None]
    alibi = ALiBi(6, causal=causal)
    bias = alibi(far)
    assert bias.shape == (3, 6, 5, 5)
    for text in range(3):
        assert torch.equal(bias[text], alibi(far[text]))
    assert torch.equal(bias[1], bias[0])  # padding shifts a sequence but changes no distance
    assert torch.equal(bias[2][:, 2:, 2:], alibi(relative(3)))


@quick
@given(
    heads=st.integers(1, 40),
    queries=st.integers(0, 6),
    offset=st.integers(0, 100),
    causal=st.booleans(),
)
def test_a_row_decoded_alone_equals_that_row_of_the_matrix(
    heads: int, queries: int, offset: int, causal: bool
) -> None:
    alibi = ALiBi(heads, causal=causal)
    whole = alibi(relative(offset + queries))
    assert torch.equal(alibi(relative(queries, offset=offset)), whole[:, offset:])


@quick
@given(heads=st.integers(1, 40), length=st.integers(0, 8))
def test_the_symmetric_form_is_symmetric(heads: int, length: int) -> None:
    bias = ALiBi(heads, causal=False)(relative(length))
    assert torch.equal(bias, bias.mT)
    assert torch.equal(torch.maximum(ALiBi(heads)(relative(length)), bias), bias)


@pytest.mark.parametrize("kind", [torch.int32, torch.int16, torch.int8])
def test_relative_positions_may_be_of_any_signed_integer_type(kind: torch.dtype) -> None:
    """−128 has no negation in int8; its distance is 128 all the same."""
    far = torch.tensor([[-128, -1, 0, 127]])
    assert torch.equal(ALiBi(2)(far.to(kind)), ALiBi(2)(far))


def test_no_queries_and_no_keys_are_accepted() -> None:
    assert ALiBi(2)(relative(0, 3)).shape == (2, 0, 3)
    assert ALiBi(2)(relative(3, 0)).shape == (2, 3, 0)
    assert ALiBi(2)(torch.zeros(0, 4, 4, dtype=torch.int64)).shape == (0, 2, 4, 4)


def test_no_entry_is_minus_zero() -> None:
    own = ALiBi(6)(relative(4)).diagonal(dim1=-2, dim2=-1)
    assert (own == 0).all()
    assert not own.signbit().any()


def test_writing_into_a_bias_does_not_change_the_next() -> None:
    alibi, far = ALiBi(2), relative(3)
    kept = alibi(far).clone()
    alibi(far).fill_(9)
    assert torch.equal(alibi(far), kept)
    assert torch.equal(far, relative(3))


def test_attention_adds_the_bias_as_in_the_formula() -> None:
    q, k, v = torch.randn(3, 2, 6, 5, 8, generator=torch.Generator().manual_seed(0)).double()
    bias = ALiBi(6)(relative(5), dtype=torch.float64)
    output, weights = attention(q, k, v, bias=bias)
    powers = torch.exp(q @ k.mT / math.sqrt(8)) * torch.exp(bias)  # distant keys weigh less
    torch.testing.assert_close(weights, powers / powers.sum(-1, keepdim=True), rtol=0, atol=1e-14)
    assert (weights.triu(1) == 0).all()
    assert output.shape == v.shape


# Casting, saving and moving a module


def test_nothing_is_learned_and_nothing_is_stored() -> None:
    alibi = ALiBi(8)
    assert list(alibi.parameters()) == []
    assert list(alibi.buffers()) == []
    assert alibi.state_dict() == {}
    assert not alibi(relative(3)).requires_grad
    assert alibi.load_state_dict({}).missing_keys == []


@pytest.mark.parametrize("dtype", DTYPES)
def test_casting_the_module_never_rounds_the_bias(dtype: torch.dtype) -> None:
    far, expected = relative(2, 3000, 2998), ALiBi(12)(relative(2, 3000, 2998))
    model = nn.Sequential(nn.Linear(2, 2), ALiBi(12)).to(dtype)
    assert torch.equal(model[1](far), expected)
    assert torch.equal(copy.deepcopy(model).float()[1](far), expected)


def test_a_module_made_on_meta_works_without_a_reset() -> None:
    with torch.device("meta"):
        alibi = ALiBi(12)
    assert torch.equal(alibi.to_empty(device="cpu")(relative(9)), ALiBi(12)(relative(9)))


def test_output_on_meta_has_the_right_shape() -> None:
    bias = ALiBi(12)(relative(4, 6).to("meta"), dtype=torch.float16)
    assert bias.is_meta
    assert bias.shape == (12, 4, 6)
    assert bias.dtype == torch.float16


def test_in_bfloat16_the_first_256_distances_differ_and_further_ones_keep_their_order() -> None:
    """bfloat16 has 8 significant bits: with a slope 2^−k, distances up to 256 are exact."""
    bias = ALiBi(8)(relative(1, offset=999), dtype=torch.bfloat16)[:, 0].flip(-1)
    for head in bias:
        assert len(head[:257].unique()) == 257
        assert (head.diff() <= 0).all()


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


def test_repr_shows_the_arguments() -> None:
    assert repr(ALiBi(12, causal=False)) == "ALiBi(12, causal=False)"
    assert ALiBi(12).slopes == tuple(alibi_slopes(12).tolist())


# Compiled and exported


class InTwoTypes(nn.Module):
    """A bias in its default dtype and in a narrow one, for a compiler."""

    def __init__(self, causal: bool) -> None:
        super().__init__()
        self.alibi = ALiBi(12, causal=causal)

    def forward(self, far: Tensor) -> tuple[Tensor, Tensor]:
        return self.alibi(far), self.alibi(far, dtype=torch.bfloat16)


@pytest.mark.slow
@pytest.mark.no_cover  # coverage would trace the compiler too
@pytest.mark.parametrize("causal", [True, False])
def test_it_compiles_to_one_graph_with_equal_results(causal: bool) -> None:
    torch._dynamo.reset()
    module = InTwoTypes(causal)
    compiled = torch.compile(module, fullgraph=True, backend="eager")
    for far in (relative(5), relative(1, offset=7), relative(4).expand(2, 4, 4)):
        for ours, theirs in zip(compiled(far), module(far), strict=True):
            assert ours.dtype is theirs.dtype
            assert torch.equal(ours, theirs)


@pytest.mark.slow
@pytest.mark.no_cover  # coverage would trace the compiler too
@pytest.mark.parametrize("causal", [True, False])
def test_it_exports_for_any_length_with_equal_results(causal: bool) -> None:
    alibi = ALiBi(12, causal=causal)
    lengths = {0: torch.export.Dim("query", max=99), 1: torch.export.Dim("key", min=2, max=99)}
    program = torch.export.export(alibi, (relative(3, 5),), dynamic_shapes={"relative": lengths})
    for far in (relative(3, 5), relative(7), relative(2, offset=9)):
        assert torch.equal(program.module()(far), alibi(far))
