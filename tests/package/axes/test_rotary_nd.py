"""What `axes.rotary_nd` promises, against rotations worked out in 50 digits, pair by pair."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from posenc import (
    apply_rope,
    apply_rope_nd,
    axial_frequencies,
    dynamic_frequencies,
    frequencies,
    frequencies_by_axis,
    grid_positions,
    mixed_frequencies,
    mrope_frequencies,
)

Array = NDArray[np.float64]
LAYOUTS = ("interleaved", "half")
RNG = np.random.default_rng(7)
HEADS = RNG.standard_normal((2, 3, 5, 8))  # batch, heads, length, d
POINTS = RNG.uniform(-20, 20, (5, 2))
MIXED = mixed_frequencies(8, [0.3, 1.7, 4.0])
MATRICES = {
    "axial": axial_frequencies(8),
    "in turns": axial_frequencies(8, turns=True),
    "mixed": MIXED[1],
}

coordinates = st.floats(-500, 500)
quick = settings(database=None, deadline=None, derandomize=True, max_examples=40)


def test_parts_of_axes_are_rotated_like_narrower_heads() -> None:
    """A part of 2, one of 4 and one of 6 dimensions, in a head of 12."""
    x, points = RNG.standard_normal((5, 12)), RNG.uniform(-20, 20, (5, 3))
    widths, bases = (2, 4, 6), (10.0, 256.0, 1e4)
    parts = [frequencies(w, base=base) for w, base in zip(widths, bases, strict=True)]
    found = apply_rope_nd(x, points, frequencies_by_axis(parts))
    pieces = np.split(x, np.cumsum(widths)[:-1], axis=-1)
    expected = [
        apply_rope(piece, points[:, axis], base=bases[axis]) for axis, piece in enumerate(pieces)
    ]
    np.testing.assert_allclose(found, np.concatenate(expected, axis=-1), atol=1e-13)


def test_equal_parts_give_axial_frequencies() -> None:
    for axes in (1, 2, 3):
        parts = [frequencies(8)] * axes
        np.testing.assert_array_equal(
            frequencies_by_axis(parts), axial_frequencies(8 * axes, axes), strict=True
        )


def test_a_rotated_key_can_be_moved_unless_its_frequencies_have_changed() -> None:
    """What a cache that renumbers may do: rotate by the difference, on each of the axes."""
    key = RNG.standard_normal(128)
    moved = apply_rope(apply_rope(key, 1000), -300)
    np.testing.assert_allclose(moved, apply_rope(key, 700), atol=1e-12)
    omega, at, to = mrope_frequencies(128, (16, 24, 24)), [[900, 30, 40]], [[500, 10, 70]]
    difference = np.subtract(to, at)
    moved = apply_rope_nd(apply_rope_nd(key[None], at, omega), difference, omega)
    np.testing.assert_allclose(moved, apply_rope_nd(key[None], to, omega), atol=1e-12)
    by_one_axis = apply_rope_nd(apply_rope_nd(key[None], at, omega), [[-400] * 3], omega)
    assert np.abs(by_one_axis - moved).max() > 0.1
    then, now = (dynamic_frequencies(128, n, factor=4, trained_length=512) for n in (1001, 701))
    moved = apply_rope(apply_rope(key, 1000, frequencies=then), -300, frequencies=then)
    assert np.abs(moved - apply_rope(key, 700, frequencies=now)).max() > 0.1


def exact(vector: Array, point: Array, omega: Array, layout: str) -> list[float]:
    """Return one rotated vector, in 50 digits."""
    d = len(vector)
    found = [0.0] * d
    with mpmath.workdps(50):
        for pair in range(d // 2):
            angle = mpmath.fsum(
                mpmath.mpf(p) * mpmath.mpf(w) for p, w in zip(point, omega[:, pair], strict=True)
            )
            first, second = (
                (2 * pair, 2 * pair + 1) if layout == "interleaved" else (pair, pair + d // 2)
            )
            a, b = mpmath.mpf(vector[first]), mpmath.mpf(vector[second])
            found[first] = float(a * mpmath.cos(angle) - b * mpmath.sin(angle))
            found[second] = float(a * mpmath.sin(angle) + b * mpmath.cos(angle))
    return found


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", MATRICES)
def test_every_pair_is_rotated_by_the_sum_over_the_axes(name: str, layout: str) -> None:
    x, omega = HEADS[0, 0], MATRICES[name]
    rotated = apply_rope_nd(x, POINTS, omega, layout=layout)
    expected = [exact(v, p, omega, layout) for v, p in zip(x, POINTS, strict=True)]
    np.testing.assert_allclose(rotated, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_one_axis_is_rope(layout: str) -> None:
    positions = np.array([0, 1, 7, -3, 0.5])
    rotated = apply_rope_nd(
        HEADS, positions[:, np.newaxis], frequencies(8)[np.newaxis], layout=layout
    )
    expected = apply_rope(HEADS, positions, layout=layout)
    np.testing.assert_array_equal(rotated, expected)


@pytest.mark.parametrize("name", MATRICES)
@quick
@given(row=coordinates, column=coordinates, down=coordinates, right=coordinates)
def test_scores_depend_on_the_difference_of_two_points_alone(
    name: str, row: float, column: float, down: float, right: float
) -> None:
    q, k, omega = HEADS[0, 0, :1], HEADS[0, 0, 1:2], MATRICES[name]
    moved = apply_rope_nd(q, [[row, column]], omega)
    score = moved @ apply_rope_nd(k, [[row + down, column + right]], omega).T
    expected = q @ apply_rope_nd(k, [[down, right]], omega).T
    np.testing.assert_allclose(score, expected, rtol=0, atol=1e-11)


def test_axial_scores_are_a_sum_over_the_axes_and_mixed_ones_are_not() -> None:
    q, k = HEADS[0, 0, :1], HEADS[0, 0, 1:2]

    def interaction(omega: Array) -> float:
        points = grid_positions((2, 2)) * 3
        scores = (q @ apply_rope_nd(np.repeat(k, 4, axis=0), points, omega).T).ravel()
        return float(scores[0] - scores[1] - scores[2] + scores[3])

    for name in ("axial", "in turns"):
        assert interaction(MATRICES[name]) == pytest.approx(0, abs=1e-12)
    assert abs(interaction(MATRICES["mixed"])) > 0.1


def test_axial_weights_of_equal_keys_are_a_factor_for_the_row_times_one_for_the_column() -> None:
    """They can lie on one patch, but not on two corners of a rectangle without the others."""

    def weights(omega: Array, loud: float) -> Array:
        x = np.full((25, 8), loud)
        rotated = apply_rope_nd(x, grid_positions((5, 5)), omega)
        powers = np.exp(rotated[7] @ rotated.T)  # of the query in row 1, column 2
        return np.asarray(powers / powers.sum()).reshape(5, 5)

    axial, mixed = weights(MATRICES["axial"], 0.5), weights(MATRICES["mixed"], 0.5)
    np.testing.assert_allclose(axial, np.outer(axial.sum(1), axial.sum(0)), rtol=1e-12)
    assert np.abs(mixed / np.outer(mixed.sum(1), mixed.sum(0)) - 1).max() > 0.05
    assert weights(MATRICES["axial"], 4.0)[1, 2] > 0.99


@pytest.mark.parametrize(
    ("points", "omega"),
    [
        (POINTS, MIXED),
        (np.stack([POINTS, POINTS[::-1]])[:, np.newaxis], MIXED),
        ([1, 2], MIXED),
        (POINTS, MATRICES["axial"]),
    ],
    ids=["by head", "by sequence", "one point", "one matrix"],
)
def test_points_and_frequencies_broadcast_to_the_vectors(points: Array, omega: Array) -> None:
    rotated = apply_rope_nd(HEADS, points, omega)
    points = np.broadcast_to(points, (2, 3, 5, 2))
    omega = np.broadcast_to(omega, (3, 2, 4))
    for sequence, head in np.ndindex(2, 3):
        alone = apply_rope_nd(HEADS[sequence, head], points[sequence, head], omega[head])
        np.testing.assert_array_equal(rotated[sequence, head], alone)


def test_a_single_vector_takes_a_single_point() -> None:
    expected = apply_rope_nd(HEADS[0, 0, :1], [[1, 2]], MIXED[0])[0]
    for point in ([1, 2], [[1, 2]]):
        np.testing.assert_array_equal(apply_rope_nd(HEADS[0, 0, 0], point, MIXED[0]), expected)
    with pytest.raises(ValueError, match="must broadcast to the vectors, of shape"):
        apply_rope_nd(HEADS[0, 0, 0], [[1, 2], [3, 4]], MIXED[0])


@pytest.mark.parametrize(
    ("points", "omega", "message"),
    [
        (np.ones((4, 2)), MIXED, "must broadcast to the vectors, of shape (2, 3, 5, 8)"),
        (np.ones((7, 1, 5, 2)), MIXED, "must broadcast"),
        (np.ones((5, 2)), MIXED[:2], "must broadcast"),
        (np.ones((5, 3)), MIXED, "must have a coordinate for each of 2 axes"),
        (np.ones((4, 5, 2)), MIXED, "must broadcast"),
    ],
    ids=["length", "batch", "heads", "axes", "product"],
)
def test_shapes_that_do_not_fit_are_refused(points: Array, omega: Array, message: str) -> None:
    with pytest.raises(ValueError, match="positions") as refusal:
        apply_rope_nd(HEADS, points, omega)
    assert message in str(refusal.value)


def test_the_limit_is_on_the_angle_and_counts_all_axes() -> None:
    fast = np.full((2, 4), 2.0**30)
    with pytest.raises(ValueError, match=r"2\*\*53 in size.*got 4.1943e\+06 with a frequency"):
        apply_rope_nd(np.ones(8), [2.0**22, 0], fast)
    assert np.isfinite(apply_rope_nd(np.ones(8), [2.0**21, 0], fast)).all()
    assert np.isfinite(apply_rope_nd(np.ones(8), [2.0**51, 0], axial_frequencies(8))).all()


# The frequencies


@pytest.mark.parametrize("base", [10000.0, 100.0])
@pytest.mark.parametrize(("d", "axes"), [(4, 1), (8, 2), (64, 2), (12, 3), (96, 3)])
def test_axial_pairs_have_one_axis_and_the_frequencies_of_a_narrower_head(
    d: int, axes: int, base: float
) -> None:
    omega = frequencies(d // axes, base=base)
    blocks = axial_frequencies(d, axes, base=base)
    turns = axial_frequencies(d, axes, base=base, turns=True)
    for axis in range(axes):
        block = blocks[axis].reshape(axes, -1)
        np.testing.assert_array_equal(block[axis], omega)
        np.testing.assert_array_equal(turns[axis, axis::axes], omega)
        assert np.count_nonzero(block) == np.count_nonzero(turns[axis]) == omega.size


def test_turns_are_the_same_head_with_its_pairs_in_another_order() -> None:
    order = np.arange(16).reshape(2, 4, 2).swapaxes(0, 1).ravel()  # pairs 0, 4, 1, 5, …
    x = RNG.standard_normal((5, 16))
    blocks = apply_rope_nd(x, POINTS, axial_frequencies(16))
    turns = apply_rope_nd(x[:, order], POINTS, axial_frequencies(16, turns=True))
    np.testing.assert_array_equal(turns, blocks[:, order])


def test_mixed_frequencies_at_angle_0_are_axial() -> None:
    for d, base in ((4, 10.0), (64, 10.0), (64, 10000.0)):
        mixed = mixed_frequencies(d, 0.0, base=base)
        np.testing.assert_array_equal(mixed, axial_frequencies(d, base=base))
        assert not np.signbit(mixed).any()
    assert mixed_frequencies(8, np.zeros((2, 5))).shape == (2, 5, 2, 4)


@quick
@given(angle=st.floats(-7, 7), row=coordinates, column=coordinates)
def test_mixed_frequencies_are_axial_ones_of_a_rotated_plane(
    angle: float, row: float, column: float
) -> None:
    x = HEADS[0, 0, :1]
    along = row * np.cos(angle) + column * np.sin(angle)
    across = column * np.cos(angle) - row * np.sin(angle)
    mixed = apply_rope_nd(x, [[row, column]], mixed_frequencies(8, angle))
    axial = apply_rope_nd(x, [[along, across]], axial_frequencies(8, base=10))
    np.testing.assert_allclose(mixed, axial, rtol=0, atol=1e-11)
