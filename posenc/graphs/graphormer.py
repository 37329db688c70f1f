"""Graphormer's positions: how many edges apart two nodes are, and how many edges a node has.

    score of query i and key j  =  q_i·k_j/√d + b[distance(i, j)]     one b for each head
    input of node i             =  x_i + z[degree(i)]

Both tables are learned. A distance needs no eigenvector and no sign, and it is relative: on a path
it is that of Shaw and T5 without the direction.

Ying et al., "Do Transformers Really Perform Badly for Graph Representation?" (2021).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import as_adjacency, as_integer, as_relative, as_table


def graph_distances(adjacency: ArrayLike) -> NDArray[np.int64]:
    """Return the number of edges on the shortest path from each node to each other.

    Args:
        adjacency: above 0 where there is an edge, shape `(nodes, nodes)`; how much above does not
            matter. Edges may have a direction, from the row's node to the column's.

    Returns:
        Shape `(nodes, nodes)`, int64, a new array: 0 on the diagonal, and −1 where there is no
        path.

    Raises:
        TypeError: `adjacency` holds anything but real numbers.
        ValueError: `adjacency` is not square, has no node, or a weight that is not finite, below 0
            or above 1e300.

    Source:
        Ying et al. (2021), "Spatial Encoding".

    Examples:
        >>> graph_distances([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]])
        array([[ 0,  1,  2, -1],
               [ 1,  0,  1, -1],
               [ 2,  1,  0, -1],
               [-1, -1, -1,  0]])
    """
    weights = as_adjacency("adjacency", adjacency)
    distances = np.where(weights > 0, np.float32(1), np.float32(np.inf))
    np.fill_diagonal(distances, 0)
    for middle in range(len(distances)):  # Floyd and Warshall: paths by nodes up to the middle
        through = distances[:, middle, np.newaxis] + distances[middle]
        np.minimum(distances, through, out=distances)
    return np.where(np.isinf(distances), -1, distances).astype(np.int64)


def graphormer_index(distances: ArrayLike, *, max_distance: int) -> NDArray[np.int64]:
    """Return the row of the table for each pair: its distance, with two rows for the rest.

    Args:
        distances: integers, any shape, −1 where there is no path; see `graph_distances`.
        max_distance: the largest distance with a row of its own, which larger ones share; an
            integer, 0 or more.

    Returns:
        The shape of `distances`, int64, a new array, from 0 to max_distance + 1: the last row is
        for pairs without a path.

    Raises:
        TypeError: `distances` holds anything but integers, or `max_distance` is not an integer.
        ValueError: a distance is below −1 or reaches 2⁵³; `max_distance` is below 0.

    Source:
        Ying et al. (2021), "Spatial Encoding". The paper gives pairs without a path a value of
        their own; the shared row beyond `max_distance` is as in Shaw et al. (2018).

    Examples:
        >>> graphormer_index([0, 1, 2, 3, 9, -1], max_distance=3)
        array([0, 1, 2, 3, 3, 4])
    """
    apart = as_relative("distances", distances)
    longest = as_integer("max_distance", max_distance, least=0)
    if (least := apart.min(initial=0)) < -1:
        raise ValueError(f"distances must be 0 or more, or -1 without a path; got {least}")
    return np.where(apart < 0, longest + 1, np.minimum(apart, longest))


def graphormer_bias(table: ArrayLike, distances: ArrayLike) -> NDArray[np.floating]:
    """Return the bias of each head for each pair of nodes, from a learned table.

    Args:
        table: the learned numbers, `(max_distance + 2, heads)`, finite, 2 rows or more; the last
            row is for pairs without a path.
        distances: integers, shape `(query, key)`, −1 where there is no path; see `graph_distances`.

    Returns:
        Shape `(heads, query, key)`, a new array of the table's dtype, or float64 for integers.

    Raises:
        TypeError: `table` holds anything but real numbers, or `distances` anything but integers.
        ValueError: `table` has fewer than 2 rows, no head, or a number that is not finite;
            `distances` is not of shape (query, key), or one is below −1 or reaches 2⁵³.

    Source:
        Ying et al. (2021), "Spatial Encoding".

    Examples:
        >>> graphormer_bias([[0.5], [0.25], [-9.0]], [[0, 1, -1]])  # the same, an edge, no path
        array([[[ 0.5 ,  0.25, -9.  ]]])
    """
    rows = as_table("table", table)
    if len(rows) < 2:
        raise ValueError(f"table must have 2 rows or more; got shape {rows.shape}")
    index = graphormer_index(distances, max_distance=len(rows) - 2)
    if index.ndim != 2:
        raise ValueError(f"distances must be of shape (query, key); got {index.shape}")
    return np.moveaxis(rows[index], -1, 0).copy()


def centrality_rows(table: ArrayLike, degrees: ArrayLike) -> NDArray[np.floating]:
    """Return the learned row of each node's degree, to be added to the node's input.

    Args:
        table: a learned row for each degree from 0, `(max_degree + 1, d_model)`, finite.
        degrees: the number of each node's edges, integers, 0 or more, any shape. Larger degrees
            than the table has share its last row.

    Returns:
        Shape `(*degrees.shape, d_model)`, a new array of the table's dtype, or float64 for
        integers.

    Raises:
        TypeError: `table` holds anything but real numbers, or `degrees` anything but integers.
        ValueError: `table` is not of shape (rows, width) or has a number that is not finite; a
            degree is below 0 or reaches 2⁵³.

    Source:
        Ying et al. (2021), "Centrality Encoding", for edges without directions. With
        directions, edges in and edges out have a table each, and both rows are added.

    Examples:
        >>> centrality_rows([[0.0, 0.0], [1.0, 2.0], [3.0, 4.0]], [1, 2, 7])
        array([[1., 2.],
               [3., 4.],
               [3., 4.]])
    """
    rows = as_table("table", table)
    edges = as_relative("degrees", degrees)
    if (least := edges.min(initial=0)) < 0:
        raise ValueError(f"degrees must be 0 or more; got {least}")
    return rows[np.minimum(edges, len(rows) - 1)]
