"""Eigenvectors of a graph's Laplacian: the sines and cosines of a graph, up to their signs.

    L  =  D^(−1/2)·(D − A)·D^(−1/2)      A the weights of edges, D the degrees

An eigenvector has a number for each node, and its eigenvalue says how fast these numbers change
along edges, so that the first few eigenvectors are coordinates in which neighbours are close. On a
ring they are the cosines and sines of equally spaced frequencies.

No rule that looks at the graph alone can choose their signs, since a symmetry of the graph may
turn an eigenvector into its negative. The rule here looks at the order of the nodes.

Dwivedi and Bresson, "A Generalization of Transformer Networks to Graphs" (2020); Dwivedi et al.,
"Benchmarking Graph Neural Networks" (2023).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import as_adjacency, as_flag, as_integer

# Eigenvalues closer than this, relative to the largest that is possible, count as one; and of
# nodes whose entries differ by less than this share, the first decides a sign.
SAME, TIE = 1e-10, 1e-6


def graph_laplacian(adjacency: ArrayLike, *, normalized: bool = True) -> NDArray[np.float64]:
    """Return the Laplacian of a graph, D^(−1/2)·(D − A)·D^(−1/2), or D − A.

    Args:
        adjacency: the weight of the edge between two nodes, 0 where there is none, shape
            `(nodes, nodes)`, symmetric. A loop, on the diagonal, counts once in its degree.
        normalized: whether to divide by the roots of the degrees.

    Returns:
        Shape `(nodes, nodes)`, float64, a new array. The row of an isolated node is 0, where
        I − D^(−1/2)·A·D^(−1/2) would have that of I.

    Raises:
        TypeError: `adjacency` holds anything but real numbers, or `normalized` is not a boolean.
        ValueError: `adjacency` is not square, not symmetric, has no node, or a weight that is not
            finite, below 0 or above 1e300.

    Source:
        Dwivedi and Bresson (2020).

    Examples:
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> graph_laplacian(path).round(3)
        array([[ 1.   , -0.707,  0.   ],
               [-0.707,  1.   , -0.707],
               [ 0.   , -0.707,  1.   ]])
        >>> graph_laplacian(path, normalized=False)
        array([[ 1., -1.,  0.],
               [-1.,  2., -1.],
               [ 0., -1.,  1.]])
    """
    weights = as_adjacency("adjacency", adjacency, symmetric=True)
    degrees = weights.sum(axis=1)
    laplacian = np.diag(degrees) - weights
    if as_flag("normalized", normalized):
        roots = np.sqrt(np.where(degrees > 0, degrees, 1))  # the row of an isolated node stays 0
        laplacian = laplacian / roots / roots[:, np.newaxis]
    return laplacian


def laplacian_eigenvectors(
    adjacency: ArrayLike, k: int, *, normalized: bool = True
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the k smallest eigenvalues above 0 and their eigenvectors, with signs that are fixed.

    A graph has as many eigenvalues 0 as components, and all are left out. An eigenvector has length
    1, and the entry that is largest in size is positive, the first such entry if there are several.
    Where eigenvalues are equal, the same rule chooses the basis: the node that the eigenvectors
    weigh most, the first if there are several, has the first vector to itself; the others are 0
    there and follow the same rule among themselves.

    So the result depends on the order of the nodes, but not on the solver. With other orders the
    vectors may have other signs, and those of equal eigenvalues may be rotated.

    Args:
        adjacency: see `graph_laplacian`.
        k: how many; an integer from 1 to the number of nodes less that of components.
        normalized: see `graph_laplacian`.

    Returns:
        The eigenvalues, `(k,)`, from the smallest, and the eigenvectors as columns, `(nodes, k)`,
        float64, new arrays. All eigenvectors are computed, in time that grows with the cube of the
        nodes; equal means within 1e-10 of the largest eigenvalue that is possible.

    Raises:
        TypeError: `adjacency` holds anything but real numbers, `k` is not an integer, or
            `normalized` not a boolean.
        ValueError: `k` is below 1 or too large; weights are so unequal that a component nearly
            falls apart, with an eigenvalue that cannot be told from 0; otherwise as
            `graph_laplacian`.

    Source:
        Dwivedi and Bresson (2020). The rule for signs is our own.

    Examples:
        >>> ring = np.roll(np.eye(4), 1, axis=1) + np.roll(np.eye(4), -1, axis=1)
        >>> values, vectors = laplacian_eigenvectors(ring, 2)
        >>> values.round(3)
        array([1., 1.])
        >>> vectors.round(3) + 0.0  # a cosine and a sine
        array([[ 0.707,  0.   ],
               [ 0.   ,  0.707],
               [-0.707,  0.   ],
               [ 0.   , -0.707]])
    """
    laplacian = graph_laplacian(adjacency, normalized=normalized)
    zeros = _components(as_adjacency("adjacency", adjacency))
    count = _as_count(k, nodes=len(laplacian), zeros=zeros)
    largest = 2 * float(laplacian.diagonal().max())  # no eigenvalue is larger
    values, vectors = np.linalg.eigh(laplacian / largest)  # weights may be as large as 1e300
    values, vectors = values[zeros:], vectors[:, zeros:]
    _check_apart(values[0], largest)
    starts = np.flatnonzero(np.diff(values, prepend=-1) > SAME)  # where another eigenvalue begins
    spaces = np.split(vectors, starts[1:], axis=1)
    chosen = np.concatenate([_fixed(space) for space in spaces], axis=1)
    return values[:count] * largest, chosen[:, :count]


def _as_count(k: object, *, nodes: int, zeros: int) -> int:
    """Return `k`, at most the number of eigenvalues above 0."""
    count = as_integer("k", k, least=1)
    if count > nodes - zeros:
        raise ValueError(
            f"k must be at most {nodes - zeros}, the nodes less the components; got {count} for"
            f" {nodes} nodes in {zeros}"
        )
    return count


def _check_apart(smallest: float, largest: float) -> None:
    """Raise unless the smallest share above 0 of the largest eigenvalue can be told from 0."""
    if smallest <= SAME:
        raise ValueError(
            f"adjacency must be of components that hang together by more than 1e-10 of the largest"
            f" weights; got an eigenvalue of {smallest * largest:.3g}"
        )


def _components(weights: NDArray[np.float64]) -> int:
    """Return the number of components of a graph."""
    unseen, count = np.ones(len(weights), dtype=bool), 0
    while unseen.any():
        last = np.arange(len(weights)) == unseen.argmax()
        while last.any():
            unseen &= ~last
            last = (weights[last] > 0).any(axis=0) & unseen
        count += 1
    return count


def _fixed(basis: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the basis of the same space that `laplacian_eigenvectors` describes."""
    rows, vectors = basis.copy(), []
    for _ in range(basis.shape[1]):
        sizes = np.linalg.norm(rows, axis=1)
        node = int((sizes >= (1 - TIE) * sizes.max()).argmax())
        direction = rows[node] / sizes[node]  # towards the projection of that node
        vectors.append(basis @ direction)
        rows -= np.outer(rows @ direction, direction)
    return np.stack(vectors, axis=1)
