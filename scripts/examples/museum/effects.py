"""What the bugs of the museum do: to scores, to weights, to what a model can tell apart.

Each function returns numbers that the pages print or the figures plot. Where vectors are needed,
they are drawn once from a seed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posenc import (
    alibi_bias,
    alibi_slopes,
    apply_rope,
    dynamic_frequencies,
    frequencies,
    resize_grid,
    sinusoidal_encoding,
    yarn_frequencies,
)
from scripts.examples.museum import axes, biases, caches, layouts, scaling

Array = NDArray[np.floating]
Program = Callable[..., Any]
HALF: dict[str, Any] = {"layout": "half", "base": 10000.0}
NEIGHBOURS: dict[str, Any] = {"layout": "interleaved", "base": 10000.0}


def vectors(count: int, d: int, seed: int = 0) -> Array:
    """Return random vectors of length 1."""
    found = np.random.default_rng(seed).standard_normal((count, d))
    return np.asarray(found / np.linalg.norm(found, axis=-1, keepdims=True))


def cosine(one: Any, other: Any) -> float:
    """Return the cosine of two vectors."""
    return float(np.dot(one, other) / np.linalg.norm(one) / np.linalg.norm(other))


# Layouts


def mixed_cosine(d: int = 64, position: int = 10) -> float:
    """Return the cosine of a vector rotated correctly and one whose result was not put back."""
    x = vectors(1, d)
    faulty = layouts.not_put_back(x, [position], **NEIGHBOURS)
    return cosine(faulty[0], apply_rope(x, [position], **NEIGHBOURS)[0])


def same_order_error(d: int = 64) -> float:
    """Return by how much scores change if neither queries nor keys are put back."""
    places = np.arange(100)
    x = vectors(100, d)
    faulty = layouts.not_put_back(x, places, **NEIGHBOURS)
    ours = apply_rope(x, places, **NEIGHBOURS)
    return float(np.abs(faulty @ faulty.T - ours @ ours.T).max())


def shift_scores(program: Program, d: int = 8, distance: int = 3, shifts: int = 64) -> Array:
    """Return the score of a query and a key at one distance, wherever they stand."""
    query, key = vectors(2, d)
    places = np.arange(shifts)
    queries = program(np.tile(query, (shifts, 1)), places + distance, **NEIGHBOURS)
    keys = program(np.tile(key, (shifts, 1)), places, **NEIGHBOURS)
    return np.asarray((queries * keys).sum(axis=-1))


def timestep_cosine(program: Program, time: float, d: int = 256) -> float:
    """Return the cosine of the embedding of a timestep and what a program makes of it."""
    inputs: dict[str, Any] = {"positions": [time], "d_model": d, "base": 10000.0}
    inputs |= {"order": "halves", "first": "cosine", "shift": 0}
    waves = sinusoidal_encoding([time], d).reshape(-1, 2)
    return cosine(program(**inputs)[0], waves[:, ::-1].T.ravel())


def nearest_timestep(time: float, d: int = 256) -> int:
    """Return the timestep whose right embedding is nearest to the flipped one of another."""
    steps = np.arange(1000)
    waves = sinusoidal_encoding(steps, d).reshape(1000, -1, 2)[..., ::-1]
    table = waves.swapaxes(1, 2).reshape(1000, d)
    inputs: dict[str, Any] = {"d_model": d, "base": 10000.0, "order": "halves"}
    flipped = layouts.flipped(positions=[time], first="cosine", shift=0, **inputs)[0]
    return int((table @ flipped).argmax())


def same_token(program: Program, distance: int, d: int = 128, rotary_d: int = 64) -> float:
    """Return the score of a vector with itself at a distance, of 1 where nothing is rotated."""
    x = np.full((1, d), d**-0.5)
    places = [[distance], [0]]
    query, key = (program(x, place, rotary_d=rotary_d, **NEIGHBOURS)[0] for place in places)
    return float(query @ key)


def layouts_correlation(length: int, d: int = 64, queries: int = 16) -> float:
    """Return the correlation of scores in the right and in the other layout, of the last tokens
    with all tokens before them.
    """
    x, places = vectors(length, d), np.arange(length)
    right, wrong = (
        program(x, places, **HALF) for program in (apply_rope, layouts.interleaved_everywhere)
    )
    scores = [(turned[-queries:] @ turned[:-queries].T).ravel() for turned in (right, wrong)]
    return float(np.corrcoef(scores)[0, 1])


# Precision: the programs of precision.py in numpy, so that the figures need no torch


def bfloat16(x: Any) -> Array:
    """Return numbers rounded to bfloat16, which is float32 without its last sixteen bits."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    even = bits + 0x7FFF + (bits >> 16 & 1)  # half goes to the even neighbour
    return (even & 0xFFFF0000).view(np.float32).astype(float)


def collapsed(x: Any, positions: Any, layout: str, base: float) -> Any:
    """Return vectors rotated at positions that were cast to bfloat16."""
    return apply_rope(x, bfloat16(positions), base=base, layout=layout)


def cast_frequencies(d: int, base: float) -> tuple[Array, Array]:
    """Return the frequencies of a head, and those after its model was cast to bfloat16."""
    omega = frequencies(d, base=base)
    return omega, bfloat16(omega)


def cast_error(position: int, d: int = 128, base: float = 500000.0) -> float:
    """Return the largest error of an angle at a position, in radians."""
    right, cast = cast_frequencies(d, base)
    return float((position * np.abs(cast - right)).max())


def phase_errors(length: int, d: int = 128, base: float = 10000.0) -> Array:
    """Return the largest error of an angle at each position, at most half a turn."""
    right, cast = cast_frequencies(d, base)
    errors = np.multiply.outer(np.arange(length), np.abs(cast - right)) % (2 * np.pi)
    return np.asarray(np.minimum(errors, 2 * np.pi - errors).max(axis=-1))


def half_cosines(d: int = 32, length: int = 2048) -> float:
    """Return by how much a cosine is off in a table of float16."""
    omega, places = frequencies(d), np.arange(length)
    right = np.cos(np.multiply.outer(places, omega))
    angles = np.multiply.outer(places.astype(np.float16), omega.astype(np.float16))
    half = np.cos(angles.astype(float)).astype(np.float16)
    return float(np.abs(half - right).max())


def distinct_angles(length: int, pair: int = 0, d: int = 128) -> int:
    """Return how many angles a pair has at so many positions, computed under autocast."""
    places, omega = bfloat16(np.arange(length)), bfloat16(frequencies(d)[pair])
    return len(np.unique(bfloat16(places * omega)))


def distinct_places(side: int, first: int = 65536) -> int:
    """Return how many of the rows of an image remain apart in bfloat16."""
    return len(np.unique(bfloat16(np.arange(first, first + side))))


def image_scores(program: Program, side: int = 16, d: int = 64, first: int = 65536) -> Array:
    """Return the score of the patch in the middle of an image with each of its patches.

    All have the same content; the first half of a head turns by the row and the second by the
    column, both counted from `first`.
    """
    x = np.full((side, d // 2), d**-0.5)
    turned = program(x, list(range(first, first + side)), layout="half", base=100.0)
    own = turned @ turned[side // 2]
    return np.asarray(own[:, np.newaxis] + own)


# Scaling


def scale_of(program: Program | None, factor: float) -> float:
    """Return YaRN's attention factor, by a program or as its configuration gives it."""
    own = 0.1 * np.log(factor) + 1
    if program is None:
        return float(own)
    inputs: dict[str, Any] = {"rule": "yarn", "d": 16, "trained_length": 4096, "base": 10000.0}
    answer = program(factor=factor, attention_factor=own, **inputs)
    return float(answer["attention_factor"])


def sharpened(scale: float, count: int = 32) -> float:
    """Return the largest of the weights of scores between 0 and 3, multiplied by scale²."""
    scores = np.linspace(0, 3, count) * scale**2
    return float((np.exp(scores) / np.exp(scores).sum()).max())


def ramp_ends(d: int = 64, base: float = 150000.0, trained: int = 4096) -> tuple[float, float]:
    """Return where YaRN's ramp begins and ends, in pairs, as gpt-oss is configured."""
    fast, slow = d * np.log(trained / (2 * np.pi * np.array([32, 1]))) / (2 * np.log(base))
    return float(fast), float(slow)


def ramp_error(position: int) -> float:
    """Return the largest error of an angle where the ends of the ramp were rounded."""
    inputs: dict[str, Any] = {"d": 64, "factor": 32.0, "trained_length": 4096, "base": 150000.0}
    wrong = scaling.whole_pairs("yarn", ramp="pairs", truncate=False, **inputs)["frequencies"]
    right = yarn_frequencies(ramp="pairs", truncate=False, **inputs)
    return float((position * np.abs(wrong - right)).max())


def divided_by(program: Program | None, factor: float = 32.0, d: int = 64) -> Array:
    """Return by how much YaRN divides each frequency."""
    inputs: dict[str, Any] = {"d": d, "factor": factor, "trained_length": 4096, "base": 150000.0}
    if program is None:
        scaled = yarn_frequencies(ramp="pairs", truncate=False, **inputs)
    else:
        scaled = program("yarn", ramp="pairs", truncate=False, **inputs)["frequencies"]
    return np.asarray(frequencies(d, base=150000.0) / scaled)


def constant_base(factor: float, d: int = 64) -> float:
    """Return by how much the base grows for a text of one token."""
    inputs: dict[str, Any] = {"d": d, "length": 1, "factor": factor, "trained_length": 2048}
    omega = scaling.constant("dynamic", base=1000.0, **inputs)["frequencies"]
    return float((omega[-1] ** (-d / (d - 2))) / 1000)


def switch_angle(length: int, d: int = 96) -> float:
    """Return the angle of the slowest pair at the last position, with the right divisors = 1."""
    inputs: dict[str, Any] = {"trained_length": 4096, "factor": 32.0, "d": d, "base": 10000.0}
    lists: dict[str, Any] = {"short": np.ones(d // 2), "long": np.geomspace(1, 64, d // 2)}
    omega = scaling.one_too_early("longrope", length=length, **lists, **inputs)["frequencies"]
    return float((length - 1) * omega[-1])


def beyond_training(program: Program | None) -> float:
    """Return the largest angle of the slowest pair at four times the trained length, as a multiple
    of the largest in training.
    """
    inputs: dict[str, Any] = {"factor": 4.0, "trained_length": 32768, "base": 1e6}
    rule = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}
    config = {"head_dim": 128, "rope_theta": 1e6, "max_position_embeddings": 40960}
    scaled = (
        yarn_frequencies(128, ramp="pairs", **inputs)
        if program is None
        else program(config | {"rope_scaling": rule})["frequencies"]
    )
    return float(4 * scaled[-1] / frequencies(128, base=1e6)[-1])


def window_likeness(distance: float, program: Program | None = None) -> float:
    """Return the likeness of equal tokens in a layer with a window, as Gemma 3 is configured."""
    kinds = ["sliding_attention", "full_attention"]
    config: dict[str, Any] = {"head_dim": 256, "rope_theta": 1e6, "rope_local_base_freq": 1e4}
    config |= {"layer_types": kinds, "rope_scaling": {"rope_type": "linear", "factor": 8.0}}
    omega = frequencies(256) if program is None else program(config)["layers"][0]["frequencies"]
    return likeness(omega, distance)


def likeness(omega: Any, distance: float) -> float:
    """Return the score of equal vectors of length 1 at a distance: the mean cosine."""
    return float(np.cos(np.multiply(distance, omega)).mean())


def wrong_base(distance: float, base: float | None = None) -> float:
    """Return the likeness of equal tokens of a model with base 1,000,000, or another base."""
    config = {"hidden_size": 4096, "num_attention_heads": 32, "rope_theta": 1e6}
    omega = (
        scaling.ten_thousand(config)["frequencies"] if base is None else frequencies(128, base=base)
    )
    return likeness(omega, distance)


# Biases


def slope(heads: int, head: int, program: Program = alibi_slopes) -> float:
    """Return the slope of a head."""
    return float(program(heads)[head])


def sharded(heads: int, ranks: int) -> Array:
    """Return the slopes of all heads where each device has those of the first device."""
    shards = [biases.first_shard(heads, rank, ranks) for rank in range(ranks)]
    return np.concatenate(shards)


def kept(heads: int, program: Program) -> int:
    """Return how many heads have the slope that they were trained with."""
    return int(np.isclose(program(heads), alibi_slopes(heads)).sum())


def mean_distance(slope: float) -> float:
    """Return how far behind the keys are on average that a head with equal scores looks at."""
    return float(1 / np.expm1(slope))


def step_weights(program: Program, keys: int = 64, heads: int = 8, head: int = 0) -> Array:
    """Return the weights of the last query over all keys, all of which have the same score."""
    bias = program(heads=heads, query_length=1, key_length=keys, query_offset=keys - 1, causal=True)
    weights = np.exp(np.asarray(bias)[head, 0])
    return np.asarray(weights / weights.sum())


def right_bias(**inputs: Any) -> Array:
    """Return ALiBi's bias, with arguments as the vectors name them."""
    heads, queries, keys = (inputs.pop(name) for name in ("heads", "query_length", "key_length"))
    return np.asarray(alibi_bias(heads, queries, keys, **inputs))


def step_buckets(program: Program, keys: int) -> int:
    """Return how many buckets a step tells apart."""
    relative = list(range(1 - keys, 1))
    found = program(relative, bidirectional=False, buckets=32, max_distance=128)
    return len(np.unique(found))


# Caches


def second_chunk(distance: int, start: int = 512, d: int = 64) -> tuple[float, float]:
    """Return the score of a token of the second chunk with an equal one of the first: the right
    one, and that of a cache without positions.
    """
    x = np.full((1, d), d**-0.5)
    cache = caches.OffsetNotInTheKey(d, **HALF)
    right = [apply_rope(x, [place], **HALF)[0] for place in (start - distance, start)]
    wrong = [cache.rotate(x, [place])[0] for place in (start - distance, start)]
    return float(right[0] @ right[1]), float(wrong[0] @ wrong[1])


def second_model(distance: int, d: int = 128) -> tuple[float, float]:
    """Return the likeness in a model with base 1,000,000, alone and after one with base 10,000."""
    caches.BaseNotInTheKey.tables.clear()
    caches.BaseNotInTheKey(d, 10000.0, "half")
    after = caches.BaseNotInTheKey(d, 1e6, "half")
    found = likeness(frequencies(d, base=1e6), distance), likeness(after.tables[d], distance)
    caches.BaseNotInTheKey.tables.clear()
    return found


def short_text(distances: Any, before: int = 1, d: int = 128) -> Array:
    """Return the likeness of tokens of a short text, after a text of another length."""
    model = caches.NeverShrinks("dynamic", d, 10000.0, 4.0, 4096)
    model.frequencies(before)
    omega = model.frequencies(1024)
    return np.array([likeness(omega, distance) for distance in np.ravel(distances)])


def right_text(distance: float, length: int, d: int = 128) -> float:
    """Return the same, as it should be."""
    inputs: dict[str, Any] = {"base": 10000.0, "factor": 4.0, "trained_length": 4096}
    return likeness(dynamic_frequencies(d, length, **inputs), distance)


def shifted_row(padding: int, d: int = 768) -> float:
    """Return the cosine of the row that a first token should have and the one it gets."""
    places = caches.padding_counted([[0] * padding + [1]])[0]
    return cosine(*sinusoidal_encoding([0, places[-1]], d))


def packed_error(lengths: list[int], program: Program = apply_rope, d: int = 64) -> float:
    """Return by how much the scores within the last document change."""
    places = caches.never_restarts(lengths)[-lengths[-1] :]
    x = vectors(lengths[-1], d)
    wrong, right = (program(x, at.tolist(), **HALF) for at in (places, np.arange(lengths[-1])))
    return float(np.abs(wrong @ wrong.T - right @ right.T).max())


def after_dropping(distance: int, d: int = 64) -> tuple[float, float]:
    """Return the score of two equal steps after a cache has dropped keys: the right one, and that
    where the kept keys are counted.
    """
    x, cache = np.full((1, d), d**-0.5), caches.KeysCounted(d, **HALF)
    steps = [cache.extend(x)[0] for _ in range(distance + 100)]
    return likeness(frequencies(d), distance), float(steps[-1] @ steps[-1 - distance])


def padding_rows(lengths: list[int], first_row: int = 2) -> int:
    """Return how many tokens of a packed row read a row of the table that no token has."""
    return int((caches.from_row_zero(lengths, first_row) < first_row).sum())


def last_place(lengths: list[int]) -> int:
    """Return the largest position of a packed row."""
    return int(caches.never_restarts(lengths)[-1])


# Axes


def grid(rows: int, columns: int) -> NDArray[np.int_]:
    """Return the row and the column of each patch of an image."""
    return np.stack(np.divmod(np.arange(rows * columns), columns), axis=-1)


def grid_scores(program: Program, side: int = 16, d: int = 16) -> Array:
    """Return the score of the patch in the middle with each patch, all of the same content."""
    x = np.tile(vectors(1, d, seed=3), (side * side, 1))
    inputs: dict[str, Any] = {"first": "row", "layout": "half", "base": 100.0}
    turned = program(x, grid(side, side).tolist(), **inputs)
    middle = (side // 2) * side + side // 2
    return np.asarray((turned @ turned[middle]).reshape(side, side))


def right_grid(x: Any, positions: Any, first: str, layout: str, base: float) -> Array:
    """Return patches rotated correctly: the first half by the row, the second by the column."""
    row, column = np.split(np.array(x, float), 2, axis=-1)
    places = np.array(positions)
    turned = [
        apply_rope(half, places[:, axis], base=base, layout=layout)
        for axis, half in enumerate((row, column))
    ]
    return np.concatenate(turned, axis=-1)


def along_a_row(program: Program) -> float:
    """Return by how much scores differ between the patches of one row."""
    scores = grid_scores(program)
    return float(np.ptp(scores, axis=1).max())


def other_axes(sections: list[int]) -> int:
    """Return how many pairs rotate by another axis if sections are contiguous, not interleaved."""
    turns = np.arange(sum(sections)) % 3
    turns[np.arange(sum(sections)) >= 3 * np.array(sections)[turns]] = 0
    return int((turns != np.repeat([0, 1, 2], sections)).sum())


def text_error(sections: list[int]) -> float:
    """Return by how much blocks change the scores of a text, whose axes are all the same."""
    x, places = vectors(50, 2 * sum(sections)), np.tile(np.arange(50), (3, 1))
    inputs: dict[str, Any] = {"layout": "half", "base": 1e6}
    wrong = axes.blocks_for_turns(x, places, sections, interleaved_sections=True, **inputs)
    right = apply_rope(x, np.arange(50), **inputs)
    return float(np.abs(wrong - right).max())


def distinct_patches(rows: int, columns: int, d: int = 16) -> int:
    """Return how many patches of an image of one colour are told apart without their height."""
    places = grid(rows, columns).T
    x = np.ones((rows * columns, d))
    turned = axes.height_lost(
        x, [0 * places[0], *places], [2, 3, 3], interleaved_sections=False, **HALF
    )
    return len(np.unique(turned.round(9), axis=0))


def video_times(program: Program, frames: int, text: int = 15) -> NDArray[np.int_]:
    """Return the times that the frames of a video after some text have, each once."""
    places = program([text, (frames, 2, 2), 3], intervals=4, after="sides")
    return np.unique(places[text:-3, 0])


def next_place(program: Program, side: int, text: int = 8) -> int:
    """Return the position of the first step after text, a square image, and text."""
    return int(program([text, (1, side, side), text, 1])[-1, 0])


def stretch(patches: int, side: int = 48) -> float:
    """Return how far from the middle a patch finds its place in a table, as a multiple of what it
    should be.
    """
    table, middle = np.arange(float(side)).reshape(-1, 1, 1), patches // 2
    how: dict[str, Any] = {"kernel": "linear", "corners": True, "antialias": False}
    right, wrong = (
        program(table, (patches, 1), **how)[middle : middle + 2, 0, 0]
        for program in (resize_grid, axes.corners_moved)
    )
    return float(np.diff(wrong)[0] / np.diff(right)[0])
