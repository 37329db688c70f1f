"""What `axes.features` promises, against the papers' formulas worked out in 50 digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posenc import (
    fourier_features,
    gaussian_frequencies,
    nerf_encoding,
    sinusoidal_encoding,
    timestep_embedding,
)

units = st.floats(-1, 1)
quick = settings(database=None, deadline=None, derandomize=True, max_examples=40)


# Fourier features


@pytest.mark.parametrize("first", ["cosine", "sine"])
def test_features_are_the_papers_formula(first: str) -> None:
    omega = gaussian_frequencies(5, 3, deviation=4.0, seed=0)
    points = np.random.default_rng(1).uniform(-2, 2, (4, 3))
    with mpmath.workdps(50):
        angles = [
            [2 * mpmath.pi * mpmath.fsum(map(mpmath.mpf, v * b)) for b in omega.T] for v in points
        ]
        ways = (mpmath.cos, mpmath.sin) if first == "cosine" else (mpmath.sin, mpmath.cos)
        expected = [[float(of(angle)) for of in ways for angle in row] for row in angles]
    found = fourier_features(points, omega, first=first)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)
    if first == "cosine":  # as the paper has them, unless told
        np.testing.assert_array_equal(fourier_features(points, omega), found)


@quick
@given(x=units, y=units, right=units, up=units)
def test_the_kernel_of_features_depends_on_the_difference_alone(
    x: float, y: float, right: float, up: float
) -> None:
    omega = gaussian_frequencies(64, 2, deviation=3.0, seed=0)
    points = np.array([[x, y], [x + right, y + up], [0.0, 0.0], [right, up]])
    here, there, origin, moved = fourier_features(points, omega)
    assert here @ there == pytest.approx(origin @ moved, abs=1e-11)
    assert here @ here == pytest.approx(64, abs=1e-11)


@pytest.mark.parametrize("deviation", [0.5, 2.0])
def test_random_features_approach_the_gaussian_kernel(deviation: float) -> None:
    features = 40_000
    omega = gaussian_frequencies(features, 2, deviation=deviation, seed=3)
    away = np.linspace(0, 1, 21)
    points = np.stack([0.6 * away, 0.8 * away], axis=1)
    rows = fourier_features(points, omega)
    bell = np.exp(-2 * np.pi**2 * deviation**2 * away**2)
    # A mean of so many cosines: five times its standard error.
    np.testing.assert_allclose(rows @ rows[0] / features, bell, rtol=0, atol=5 / features**0.5)


def test_random_frequencies_have_their_deviation_and_their_seed() -> None:
    omega = gaussian_frequencies(50_000, 1, deviation=7.0, seed=0)
    assert omega.std() == pytest.approx(7, rel=0.02)
    np.testing.assert_array_equal(omega, gaussian_frequencies(50_000, 1, deviation=7.0, seed=0))
    again = gaussian_frequencies(3, 2, deviation=1.0), gaussian_frequencies(3, 2, deviation=1.0)
    assert not np.array_equal(*again)


@pytest.mark.parametrize("shape", [(2,), (0, 2), (3, 4, 2)])
def test_features_take_the_shape_of_the_points(shape: tuple[int, ...]) -> None:
    assert fourier_features(np.ones(shape), np.ones((2, 5))).shape == (*shape[:-1], 10)
    assert nerf_encoding(np.ones(shape), 5).shape == (*shape[:-1], 20)


# NeRF


@pytest.mark.parametrize("unit", [np.pi, 1.0])
def test_nerfs_encoding_is_equation_4_for_each_coordinate(unit: float) -> None:
    points = np.random.default_rng(2).uniform(-1, 1, (4, 3))
    expected = []
    with mpmath.workdps(50):
        u = mpmath.mpf(unit)
        for point in points:
            row: list[float] = []
            for p in point:
                for band in range(10):
                    angle = mpmath.mpf(2) ** band * u * mpmath.mpf(p)
                    row += [float(mpmath.sin(angle)), float(mpmath.cos(angle))]
            expected.append(row)
    found = nerf_encoding(points, 10, unit=unit)
    np.testing.assert_allclose(found, expected, rtol=0, atol=4e-13)


def test_by_bands_the_same_numbers_come_in_the_order_of_the_code() -> None:
    point = np.array([0.1, -0.7, 0.4])
    expected = np.concatenate(
        [of(2.0**band * point) for band in range(4) for of in (np.sin, np.cos)]
    )
    found = nerf_encoding(point, 4, unit=1.0, grouped="bands")
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)
    other = nerf_encoding(point, 4, unit=1.0)
    np.testing.assert_array_equal(np.sort(found), np.sort(other))
    assert not np.array_equal(found, other)


def test_with_pi_two_units_apart_are_the_same_point_and_without_they_are_not() -> None:
    ends = np.array([[-1.0], [1.0]])
    same, other = nerf_encoding(ends, 6), nerf_encoding(ends, 6, unit=1.0)
    np.testing.assert_allclose(same[0], same[1], rtol=0, atol=1e-13)
    assert np.abs(other[0] - other[1]).max() > 1


def test_fifty_bands_are_the_most_and_the_last_of_them_is_exact() -> None:
    point = 0.7
    row = nerf_encoding([point], 50)
    with mpmath.workdps(50):
        angle = mpmath.mpf(2) ** 49 * mpmath.mpf(np.pi) * mpmath.mpf(point)
        expected = [float(of(mpmath.mpf(float(angle)))) for of in (mpmath.sin, mpmath.cos)]
    np.testing.assert_allclose(row[-2:], expected, rtol=0, atol=1e-14)


# Timesteps


@pytest.mark.parametrize("first", ["sine", "cosine"])
@pytest.mark.parametrize("shift", [0, 1, 0.5])
@pytest.mark.parametrize("base", [10000.0, 100.0])
def test_timesteps_are_sines_and_cosines_of_their_frequencies(
    first: str, shift: float, base: float
) -> None:
    steps, half = [0, 1, 7.5, 999], 4
    expected = []
    with mpmath.workdps(50):
        for step in steps:
            angles = [
                mpmath.mpf(step) * mpmath.power(base, mpmath.mpf(-i) / (half - mpmath.mpf(shift)))
                for i in range(half)
            ]
            ways = (mpmath.sin, mpmath.cos) if first == "sine" else (mpmath.cos, mpmath.sin)
            expected.append([float(of(angle)) for of in ways for angle in angles])
    found = timestep_embedding(steps, 2 * half, first=first, shift=shift, base=base)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_without_a_shift_it_is_the_papers_encoding_in_two_halves() -> None:
    steps = np.arange(1000.0)
    rows = sinusoidal_encoding(steps, 16)
    expected = np.concatenate([rows[:, 0::2], rows[:, 1::2]], axis=1)
    np.testing.assert_array_equal(timestep_embedding(steps, 16), expected)


def test_a_shift_of_one_ends_at_one_over_the_base() -> None:
    for half in (2, 64, 160):
        rows = timestep_embedding(1.0, 2 * half, shift=1)
        assert rows[half - 1] == pytest.approx(np.sin(1e-4), rel=1e-12)
        assert timestep_embedding(1.0, 2 * half)[half - 1] > 1.05 * np.sin(1e-4)


def test_one_pair_has_no_room_for_a_shift() -> None:
    assert timestep_embedding(1.0, 2).shape == (2,)
    with pytest.raises(ValueError, match=r"shift must be from 0 to below 1, half of d_model"):
        timestep_embedding(1.0, 2, shift=1)
