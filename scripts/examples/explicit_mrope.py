"""Attention with M-RoPE in a packed row and behind a draft, with right positions and wrong ones.

`packing` and `drafts` return how far the output of attention is from that for the same tokens
alone, read in one call. Queries, keys and values are random, and all numbers are float64.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from posenc import apply_rope_nd, attention, causal_mask, mrope_frequencies, mrope_positions
from posenc.axes.mrope import Part

Array = NDArray[np.float64]
Positions = NDArray[np.int64]
D, SECTIONS, SLOTS = 24, (4, 4, 4), 24
IMAGE, OTHER = (1, 2, 3), (1, 3, 2)  # as many patches, in rows of three and in rows of two
FIRST: list[Part] = [2, IMAGE, 2]  # a document: two words, an image, two words
SECOND: list[Part] = [1, OTHER, 3]
DRAFT, ACCEPTED = 4, 2
WAYS = {
    "packing": (
        *("restart", "run on", "one axis restarts", "tokens counted", "time counted"),
        *("image forgotten", "first grid", "documents seen"),
    ),
    "drafts": ("delta", "length", "time alone", "slot from position", "position kept"),
}


class Buffer(NamedTuple):
    """A static cache: keys and values in slots that are allocated once."""

    k: Array  # (slots, d)
    v: Array  # (slots, d)


def check_way(case: str, way: str) -> None:
    """Raise unless a case knows this way; taken for the right one, a misspelt way has no error."""
    if way not in WAYS[case]:
        raise ValueError(f"way must be one of {', '.join(map(repr, WAYS[case]))}; got {way!r}")


def vectors(seed: int, length: int) -> Array:
    """Return random queries, keys and values, (3, length, d)."""
    return np.random.default_rng(seed).standard_normal((3, length, D))


def rotated(x: Array, positions: Positions) -> Array:
    """Return queries or keys, each rotated to its position on three axes."""
    omega = mrope_frequencies(D, SECTIONS, interleaved=True)
    return np.asarray(apply_rope_nd(x, positions, omega, layout="half"))


def attended(qkv: Array, positions: Positions, mask: NDArray[np.bool_] | None = None) -> Array:
    """Return the output of causal attention over a row."""
    q, k, v = qkv
    seen = causal_mask(len(k)) if mask is None else causal_mask(len(k)) & mask
    return attention(rotated(q, positions), rotated(k, positions), v, mask=seen)[0]


def error(found: Array, right: Array) -> float:
    """Return the norm of the difference over the norm of what is right."""
    return float(np.linalg.norm(found - right) / np.linalg.norm(right))


def second_positions(way: str) -> Positions:
    """Return the positions that the second document gets behind the first."""
    found = mrope_positions(SECOND)
    length = len(found)
    counted = np.arange(length)[:, np.newaxis]
    row = mrope_positions([*FIRST, *SECOND])[-length:]
    if way == "run on":
        return row
    if way == "first grid":
        return mrope_positions([1, IMAGE, 3])
    if way == "one axis restarts":
        found[:, 1:] = row[:, 1:]
    elif way == "tokens counted":
        found[:] = counted
    elif way == "time counted":
        found[:, :1] = counted
    elif way == "image forgotten":
        found[-3:] = counted[-3:]
    return found


def packing(way: str) -> float:
    """Return the error of the second of two documents in one row."""
    check_way("packing", way)
    first, second = mrope_positions(FIRST), mrope_positions(SECOND)
    a, b = vectors(0, len(first)), vectors(1, len(second))
    document = np.repeat([0, 1], [len(first), len(second)])
    mask = None if way == "documents seen" else document[:, np.newaxis] == document
    row = np.concatenate([first, second_positions(way)])
    found = attended(np.concatenate([a, b], axis=1), row, mask)[len(first) :]
    return error(found, attended(b, second))


def read(buffer: Buffer, qkv: Array, positions: Positions, slots: Positions, cached: int) -> Array:
    """Write keys and values into slots, and return the output for the tokens behind the cached."""
    q, k, v = qkv
    buffer.k[slots], buffer.v[slots] = rotated(k, positions), v
    seen = np.arange(SLOTS) <= cached + np.arange(len(q))[:, np.newaxis]
    return attention(rotated(q, positions), buffer.k, buffer.v, mask=seen)[0]


def drafts(way: str) -> float:
    """Return the error of the accepted tokens of a draft behind an image, and of the next token."""
    check_way("drafts", way)
    prompt = mrope_positions(FIRST)
    n, delta = len(prompt), int(prompt.max()) + 1 - len(prompt)
    kept = n + ACCEPTED
    right = vectors(0, kept + 1)
    draft = np.concatenate([right[:, n:kept], vectors(1, DRAFT - ACCEPTED)], axis=1)

    def places(start: int, count: int) -> Positions:
        found = np.repeat(np.arange(start, start + count)[:, np.newaxis], 3, axis=1)
        found += 0 if way == "length" else delta
        if way == "time alone":
            found[:, 1:] = prompt[-1, 1:]
        return found

    def slots(start: int, at: Positions) -> Positions:
        return at[:, 0] if way == "slot from position" else np.arange(start, start + len(at))

    buffer = Buffer(np.zeros((SLOTS, D)), np.zeros((SLOTS, D)))
    read(buffer, right[:, :n], prompt, np.arange(n), 0)
    at = places(n, DRAFT)
    accepted = read(buffer, draft, at, slots(n, at), n)[:ACCEPTED]
    at = places(n + DRAFT if way == "position kept" else kept, 1)
    last = read(buffer, right[:, kept:], at, slots(kept, at), kept)
    whole = attended(right, mrope_positions([*FIRST, ACCEPTED + 1]))
    return error(np.concatenate([accepted, last]), whole[n:])
