"""CoPE: positions counted by content, so that a key can be two sentences back, not 37 tokens.

    p_ij  =  Σ σ(s_ik) over the keys k from j to i,     s the scores of query i
    score  =  s_ij + q_i·e[p_ij]

Golovneva, Wang, Weston and Sukhbaatar, "Contextual Position Encoding: Learning to Count What's
Important" (2024, arXiv 2405.18719). A count need not be an integer, so e is interpolated
between two rows of a table.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import as_reals, as_table
from posenc.scores.dot_product import causal_mask


def cope_positions(scores: ArrayLike) -> NDArray[np.float64]:
    """Return the position of each key as its query counts it: the sum of gates from key to query.

    A key's gate is the sigmoid of its score: 1 for a key that the query counts, 0 for one that it
    does not. The query's own gate counts too, so where all gates are 1 the positions are 1 for the
    query's own key, 2 for the one before, and so on.

    Args:
        scores: the content scores, shape `(..., query, key)`; the queries are at the last
            of the keys' positions, so there are no more queries than keys.

    Returns:
        A new array of the shape of `scores`, float64; 0 for keys ahead of the query. Each
        row decreases from left to right.

    Raises:
        TypeError: `scores` holds anything but real numbers.
        ValueError: `scores` has fewer than two axes or more queries than keys, or is not finite.

    Source:
        Golovneva et al. (2024). The paper's gate takes q·k; its code in the appendix takes the
        score after the division by √d.

    Examples:
        >>> much = 50.0  # a gate of 1; and −much is one of 0
        >>> cope_positions([[much, much, much, much]])
        array([[4., 3., 2., 1.]])
        >>> cope_positions([[much, -much, -much, much]]).round(9)  # counts the first and the last
        array([[2., 1., 1., 1.]])
    """
    content = as_reals("scores", scores)
    if content.ndim < 2 or content.shape[-2] > content.shape[-1]:
        raise ValueError(
            "scores must be of shape (..., query, key), with no more queries than keys;"
            f" got {content.shape}"
        )
    queries, keys = content.shape[-2:]
    seen = causal_mask(queries, keys, query_offset=keys - queries)
    # tanh and not 1/(1 + exp(−s)), which overflows.
    gates = np.where(seen, (1 + np.tanh(content / 2)) / 2, 0.0)
    positions: NDArray[np.float64] = np.cumsum(gates[..., ::-1], axis=-1)[..., ::-1]
    return np.where(seen, positions, 0.0)


def cope_scores(q: ArrayLike, scores: ArrayLike, table: ArrayLike) -> NDArray[np.float64]:
    """Return the scores with CoPE's term: the query times the row of the position, interpolated.

    Args:
        q: queries, shape `(..., query, d)`.
        scores: their content scores, shape `(..., query, key)`; see `cope_positions`.
        table: e, one row for each integer position from 0, shape `(rows, d)`. Positions beyond
            the last row use the last row.

    Returns:
        A new array of the shape of `scores`, float64, −inf for keys ahead of the query.

    Raises:
        TypeError: an argument holds anything but real numbers.
        ValueError: shapes do not fit, or a number is not finite.

    Source:
        Golovneva et al. (2024), and the code of the appendix.

    Examples:
        >>> table = [[0.0], [10.0], [20.0]]
        >>> cope_scores([[1.0]], [[0.0, 0.0]], table)  # gates of 1/2: the positions 1 and 1/2
        array([[10.,  5.]])
    """
    rows = as_table("table", table).astype(np.float64)
    queries, content = as_reals("q", q), as_reals("scores", scores)
    positions = np.minimum(cope_positions(content), len(rows) - 1)
    if queries.ndim < 2 or queries.shape != (*content.shape[:-1], rows.shape[1]):
        raise ValueError(
            f"q, scores and table must fit: (..., query, d), (..., query, key) and (rows, d);"
            f" got {queries.shape}, {content.shape} and {rows.shape}"
        )
    whole = queries @ rows.T  # of each row, once for all keys
    below = np.floor(positions).astype(np.int64)
    share = positions - below
    low, high = (
        np.take_along_axis(whole, row, axis=-1) for row in (below, np.ceil(positions).astype(int))
    )
    seen = causal_mask(content.shape[-2], content.shape[-1], query_offset=_offset(content))
    return np.where(seen, content + (1 - share) * low + share * high, -np.inf)


def _offset(scores: NDArray[np.float64]) -> int:
    """Return the position of the first query, the last of which stands at the last key."""
    queries, keys = scores.shape[-2:]
    return int(keys - queries)
