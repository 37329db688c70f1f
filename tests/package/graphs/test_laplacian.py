"""What `graphs.laplacian` promises: eigenvectors, cosines of paths and rings, and fixed signs."""

from __future__ import annotations

from itertools import permutations

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from posenc import (
    fourier_features,
    graph_laplacian,
    laplacian_eigenvectors,
    shift_matrix,
)
from tests.package.example_graphs import complete, joined, path, random_graph, ring, star

Array = NDArray[np.float64]

ways = pytest.mark.parametrize("normalized", [True, False])


def spaces(values: Array, vectors: Array) -> list[Array]:
    """Return the projection onto each eigenspace: what does not depend on signs or bases."""
    starts = np.flatnonzero(np.diff(values) > 1e-9) + 1
    return [basis @ basis.T for basis in np.split(vectors, starts, axis=1)]


# The Laplacian


def test_the_laplacian_is_its_formula_entry_by_entry() -> None:
    weights = random_graph(7, seed=0)
    degrees = weights.sum(axis=1)
    for i in range(7):
        for j in range(7):
            plain = (degrees[i] if i == j else 0) - weights[i, j]
            scaled = (i == j) - weights[i, j] / np.sqrt(degrees[i] * degrees[j])
            assert graph_laplacian(weights, normalized=False)[i, j] == pytest.approx(plain)
            assert graph_laplacian(weights)[i, j] == pytest.approx(scaled, abs=1e-15)


def test_with_the_identity_in_the_formula_an_isolated_node_has_the_eigenvalue_one() -> None:
    """Two components and two isolated nodes: four zeros as defined here, two with I − …"""
    weights = joined(joined(path(3), ring(4)), np.zeros((2, 2)))
    degrees = weights.sum(axis=1)
    roots = np.where(degrees > 0, np.where(degrees > 0, degrees, 1) ** -0.5, 0)
    as_displayed = roots[:, np.newaxis] * (np.diag(degrees) - weights) * roots
    with_identity = np.eye(9) - roots[:, np.newaxis] * weights * roots
    np.testing.assert_allclose(graph_laplacian(weights), as_displayed, atol=1e-15)
    for laplacian, zeros in ((as_displayed, 4), (with_identity, 2)):
        assert int(np.sum(np.linalg.eigvalsh(laplacian) < 1e-12)) == zeros
    np.testing.assert_array_equal(with_identity[7:], np.eye(9)[7:])


def test_a_loop_counts_once_in_the_degree() -> None:
    loop = path(2) + np.diag([3.0, 0.0])
    np.testing.assert_array_equal(graph_laplacian(loop, normalized=False), [[1, -1], [-1, 1]])
    np.testing.assert_allclose(graph_laplacian(loop), [[0.25, -0.5], [-0.5, 1]])


@ways
def test_no_zero_of_the_laplacian_is_negative(normalized: bool) -> None:
    laplacian = graph_laplacian(joined(path(3), path(2)), normalized=normalized)
    assert not np.signbit(laplacian[laplacian == 0]).any()


# Eigenvectors


@ways
@pytest.mark.parametrize("seed", range(5))
def test_they_are_the_eigenvectors_of_the_smallest_eigenvalues_above_zero(
    normalized: bool, seed: int
) -> None:
    weights = random_graph(12, seed=seed)
    laplacian = graph_laplacian(weights, normalized=normalized)
    values, vectors = laplacian_eigenvectors(weights, 11, normalized=normalized)
    np.testing.assert_allclose(laplacian @ vectors, vectors * values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(11), rtol=0, atol=1e-12)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(laplacian)[1:], rtol=0, atol=1e-12)
    few = laplacian_eigenvectors(weights, 3, normalized=normalized)
    np.testing.assert_array_equal(few[0], values[:3])
    np.testing.assert_array_equal(few[1], vectors[:, :3])


def test_eigenvectors_equal_those_in_fifty_digits() -> None:
    weights = random_graph(9, seed=3)
    with mpmath.workdps(50):
        exact = mpmath.matrix(weights.tolist())
        degrees = [mpmath.fsum(exact[i, :]) for i in range(9)]
        laplacian = mpmath.matrix(9)
        for i in range(9):
            for j in range(9):
                laplacian[i, j] = (i == j) - exact[i, j] / mpmath.sqrt(degrees[i] * degrees[j])
        values, vectors = mpmath.eigsy(laplacian)
        expected = np.array(vectors.tolist(), dtype=float)[:, 1:]
        expected_values = np.array(list(values), dtype=float)[1:]
    largest = expected[np.abs(expected).argmax(axis=0), range(8)]
    found_values, found = laplacian_eigenvectors(weights, 8)
    np.testing.assert_allclose(found_values, expected_values, rtol=0, atol=1e-14)
    np.testing.assert_allclose(found, expected * np.sign(largest), rtol=0, atol=1e-13)


@ways
@pytest.mark.parametrize("size", [2, 5, 12])
def test_eigenvectors_of_a_path_are_cosines(normalized: bool, size: int) -> None:
    """D − A: those of the DCT-II. Normalized: those of the DCT-I, times the roots of degrees."""
    k, j = np.arange(1, size), np.arange(size)[:, np.newaxis]
    if normalized:
        roots = np.sqrt(path(size).sum(axis=1, keepdims=True))
        angles = np.pi * k / (size - 1)
        expected, expected_values = roots * np.cos(angles * j), 1 - np.cos(angles)
    else:
        angles = np.pi * k / size
        expected, expected_values = np.cos(angles * (j + 0.5)), 2 - 2 * np.cos(angles)
    expected = expected / np.linalg.norm(expected, axis=0)
    values, vectors = laplacian_eigenvectors(path(size), size - 1, normalized=normalized)
    np.testing.assert_allclose(values, expected_values, rtol=0, atol=1e-13)
    signs = np.sign((vectors * expected).sum(axis=0))
    np.testing.assert_allclose(vectors, expected * signs, rtol=0, atol=1e-12)


@ways
@pytest.mark.parametrize("size", [5, 8, 13])
def test_eigenvectors_of_a_ring_are_cosines_and_sines_of_equally_spaced_frequencies(
    normalized: bool, size: int
) -> None:
    pairs = (size - 1) // 2
    features = fourier_features(np.arange(size)[:, np.newaxis] / size, [np.arange(1, pairs + 1)])
    cosines, sines = features[:, :pairs], features[:, pairs:]
    expected = np.sqrt(2 / size) * np.stack([cosines, sines], axis=-1).reshape(size, -1)
    values, vectors = laplacian_eigenvectors(ring(size), 2 * pairs, normalized=normalized)
    # The rule puts the sine's largest entry above 0, which it is from 1/4 of a turn on.
    signs = np.sign((vectors * expected).sum(axis=0))
    np.testing.assert_allclose(vectors, expected * signs, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(signs[:2], [1, 1])
    turns = 2 * np.pi * np.repeat(np.arange(1, pairs + 1), 2) / size
    scale = 1 if normalized else 2
    np.testing.assert_allclose(values, scale * (1 - np.cos(turns)), rtol=0, atol=1e-13)


def test_a_step_along_a_ring_is_one_rotation_for_each_pair() -> None:
    """As for the sines of texts, with frequencies 2π·k/n in the place of a geometric series."""
    vectors = laplacian_eigenvectors(ring(12), 4)[1]
    step = np.linalg.lstsq(vectors, np.roll(vectors, -1, axis=0))[0]
    np.testing.assert_allclose(vectors @ step, np.roll(vectors, -1, axis=0), rtol=0, atol=1e-12)
    np.testing.assert_allclose(step[:2, 2:], 0, rtol=0, atol=1e-12)
    turn = 2 * np.pi / 12
    np.testing.assert_allclose(
        step[:2, :2],
        [[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]],
        rtol=0,
        atol=1e-12,
    )
    one = shift_matrix(1, 2)  # the same matrix at frequency 1, with the sine first
    np.testing.assert_allclose(one, [[np.cos(1), np.sin(1)], [-np.sin(1), np.cos(1)]])


# Components


@ways
@pytest.mark.parametrize(
    "weights",
    [
        path(6),
        joined(path(3), ring(4)),
        joined(path(2), np.zeros((2, 2)), path(3)),
        joined(path(4), star(3))[np.ix_([3, 5, 0, 7, 1, 6, 2, 4], [3, 5, 0, 7, 1, 6, 2, 4])],
    ],
    ids=["one", "two", "with isolated nodes", "shuffled"],
)
def test_as_many_eigenvalues_are_zero_as_there_are_components_and_all_are_left_out(
    weights: Array, normalized: bool
) -> None:
    every = np.linalg.eigvalsh(graph_laplacian(weights, normalized=normalized))
    zeros = int((np.abs(every) < 1e-12).sum())
    values, vectors = laplacian_eigenvectors(weights, len(weights) - zeros, normalized=normalized)
    np.testing.assert_allclose(values, every[zeros:], rtol=0, atol=1e-12)
    assert values[0] > 0.1
    assert vectors.shape == (len(weights), len(weights) - zeros)
    with pytest.raises(ValueError, match=rf"k must be at most {len(weights) - zeros}, .*; got"):
        laplacian_eigenvectors(weights, len(weights) - zeros + 1, normalized=normalized)


def test_isolated_nodes_have_rows_of_zeros() -> None:
    vectors = laplacian_eigenvectors(joined(path(4), np.zeros((2, 2))), 3)[1]
    np.testing.assert_array_equal(vectors[4:], 0)


def test_weights_may_have_any_scale_but_not_leave_a_component_nearly_in_two() -> None:
    weights = random_graph(8, seed=1)
    for scale in (1e-300, 1e299):
        values, vectors = laplacian_eigenvectors(scale * weights, 4, normalized=False)
        expected = laplacian_eigenvectors(weights, 4, normalized=False)
        np.testing.assert_allclose(values / scale, expected[0], rtol=1e-12)
        np.testing.assert_allclose(vectors, expected[1], rtol=0, atol=1e-12)
    weak = joined(path(3), path(3))
    weak[2, 3] = weak[3, 2] = 1e-14
    with pytest.raises(ValueError, match="adjacency must be of components that hang together"):
        laplacian_eigenvectors(weak, 2)
    weak[2, 3] = weak[3, 2] = 1e-6
    assert 0 < laplacian_eigenvectors(weak, 2)[0][0] < 1e-5


# Signs and bases


@ways
@pytest.mark.parametrize("flip", range(3))
def test_an_eigenvector_and_its_negative_are_both_eigenvectors(normalized: bool, flip: int) -> None:
    weights = random_graph(6, seed=2)
    laplacian = graph_laplacian(weights, normalized=normalized)
    values, vectors = laplacian_eigenvectors(weights, 3, normalized=normalized)
    vectors[:, flip] *= -1
    np.testing.assert_allclose(laplacian @ vectors, vectors * values, rtol=0, atol=1e-12)


def test_a_symmetry_of_a_graph_can_turn_an_eigenvector_into_its_negative() -> None:
    """So no rule that gives renumbered graphs renumbered vectors can choose a sign."""
    backwards = np.arange(5)[::-1]
    np.testing.assert_array_equal(path(5)[np.ix_(backwards, backwards)], path(5))
    first = laplacian_eigenvectors(path(5), 1)[1]
    np.testing.assert_allclose(first[backwards], -first, rtol=0, atol=1e-12)
    assert np.abs(first).max() > 0.5


def test_the_largest_entry_is_positive_and_of_equal_ones_the_first() -> None:
    for seed in range(20):
        vectors = laplacian_eigenvectors(random_graph(9, seed=seed), 8)[1]
        assert (vectors[np.abs(vectors).argmax(axis=0), range(8)] > 0).all()
    vectors = laplacian_eigenvectors(path(6), 5)[1]
    sizes = np.abs(vectors)
    first = (sizes >= (1 - 1e-6) * sizes.max(axis=0)).argmax(axis=0)
    assert (vectors[first, range(5)] > 0).all()


def test_signs_and_bases_do_not_depend_on_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = [path(7), ring(8), complete(6), star(5), random_graph(9, seed=4)]
    expected = [laplacian_eigenvectors(weights, len(weights) - 1)[1] for weights in graphs]
    solve, random = np.linalg.eigh, np.random.default_rng(0)

    def another(matrix: Array) -> tuple[Array, Array]:
        """Return eigenvectors of other signs, and other bases where eigenvalues are equal."""
        values, vectors = solve(matrix)
        for start in range(len(values)):
            same = np.abs(values - values[start]) < 1e-9
            rotation = np.linalg.qr(random.standard_normal((same.sum(), same.sum())))[0]
            vectors[:, same] = vectors[:, same] @ rotation
        return values, vectors

    monkeypatch.setattr(np.linalg, "eigh", another)
    for weights, vectors in zip(graphs, expected, strict=True):
        found = laplacian_eigenvectors(weights, len(weights) - 1)[1]
        np.testing.assert_allclose(found, vectors, rtol=0, atol=1e-9)


def test_of_equal_eigenvalues_the_first_vector_is_alone_at_the_heaviest_node() -> None:
    values, vectors = laplacian_eigenvectors(complete(5), 4)
    np.testing.assert_allclose(values, 5 / 4, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.triu(vectors, 1)[:4], 0, rtol=0, atol=1e-12)
    assert (vectors.diagonal() > 0).all()


def test_renumbered_nodes_change_signs_and_bases_but_no_eigenspace() -> None:
    weights = star(4)
    values, vectors = laplacian_eigenvectors(weights, 4)
    expected, changed = spaces(values, vectors), 0
    for order in list(permutations(range(5)))[::7]:
        among = np.ix_(order, order)
        other_values, other = laplacian_eigenvectors(weights[among], 4)
        np.testing.assert_allclose(other_values, values, rtol=0, atol=1e-12)
        for one, space in zip(spaces(other_values, other), expected, strict=True):
            np.testing.assert_allclose(one, space[among], rtol=0, atol=1e-12)
        changed += np.abs(other - vectors[list(order)]).max() > 0.1
    assert changed > 5


def test_without_signs_the_two_halves_of_a_path_are_the_same() -> None:
    vectors = laplacian_eigenvectors(path(6), 5)[1]
    np.testing.assert_allclose(np.abs(vectors), np.abs(vectors[::-1]), rtol=0, atol=1e-12)
    apart = [np.abs(vectors[i] - vectors[j]).max() for i in range(6) for j in range(i)]
    assert min(apart) > 0.3
