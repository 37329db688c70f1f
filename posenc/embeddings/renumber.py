"""Renumbered positions: positions for training, and distances for longer sequences.

    in training    random positions; PoSE, chunks with a gap between them
    at inference   self-extend, distances in groups; ReRoPE, distances that stop growing;
                   dual chunk attention, distances by chunk
    also           a window with attention sinks; scores scaled by log n

None of them changes a model. In training, a short sequence gets the positions of a long one; at
inference, a long sequence gets no distance that training has not shown.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import LARGEST, as_integer, as_number, as_positions
from posenc.positions import relative_positions


def random_positions(length: int, longest: int, *, seed: int | None = None) -> NDArray[np.int64]:
    """Return positions for a training sequence, drawn from those of a longer one, in order.

    Every subset of this size is equally likely. The order of the tokens stays; their distances are
    larger and differ from sequence to sequence, so a model cannot rely on them.

    Args:
        length: how many positions; an integer, 0 or more.
        longest: all positions are below it; an integer, `length` or more.
        seed: seeds the random numbers; None for different ones on each call.

    Returns:
        Shape `(length,)`, int64, increasing, from 0 to longest − 1; a new array.

    Raises:
        TypeError: an argument is not an integer.
        ValueError: `length` or `seed` is negative, or `longest` below `length`.

    Source:
        Ruoss et al., "Randomized Positional Encodings Boost Length Generalization of Transformers"
        (ACL 2023, arXiv 2305.16843), and the authors' code.

    Examples:
        >>> random_positions(5, 2048, seed=0).size
        5
        >>> random_positions(4, 4)
        array([0, 1, 2, 3])
    """
    count = as_integer("length", length, least=0)
    end = as_integer("longest", longest, least=count)
    drawn = _generator(seed).choice(end, size=count, replace=False)
    return np.sort(drawn.astype(np.int64))


def pose_positions(
    length: int, longest: int, *, chunks: int = 2, seed: int | None = None
) -> NDArray[np.int64]:
    """Return positions for a training sequence cut into chunks, each moved ahead by a random skip.

    Within a chunk positions are consecutive, as the model knows them. Between two chunks there is a
    gap, so over many sequences all distances up to `longest` occur, at the cost of short ones.

    Args:
        length: how many positions; an integer, `chunks` or more.
        longest: all positions are below it; an integer, `length` or more.
        chunks: how many chunks; an integer, 1 or more.
        seed: seeds the random numbers; None for different ones on each call.

    Returns:
        Shape `(length,)`, int64, increasing from 0 to at most longest − 1; a new array.

    Raises:
        TypeError: an argument is not an integer.
        ValueError: `chunks` is below 1, `length` below `chunks`, `longest` below `length`, or
            `seed` negative.

    Source:
        Zhu et al., "PoSE: Efficient Context Window Extension of LLMs via Positional Skip-wise
        Training" (ICLR 2024, arXiv 2309.10400), section 3.2, where the first skip is 0 and each
        later one is drawn from the one before it to longest − length. Here the chunks are cut
        anywhere; the authors' code, with two chunks, ends the first by the middle.

    Examples:
        >>> positions = pose_positions(6, 100, seed=1)
        >>> bool((np.diff(positions) == 1).sum() >= 4)  # one gap at the most
        True
    """
    parts = as_integer("chunks", chunks, least=1)
    count = as_integer("length", length, least=parts)
    end = as_integer("longest", longest, least=count)
    random = _generator(seed)
    cuts = np.sort(random.choice(np.arange(1, count), size=parts - 1, replace=False))
    skips = np.zeros(count, np.int64)
    for cut in cuts:
        skips[cut:] = random.integers(skips[cut], end - count, endpoint=True)
    return np.arange(count) + skips


def self_extend_relative(
    query_length: int, key_length: int, *, window: int, group: int, query_offset: int = 0
) -> NDArray[np.int64]:
    """Return relative positions that are exact within a window and count in groups beyond it.

    Near keys keep their distance. Further away both positions are divided by `group` and rounded
    down, and the query is moved so that distances continue where the window ends. A model trained
    on L positions meets no new distance up to a length of (L − window)·group + window.

    Args:
        query_length: how many queries; an integer, 0 or more.
        key_length: how many keys, at positions 0 … key_length−1; an integer, 0 or more.
        window: keys less than this behind the query keep their distance; an integer, 1 or more.
        group: how many positions become one; an integer, 1 or more.
        query_offset: position of the first query; an integer, 0 or more.

    Returns:
        Shape `(query_length, key_length)`, int64, key − query; exact ahead of the query, which a
        decoder masks; a new array.

    Raises:
        TypeError: an argument is not an integer.
        ValueError: an argument is too small.

    Source:
        Jin et al., "LLM Maybe LongLM: Self-Extend LLM Context Window Without Tuning" (ICML 2024,
        arXiv 2401.01325), and the authors' code, which does not round window/group down.

    Examples:
        >>> self_extend_relative(1, 9, window=4, group=2, query_offset=8)
        array([[-6, -6, -5, -5, -4, -3, -2, -1,  0]])
    """
    near = relative_positions(query_length, key_length, query_offset=query_offset)
    width = as_integer("window", window, least=1)
    size = as_integer("group", group, least=1)
    keys = np.arange(near.shape[1]) // size
    queries = (np.arange(near.shape[0]) + query_offset) // size + width - width // size
    grouped: NDArray[np.int64] = keys - queries[:, np.newaxis]
    return np.where(near > -width, near, grouped)


def rerope_relative(
    query_length: int, key_length: int, *, window: int, step: float = 0.0, query_offset: int = 0
) -> NDArray[np.float64]:
    """Return relative positions whose distance stops growing at a window, or grows by small steps.

    With `step` 0 all keys at the window or further are at the same distance. With a step of 1/k the
    distance grows k times as slowly beyond the window: the leaky form.

    Args:
        query_length: how many queries; an integer, 0 or more.
        key_length: how many keys, at positions 0 … key_length−1; an integer, 0 or more.
        window: the distance from which this holds; an integer, 1 or more.
        step: by how much the distance still grows per position, from 0 to 1.
        query_offset: position of the first query; an integer, 0 or more.

    Returns:
        Shape `(query_length, key_length)`, float64, key − query; exact ahead of the query, which a
        decoder masks; a new array.

    Raises:
        TypeError: `step` is not a number, or another argument not an integer.
        ValueError: an argument is too small, or `step` above 1.

    Source:
        Su, "ReRoPE" (2023), github.com/bojone/rerope, where step is 1/k.

    Examples:
        >>> rerope_relative(1, 6, window=3, query_offset=5)
        array([[-3., -3., -3., -2., -1.,  0.]])
        >>> rerope_relative(1, 6, window=3, step=0.5, query_offset=5)
        array([[-4. , -3.5, -3. , -2. , -1. ,  0. ]])
    """
    relative = relative_positions(query_length, key_length, query_offset=query_offset)
    width = as_integer("window", window, least=1)
    slow = float(as_number("step", step))
    if not 0 <= slow <= 1:
        raise ValueError(f"step must be from 0 to 1; got {slow:g}")
    beyond = np.minimum(relative + width, 0)  # by how much a key is further than the window
    return np.maximum(relative, -width) + slow * beyond


def dual_chunk_relative(
    query_length: int,
    key_length: int,
    *,
    chunk_size: int,
    local_size: int,
    query_offset: int = 0,
) -> NDArray[np.int64]:
    """Return the relative positions of dual chunk attention, which never exceed `chunk_size`.

    The sequence is cut into chunks of n = chunk_size − local_size tokens, and a key has its place
    within its chunk as its position, j mod n. A query at i has one position for each kind of key:

        i mod n                       for keys of its own chunk, whose distance is exact
        min(i mod n + n, chunk_size)  for the chunk before
        chunk_size                    for all earlier chunks

    Distances up to `local_size` are exact; all others are above it.

    Args:
        query_length: how many queries; an integer, 0 or more.
        key_length: how many keys, at positions 0 … key_length−1; an integer, 0 or more.
        chunk_size: the largest distance, `chunk_size` of a configuration; an integer, 1 or more.
        local_size: up to here distances are exact, `local_size` of a configuration; an integer, 0
            or more, and less than half of `chunk_size`.
        query_offset: position of the first query; an integer, 0 or more.

    Returns:
        Shape `(query_length, key_length)`, int64, key − query; exact ahead of the query, which a
        decoder masks; a new array.

    Raises:
        TypeError: an argument is not an integer.
        ValueError: an argument is too small, or `local_size` too large.

    Source:
        An et al., "Training-Free Long-Context Scaling of Large Language Models" (ICML 2024, arXiv
        2402.17463), and the authors' code, github.com/HKUNLP/ChunkLlama.

    Examples:
        >>> dual_chunk_relative(1, 12, chunk_size=5, local_size=1, query_offset=11)
        array([[-5, -4, -3, -2, -5, -4, -3, -2, -3, -2, -1,  0]])
    """
    exact = relative_positions(query_length, key_length, query_offset=query_offset)
    largest = as_integer("chunk_size", chunk_size, least=1)
    local = as_integer("local_size", local_size, least=0)
    if 2 * local >= largest:
        raise ValueError(f"local_size must be below half of chunk_size, {largest}; got {local}")
    length = largest - local
    keys = np.arange(exact.shape[1])
    queries = (np.arange(exact.shape[0]) + query_offset)[:, np.newaxis]
    behind = queries // length - keys // length
    before = np.minimum(queries % length + length, largest)
    chunked: NDArray[np.int64] = keys % length - np.where(behind == 1, before, largest)
    return np.where(behind < 1, exact, chunked)


def sink_mask(
    query_length: int,
    key_length: int | None = None,
    *,
    window: int,
    sinks: int = 4,
    query_offset: int = 0,
) -> NDArray[np.bool_]:
    """Return a causal mask that shows each query the last keys and the first few of the sequence.

    A trained decoder gives its first tokens, the *sinks*, the weight that it has no use for. If a
    window leaves them out, that weight has to go to other keys, and outputs get worse.

    Args:
        query_length: how many queries; an integer, 0 or more.
        key_length: how many keys, at positions 0 … key_length−1; None for as many as the last query
            can see, query_offset + query_length.
        window: how many keys a query sees, up to and including its own; an integer, 1 or more.
        sinks: how many of the first keys it also sees; an integer, 0 or more.
        query_offset: position of the first query; an integer, 0 or more.

    Returns:
        Shape `(query_length, key_length)`, boolean, True where a query may look; a new array.

    Raises:
        TypeError: an argument is not an integer.
        ValueError: an argument is too small.

    Source:
        Xiao, Tian, Chen, Han and Lewis, "Efficient Streaming Language Models with Attention Sinks"
        (ICLR 2024, arXiv 2309.17453), with four sinks. There, positions are those in
        the cache, not those in the text.

    Examples:
        >>> sink_mask(1, window=2, sinks=1, query_offset=5).astype(int)
        array([[1, 0, 0, 0, 1, 1]])
    """
    first = as_integer("query_offset", query_offset, least=0)
    queries = as_integer("query_length", query_length, least=0)
    keys = first + queries if key_length is None else key_length
    relative = relative_positions(queries, keys, query_offset=first)
    near = relative > -as_integer("window", window, least=1)
    early = np.arange(relative.shape[1]) < as_integer("sinks", sinks, least=0)
    return (relative <= 0) & (near | early)


def log_scale(positions: ArrayLike, trained_length: int) -> NDArray[np.float64]:
    """Return the factor for the queries at each position: log n divided by log(trained_length).

    A query at position p sees n = p + 1 keys. Softmax over more keys is flatter: for one key to
    keep its weight, its score must lie above the others by log n more. Up to the trained length the
    factor is 1.

    Args:
        positions: see `posenc.sinusoidal_encoding`; 0 or more.
        trained_length: how many keys the last query of training has seen; an integer, 2 or more.

    Returns:
        Shape of the positions, float64, 1 or more; a new array.

    Raises:
        TypeError: `positions` holds anything but real numbers, or `trained_length` is no integer.
        ValueError: a position is negative, not finite or reaches 2⁵³; `trained_length` is below
            2.

    Source:
        Chiang and Cholak, "Overcoming a Theoretical Limitation of Self-Attention" (ACL 2022, arXiv
        2202.12172), for scores times log n; relative to the trained length and only
        beyond it, as in the code of ReRoPE, github.com/bojone/rerope.

    Examples:
        >>> log_scale(np.array([0, 511, 1023, 262143]), 512).round(4)
        array([1.    , 1.    , 1.1111, 2.    ])
    """
    places = as_positions(positions)
    outside = places[(places < 0) | (places >= LARGEST)]
    if outside.size:
        raise ValueError(
            f"positions must be 0 or more, and below 2**53 in size; got {outside[0]:.6g}"
        )
    trained = as_integer("trained_length", trained_length, least=2)
    factors: NDArray[np.float64] = np.maximum(1.0, np.log1p(places) / np.log(trained))
    return factors


def _generator(seed: int | None) -> np.random.Generator:
    """Return a generator of random numbers, always the same for the same seed."""
    return np.random.default_rng(None if seed is None else as_integer("seed", seed, least=0))
