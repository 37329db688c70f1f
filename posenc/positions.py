"""Relative positions, as the whole package has them: key − query."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from posenc._arguments import as_integer


def relative_positions(
    query_length: int, key_length: int, *, query_offset: int = 0
) -> NDArray[np.int64]:
    """Return the relative position of every key for every query: key − query.

    It is positive for a key ahead of the query. Keys are at positions 0 … key_length−1, queries at
    query_offset … query_offset+query_length−1. With an offset, a single row of the full matrix can
    be computed: the last of ten is `relative_positions(1, 10, query_offset=9)`.

    Args:
        query_length: number of queries; an integer, 0 or more.
        key_length: number of keys; an integer, 0 or more.
        query_offset: position of the first query; an integer, 0 or more.

    Returns:
        Shape `(query_length, key_length)`, int64, a new array.

    Raises:
        TypeError: an argument is not an integer.
        ValueError: an argument is negative.

    Source:
        The sign is that of Shaw et al. (2018), section 3.2, where j − i selects a_ij, and of T5's
        `memory_position - context_position`. Transformer-XL and Swin use query − key.

    Examples:
        >>> relative_positions(3, 4)
        array([[ 0,  1,  2,  3],
               [-1,  0,  1,  2],
               [-2, -1,  0,  1]])
    """
    queries = np.arange(as_integer("query_length", query_length, least=0), dtype=np.int64)
    keys = np.arange(as_integer("key_length", key_length, least=0), dtype=np.int64)
    return keys - (queries + as_integer("query_offset", query_offset, least=0))[:, np.newaxis]
