"""What `scores.sandwich` promises, against inner products of rows and against 50 digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from posenc import relative_positions, sandwich_bias, similarity, sinusoidal_encoding


@pytest.mark.parametrize("heads", [1, 8, 12])
@pytest.mark.parametrize("width", [2, 16, 128])
def test_the_bias_is_the_inner_product_of_sinusoidal_rows(heads: int, width: int) -> None:
    rows = sinusoidal_encoding(60, width)
    bias = sandwich_bias(heads, relative_positions(60, 60), width=width)
    assert bias.shape == (heads, 60, 60)
    assert bias.dtype == np.float64
    for head in range(heads):
        ratio = 8 * (head + 1) / heads
        np.testing.assert_allclose(bias[head], rows @ rows.T / ratio, atol=1e-12)


def test_every_product_of_sinusoids_is_exact_in_50_digits() -> None:
    relative = [[-100_000, -513, -1, 0, 2]]
    bias = sandwich_bias(3, relative, width=6, base=500.0)
    with mpmath.workdps(50):
        for head in range(3):
            for key, apart in enumerate(relative[0]):
                cosines = [
                    mpmath.cos(apart * mpmath.mpf(500) ** (-mpmath.mpf(i) / 3)) for i in range(3)
                ]
                exact = sum(cosines) / (mpmath.mpf(8 * (head + 1)) / 3)
                assert bias[head, 0, key] == pytest.approx(float(exact), abs=1e-10)


def test_it_is_the_similarity_times_half_the_width() -> None:
    relative = relative_positions(1, 300, query_offset=299)
    expected = 64 * similarity(relative, 128)
    np.testing.assert_allclose(sandwich_bias(1, relative)[0], expected / 8, rtol=1e-13)


def test_far_from_the_query_it_ripples_and_does_not_fall_everywhere() -> None:
    row = sandwich_bias(1, relative_positions(1, 2000, query_offset=1999))[0, 0, ::-1]
    assert (np.diff(row[:7]) < 0).all()
    assert (np.diff(row[7:]) > 0).any()
