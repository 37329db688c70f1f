"""What `axes.resize` promises, against the formula of each weight worked out in 50 digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from posenc import resize_grid, resize_weights

Array = NDArray[np.float64]
sizes = st.integers(1, 20)
kernels = st.sampled_from(["linear", "cubic"])
flags = st.booleans()
quick = settings(database=None, deadline=None, derandomize=True, max_examples=80)


def keys(x: mpmath.mpf, a: mpmath.mpf) -> mpmath.mpf:
    """Return equation 15 of Keys, with a in place of −1/2."""
    x = abs(x)
    if x <= 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else mpmath.mpf(0)


def exact(n: int, m: int, kernel: str, *, corners: bool, antialias: bool) -> list[list[float]]:
    """Return the weights of every new place, summed over all old ones and those beyond the ends."""
    found = []
    with mpmath.workdps(50):
        for r in range(m):
            step = mpmath.mpf(n) / m
            place = (r + mpmath.mpf(1) / 2) * step - mpmath.mpf(1) / 2
            if corners:
                place = mpmath.mpf(r * (n - 1)) / max(m - 1, 1)
            wide = max(step, mpmath.mpf(1)) if antialias else mpmath.mpf(1)
            a = mpmath.mpf(-1) / 2 if antialias else mpmath.mpf(-3) / 4
            row = [mpmath.mpf(0)] * n
            for old in range(-3 * n - 4, 4 * n + 4):
                away = (place - old) / wide
                weight = max(1 - abs(away), 0) if kernel == "linear" else keys(away, a)
                if 0 <= old < n or not antialias:
                    row[min(max(old, 0), n - 1)] += weight
            total = mpmath.fsum(row)
            found.append([float(weight / total) for weight in row])
    return found


@quick
@given(n=sizes, m=sizes, kernel=kernels, corners=flags, antialias=flags)
def test_weights_are_those_of_the_kernel_at_every_place(
    n: int, m: int, kernel: str, corners: bool, antialias: bool
) -> None:
    antialias = antialias and not corners
    weights = resize_weights(n, m, kernel=kernel, corners=corners, antialias=antialias)
    expected = exact(n, m, kernel, corners=corners, antialias=antialias)
    np.testing.assert_allclose(weights, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=0, atol=1e-14)


@quick
@given(n=sizes, m=sizes, kernel=kernels, corners=flags, antialias=flags)
def test_a_mirrored_axis_is_resized_alike(
    n: int, m: int, kernel: str, corners: bool, antialias: bool
) -> None:
    antialias = antialias and not corners
    if corners and m == 1 and n > 1:
        return  # the one new place is the first, and not the middle
    weights = resize_weights(n, m, kernel=kernel, corners=corners, antialias=antialias)
    np.testing.assert_allclose(weights[::-1, ::-1], weights, rtol=0, atol=1e-12)


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("kernel", ["linear", "cubic"])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_the_same_size_changes_nothing(n: int, kernel: str, antialias: bool) -> None:
    weights = resize_weights(n, n, kernel=kernel, antialias=antialias)
    np.testing.assert_array_equal(weights, np.eye(n))
    if not antialias:
        np.testing.assert_array_equal(resize_weights(n, n, kernel=kernel, corners=True), np.eye(n))


@pytest.mark.parametrize("kernel", ["linear", "cubic"])
@pytest.mark.parametrize(("n", "m"), [(4, 9), (9, 4), (2, 2), (5, 2)])
def test_corners_stay_only_where_they_are_aligned(n: int, m: int, kernel: str) -> None:
    aligned = resize_weights(n, m, kernel=kernel, corners=True)
    np.testing.assert_allclose(aligned[[0, -1]], np.eye(n)[[0, -1]], rtol=0, atol=1e-15)
    if n != m:
        middles = resize_weights(n, m, kernel=kernel)
        assert (middles[0] != aligned[0]).any() or kernel == "linear"


@pytest.mark.parametrize("kernel", ["linear", "cubic"])
@pytest.mark.parametrize("antialias", [False, True])
def test_a_straight_line_stays_straight_away_from_the_ends(kernel: str, antialias: bool) -> None:
    # Keys' kernel does so for a = −1/2 alone; with −3/4 a line comes out with a ripple.
    line = np.arange(12.0)
    weights = resize_weights(12, 24, kernel=kernel, antialias=antialias)
    places = (np.arange(24) + 0.5) / 2 - 0.5
    ripple = np.abs(weights @ line - places)[6:-6].max()
    if kernel == "cubic" and not antialias:
        assert 0.02 < ripple < 0.1
    else:
        assert ripple < 1e-13


def test_without_antialiasing_a_smaller_grid_skips_places() -> None:
    skipping = resize_weights(16, 4, kernel="linear")
    widened = resize_weights(16, 4, kernel="linear", antialias=True)
    assert (skipping != 0).any(axis=0).sum() == 8
    assert (widened != 0).any(axis=0).all()


def test_another_scale_moves_every_place_by_more_the_further_it_is() -> None:
    n, m = 37, 16
    line = np.arange(n, dtype=float)
    usual = resize_weights(n, m, kernel="linear") @ line
    moved = resize_weights(n, m, kernel="linear", scale=(m + 0.1) / n) @ line
    r = np.arange(m)
    expected = (r + 0.5) * n * (1 / m - 1 / (m + 0.1))
    np.testing.assert_allclose(usual - moved, expected, rtol=0, atol=1e-12)
    same = resize_weights(n, m, kernel="linear", scale=m / n)
    np.testing.assert_allclose(same, resize_weights(n, m, kernel="linear"), atol=1e-14)


# Grids


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("kernel", ["linear", "cubic"])
def test_a_grid_is_resized_by_a_matrix_for_each_axis(kernel: str, antialias: bool) -> None:
    grid = np.random.default_rng(1).standard_normal((4, 6, 3))
    down = resize_weights(4, 7, kernel=kernel, antialias=antialias)
    across = resize_weights(6, 5, kernel=kernel, antialias=antialias)
    expected = np.einsum("rh,cw,hwd->rcd", down, across, grid)
    found = resize_grid(grid, (7, 5), kernel=kernel, antialias=antialias)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)
    assert found.flags.c_contiguous


def test_one_and_three_axes_are_resized_like_two() -> None:
    grid = np.random.default_rng(2).standard_normal((3, 4, 5, 2))
    video = resize_grid(grid, (6, 4, 5))
    for row in range(4):
        for column in range(5):
            line = resize_grid(grid[:, row, column], (6,))
            np.testing.assert_allclose(video[:, row, column], line, atol=1e-14)


def test_each_axis_may_have_its_own_scale() -> None:
    grid = np.random.default_rng(3).standard_normal((4, 6, 3))
    found = resize_grid(grid, (7, 5), scales=(1.8, 0.9))
    down, across = resize_weights(4, 7, scale=1.8), resize_weights(6, 5, scale=0.9)
    np.testing.assert_allclose(found, np.einsum("rh,cw,hwd->rcd", down, across, grid), atol=1e-14)


def test_a_grid_of_the_same_size_is_a_copy() -> None:
    grid = np.random.default_rng(5).standard_normal((4, 4, 3))
    found = resize_grid(grid, (4, 4))
    np.testing.assert_array_equal(found, grid)
    assert not np.shares_memory(found, grid)


@pytest.mark.parametrize("other", ["antialias", "scale"])
def test_corners_exclude_what_contradicts_them(other: str) -> None:
    more = {"antialias": True} if other == "antialias" else {"scale": 2.0}
    with pytest.raises(ValueError, match=f"corners must be False where {other} is given; got True"):
        resize_weights(2, 4, corners=True, **more)


@pytest.mark.parametrize("kernel", ["cubic", "linear"])
def test_a_widened_kernel_that_reaches_no_old_place_is_refused(kernel: str) -> None:
    for scale in (0.1, 0.5):
        with pytest.raises(ValueError, match=f"scale must be large enough .*; got {scale}"):
            resize_weights(4, 4, kernel=kernel, scale=scale, antialias=True)
        assert resize_weights(4, 4, kernel=kernel, scale=scale)[-1].tolist() == [0, 0, 0, 1]
    assert np.isfinite(resize_weights(4, 4, kernel=kernel, scale=0.8, antialias=True)).all()


@pytest.mark.parametrize("larger", [16, 17, 24, 32])
def test_antialiasing_changes_a_larger_grid_with_the_cubic_kernel_alone(larger: int) -> None:
    for kernel in ("linear", "cubic"):
        plain = resize_weights(16, larger, kernel=kernel)
        other = resize_weights(16, larger, kernel=kernel, antialias=True)
        changed = kernel == "cubic" and larger > 16
        assert (np.abs(plain - other).max() > 0.01) == changed


@pytest.mark.parametrize("kernel", ["linear", "cubic"])
def test_antialiasing_matters_more_the_smaller_a_grid_gets(kernel: str) -> None:
    sizes = [14, 12, 8, 7, 4]
    grid = np.random.default_rng(0).standard_normal((16, 16, 64))
    found = []
    for m in sizes:
        right = resize_grid(grid, (m, m), kernel=kernel, antialias=True)
        wrong = resize_grid(grid, (m, m), kernel=kernel)
        found.append(np.linalg.norm(wrong - right) / np.linalg.norm(right))
    assert found == sorted(found)
    assert found[0] > 0.1
