"""What `embeddings.sinusoidal` promises, against section 3.5 of the paper worked out in 50 digits.

The expected rows come from `paper_rows`, written from the paper's two formulas with mpmath and
sharing no line with the package.
"""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, DTypeLike, NDArray

from posenc import PositionalEncoding, shift_matrix, similarity, sinusoidal_encoding
from scripts.book.citations import fact

Array = NDArray[np.float64]

# Small and large, whole and fractional, on both sides of 0.
POSITIONS = (0.0, 1.0, 2.0, 3.0, 17.0, 511.0, 4095.0, 65_536.0, -1.0, -710.0, 0.25, -12_345.678)
WIDTHS = (2, 4, 6, 8, 64, 100, 512)

# Sums and dot products of a few hundred numbers below 1: some rounding errors of 2**-53 each.
SUMMED = 1e-12

steps = st.floats(-10_000, 10_000)
even_widths = st.integers(1, 32).map(lambda half: 2 * half)
bases = st.floats(0.1, 6).map(lambda exponent: 10.0**exponent)
quick = settings(database=None, deadline=None, derandomize=True, max_examples=40)


def paper_row(position: float, width: int, base: float) -> list[float]:
    """Return PE(pos, 2i) = sin(pos / base^(2i/d)), PE(pos, 2i+1) = cos(…), rounded at the end."""
    row: list[float] = []
    with mpmath.workdps(50):
        for pair in range(width // 2):
            angle = mpmath.mpf(position) / mpmath.power(base, mpmath.mpf(2 * pair) / width)
            row += [float(mpmath.sin(angle)), float(mpmath.cos(angle))]
    return row


def paper_rows(positions: ArrayLike, width: int, base: float = 10000.0) -> Array:
    """Return the rows of a list of positions."""
    return np.array([paper_row(float(p), width, base) for p in np.ravel(positions)])


def promised_error(positions: ArrayLike) -> Array:
    """Return the bound that the docstring states, one for each row."""
    sizes: Array = np.abs(np.ravel(positions))[:, np.newaxis]
    return 4e-16 * (1 + sizes)


def assert_rows_within_the_promised_error(
    positions: ArrayLike, width: int, base: float = 10000.0
) -> None:
    """Compare every entry of every row with the exact one."""
    rows = sinusoidal_encoding(np.asarray(positions), width, base=base)
    error = np.abs(rows - paper_rows(positions, width, base))
    assert (error <= promised_error(positions)).all()


def cosine(a: Array, b: Array) -> float:
    """Return the cosine of the angle between two rows, the long way."""
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


# The rows


def test_four_positions_eight_dimensions() -> None:
    worked = [
        [0.000, 1.000, 0.000, 1.000, 0.000, 1.000, 0.000, 1.000],
        [0.841, 0.540, 0.100, 0.995, 0.010, 1.000, 0.001, 1.000],
        [0.909, -0.416, 0.199, 0.980, 0.020, 1.000, 0.002, 1.000],
        [0.141, -0.990, 0.296, 0.955, 0.030, 1.000, 0.003, 1.000],
    ]
    np.testing.assert_array_equal(sinusoidal_encoding(4, 8).round(3), worked)
    np.testing.assert_array_equal(paper_rows(range(4), 8).round(3), worked)
    assert_rows_within_the_promised_error(range(4), 8)


@pytest.mark.parametrize("base", [10000.0, 500000.0, 1.5])
@pytest.mark.parametrize("width", WIDTHS)
def test_every_row_is_the_papers_formula(width: int, base: float) -> None:
    assert_rows_within_the_promised_error(POSITIONS, width, base)


@quick
@given(position=st.floats(-1e6, 1e6), width=even_widths, base=bases)
def test_any_real_position_is_the_papers_formula(position: float, width: int, base: float) -> None:
    assert_rows_within_the_promised_error([position], width, base)


@pytest.mark.parametrize("count", [0, 5, np.int64(5)])
def test_a_count_means_the_positions_from_zero(count: int) -> None:
    rows = sinusoidal_encoding(count, 8)
    np.testing.assert_array_equal(rows, sinusoidal_encoding(range(count), 8))


def test_one_position_gives_one_row() -> None:
    for seven in (np.array(7), 7.0, np.float32(7)):
        row = sinusoidal_encoding(seven, 8)
        np.testing.assert_array_equal(row, sinusoidal_encoding(8, 8)[7])


@pytest.mark.parametrize("shape", [(), (6,), (2, 0, 3), (3, 1, 2)])
def test_rows_take_the_shape_of_the_positions(shape: tuple[int, ...]) -> None:
    positions = np.linspace(-3, 3, math.prod(shape)).reshape(shape)
    rows = sinusoidal_encoding(positions, 8)
    assert rows.shape == (*shape, 8)
    flat = sinusoidal_encoding(positions.ravel(), 8)
    np.testing.assert_array_equal(rows.reshape(-1, 8), flat)


@pytest.mark.parametrize("kind", ["i1", "u1", "i4", "u8", "f2", "f4", ">f4", ">i8"])
def test_positions_may_be_of_any_integer_or_real_type(kind: str) -> None:
    positions = np.array([0, 1, 100], kind)
    np.testing.assert_array_equal(
        sinusoidal_encoding(positions, 8), sinusoidal_encoding([0, 1, 100], 8)
    )


def test_every_entry_lies_between_minus_one_and_one() -> None:
    rows = sinusoidal_encoding(np.linspace(-1e6, 1e6, 2001), 64)
    assert np.abs(rows).max() <= 1


@pytest.mark.parametrize("dtype", ["float32", "float16", "d", np.dtype("f2"), float])
def test_other_dtypes_are_the_float64_result_cast(dtype: DTypeLike) -> None:
    positions = np.array([1_000_000, *POSITIONS[:6]], np.float32)
    rows, exact = (
        sinusoidal_encoding(positions, 64, dtype=dtype),
        sinusoidal_encoding(positions, 64),
    )
    assert rows.dtype == np.dtype(dtype)
    assert exact.dtype == np.float64
    np.testing.assert_array_equal(rows, exact.astype(dtype))


# What follows from the formula


@pytest.mark.parametrize("width", WIDTHS)
def test_every_row_has_the_same_length(width: int) -> None:
    lengths = np.linalg.norm(sinusoidal_encoding(np.array(POSITIONS), width), axis=-1)
    np.testing.assert_allclose(lengths, math.sqrt(width / 2), rtol=1e-14)


def test_pair_zero_nearly_returns_at_position_710() -> None:
    """710 is 113 turns and 0.00006 radians: no other return below 100 000 is as close."""
    rows = sinusoidal_encoding(100_000, 2)
    gaps = np.linalg.norm(rows[1:] - rows[0], axis=1)
    assert 1 + gaps.argmin() == 710
    assert gaps[709] == pytest.approx(6.02887e-5, abs=5e-11)
    # One more pair is enough to tell the two positions apart by far.
    zero, far = sinusoidal_encoding([0, 710], 8)
    assert np.linalg.norm(far - zero) == pytest.approx(1.93190, abs=5e-6)


@pytest.mark.parametrize("width", [2, 4, 8, 64])
def test_no_two_of_the_first_ten_thousand_rows_are_equal(width: int) -> None:
    rows = sinusoidal_encoding(10_000, width, dtype=np.float32)
    assert len(np.unique(rows, axis=0)) == 10_000


def test_the_same_token_differs_between_positions() -> None:
    zero, _, two = sinusoidal_encoding(3, 8)
    assert np.linalg.norm(two - zero) == pytest.approx(1.694864, abs=5e-7)


def test_last_pair_of_width_512_hardly_moves_in_twenty_positions() -> None:
    sine, cosine_ = sinusoidal_encoding(20, 512)[19, -2:]
    assert sine == pytest.approx(0.00196960, abs=5e-9)
    assert cosine_ == pytest.approx(0.99999806, abs=5e-9)


def test_dimension_126_of_128_rises_from_zero() -> None:
    rows = sinusoidal_encoding([0, 400], 128)
    assert rows[:, 126] == pytest.approx([0, 0.046175], abs=5e-7)
    assert rows[:, 127] == pytest.approx([1, 0.998933], abs=5e-7)


# The shift matrix


@pytest.mark.parametrize("offset", [1, 3, -2, 100, 0.5, -7.25])
@pytest.mark.parametrize("width", [2, 8, 128])
def test_shift_matrix_moves_every_row(offset: float, width: int) -> None:
    positions = np.array([0, 1, 5, 600, -40, 2.5])
    moved = sinusoidal_encoding(positions, width) @ shift_matrix(offset, width).T
    np.testing.assert_allclose(
        moved, sinusoidal_encoding(positions + offset, width), rtol=0, atol=SUMMED
    )


def test_shift_matrix_is_the_papers_rotation() -> None:
    """For each pair, [[cos, sin], [−sin, cos]] of offset·ω_i, and zeros elsewhere."""
    expected = np.zeros((8, 8))
    for pair, (sine, cosine_) in enumerate(paper_rows([3], 8).reshape(4, 2)):
        block = slice(2 * pair, 2 * pair + 2)
        expected[block, block] = [[cosine_, sine], [-sine, cosine_]]
    matrix = shift_matrix(3, 8)
    np.testing.assert_allclose(matrix, expected, rtol=0, atol=4e-16 * 4)
    assert matrix.dtype == np.float64
    assert np.count_nonzero(matrix) == 16


@quick
@given(offset=steps, width=even_widths, base=bases)
def test_shift_matrix_is_a_rotation(offset: float, width: int, base: float) -> None:
    matrix = shift_matrix(offset, width, base=base)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(width), rtol=0, atol=SUMMED)
    assert np.linalg.det(matrix) == pytest.approx(1, abs=SUMMED)


@quick
@given(first=steps, second=steps, position=steps, width=even_widths, base=bases)
def test_shifts_add_up(
    first: float, second: float, position: float, width: int, base: float
) -> None:
    one, other = (shift_matrix(step, width, base=base) for step in (first, second))
    both = shift_matrix(first + second, width, base=base)
    # Angles up to 30 000 carry 4e-16 of it each.
    np.testing.assert_allclose(one @ other, both, rtol=0, atol=3e-11)
    row, moved = sinusoidal_encoding([position, position + first], width, base=base)
    np.testing.assert_allclose(one @ row, moved, rtol=0, atol=3e-11)


def test_shift_by_zero_is_the_identity_and_by_minus_k_the_transpose() -> None:
    np.testing.assert_array_equal(shift_matrix(0, 8), np.eye(8))
    np.testing.assert_array_equal(shift_matrix(-3, 8), shift_matrix(3, 8).T)


def test_shift_takes_a_number_of_any_kind_and_returns_a_new_matrix() -> None:
    matrix = shift_matrix(3, 8)
    for three in (3.0, np.int8(3), np.float32(3), np.array(3)):
        np.testing.assert_array_equal(shift_matrix(three, 8), matrix)  # type: ignore[arg-type]
    matrix[:] = 0
    assert shift_matrix(3, 8).any()


# Similarity


@pytest.mark.parametrize("width", [2, 8, 128, 512])
def test_similarity_depends_on_distance_only(width: int) -> None:
    rows = sinusoidal_encoding(40, width)
    for lag in (0, 1, 7, 30):
        found = [cosine(rows[p], rows[p + lag]) for p in range(40 - lag)]
        np.testing.assert_allclose(found, similarity(lag, width), rtol=0, atol=SUMMED)


@quick
@given(position=steps, lag=steps, width=even_widths, base=bases)
def test_similarity_is_the_cosine_of_any_two_rows(
    position: float, lag: float, width: int, base: float
) -> None:
    rows = sinusoidal_encoding([position, position + lag], width, base=base)
    found = float(similarity(lag, width, base=base))
    assert cosine(*rows) == pytest.approx(found, abs=3e-11)  # angles up to 20 000
    assert -1 <= found <= 1
    assert found == similarity(-lag, width, base=base)


def test_dot_product_depends_on_distance_not_direction() -> None:
    rows = sinusoidal_encoding(100, 64)
    for lag in (1, 7, 43):
        ahead, behind = rows[50] @ rows[50 + lag], rows[50] @ rows[50 - lag]
        assert ahead == pytest.approx(behind, abs=SUMMED)
        assert ahead == pytest.approx(32 * similarity(lag, 64), abs=SUMMED)


def test_similarity_keeps_the_shape_of_the_lags() -> None:
    lags = np.arange(6.0).reshape(3, 1, 2)
    found = similarity(lags, 8)
    assert found.shape == (3, 1, 2)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found.ravel(), [float(similarity(k, 8)) for k in range(6)])
    assert np.shape(similarity(3, 8)) == ()
    assert np.shape(similarity(np.array(3), 8)) == ()
    assert np.shape(similarity([], 8)) == (0,)


def test_similarity_is_not_monotone() -> None:
    """Similarity does not always fall with distance: the first k with s(k+1) > s(k), by width."""
    assert similarity(6, 8) > similarity(1, 8)
    for width, turn in {8: 3, 64: 5, 128: 11, 512: 43, 1024: 68}.items():
        rises = np.diff(similarity(range(100), width)) > 0
        assert rises.argmax() == turn


PRINTED = np.array(fact("printed-similarity"))


def test_printed_similarity_matrix_is_impossible() -> None:
    """A much-copied first row of similarities fits no even width up to 4096, nor any other.

    Pairs with ω ≤ 0.1 turn by 0.7 radians or less in seven positions, so their cosine is at
    least cos 0.7, and from two pairs on they are at least half of all pairs. So at every width
    of 4 or more s(7) ≥ (cos 0.7 − 1)/2 = −0.118, where −0.73 is printed. Width 2 has s(1) = 0.54.
    """
    found = np.array([similarity(range(8), width) for width in range(2, 4097, 2)])
    assert np.abs(found - PRINTED).max(axis=1).min() > 1.4
    assert found[1:, 7].min() >= (math.cos(0.7) - 1) / 2 > PRINTED[7]
    assert found[1:].min() == found[1, 3] > 0  # width 4, distance 3: from there on none is negative
    assert found[0, 1] == pytest.approx(0.5403, abs=5e-5)


def test_printed_similarities_fit_no_base_above_one() -> None:
    """No base above 1 gives the printed row either, at any width: two of its numbers rule it out.

    There every ω lies in (0, 1], and on that interval cos 7ω + 5 cos ω is above 3.45. The mean
    over the pairs is s(7) + 5·s(1), which the printed row puts at 3.07, or 3.10 at the most if
    both were rounded. (Below base 1 pairs turn by more than a radian, and this does not hold.)
    """
    omega = np.linspace(0, 1, 100_001)
    between = 12 * (omega[1] / 2)  # the slope is below 7 + 5, and a grid point is half a step away
    assert (np.cos(7 * omega) + 5 * np.cos(omega)).min() - between > 3.45
    assert PRINTED[7] + 5 * PRINTED[1] + 6 * 0.005 < 3.11
    for base in (1.5, 3.8, 100.0, 10000.0, 500000.0):
        for width in (2, 4, 8, 24, 512):
            one, seven = (similarity(lag, width, base=base) for lag in (1, 7))
            assert seven + 5 * one > 3.45


# The table


def test_table_has_the_first_rows_and_its_results_are_new() -> None:
    table, other = PositionalEncoding(4, 8), PositionalEncoding(4, 8, base=100.0)
    assert (table.max_sequence_length, table.embedding_dimension) == (4, 8)
    np.testing.assert_array_equal(table.encoding_table, sinusoidal_encoding(4, 8))
    np.testing.assert_array_equal(other.encoding_table, sinusoidal_encoding(4, 8, base=100.0))
    for length in range(5):
        rows = table.get_encoding(length)
        np.testing.assert_array_equal(rows, sinusoidal_encoding(length, 8))
        rows[:] = 9  # changes neither the table nor the next result


def test_table_refuses_one_row_more_than_it_has() -> None:
    refusal = "sequence_length must be at most 4, the rows of this table; got 5"
    with pytest.raises(ValueError, match=f"^{refusal}$"):
        PositionalEncoding(4, 8).get_encoding(5)


def test_table_itself_cannot_be_written_into() -> None:
    table = PositionalEncoding(4, 8)
    with pytest.raises(ValueError, match="read-only"):
        table.encoding_table[0, 0] = 9
    with pytest.raises(ValueError, match="WRITEABLE"):
        table.encoding_table.flags.writeable = True


# Why a model needs any of this


def attention(tokens: Array, *, causal: bool = False) -> Array:
    """Return one head of self-attention over the rows of `tokens`, with fixed random weights."""
    width = tokens.shape[-1]
    query, key, value = np.random.default_rng(0).normal(size=(3, width, width)) / math.sqrt(width)
    scores = (tokens @ query) @ (tokens @ key).T / math.sqrt(width)
    if causal:
        scores = np.where(np.tri(len(tokens), dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.asarray(weights @ (tokens @ value))


def test_attention_without_positions_is_equivariant() -> None:
    """Reordered words give the same vectors, reordered; a mask or positions break the tie."""
    words = np.random.default_rng(1).normal(size=(3, 8))  # dog bites man
    order = [2, 1, 0]  # man bites dog
    said, turned = attention(words), attention(words[order])
    np.testing.assert_allclose(turned, said[order], rtol=0, atol=SUMMED)
    np.testing.assert_allclose(turned.mean(axis=0), said.mean(axis=0), rtol=0, atol=SUMMED)
    assert np.abs(turned - said).max() > 0.1  # each word keeps a vector of its own

    masked = attention(words[order], causal=True) - attention(words, causal=True)[order]
    assert np.abs(masked).max() > 0.1
    placed = sinusoidal_encoding(3, 8)
    moved = attention(words[order] + placed) - attention(words + placed)[order]
    assert np.abs(moved).max() > 0.1
