"""What `graphs.trees` promises: stacks of choices, moves as fixed maps, and what is lost."""

from __future__ import annotations

from itertools import product

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from posenc import tree_choices, tree_encoding

Array = NDArray[np.float64]
BRANCHES, DEPTH = 3, 4

either = pytest.mark.parametrize("decays", [None, [0.5], [0.9, -0.4]])


def paths(longest: int) -> list[tuple[int, ...]]:
    """Return the path of every node of a tree."""
    return [path for length in range(longest + 1) for path in product(range(3), repeat=length)]


def encode(paths: object, decays: list[float] | None) -> Array:
    return tree_encoding(paths, branches=BRANCHES, depth=DEPTH, decays=decays)


def step_to_child(child: int, decays: list[float] | None) -> tuple[Array, Array]:
    """Return the matrix and the vector of a step to a child, by the definition of a stack."""
    features = 1 if decays is None else len(decays)
    width = DEPTH * BRANCHES * features
    p = np.ones(1) if decays is None else np.array(decays)
    fading = np.tile(p, width // features)  # each entry fades by its copy's p from level to level
    matrix = np.diag(fading[BRANCHES * features :], k=-BRANCHES * features)
    vector = np.zeros((DEPTH, BRANCHES, features))
    vector[0, child] = 1 if decays is None else np.sqrt((1 - p**2) * width / 2)
    return matrix, vector.ravel()


def test_choices_are_those_of_the_path_from_the_last_to_the_first() -> None:
    found = tree_choices([[], [2], [2, 0], [1, 1, 0, 2]], branches=3, depth=4)
    expected = [[-1, -1, -1, -1], [2, -1, -1, -1], [0, 2, -1, -1], [2, 0, 1, 1]]
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == np.int64
    assert tree_choices([], branches=3, depth=4).shape == (0, 4)
    given = np.array([[0, 1], [2, 2]])
    np.testing.assert_array_equal(tree_choices(given, branches=3, depth=2), given[:, ::-1])


def test_a_row_has_a_one_for_each_choice() -> None:
    nodes = paths(DEPTH)
    rows = encode(nodes, None).reshape(-1, DEPTH, BRANCHES)
    for path, row in zip(nodes, rows, strict=True):
        for level in range(DEPTH):
            for branch in range(BRANCHES):
                chosen = level < len(path) and path[-1 - level] == branch
                assert row[level, branch] == chosen


def test_copies_fade_with_the_level_and_have_the_factor_of_the_authors_code() -> None:
    decays = [0.9, -0.4]
    width = DEPTH * BRANCHES * 2
    stack = encode(paths(3), None).reshape(-1, DEPTH, BRANCHES)
    rows = encode(paths(3), decays).reshape(-1, DEPTH, BRANCHES, 2)
    for level, (feature, decay) in product(range(DEPTH), enumerate(decays)):
        with mpmath.workdps(50):
            p = mpmath.mpf(decay)
            factor = float(mpmath.sqrt((1 - p**2) * width / 2) * p**level)
        np.testing.assert_allclose(
            rows[:, level, :, feature], stack[:, level] * factor, rtol=1e-15, atol=0
        )


def test_no_row_is_longer_than_that_of_an_endless_path() -> None:
    """A geometric series: each copy adds at most half of the width."""
    rows = tree_encoding([[0] * 300], branches=1, depth=300, decays=[0.9, -0.4])
    assert (rows**2).sum() == pytest.approx(2 * 600 / 2)
    lengths = (encode(paths(DEPTH), [0.9, -0.4]) ** 2).sum(axis=1)
    assert lengths.max() < 2 * 24 / 2


@either
def test_no_two_nodes_within_the_depth_have_the_same_row(decays: list[float] | None) -> None:
    rows = encode(paths(DEPTH), decays)
    assert len(np.unique(rows.round(9), axis=0)) == len(rows)


@either
def test_a_step_to_a_child_is_the_same_matrix_and_vector_everywhere(
    decays: list[float] | None,
) -> None:
    for child in range(BRANCHES):
        matrix, vector = step_to_child(child, decays)
        for path in paths(DEPTH + 1):
            there = encode([(*path, child)], decays)[0]
            found = matrix @ encode([path], decays)[0] + vector
            np.testing.assert_allclose(found, there, rtol=0, atol=1e-14)


@either
def test_a_step_to_the_parent_is_one_matrix_within_the_depth(decays: list[float] | None) -> None:
    matrix = step_to_child(0, decays)[0]
    back = np.divide(1, matrix, out=np.zeros_like(matrix), where=matrix != 0).T
    for path in paths(DEPTH)[1:]:
        found = back @ encode([path], decays)[0]
        np.testing.assert_allclose(found, encode([path[:-1]], decays)[0], rtol=0, atol=1e-13)


def test_the_way_between_two_nodes_is_the_product_of_its_steps() -> None:
    up, down = step_to_child(0, None)[0].T, step_to_child(2, None)
    for path in ([0], [0, 1], [2, 2, 1]):  # to the third child of the parent
        found = down[0] @ (up @ encode([path], None)[0]) + down[1]
        np.testing.assert_array_equal(found, encode([[*path[:-1], 2]], None)[0])


@either
def test_beyond_the_depth_the_choices_next_to_the_root_are_lost(decays: list[float] | None) -> None:
    one, other = [0, 1, 2, 1, 0], [2, 1, 2, 1, 0]  # another first step, the same last four
    rows = encode([one, other], decays)
    np.testing.assert_array_equal(*rows)
    back = step_to_child(0, None)[0].T
    parent = back @ encode([one], None)[0]
    assert np.abs(parent - encode([one[:-1]], None)[0]).max() == 1


def test_with_one_branch_a_row_counts_the_steps() -> None:
    rows = tree_encoding([[0] * n for n in range(4)], branches=1, depth=3)
    np.testing.assert_array_equal(rows, [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]])
