"""Graphs that several tests use, as matrices of weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def path(size: int) -> Array:
    """Return a path: each node has an edge to the next."""
    return np.eye(size, k=1) + np.eye(size, k=-1)


def ring(size: int) -> Array:
    """Return a ring of three nodes or more: a path whose ends have an edge."""
    around = np.roll(np.eye(size), 1, axis=1)
    return np.asarray(around + around.T)


def complete(size: int) -> Array:
    """Return a graph with an edge between any two nodes."""
    return np.ones((size, size)) - np.eye(size)


def star(leaves: int) -> Array:
    """Return a node with an edge to each of the others."""
    weights = np.zeros((leaves + 1, leaves + 1))
    weights[0, 1:] = weights[1:, 0] = 1
    return weights


def joined(*graphs: Array) -> Array:
    """Return the graphs beside each other, without an edge between them."""
    size = sum(map(len, graphs))
    weights, first = np.zeros((size, size)), 0
    for graph in graphs:
        weights[first : first + len(graph), first : first + len(graph)] = graph
        first += len(graph)
    return weights


def random_graph(size: int, *, seed: int) -> Array:
    """Return a connected graph with weights from 0.5 to 2, a path and more edges."""
    random = np.random.default_rng(seed)
    weights = random.uniform(0.5, 2, (size, size)) * (random.random((size, size)) < 0.5)
    weights = np.triu(np.maximum(weights, np.eye(size, k=1)), 1)
    return np.asarray(weights + weights.T)


def shrikhande() -> Array:
    """Return the Shrikhande graph: a torus of 4 by 4 places with one diagonal."""
    return _torus({(0, 1), (1, 0), (1, 1)})


def rook() -> Array:
    """Return the graph of a rook's moves on a board of 4 by 4."""
    return _torus({(0, 1), (0, 2), (1, 0), (2, 0)})


def _torus(steps: set[tuple[int, int]]) -> Array:
    """Return the places of a torus of 4 by 4, with edges for these steps and those back."""
    weights = np.zeros((4, 4, 4, 4))
    for row, column in np.ndindex(4, 4):
        for down, right in steps:
            there = (row + down) % 4, (column + right) % 4
            weights[row, column, there[0], there[1]] = weights[there[0], there[1], row, column] = 1
    return weights.reshape(16, 16)
