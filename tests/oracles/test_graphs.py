"""Positions of graphs against PyTorch Geometric, networkx and scipy, and where they differ.

Eigenvectors are compared by their projections, which do not depend on signs or bases.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from posenc import (
    graph_distances,
    graph_laplacian,
    graphormer_bias,
    laplacian_eigenvectors,
    random_walk_encoding,
)
from tests.oracles.libraries import library
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

pytestmark = pytest.mark.slow  # needs libraries that only `make test-all` installs

Array = NDArray[Any]

GRAPHS = {
    "path": path(7),
    "ring": ring(8),
    "star": star(5),
    "complete": complete(6),
    "random": random_graph(12, seed=0),
    "two pieces": joined(path(3), random_graph(6, seed=1)),
    "isolated nodes": joined(ring(4), np.zeros((2, 2))),
}
CONNECTED = ["path", "ring", "star", "complete", "random"]
LOOPS = random_graph(6, seed=2) + np.diag([0, 1.5, 0, 2, 0, 0])

connected = pytest.mark.parametrize("name", CONNECTED)
every = pytest.mark.parametrize("name", GRAPHS)


def pyg_transform(name: str, weights: Array, number: int, **options: object) -> Array:
    """Return what a transform of PyTorch Geometric adds to a graph."""
    transform = library("torch_geometric.transforms", name)(number, attr_name="found", **options)
    row, column = np.nonzero(weights)
    data = library("torch_geometric.data", "Data")(
        edge_index=torch.tensor(np.stack([row, column])),
        edge_weight=torch.tensor(weights[row, column], dtype=torch.float32),
        num_nodes=len(weights),
    )
    return np.asarray(transform(data).found, dtype=np.float64)


def pyg_eigenvectors(weights: Array, k: int, *, undirected: bool = True) -> Array:
    """Return the eigenvectors of PyTorch Geometric."""
    return pyg_transform("AddLaplacianEigenvectorPE", weights, k, is_undirected=undirected)


def networkx(name: str) -> Any:
    return library("networkx", name)


def projections(values: Array, vectors: Array) -> Array:
    """Return the projections onto the spaces of equal eigenvalues."""
    starts = np.flatnonzero(np.diff(values) > 1e-6) + 1
    return np.stack([basis @ basis.T for basis in np.split(vectors, starts, axis=1)])


# The Laplacian and its eigenvectors


@every
def test_laplacians_are_those_of_networkx(name: str) -> None:
    graph = networkx("from_numpy_array")(GRAPHS[name])
    found = networkx("normalized_laplacian_matrix")(graph).toarray()
    np.testing.assert_allclose(graph_laplacian(GRAPHS[name]), found, rtol=0, atol=1e-15)
    plain = networkx("laplacian_matrix")(graph).toarray()
    ours = graph_laplacian(GRAPHS[name], normalized=False)
    np.testing.assert_allclose(ours, plain, rtol=1e-15, atol=1e-15)


def test_loops_count_once_as_in_networkx_and_are_dropped_in_pytorch_geometric() -> None:
    graph = networkx("from_numpy_array")(LOOPS)
    expected = networkx("normalized_laplacian_matrix")(graph).toarray()
    np.testing.assert_allclose(graph_laplacian(LOOPS), expected, rtol=0, atol=1e-15)
    without = LOOPS - np.diag(np.diagonal(LOOPS))
    values, vectors = laplacian_eigenvectors(without, 5)
    found = pyg_eigenvectors(LOOPS, 5)
    np.testing.assert_allclose(projections(values, found), projections(values, vectors), atol=1e-5)
    other = laplacian_eigenvectors(LOOPS, 5)[1]
    assert np.abs(projections(values, other) - projections(values, found)).max() > 0.05


@connected
def test_eigenvectors_of_a_connected_graph_are_those_of_pytorch_geometric(name: str) -> None:
    most = len(GRAPHS[name]) - 1
    values, vectors = laplacian_eigenvectors(GRAPHS[name], most)
    found = projections(values, pyg_eigenvectors(GRAPHS[name], most))
    np.testing.assert_allclose(found, projections(values, vectors), rtol=0, atol=1e-5)


@pytest.mark.parametrize("undirected", [True, False])
def test_large_graphs_which_pytorch_geometric_solves_otherwise_agree_too(undirected: bool) -> None:
    weights = random_graph(120, seed=0)
    values, vectors = laplacian_eigenvectors(weights, 5)
    found = pyg_eigenvectors(weights, 5, undirected=undirected)
    np.testing.assert_allclose(
        projections(values, found), projections(values, vectors), rtol=0, atol=1e-4
    )


@every
@pytest.mark.parametrize("normalized", [True, False])
def test_eigenvectors_are_those_of_scipy(name: str, normalized: bool) -> None:
    laplacian = graph_laplacian(GRAPHS[name], normalized=normalized)
    scaled = library("scipy.sparse.csgraph", "laplacian")(GRAPHS[name], normed=normalized)
    lonely = GRAPHS[name].sum(axis=1) == 0
    np.testing.assert_allclose(laplacian[~lonely], scaled[~lonely], rtol=0, atol=1e-15)
    values, vectors = library("scipy.linalg", "eigh")(laplacian, driver="ev")
    zeros = int((values < 1e-9).sum())
    ours = laplacian_eigenvectors(GRAPHS[name], len(values) - zeros, normalized=normalized)
    np.testing.assert_allclose(ours[0], values[zeros:], rtol=0, atol=1e-12)
    expected = projections(values[zeros:], vectors[:, zeros:])
    np.testing.assert_allclose(projections(*ours), expected, rtol=0, atol=1e-10)


def test_the_cosines_of_a_path_are_the_dct_of_scipy() -> None:
    vectors = laplacian_eigenvectors(path(9), 8, normalized=False)[1]
    cosines = library("scipy.fft", "dct")(np.eye(9), type=2, norm="ortho", axis=0).T[:, 1:]
    signs = np.sign((vectors * cosines).sum(axis=0))
    np.testing.assert_allclose(vectors, cosines * signs, rtol=0, atol=1e-12)


def test_pytorch_geometric_drops_one_eigenvector_however_many_components_there_are() -> None:
    weights = joined(path(3), ring(3))
    found = pyg_eigenvectors(weights, 2)
    np.testing.assert_allclose(graph_laplacian(weights) @ found[:, 0], 0, atol=1e-6)
    first = laplacian_eigenvectors(weights, 1)
    np.testing.assert_allclose(
        found[:, 1:] @ found[:, 1:].T, first[1] @ first[1].T, rtol=0, atol=1e-6
    )


def test_in_pytorch_geometric_an_isolated_node_has_an_eigenvalue_of_one() -> None:
    """So it takes a column for itself, in the middle of the spectrum."""
    weights = joined(path(4), np.zeros((1, 1)))
    alone = np.abs(pyg_eigenvectors(weights, 4)[4])
    np.testing.assert_allclose(np.sort(alone), [0, 0, 0, 1], rtol=0, atol=1e-6)
    assert alone.argmax() == 1
    assert not laplacian_eigenvectors(weights, 3)[1][4].any()


def test_signs_of_pytorch_geometric_are_drawn_in_every_call() -> None:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        calls = [pyg_eigenvectors(GRAPHS["random"], 4) for _ in range(20)]
    signs = np.sign([call[0] for call in calls])
    assert (np.abs(signs.sum(axis=0)) < 20).all()
    for call in calls:
        np.testing.assert_allclose(np.abs(call), np.abs(calls[0]), rtol=0, atol=1e-6)


@pytest.mark.parametrize("weights", [ring(5), complete(5)], ids=["ring", "complete"])
def test_by_default_pytorch_geometric_does_not_return_perpendicular_vectors(weights: Array) -> None:
    """Its solver for directed graphs, the default, takes any basis where eigenvalues are equal."""
    default, undirected = (
        pyg_eigenvectors(weights, 4, undirected=False),
        pyg_eigenvectors(weights, 4),
    )
    np.testing.assert_allclose(undirected.T @ undirected, np.eye(4), rtol=0, atol=1e-5)
    assert np.abs(default.T @ default - np.eye(4)).max() > 0.1


def test_pytorch_geometric_fails_without_a_reason_where_k_is_too_large() -> None:
    with pytest.raises(RuntimeError, match="The size of tensor"):
        pyg_eigenvectors(path(4), 4)
    with pytest.raises(ValueError, match="k must be at most 3, the nodes less the components"):
        laplacian_eigenvectors(path(4), 4)


# Random walks


@every
def test_walks_are_those_of_pytorch_geometric(name: str) -> None:
    weights = (GRAPHS[name] > 0).astype(float)
    found = pyg_transform("AddRandomWalkPE", weights, 9)
    np.testing.assert_allclose(random_walk_encoding(weights, 9), found, rtol=0, atol=1e-6)


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_in_pytorch_geometric_a_weight_counts_in_the_degree_alone_which_is_at_least_one(
    scale: float,
) -> None:
    """Each step goes to any neighbour with the chance 1/degree, which need not add up to 1."""
    weights = scale * random_graph(6, seed=0)
    step = (weights > 0) / np.maximum(weights.sum(axis=1, keepdims=True), 1)
    expected = [np.linalg.matrix_power(step, n).diagonal() for n in range(1, 5)]
    found = pyg_transform("AddRandomWalkPE", weights, 4)
    np.testing.assert_allclose(found, np.stack(expected, axis=1), rtol=1e-5, atol=1e-6)
    assert np.abs(step.sum(axis=1) - 1).max() > 0.1
    assert np.abs(found - random_walk_encoding(weights, 4)).max() > 0.1


def test_walks_are_powers_of_the_matrix_of_networkx() -> None:
    weights = GRAPHS["two pieces"]
    walk = networkx("google_matrix")(networkx("from_numpy_array")(weights), alpha=1.0)
    power, expected = np.eye(len(weights)), []
    for _ in range(7):
        power = power @ np.asarray(walk)
        expected.append(power.diagonal())
    found = random_walk_encoding(weights, 7)
    np.testing.assert_allclose(found, np.stack(expected, axis=1), rtol=0, atol=1e-14)


# Distances


@every
def test_distances_are_those_of_networkx_and_scipy(name: str) -> None:
    graph = networkx("from_numpy_array")(GRAPHS[name])
    lengths = dict(networkx("all_pairs_shortest_path_length")(graph))
    expected = [[lengths[i].get(j, -1) for j in graph] for i in graph]
    found = graph_distances(GRAPHS[name])
    np.testing.assert_array_equal(found, expected)
    scaled = library("scipy.sparse.csgraph", "shortest_path")(GRAPHS[name], unweighted=True)
    np.testing.assert_array_equal(found, np.where(np.isinf(scaled), -1, scaled))


def test_distances_along_directed_edges_are_those_of_scipy() -> None:
    random = np.random.default_rng(0)
    weights = random.random((20, 20)) < 0.08
    scaled = library("scipy.sparse.csgraph", "shortest_path")(weights, unweighted=True)
    found = graph_distances(weights.astype(float))
    np.testing.assert_array_equal(found, np.where(np.isinf(scaled), -1, scaled))
    assert (found != found.T).any()


def test_the_bias_is_an_embedding_of_torch_by_distance() -> None:
    embedding = nn.Embedding(6, 3)
    distances = graph_distances(GRAPHS["two pieces"])
    rows = torch.from_numpy(distances).clamp(max=4)
    rows[rows < 0] = 5
    expected = embedding(rows).movedim(-1, 0).detach().numpy()
    found = graphormer_bias(embedding.weight.detach().numpy(), distances)
    np.testing.assert_array_equal(found, expected)


# Graphs that the encodings do not tell apart


def test_the_shrikhande_graph_and_the_rooks_are_two_graphs() -> None:
    one, other = (networkx("from_numpy_array")(graph) for graph in (shrikhande(), rook()))
    assert networkx("is_strongly_regular")(one)
    assert networkx("is_strongly_regular")(other)
    assert not networkx("is_isomorphic")(one, other)
