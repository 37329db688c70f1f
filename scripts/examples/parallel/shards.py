"""Which tokens of a sequence each rank holds, and what a causal mask leaves it to compute."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ORDERS = ("contiguous", "zigzag", "striped")


def shards(order: str, length: int, ranks: int) -> NDArray[np.int64]:
    """Return the positions of the tokens of each rank, `(ranks, length / ranks)`.

    Zigzag cuts the sequence into twice as many chunks as there are ranks, and rank r holds chunk r
    from the front and chunk r from the back.
    """
    if ranks < 1:
        raise ValueError(f"ranks must be an integer, 1 or more; got {ranks}")
    if length < 1 or length % (2 * ranks):
        raise ValueError(f"length must be a multiple of {2 * ranks}, 2·ranks; got {length}")
    positions = np.arange(length)
    if order == "contiguous":
        return positions.reshape(ranks, -1)
    if order == "striped":
        return positions.reshape(-1, ranks).T
    if order == "zigzag":
        chunks = positions.reshape(2 * ranks, -1)
        return np.concatenate((chunks[:ranks], chunks[: ranks - 1 : -1]), axis=1)
    raise ValueError(f"order must be one of {', '.join(ORDERS)}; got {order!r}")


def keys_seen(positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many pairs of a query and a key a causal mask leaves each rank, `(ranks,)`."""
    seen: NDArray[np.int64] = (positions + 1).sum(axis=1)  # the query at p sees keys 0 … p
    return seen


def slowest_over_mean(order: str, length: int, ranks: int) -> float:
    """Return the work of the busiest rank as a multiple of the mean."""
    seen = keys_seen(shards(order, length, ranks))
    return float(seen.max() / seen.mean())
