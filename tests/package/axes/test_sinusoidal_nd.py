"""What `axes.sinusoidal_nd` promises, against loops and formulas worked out in 50 digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import DTypeLike

from posenc import grid_positions, shift_matrix, similarity, sinusoidal_encoding_nd

steps = st.floats(-1000, 1000)
quick = settings(database=None, deadline=None, derandomize=True, max_examples=40)


def part(position: float, width: int, order: str, base: float) -> list[float]:
    """Return one axis's part of a row, in 50 digits."""
    with mpmath.workdps(50):
        angles = [
            mpmath.mpf(position) / mpmath.power(base, mpmath.mpf(2 * pair) / width)
            for pair in range(width // 2)
        ]
        sines, cosines = map(mpmath.sin, angles), map(mpmath.cos, angles)
        if order == "halves":
            return [float(value) for value in (*sines, *cosines)]
        return [float(value) for pair in zip(sines, cosines, strict=True) for value in pair]


@pytest.mark.parametrize("sizes", [(1,), (4,), (2, 3), (3, 1), (2, 3, 4), (1, 1, 1, 2)])
def test_places_of_a_grid_are_counted_like_an_odometer(sizes: tuple[int, ...]) -> None:
    places = grid_positions(sizes)
    expected = [list(np.unravel_index(n, sizes)) for n in range(int(np.prod(sizes)))]
    assert places.tolist() == expected
    assert places.dtype == np.int64
    assert places.flags.c_contiguous
    assert places.flags.writeable


@pytest.mark.parametrize("sizes", [np.array([2, 3]), [np.int8(2), 3], range(2, 4)])
def test_sizes_may_be_any_sequence_of_integers(sizes: list[int]) -> None:
    np.testing.assert_array_equal(grid_positions(sizes), grid_positions((2, 3)))


@pytest.mark.parametrize("base", [10000.0, 100.0])
@pytest.mark.parametrize("order", ["interleaved", "halves"])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_every_part_of_a_row_is_the_encoding_of_its_coordinate(
    axes: int, order: str, base: float
) -> None:
    points = np.linspace(-3, 40, 4 * axes).reshape(4, axes)
    rows = sinusoidal_encoding_nd(points, 8 * axes, order=order, base=base)
    exact = [[n for p in point for n in part(p, 8, order, base)] for point in points]
    np.testing.assert_allclose(rows, exact, rtol=0, atol=4e-16 * 41)


@quick
@given(row=steps, column=steps, down=steps, right=steps)
def test_a_move_in_the_plane_is_one_matrix_for_each_axis(
    row: float, column: float, down: float, right: float
) -> None:
    here, there = sinusoidal_encoding_nd([[row, column], [row + down, column + right]], 16)
    np.testing.assert_allclose(shift_matrix(down, 8) @ here[:8], there[:8], rtol=0, atol=1e-11)
    np.testing.assert_allclose(shift_matrix(right, 8) @ here[8:], there[8:], rtol=0, atol=1e-11)


@quick
@given(row=steps, column=steps, down=steps, right=steps)
def test_the_similarity_of_two_places_is_the_mean_over_the_axes(
    row: float, column: float, down: float, right: float
) -> None:
    rows = sinusoidal_encoding_nd([[row, column], [row + down, column + right]], 16)
    expected = (similarity(down, 8) + similarity(right, 8)) / 2
    assert rows[0] @ rows[1] / 8 == pytest.approx(float(expected), abs=1e-11)


def test_columns_first_is_the_other_half_of_the_row() -> None:
    points = grid_positions((3, 4))
    rows = sinusoidal_encoding_nd(points, 16)
    exchanged = sinusoidal_encoding_nd(points[:, ::-1], 16)
    np.testing.assert_array_equal(exchanged, np.roll(rows, 8, axis=1))
    assert not np.array_equal(exchanged, rows)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_the_result_is_rounded_once(dtype: DTypeLike) -> None:
    points = grid_positions((5, 300))
    rows = sinusoidal_encoding_nd(points, 8, order="halves", dtype=dtype)
    assert rows.dtype == dtype
    exact = sinusoidal_encoding_nd(points, 8, order="halves")
    np.testing.assert_array_equal(rows, exact.astype(dtype))


@pytest.mark.parametrize("shape", [(2,), (5, 2), (2, 3, 2), (0, 2)])
def test_rows_take_the_shape_of_the_points(shape: tuple[int, ...]) -> None:
    rows = sinusoidal_encoding_nd(np.ones(shape), 8)
    assert rows.shape == (*shape[:-1], 8)
