"""What `graphs.graphormer` promises: distances, the rows of its tables, and Shaw's on a path."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from numpy.typing import NDArray

from posenc import (
    centrality_rows,
    graph_distances,
    graphormer_bias,
    graphormer_index,
    relative_positions,
    shaw_index,
    t5_buckets,
)
from tests.package.example_graphs import joined, path, random_graph, ring, star

Array = NDArray[np.float64]


def distances_by_search(weights: Array, start: int) -> list[int]:
    """Return the distances from one node by searching outwards, breadth first."""
    distances = {start: 0}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for other in np.flatnonzero(weights[node]).tolist():
            if other not in distances:
                distances[other] = distances[node] + 1
                queue.append(other)
    return [distances.get(node, -1) for node in range(len(weights))]


def sparse(seed: int, *, directed: bool) -> Array:
    """Return a graph of 25 nodes with few edges, in several pieces."""
    random = np.random.default_rng(seed)
    weights = random.uniform(0.1, 9, (25, 25)) * (random.random((25, 25)) < 1.8 / 25)
    return weights if directed else np.triu(weights) + np.triu(weights).T


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("directed", [True, False])
def test_distances_are_those_of_a_search(seed: int, directed: bool) -> None:
    weights = sparse(seed, directed=directed)
    found = graph_distances(weights)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, [distances_by_search(weights, node) for node in range(25)])
    assert (found == -1).any()
    assert found.max() > 2


def test_weights_do_not_matter_and_loops_are_no_way() -> None:
    weights = random_graph(7, seed=0)
    expected = graph_distances(weights)
    np.testing.assert_array_equal(graph_distances((weights > 0) * 1), expected)
    np.testing.assert_array_equal(graph_distances(weights * 1e-300), expected)
    np.testing.assert_array_equal(graph_distances(weights + np.eye(7)), expected)


def test_a_long_path_is_as_long_as_it_is() -> None:
    assert graph_distances(path(600))[0, 599] == 599


def test_distances_without_directions_are_a_metric_on_each_component() -> None:
    distances = graph_distances(random_graph(9, seed=5))
    np.testing.assert_array_equal(distances, distances.T)
    np.testing.assert_array_equal(distances == 0, np.eye(9, dtype=bool))
    assert (distances[:, :, np.newaxis] <= distances[:, np.newaxis] + distances.T).all()


@pytest.mark.parametrize("max_distance", [0, 1, 3, 50])
def test_each_distance_has_a_row_larger_ones_share_one_and_no_path_has_its_own(
    max_distance: int,
) -> None:
    index = graphormer_index(np.arange(-1, 80), max_distance=max_distance)
    assert index[0] == max_distance + 1
    np.testing.assert_array_equal(index[1:], np.minimum(np.arange(80), max_distance))
    assert index.dtype == np.int64
    assert graphormer_index([], max_distance=2).shape == (0,)


def test_a_bias_is_the_row_of_its_distance() -> None:
    table = np.random.default_rng(0).standard_normal((5, 2))
    distances = graph_distances(joined(path(6), ring(3)))
    bias = graphormer_bias(table, distances)
    assert bias.shape == (2, 9, 9)
    for head, query, key in np.ndindex(2, 9, 9):
        apart = distances[query, key]
        row = 4 if apart < 0 else min(int(apart), 3)
        assert bias[head, query, key] == table[row, head]
    assert bias.flags.c_contiguous


@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize("max_distance", [1, 3, 20])
def test_on_a_path_the_index_is_shaws_without_its_sign(size: int, max_distance: int) -> None:
    """Shaw's index is the relative position, clipped, plus the maximum."""
    signed = shaw_index(relative_positions(size, size), max_distance=max_distance)
    signed -= max_distance
    found = graphormer_index(graph_distances(path(size)), max_distance=max_distance)
    np.testing.assert_array_equal(found, np.abs(signed))


def test_on_a_path_it_is_t5s_bucket_without_its_sign_as_far_as_t5_is_exact() -> None:
    """An encoder of T5 has 16 buckets on each side, the first 8 of them exact."""
    buckets = np.asarray(t5_buckets(relative_positions(20, 20))) % 16
    exact = graphormer_index(graph_distances(path(20)), max_distance=20)
    np.testing.assert_array_equal(buckets[exact < 8], exact[exact < 8])
    assert (exact[0, 19], buckets[0, 19]) == (19, 10)


def test_a_symmetry_of_a_graph_exchanges_rows_and_columns_of_the_bias() -> None:
    table = np.random.default_rng(1).standard_normal((6, 3))
    weights, order = random_graph(8, seed=3), np.random.default_rng(2).permutation(8)
    bias = graphormer_bias(table, graph_distances(weights))
    renumbered = graphormer_bias(table, graph_distances(weights[np.ix_(order, order)]))
    np.testing.assert_array_equal(renumbered, bias[:, order][:, :, order])


def test_a_degree_has_its_row_and_larger_ones_share_the_last() -> None:
    table = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)
    degrees = star(5).sum(axis=1).astype(int)
    found = centrality_rows(table, degrees)
    np.testing.assert_array_equal(found, table[[3, 1, 1, 1, 1, 1]])
    assert found.dtype == np.float32
    assert centrality_rows(table, 2).shape == (3,)
    assert centrality_rows(table, np.zeros((2, 0), int)).shape == (2, 0, 3)


def test_a_table_needs_a_row_for_pairs_without_a_path() -> None:
    with pytest.raises(ValueError, match=r"table must have 2 rows or more; got shape \(1, 4\)"):
        graphormer_bias(np.zeros((1, 4)), [[0]])
