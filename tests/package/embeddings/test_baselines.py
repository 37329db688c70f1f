"""`embeddings.baselines` keeps its promises, and both baselines have their known weaknesses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from posenc import similarity, sinusoidal_encoding
from posenc.embeddings.baselines import counting_encoding, no_encoding

BASELINES = [counting_encoding, no_encoding]


def test_counting_writes_the_position_into_every_dimension() -> None:
    rows = counting_encoding(4, 3)
    np.testing.assert_array_equal(rows, [[0, 0, 0], [1, 1, 1], [2, 2, 2], [3, 3, 3]])


def test_no_encoding_is_all_zeros() -> None:
    rows = no_encoding([[0.0, 1.0], [5.0, -2.5]], 3)
    assert rows.shape == (2, 2, 3)
    np.testing.assert_array_equal(rows, np.zeros((2, 2, 3)))
    assert not np.signbit(rows).any()


@pytest.mark.parametrize("encoding", BASELINES)
@pytest.mark.parametrize("shape", [(), (1,), (6,), (2, 3), (2, 0, 3)])
def test_rows_take_the_shape_of_the_positions(encoding: Any, shape: tuple[int, ...]) -> None:
    rows = encoding(np.zeros(shape), 5)
    assert rows.shape == (*shape, 5)
    assert rows.dtype == np.float64


@pytest.mark.parametrize("encoding", BASELINES)
def test_a_count_means_the_positions_from_zero(encoding: Any) -> None:
    np.testing.assert_array_equal(encoding(5, 8), encoding(range(5), 8))
    assert encoding(0, 8).shape == (0, 8)
    assert encoding(7.0, 8).shape == (8,)


def test_counting_grows_without_bound_and_the_sinusoid_does_not() -> None:
    far = [10, 1000, 100_000]
    lengths = np.linalg.norm(counting_encoding(far, 8), axis=1)
    np.testing.assert_allclose(lengths, np.array(far) * np.sqrt(8), rtol=1e-15)
    # Entries are good to 4e-16·(1 + p): 4e-11 at position 100 000.
    np.testing.assert_allclose(
        np.linalg.norm(sinusoidal_encoding(far, 8), axis=1), 2, rtol=0, atol=1e-10
    )


def test_counting_rows_all_point_in_the_same_direction() -> None:
    """The cosine of any two rows is 1, at every distance."""
    rows = counting_encoding(range(1, 50), 8)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    np.testing.assert_allclose(unit @ unit.T, 1, rtol=0, atol=1e-15)
    assert similarity(3, 8) < 0.5
