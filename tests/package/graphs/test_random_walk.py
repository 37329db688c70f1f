"""What `graphs.random_walk` promises, against walks counted one by one and pairs of graphs."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from numpy.typing import NDArray

from posenc import graph_distances, laplacian_eigenvectors, random_walk_encoding
from tests.package.example_graphs import (
    complete,
    joined,
    path,
    random_graph,
    ring,
    rook,
    shrikhande,
    star,
)

Array = NDArray[np.float64]


def back_after(weights: Array, node: int, steps: int) -> float:
    """Return the chance of a walk to be back, as the sum over all closed walks."""
    chance = 0.0
    for between in product(range(len(weights)), repeat=steps - 1):
        places = [node, *between, node]
        chance += np.prod([weights[i, j] / weights[i].sum() for i, j in pairwise(places)])
    return chance


def test_a_row_has_the_chances_of_all_closed_walks() -> None:
    weights = random_graph(5, seed=0)
    expected = [[back_after(weights, i, steps) for steps in range(1, 6)] for i in range(5)]
    np.testing.assert_allclose(random_walk_encoding(weights, 5), expected, rtol=0, atol=1e-15)


def test_walks_follow_the_direction_of_edges_and_end_where_there_are_none() -> None:
    circle = np.roll(np.eye(3), 1, axis=1)
    np.testing.assert_array_equal(random_walk_encoding(circle, 4), [[0, 0, 1, 0]] * 3)
    there = [[0, 1, 1], [1, 0, 0], [0, 0, 0]]  # the third node has no way out
    expected = [[0, 0.5, 0, 0.25], [0, 0.5, 0, 0.25], [0, 0, 0, 0]]
    np.testing.assert_array_equal(random_walk_encoding(there, 4), expected)


def test_an_isolated_node_has_a_row_of_zeros_unless_it_has_a_loop() -> None:
    np.testing.assert_array_equal(random_walk_encoding(np.zeros((1, 1)), 3), [[0, 0, 0]])
    np.testing.assert_array_equal(random_walk_encoding([[0.25]], 3), [[1, 1, 1]])


def test_only_the_proportions_of_weights_matter() -> None:
    weights = random_graph(6, seed=1)
    expected = random_walk_encoding(weights, 5)
    for scale in (1e-300, 0.1, 1e299):
        found = random_walk_encoding(scale * weights, 5)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("seed", range(4))
def test_renumbered_nodes_have_renumbered_rows(seed: int) -> None:
    weights = random_graph(8, seed=seed)
    order = np.random.default_rng(seed).permutation(8)
    found = random_walk_encoding(weights[np.ix_(order, order)], 6)
    np.testing.assert_allclose(found, random_walk_encoding(weights, 6)[order], rtol=0, atol=1e-15)


def test_nodes_that_a_symmetry_exchanges_have_the_same_row() -> None:
    rows = random_walk_encoding(path(7), 6)
    np.testing.assert_allclose(rows, rows[::-1], rtol=0, atol=1e-15)
    assert len(np.unique(rows.round(9), axis=0)) == 4
    for alike in (ring(9), complete(5), shrikhande()):
        rows = random_walk_encoding(alike, 8)
        np.testing.assert_allclose(rows, rows[[0]].repeat(len(rows), axis=0), rtol=0, atol=1e-15)
    leaves = random_walk_encoding(star(4), 4)[1:]
    np.testing.assert_allclose(leaves, leaves[[0]].repeat(4, axis=0), rtol=0, atol=1e-15)


def test_the_sum_over_all_nodes_is_that_of_the_powers_of_one_minus_the_eigenvalues() -> None:
    """So the rows know all eigenvalues of the Laplacian, and no eigenvector's sign."""
    weights = random_graph(9, seed=2)
    values = np.append(laplacian_eigenvectors(weights, 8)[0], 0)  # one component, one zero
    sums = random_walk_encoding(weights, 10).sum(axis=0)
    expected = [((1 - values) ** steps).sum() for steps in range(1, 11)]
    np.testing.assert_allclose(sums, expected, rtol=0, atol=1e-12)


def refined(weights: Array, rounds: int = 20) -> list[int]:
    """Return the colours of nodes after rounds of counting the colours of neighbours."""
    colours = [0] * len(weights)
    for _ in range(rounds):
        seen = [
            (colours[i], tuple(sorted(colours[j] for j in np.flatnonzero(weights[i]))))
            for i in range(len(weights))
        ]
        names = {kind: number for number, kind in enumerate(sorted(set(seen)))}
        colours = [names[kind] for kind in seen]
    return sorted(colours)


def test_returns_tell_two_triangles_from_a_hexagon_and_counts_of_neighbours_do_not() -> None:
    triangles, hexagon = joined(ring(3), ring(3)), ring(6)
    assert refined(triangles) == refined(hexagon)
    np.testing.assert_allclose(random_walk_encoding(triangles, 3)[:, 2], 0.25)
    np.testing.assert_array_equal(random_walk_encoding(hexagon, 3)[:, 2], 0)
    assert refined(path(6)) != refined(star(5))


def triangles_around(weights: Array) -> int:
    """Return how many triangles the neighbours of the first node form among themselves."""
    near = np.flatnonzero(weights[0])
    inside = weights[np.ix_(near, near)]
    return int(np.trace(inside @ inside @ inside) // 6)


def test_walks_eigenvalues_and_distances_do_not_tell_the_shrikhande_graph_from_the_rooks() -> None:
    """Both have 16 nodes of degree 6; any two nodes have 2 neighbours in common."""
    one, other = shrikhande(), rook()
    for graph in (one, other):
        np.testing.assert_array_equal(graph @ graph, 6 * np.eye(16) + 2 * (1 - np.eye(16)))
    assert (triangles_around(one), triangles_around(other)) == (0, 2)  # so they are two graphs
    walks = random_walk_encoding(one, 40), random_walk_encoding(other, 40)
    np.testing.assert_allclose(walks[0], walks[1], rtol=0, atol=1e-15)
    values = laplacian_eigenvectors(one, 15)[0], laplacian_eigenvectors(other, 15)[0]
    np.testing.assert_allclose(values[0], values[1], rtol=0, atol=1e-12)
    apart = np.sort(graph_distances(one), axis=1), np.sort(graph_distances(other), axis=1)
    np.testing.assert_array_equal(apart[0], apart[1])
