"""The fast paths of the numpy package equal the definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from posenc import (
    alibi_bias,
    alibi_rows,
    relative_positions,
    relative_row,
    relative_shift,
    relative_view,
    sinusoidal_encoding,
    sinusoidal_table,
    t5_bias,
    t5_rows,
)

# What the docstring of `sinusoidal_table` promises, less what grows with the position.
PROMISED = {np.float32: 2e-7, np.float64: 1e-14}

every_dtype = pytest.mark.parametrize("dtype", PROMISED)
LENGTHS = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 100, 255, 256, 257, 1000]


def error(table: NDArray[np.floating], offset: float, base: float = 10000.0) -> float:
    """Return the largest error of a table, compared with the definition in float64."""
    positions = offset + np.arange(len(table))
    exact = sinusoidal_encoding(positions, table.shape[1], base=base)
    return float(np.abs(table - exact).max(initial=0.0))


# The sinusoidal table


@every_dtype
@pytest.mark.parametrize("length", LENGTHS)
def test_table_is_the_definition_at_every_length(length: int, dtype: type[np.floating]) -> None:
    table = sinusoidal_table(length, 6, dtype=dtype)
    assert table.shape == (length, 6)
    assert table.dtype == dtype
    assert table.flags.owndata
    assert error(table, 0) <= PROMISED[dtype] + 4e-16 * length


@every_dtype
@pytest.mark.parametrize("order", ["C", "F", "gaps"])
def test_an_empty_table_can_be_written_into_an_empty_out(
    order: Any, dtype: type[np.floating]
) -> None:
    """The strides of an empty array are arbitrary; numpy gives a new one strides of 0."""
    out = np.empty((5, 8), dtype)[:0, ::2] if order == "gaps" else np.empty((0, 4), dtype, order)
    assert sinusoidal_table(0, 4, dtype=dtype, out=out) is out
    with pytest.raises(ValueError, match=r"^out must be .* of shape \(0, 4\) .*got shape \(0, 6\)"):
        sinusoidal_table(0, 4, dtype=dtype, out=np.empty((0, 6), dtype))


@every_dtype
@pytest.mark.parametrize("offset", [0, 1, -7, 0.25, 4096, 1_000_000, -1_000_000, 2**40 + 0.5])
def test_table_may_begin_at_any_position(offset: float, dtype: type[np.floating]) -> None:
    table = sinusoidal_table(300, 64, offset=offset, dtype=dtype)
    # The definition is off by 4e-16·|p| of its own.
    assert error(table, offset) <= PROMISED[dtype] + 2 * 4e-16 * (abs(offset) + 300)


def test_float32_table_errs_by_less_than_two_ten_millionths_up_to_a_million() -> None:
    for offset in (0, 991_808):
        assert error(sinusoidal_table(8192, 1024, offset=offset), offset) <= 2e-7


@settings(max_examples=50, deadline=None)
@given(
    st.integers(0, 300),
    st.integers(1, 20),
    st.floats(-1e6, 1e6),
    st.sampled_from([2.0, 500.0, 10000.0, 1e9]),
)
def test_table_is_the_definition_wherever_it_begins(
    length: int, pairs: int, offset: float, base: float
) -> None:
    table = sinusoidal_table(length, 2 * pairs, offset=offset, base=base)
    assert error(table, offset, base) <= 2e-7 + 2 * 4e-16 * (abs(offset) + length)


def test_float32_factors_would_exceed_the_promised_error() -> None:
    """Each doubling step rounds, so in complex64 the error would exceed the promise."""
    turn = np.exp(-1j * np.arange(1, 65) / 64).astype(np.complex64)
    powers = np.ones((4096, 64), np.complex64)
    for step in range(12):
        powers[2**step : 2 ** (step + 1)] = powers[: 2**step] * turn
        turn = turn * turn
    exact = np.exp(-1j * np.arange(4096)[:, np.newaxis] * np.arange(1, 65) / 64)
    assert np.abs((powers - exact).imag).max() > 2e-7


@pytest.mark.parametrize("length", [0, 1, 5, 100])
@every_dtype
def test_table_can_be_written_into_out_of_any_row_stride(
    length: int, dtype: type[np.floating]
) -> None:
    expected = sinusoidal_table(length, 6, offset=3, dtype=dtype)
    for rows, columns in (
        (slice(length), slice(6)),
        (slice(0, 2 * length, 2), slice(3, 9)),
        (slice(length, 0, -1), slice(1, 7)),
    ):
        memory = np.full((2 * length + 2, 10), 7, dtype)
        out = memory[rows, columns]
        assert sinusoidal_table(length, 6, offset=3, dtype=dtype, out=out) is out
        np.testing.assert_array_equal(out, expected)
        assert (memory == 7).sum() == memory.size - out.size  # nothing beside them


@pytest.mark.parametrize("between", [24, -24, 28, 0, 20, -20, 4])
@every_dtype
def test_rows_of_out_may_be_adjacent_but_not_overlap(
    between: int, dtype: type[np.floating]
) -> None:
    """Row strides in quarters of a number: rows are six wide, so 24 makes them adjacent."""
    step = between * np.dtype(dtype).itemsize // 4
    memory = np.full(200, 7, dtype)[100:]
    out = as_strided(memory, (3, 6), (step, memory.itemsize))
    if abs(between) >= 24:
        sinusoidal_table(3, 6, offset=3, dtype=dtype, out=out)
        np.testing.assert_array_equal(out, sinusoidal_table(3, 6, offset=3, dtype=dtype))
        return
    with pytest.raises(ValueError, match=r"out must be .* every row in one piece; got strides"):
        sinusoidal_table(3, 6, dtype=dtype, out=out)
    assert (memory == 7).all()


def test_rows_of_t5_have_the_defaults_of_its_bias() -> None:
    table = np.random.default_rng(0).normal(size=(32, 2))
    matrix = t5_bias(table, relative_positions(200, 200))
    np.testing.assert_array_equal(relative_view(t5_rows(table, 200, 200), 200), matrix)


def test_table_that_reaches_2_to_the_53_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^offset and length must be below 2\*\*53 in size"):
        sinusoidal_table(10, 6, offset=2**53 - 5)


# One row in place of a matrix


@pytest.mark.parametrize("offset", [0, 1, 9])
@pytest.mark.parametrize("keys", [0, 1, 4, 7])
@pytest.mark.parametrize("queries", [1, 2, 5])
def test_relative_view_of_a_row_is_the_matrix(queries: int, keys: int, offset: int) -> None:
    row = relative_row(queries, keys, query_offset=offset)
    assert row.shape == (1, queries + keys - 1)
    relative = relative_positions(queries, keys, query_offset=offset)
    np.testing.assert_array_equal(relative_view(row[0], queries), relative)
    for causal in (True, False):
        rows = alibi_rows(6, queries, keys, query_offset=offset, causal=causal)
        bias = alibi_bias(6, queries, keys, query_offset=offset, causal=causal)
        np.testing.assert_array_equal(relative_view(rows, queries), bias)
    for both in (True, False):
        table = np.random.default_rng(0).normal(size=(8, 3))
        rule: dict[str, Any] = {"bidirectional": both, "max_distance": 9}
        numbers = t5_rows(table, queries, keys, query_offset=offset, **rule)
        biases = t5_bias(table, relative, **rule)
        np.testing.assert_array_equal(relative_view(numbers, queries), biases)


def test_view_is_the_relative_shift_of_equal_rows() -> None:
    rows = np.random.default_rng(0).normal(size=(2, 3, 9))
    repeated = np.repeat(rows[..., np.newaxis, :], 4, axis=-2)
    np.testing.assert_array_equal(relative_view(rows, 4), relative_shift(repeated))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_view_keeps_its_type_and_takes_the_memory_of_the_rows(dtype: type[np.floating]) -> None:
    view = relative_view(np.zeros((32, 8191), dtype), 4096)
    assert view.shape == (32, 4096, 4096)
    assert view.dtype == dtype
    first, last = byte_bounds(view)
    assert last - first == 32 * 8191 * view.itemsize


def test_view_is_read_only_and_independent_of_its_rows() -> None:
    rows = np.arange(5.0)
    view = relative_view(rows, 3)
    with pytest.raises(ValueError, match="read-only"):
        view[0, 0] = 9
    rows.fill(9)
    np.testing.assert_array_equal(view, [[2, 3, 4], [1, 2, 3], [0, 1, 2]])


def test_rows_may_have_any_strides() -> None:
    rows = np.random.default_rng(0).normal(size=(9, 4))
    expected = relative_view(np.ascontiguousarray(rows.T), 3)
    np.testing.assert_array_equal(relative_view(rows.T, 3), expected)
    backwards = relative_view(rows[::-1, 0], 3)
    np.testing.assert_array_equal(backwards, relative_view(rows[::-1, 0].copy(), 3))
    shared = np.broadcast_to(rows[:, 0], (2, 9))
    np.testing.assert_array_equal(relative_view(shared, 3)[1], relative_view(rows[:, 0], 3))
