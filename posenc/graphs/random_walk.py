"""The chances of a random walk to be back where it began, after one step, two steps and so on.

    row of node i  =  (M_ii, (M²)_ii, …, (M^steps)_ii)      M = D^(−1)·A

A walk at a node takes one of its edges, each with a chance in proportion to its weight. A row has
no sign to choose and does not depend on the order of the nodes, so nodes that a symmetry of the
graph exchanges have the same row.

Dwivedi et al., "Graph Neural Networks with Learnable Structural and Positional Representations"
(2022).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import as_adjacency, as_integer


def random_walk_encoding(adjacency: ArrayLike, steps: int) -> NDArray[np.float64]:
    """Return the chance of a random walk from each node to be back after 1, 2 … `steps` steps.

    Args:
        adjacency: the weight of the edge from one node to another, 0 where there is none, shape
            `(nodes, nodes)`. Edges may have a direction, from the row's node to the column's.
        steps: how many; an integer, 1 or more.

    Returns:
        Shape `(nodes, steps)`, float64, a new array. A walk ends at a node without edges, so the
        row of an isolated node is 0.

    Raises:
        TypeError: `adjacency` holds anything but real numbers, or `steps` is not an integer.
        ValueError: `adjacency` is not square, has no node, or a weight that is not finite, below 0
            or above 1e300; `steps` is below 1.

    Source:
        Dwivedi et al. (2022).

    Examples:
        >>> path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
        >>> random_walk_encoding(path, 4)
        array([[0. , 0.5, 0. , 0.5],
               [0. , 1. , 0. , 1. ],
               [0. , 0.5, 0. , 0.5]])
    """
    weights = as_adjacency("adjacency", adjacency)
    degrees = weights.sum(axis=1, keepdims=True)
    walk = weights / np.where(degrees > 0, degrees, 1)
    chances, after = [], np.eye(len(walk))
    for _ in range(as_integer("steps", steps, least=1)):
        after = after @ walk
        chances.append(after.diagonal())
    return np.stack(chances, axis=1)
