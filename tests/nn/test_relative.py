"""`posenc.nn.relative` keeps its promises, compared with numpy and with loops over pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

import posenc.scores.relative
from posenc.nn.relative import RelativePositionEmbedding, relative_positions

pytestmark = pytest.mark.filterwarnings("error")

quick = settings(database=None, deadline=None, derandomize=True, max_examples=40)

# Dot products of a few numbers of size 1, added up in two orders: some rounding errors of each.
CLOSE = {torch.float64: 1e-14, torch.float32: 1e-5, torch.bfloat16: 0.1, torch.float16: 0.01}


def random_embedding(
    d: int = 4, max_distance: int = 3, dtype: torch.dtype = torch.float64
) -> RelativePositionEmbedding:
    """Return an embedding whose rows are large enough to tell apart in any dtype."""
    embedding = RelativePositionEmbedding(d, max_distance)
    nn.init.normal_(embedding.table, generator=torch.Generator().manual_seed(0))
    return embedding.to(dtype)


def queries(*shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    """Return queries drawn from a fixed seed."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(1), dtype=dtype)


def scores_by_loop(embedding: RelativePositionEmbedding, q: Tensor, relative: Tensor) -> Tensor:
    """Return q_i · w_{clip(j − i)} pair by pair, for relative positions (batch, query, key)."""
    batch, heads, length, _ = q.shape
    out = torch.zeros(batch, heads, length, relative.shape[-1], dtype=q.dtype)
    furthest = embedding.max_distance
    for b, h, i, j in np.ndindex(*out.shape):
        r = max(-furthest, min(furthest, int(relative[b, i, j])))
        out[b, h, i, j] = q[b, h, i] @ embedding.table[r + furthest].detach()
    return out


class LargestResult(TorchDispatchMode):
    """Record the size of the largest tensor that any operation returns."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.numbers = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if isinstance(result, Tensor):
            self.numbers = max(self.numbers, result.numel())
        return result


# Relative positions


@quick
@given(q=st.integers(0, 9), k=st.integers(0, 9))
def test_two_lengths_give_the_numpy_matrix(q: int, k: int) -> None:
    relative = relative_positions(q, k)
    assert relative.dtype == torch.int64
    np.testing.assert_array_equal(relative, posenc.relative_positions(q, k))
    assert torch.equal(relative_positions(torch.arange(q), k), relative)
    assert torch.equal(relative_positions(q, torch.arange(k)), relative)


def test_without_keys_the_queries_are_the_keys() -> None:
    assert torch.equal(relative_positions(4), relative_positions(4, 4))
    ids = torch.tensor([3, 0, 7])
    assert relative_positions(ids).tolist() == [[0, -3, 4], [3, 0, 7], [-4, -7, 0]]


@pytest.mark.parametrize(
    ("query_batch", "key_batch"), [(None, 2), (2, None), (2, 2), (None, None), (1, 1)]
)
def test_each_row_of_a_batch_has_its_own_positions(
    query_batch: int | None, key_batch: int | None
) -> None:
    rng = np.random.default_rng(0)
    query = rng.integers(-50, 50, (3,) if query_batch is None else (query_batch, 3))
    key = rng.integers(-50, 50, (5,) if key_batch is None else (key_batch, 5))
    expected = key[..., np.newaxis, :] - query[..., :, np.newaxis]
    relative = relative_positions(torch.from_numpy(query), torch.from_numpy(key))
    np.testing.assert_array_equal(relative, expected)


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64])
def test_narrow_and_unsigned_positions_do_not_wrap_around(dtype: torch.dtype) -> None:
    ids = torch.tensor([0, 127], dtype=dtype)
    assert relative_positions(ids).tolist() == [[0, 127], [-127, 0]]


def test_writing_into_a_matrix_does_not_change_the_next() -> None:
    ids = torch.arange(3)
    relative_positions(ids).fill_(9)
    assert ids.tolist() == [0, 1, 2]
    assert relative_positions(3)[0].tolist() == [0, 1, 2]


# The embedding


@pytest.mark.parametrize("max_distance", [0, 1, 3, 10])
def test_each_pair_has_the_row_of_its_clipped_relative_position(max_distance: int) -> None:
    embedding = random_embedding(5, max_distance)
    relative = relative_positions(torch.arange(2, 9), 8)
    index = posenc.scores.relative.shaw_index(relative.numpy(), max_distance=max_distance)
    rows = embedding(relative)
    assert rows.shape == (7, 8, 5)
    np.testing.assert_array_equal(rows.detach(), embedding.table.detach().numpy()[index])
    batched = embedding(relative.expand(2, 7, 8))
    assert torch.equal(batched, rows.expand(2, 7, 8, 5))


@pytest.mark.parametrize("batched", [False, True])
def test_scores_are_the_products_of_every_pair(batched: bool) -> None:
    embedding, q = random_embedding(), queries(2, 3, 5, 4)
    ids = torch.tensor([[0, 1, 2, 3, 4], [9, 0, 4, 4, 30]])
    relative = relative_positions(ids if batched else ids[1], 6)
    scores = embedding.scores(q, relative)
    expected = scores_by_loop(embedding, q, relative.expand(2, 5, 6))
    torch.testing.assert_close(scores, expected, rtol=0, atol=1e-14)


@quick
@given(
    length=st.integers(0, 6),
    keys=st.integers(0, 8),
    offset=st.integers(0, 9),
    max_distance=st.integers(0, 12),
)
def test_the_shift_gives_the_scores_of_the_definition(
    length: int, keys: int, offset: int, max_distance: int
) -> None:
    embedding, q = random_embedding(4, max_distance), queries(2, 3, length, 4)
    positions = torch.arange(offset, offset + length)
    by_definition = embedding.scores(q, relative_positions(positions, keys))
    by_shift = embedding.shifted_scores(q, keys, query_offset=offset)
    assert by_shift.shape == (2, 3, length, keys)
    torch.testing.assert_close(by_shift, by_definition, rtol=0, atol=CLOSE[q.dtype])


def test_the_shift_is_the_numpy_shift() -> None:
    embedding, q = random_embedding(), queries(2, 3, 5, 4)
    index = posenc.scores.relative.shaw_index(np.arange(-4, 7), max_distance=3)
    products = q.numpy() @ embedding.table.detach().numpy()[index].T
    expected = posenc.scores.relative.relative_shift(products)
    found = embedding.shifted_scores(q, 7).detach()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)


def test_the_shift_allocates_no_vector_per_pair() -> None:
    # 64 queries, 64 keys, d = 32: the gathered vectors are 64·64·32 numbers, the rows 127·32.
    embedding, q = random_embedding(32, 8), queries(1, 1, 64, 32)
    with LargestResult() as by_shift:
        embedding.shifted_scores(q, 64)
    with LargestResult() as by_definition:
        embedding.scores(q, relative_positions(64))
    assert by_shift.numbers == 64 * 128  # a row of 127 products and a 0 for each query
    assert by_definition.numbers == 64 * 64 * 32


# Types, weights, gradients


@pytest.mark.parametrize("dtype", CLOSE)
def test_scores_have_the_dtype_of_the_queries(dtype: torch.dtype) -> None:
    embedding, wide = random_embedding(8, 4, dtype), random_embedding(8, 4)
    q, relative = queries(2, 3, 5, 8), relative_positions(5)
    assert embedding(relative).dtype == dtype
    for scores in (
        embedding.scores(q.to(dtype), relative),
        embedding.shifted_scores(q.to(dtype), 5),
        wide.scores(q.to(dtype), relative),  # a table of another dtype
    ):
        assert scores.dtype == dtype
        expected = wide.scores(q, relative)
        torch.testing.assert_close(scores.double(), expected, rtol=0, atol=CLOSE[dtype])


@pytest.mark.parametrize("method", ["forward", "scores", "shifted_scores"])
def test_gradients_reach_the_rows_in_use_and_no_other(method: str) -> None:
    # Three queries and four keys lie −2 … 3 apart, of −5 … 5.
    embedding, q = random_embedding(4, 5), queries(1, 2, 3, 4)
    arguments = {
        "forward": (relative_positions(3, 4),),
        "scores": (q, relative_positions(3, 4)),
        "shifted_scores": (q, 4),
    }
    getattr(embedding, method)(*arguments[method]).square().sum().backward()
    assert embedding.table.grad is not None
    touched = embedding.table.grad.abs().sum(dim=1) > 0
    assert torch.arange(-5, 6)[touched].tolist() == [-2, -1, 0, 1, 2, 3]


def test_definition_and_shift_have_the_same_gradients() -> None:
    embedding, relative = random_embedding(4, 2), relative_positions(torch.arange(3, 8), 9)
    weights, q = queries(2, 3, 5, 9), queries(2, 3, 5, 4).requires_grad_()
    by_definition, by_shift = (
        torch.autograd.grad((scores * weights).sum(), [q, embedding.table])
        for scores in (
            embedding.scores(q, relative),
            embedding.shifted_scores(q, 9, query_offset=3),
        )
    )
    torch.testing.assert_close(by_shift, by_definition, rtol=0, atol=1e-13)  # sums of 270 products


class Both(nn.Module):
    """Definition and shift in one module, for a compiler."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = random_embedding()

    def forward(self, q: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Return scores by the definition and by the shift."""
        keys = positions.shape[0]
        relative = relative_positions(positions)
        return self.embedding.scores(q, relative), self.embedding.shifted_scores(q, keys)


@pytest.mark.slow
@pytest.mark.no_cover  # coverage would trace the compiler too
def test_it_compiles_into_one_graph_for_any_length() -> None:
    module = Both()
    compiled = torch.compile(module, fullgraph=True, backend="eager")
    for length in range(3, 15):
        q, positions = queries(2, 3, length, 4), torch.arange(length)
        torch._dynamo.mark_dynamic(q, 2)  # compiled for any length, or refused
        torch._dynamo.mark_dynamic(positions, 0)
        found, expected = compiled(q, positions), module(q, positions)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-14)


@pytest.mark.slow
@pytest.mark.no_cover  # coverage would trace the compiler too
def test_it_exports_for_any_length() -> None:
    module, length = Both(), torch.export.Dim("length", min=2, max=99)
    shapes, example = ({2: length}, {0: length}), (queries(2, 3, 6, 4), torch.arange(6))
    program = torch.export.export(module, example, dynamic_shapes=shapes).module()
    for size in (6, 9):
        inputs = queries(2, 3, size, 4), torch.arange(size)
        torch.testing.assert_close(program(*inputs), module(*inputs), rtol=0, atol=1e-14)


def test_repr_shows_the_sizes() -> None:
    assert repr(random_embedding(4, 3)) == "RelativePositionEmbedding(4, max_distance=3)"


def test_nan_in_the_queries_propagates() -> None:
    q = queries(1, 1, 3, 4)
    q[0, 0, 1, 2] = torch.nan
    embedding = random_embedding()
    for scores in (embedding.scores(q, relative_positions(3)), embedding.shifted_scores(q, 3)):
        assert scores.isnan().any(dim=-1).tolist() == [[[False, True, False]]]


def test_a_module_made_on_meta_works_after_a_reset() -> None:
    with torch.device("meta"):
        embedding = RelativePositionEmbedding(64, 500)
        assert embedding(relative_positions(3)).is_meta
    torch.manual_seed(0)
    embedding.to_empty(device="cpu").reset_parameters()
    assert embedding.table.shape == (1001, 64)
    # 64 064 draws: five times the error that a standard deviation and a mean of so many have.
    spread, mean = torch.std_mean(embedding.table.detach())
    assert abs(spread.item() - 0.02) < 3e-4
    assert abs(mean.item()) < 4e-4
    assert embedding(relative_positions(3)).device.type == "cpu"
