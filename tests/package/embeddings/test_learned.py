"""`embeddings.learned` looks up rows by position, refuses other positions, and resizes tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from posenc.embeddings.learned import LearnedPositionalEmbedding, resize_table

quick = settings(database=None, deadline=None, derandomize=True, max_examples=60)
sizes = st.integers(1, 200)


def layer(rows: int = 6, width: int = 4) -> LearnedPositionalEmbedding:
    return LearnedPositionalEmbedding(rows, width, seed=0)


# The table


def test_the_table_starts_with_standard_deviation_0_02() -> None:
    table = LearnedPositionalEmbedding(1000, 100, seed=0).position_embeddings
    assert table.shape == (1000, 100)
    assert table.dtype == np.float64
    # 100 000 draws: their deviation is within 1 % and their mean within 4 standard errors.
    assert table.std() == pytest.approx(0.02, rel=0.01)
    assert abs(table.mean()) < 4 * 0.02 / np.sqrt(100_000)


def test_equal_seeds_give_equal_tables_and_no_seed_gives_new_ones() -> None:
    def table(seed: Any) -> NDArray[np.floating]:
        return LearnedPositionalEmbedding(3, 4, seed=seed).position_embeddings

    np.testing.assert_array_equal(table(7), table(np.int64(7)))
    np.testing.assert_array_equal(table(7), table(np.random.default_rng(7)))
    assert (table(7) != table(8)).any()
    assert (table(None) != table(None)).any()


def test_creating_a_table_leaves_numpys_global_generator_unchanged() -> None:
    before = np.random.get_state()[1].copy()  # type: ignore[index]
    layer()
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # type: ignore[index]


def test_sizes_follow_the_table_after_a_resize() -> None:
    learned = layer(6, 4)
    assert (learned.max_seq_len, learned.d_model) == (6, 4)
    learned.position_embeddings = resize_table(learned.position_embeddings, 11)
    assert (learned.max_seq_len, learned.d_model) == (11, 4)
    assert learned.forward(np.zeros((1, 11, 4))).shape == (1, 11, 4)


def test_rows_by_length_are_the_first_of_the_table() -> None:
    learned = layer()
    for length in range(7):
        rows = learned.get_embeddings(length)
        assert rows.shape == (length, 4)
        np.testing.assert_array_equal(rows, learned.position_embeddings[:length])


@pytest.mark.parametrize("shape", [(5, 4), (2, 5, 4), (2, 3, 5, 4), (0, 5, 4), (2, 0, 4)])
def test_forward_adds_row_p_to_token_p(shape: tuple[int, ...]) -> None:
    learned = layer()
    tokens = np.random.default_rng(1).standard_normal(shape)
    out = learned.forward(tokens)
    assert out.shape == shape
    for index in np.ndindex(shape[:-1]):
        expected = tokens[index] + learned.position_embeddings[index[-1]]
        np.testing.assert_array_equal(out[index], expected)


def test_positions_may_be_given_once_or_for_each_sequence() -> None:
    learned, tokens = layer(), np.random.default_rng(1).standard_normal((2, 3, 4))
    table = learned.position_embeddings
    np.testing.assert_array_equal(learned.forward(tokens, [5, 0, 5]), tokens + table[[5, 0, 5]])
    each = np.array([[0, 1, 2], [3, 3, 0]], np.uint8)
    np.testing.assert_array_equal(learned.forward(tokens, each), tokens + table[each])
    np.testing.assert_array_equal(learned.forward(tokens, range(3)), learned.forward(tokens))
    np.testing.assert_array_equal(learned.forward(np.zeros((1, 0, 4)), []), np.zeros((1, 0, 4)))


# What is refused


def test_positions_shape_error_names_both_allowed_shapes() -> None:
    message = r"^positions must be of shape \(3,\) or \(2, 3\), to match the tokens; got \(1, 3\)$"
    with pytest.raises(ValueError, match=message):
        layer().forward(np.zeros((2, 3, 4)), [[0, 1, 2]])


def test_sequences_longer_than_the_table_are_refused() -> None:
    message = r"^seq_len must be at most 6, the rows of this table; got 7$"
    with pytest.raises(ValueError, match=message):
        layer().get_embeddings(7)
    with pytest.raises(ValueError, match=message):
        layer().forward(np.zeros((1, 7, 4)))


def test_a_table_with_nan_is_refused() -> None:
    learned = layer()
    learned.position_embeddings[1, 1] = np.nan
    for use in (lambda: learned.get_embeddings(1), lambda: learned.forward(np.zeros((1, 1, 4)))):
        with pytest.raises(ValueError, match=r"^position_embeddings must be finite .*; got nan$"):
            use()


# Tables of another size


def interpolate(table: NDArray[np.float64], rows: int) -> NDArray[np.float64]:
    """Return each column interpolated linearly and sampled at even steps."""
    points = np.arange(len(table))
    read = np.linspace(0, len(table) - 1, rows)
    return np.stack([np.interp(read, points, column) for column in table.T], axis=1)


@quick
@given(old=sizes, new=sizes)
def test_a_resized_table_samples_the_old_one_at_even_steps(old: int, new: int) -> None:
    table = np.random.default_rng(old).standard_normal((old, 3))
    # np.interp takes slopes, which costs some roundings of numbers below 4.
    np.testing.assert_allclose(
        resize_table(table, new), interpolate(table, new), rtol=0, atol=1e-12
    )


@quick
@given(old=sizes, new=st.integers(2, 200))
def test_the_first_and_the_last_row_stay(old: int, new: int) -> None:
    table = np.random.default_rng(old).standard_normal((old, 3))
    resized = resize_table(table, new)
    assert resized.shape == (new, 3)
    np.testing.assert_array_equal(resized[[0, -1]], table[[0, -1]])


@quick
@given(size=sizes)
def test_the_same_size_is_the_same_table(size: int) -> None:
    table = np.random.default_rng(size).standard_normal((size, 3))
    resized = resize_table(table, size)
    np.testing.assert_array_equal(resized, table)
    resized[:] = 9
    assert (table != 9).all()


def test_resizing_to_one_row_keeps_the_first_and_from_one_row_repeats_it() -> None:
    np.testing.assert_array_equal(resize_table([[1.0, 2.0], [3.0, 4.0]], 1), [[1, 2]])
    np.testing.assert_array_equal(resize_table([[1.0, 2.0]], 3), [[1, 2]] * 3)


def test_resizing_by_a_factor_would_miss_sizes() -> None:
    """For many pairs of sizes, int(old · (new/old)) is one row short."""
    pairs = [(old, new) for old in range(1, 129) for new in range(1, 129)]
    missed = [(old, new) for old, new in pairs if int(old * (new / old)) != new]
    assert (49, 1) in missed
    assert len(missed) > 100
    for old, new in missed:
        assert len(resize_table(np.zeros((old, 1)), new)) == new
