"""Exhibits about biases: the slopes of ALiBi, its sign, and what a step with a cache sees."""

from typing import Any

import numpy as np

from posenc import alibi_slopes, t5_buckets


def one_formula(heads: int) -> Any:
    """Return slopes by the formula for powers of two, for any number of heads."""
    ratio = 2 ** (-8 / heads)
    return ratio ** np.arange(1, heads + 1)


def from_zero(heads: int) -> Any:
    """Return slopes whose exponent counts heads from 0, so that the first is 1."""
    ratio = 2 ** (-8 / heads)
    return ratio ** np.arange(heads)  # should count heads from 1


def wrong_sign(
    heads: int, query_length: int, key_length: int, causal: bool, query_offset: int = 0
) -> Any:
    """Return a bias that raises the scores of far keys."""
    queries = query_offset + np.arange(query_length)[:, np.newaxis]
    keys = np.arange(key_length)
    distance = queries - keys if causal else np.abs(queries - keys)
    bias = np.multiply.outer(alibi_slopes(heads), distance)  # should be −distance
    return np.where(keys > queries, -np.inf, bias) if causal else bias


def bias_by_query_length(
    heads: int, query_length: int, key_length: int, causal: bool, query_offset: int = 0
) -> Any:
    """Return a bias that is as long as the queries, and is spread over the keys."""
    queries = query_offset + np.arange(query_length)[:, np.newaxis]
    places = np.arange(query_length)  # should be one for each key; a cache has more keys
    bias = np.multiply.outer(alibi_slopes(heads), places)[:, np.newaxis]
    hidden = causal & (np.arange(key_length) > queries)
    return np.where(hidden, -np.inf, bias)  # one query: its 0 is broadcast over all keys


def query_at_zero(relative: Any, bidirectional: bool, buckets: int, max_distance: int) -> Any:
    """Return the buckets of a step whose query is counted from 0, like a first one."""
    keys = np.array(relative) - np.min(relative)  # positions of the cached keys: 0, 1, 2, …
    query = 0  # should be len(keys) − 1
    return t5_buckets(
        keys - query, bidirectional=bidirectional, buckets=buckets, max_distance=max_distance
    )


def first_shard(heads: int, rank: int = 0, ranks: int = 1) -> Any:
    """Return the slopes of the heads of a device: those of the first device, whatever the rank."""
    slopes = alibi_slopes(heads)
    local = heads // ranks
    return slopes[:local]  # should begin at rank * local
