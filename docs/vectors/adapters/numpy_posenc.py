# SPDX-License-Identifier: MIT
"""posenc itself, as a program that answers the test vectors.

    python -m posenc vectors run -- python docs/vectors/adapters/numpy_posenc.py

`ANSWERS` has a function for each suite, which `posenc.vectors.check` takes as well.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

import posenc
from posenc.vectors import UnsupportedError

RULES = {
    "default": lambda d, base=10000.0: posenc.frequencies(d, base=base),
    "linear": posenc.interpolated_frequencies,
    "ntk": posenc.ntk_frequencies,
    "dynamic": posenc.dynamic_frequencies,
    "llama3": posenc.llama3_frequencies,
    "longrope": posenc.longrope_frequencies,
    "proportional": posenc.proportional_frequencies,
}


def frequencies(rule, **given):
    """Return the frequencies of a rule, and its attention factor."""
    fixed = given.pop("attention_factor", None)
    if rule == "yarn":
        return {"frequencies": yarn(given), "attention_factor": yarn_factor(fixed, given)}
    if rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(RULES)}; got {rule!r}")
    factor = 1.0
    if rule == "longrope":
        factor = posenc.longrope_temperature(given.pop("factor"), given["trained_length"])
    return {"frequencies": RULES[rule](**given), "attention_factor": fixed or factor}


def yarn(given):
    """Return YaRN's frequencies; the ramp is that of released code unless another is asked for."""
    ours = {key: value for key, value in given.items() if not key.startswith("mscale")}
    return posenc.yarn_frequencies(**({"ramp": "pairs"} | ours))


def yarn_factor(fixed, given):
    """Return YaRN's attention factor."""
    if fixed is not None:
        return fixed
    one, all_dim = given.get("mscale"), given.get("mscale_all_dim")
    if one and all_dim:
        top = posenc.yarn_temperature(given["factor"], mscale=one)
        return top / posenc.yarn_temperature(given["factor"], mscale=all_dim)
    return posenc.yarn_temperature(given["factor"])


def config(config, length=None):
    """Return what a configuration amounts to."""
    found = posenc.read_config(config)
    kinds = [posenc.read_config(config, layer_type=kind) for kind in found.layer_types] or [found]
    own = {number: kind for kind in kinds for number in kind.layers or ()}
    count = config.get("num_hidden_layers", 0)
    if len(kinds) > 1 or len(own) < count:
        return {"layers": [layer(own.get(number), length) for number in range(count)]}
    return layer(found, length) | {"softmax_factor": found.softmax_factor}


def layer(found, length):
    """Return what a layer does, or that it does not rotate."""
    if found is None or not found.rotates:
        return {"frequencies": [], "attention_factor": 1}
    return {"frequencies": found.frequencies(length), "attention_factor": found.attention_factor}


def rotation(x, positions, part="first", pairs="part", inverse=False, **how):
    """Return vectors rotated, with the part that rotates in front or at the end."""
    vectors, places = np.array(x, float), np.array(positions, float)
    width = how.get("rotary_d") or vectors.shape[-1]
    order = np.arange(vectors.shape[-1])
    if part == "last":
        order = np.roll(order, width)
    if pairs == "head" and how["layout"] == "half":  # the members of each pair to the part
        half, own = len(order) // 2, width // 2
        order = np.r_[:own, half : half + own, own:half, half + own : 2 * half]
    rotated = np.empty_like(vectors)
    places = -places if inverse else places
    rotated[..., order] = posenc.apply_rope(vectors[..., order], places, **how)
    return rotated


def alibi(heads, rank=0, ranks=1):
    """Return the slopes of a shard of the heads."""
    slopes = posenc.alibi_slopes(heads)
    if heads % ranks or not 0 <= rank < ranks:
        raise ValueError(f"heads must be split evenly, and rank be a shard; got {rank} of {ranks}")
    return np.split(slopes, ranks)[rank]


def swin_rectangle(height, width):
    """Return the index of each pair of patches in a window that is not square."""
    row, column = (axis.ravel() for axis in np.indices((height, width)))
    down, across = row[:, None] - row + height - 1, column[:, None] - column + width - 1
    return down * (2 * width - 1) + across


def deberta(relative, max_distance, buckets=None):
    """Return rows, or buckets where their number is given."""
    if buckets is None:
        return posenc.deberta_index(relative, max_distance=max_distance)
    return posenc.deberta_buckets(relative, buckets=buckets, max_distance=max_distance)


def resize_grid(grid, sizes, **how):
    """Return a grid at other sizes."""
    return posenc.resize_grid(np.array(grid, float), sizes, **how)


def scores(query, key, query_positions, key_positions, **how):
    """Return the scores of rotated queries and keys."""
    if np.shape(query_positions) != np.shape(query)[:-1]:
        raise ValueError("query_positions must have a position for each query")
    if np.shape(key_positions) != np.shape(key)[:-1]:
        raise ValueError("key_positions must have a position for each key")
    queries = posenc.apply_rope(query, query_positions, **how)
    return queries @ posenc.apply_rope(key, key_positions, **how).T


def rotation_2d(x, positions, first, layout, base):
    """Return patches rotated by row and column, each axis in a half of the head."""
    vectors, places = np.array(x, float), np.array(positions, float)
    if places.shape != (len(vectors), 2):
        raise ValueError("positions must be a row and a column for each vector")
    if first not in ("row", "column"):
        raise ValueError(f"first must be row or column; got {first!r}")
    if first == "column":
        places = places[:, ::-1]
    order = np.arange(vectors.shape[-1])
    if layout == "half":  # of each half of the head, not of the whole head
        order = order.reshape(2, 2, -1).swapaxes(0, 1).ravel()
    omega = posenc.axial_frequencies(vectors.shape[-1], base=base)
    rotated = np.empty_like(vectors)
    rotated[:, order] = posenc.apply_rope_nd(vectors[:, order], places, omega, layout=layout)
    return rotated


def mrope(x, positions, sections, layout, interleaved_sections, base):
    """Return vectors rotated by three positions, with a row of positions for each axis."""
    vectors, places = np.array(x, float), np.array(positions, float)
    if len(sections) != 3:
        raise ValueError("sections must be three numbers of pairs")
    if places.shape != (3, len(vectors)):
        raise ValueError("positions must have a row for each of three axes")
    omega = posenc.mrope_frequencies(
        vectors.shape[-1], sections, base=base, interleaved=interleaved_sections
    )
    return posenc.apply_rope_nd(vectors, places.T, omega, layout=layout)


def sinusoidal(positions, d_model, base, order, first, shift):
    """Return sines and cosines in any of the orders."""
    half = d_model // 2
    if shift and half < 2:
        raise ValueError("shift must be 0 where a row has one pair")
    if shift:  # another base gives the same exponents
        base = base ** (half / (half - shift))
    rows = posenc.sinusoidal_encoding(np.array(positions, float), d_model, base=base)
    if order not in ("interleaved", "halves") or first not in ("sine", "cosine"):
        raise ValueError("order and first must be known")
    pairs = rows.reshape(len(positions), half, 2)
    if first == "cosine":
        pairs = pairs[..., ::-1]
    return (
        pairs.reshape(rows.shape)
        if order == "interleaved"
        else pairs.swapaxes(1, 2).reshape(rows.shape)
    )


def alibi_bias(heads, query_length, key_length, causal, query_offset=0):
    """Return the bias of ALiBi."""
    return posenc.alibi_bias(
        heads, query_length, key_length, query_offset=query_offset, causal=causal
    )


def t5(relative, **rule):
    """Return buckets."""
    return posenc.t5_buckets(relative, **rule)


def shaw(query_length, key_length, max_distance):
    """Return clipped relative positions."""
    relative = posenc.relative_positions(query_length, key_length)
    return posenc.shaw_index(relative, max_distance=max_distance)


def positions(mask=None, lengths=None, queries=None, segments=None, first_row=0):
    """Return the position of each token."""
    if first_row < 0:
        raise ValueError(f"first_row must be 0 or more; got {first_row}")
    return first_row + np.array(counted(mask, lengths, queries, segments))


def counted(mask, lengths, queries, segments):
    """Return the position of each token, counted from 0."""
    if segments is not None:
        return [[row[:n].count(one) for n, one in enumerate(row)] for row in segments]
    if lengths is not None:
        if any(type(length) is not int or length < 0 for length in lengths):
            raise ValueError(f"lengths must be integers, 0 or more; got {lengths}")
        return [place for length in lengths for place in range(length)]
    kept = np.array(mask)
    if not np.isin(kept, (0, 1)).all():
        raise ValueError("mask must be 0 or 1")
    places = (kept.cumsum(axis=1) - 1).clip(0)
    if queries is not None and queries > places.shape[1]:
        raise ValueError(f"queries must be at most {places.shape[1]}; got {queries}")
    return places if queries is None else places[:, -queries:]


class Rotary:
    """An object for suite sequences: it rotates, and counts the tokens that it has seen."""

    def __init__(self, d, base=10000, layout="interleaved", **rule):
        self.d, self.base, self.layout, self.rule = d, base, layout, rule
        self.seen = 0

    def rotate(self, x, positions):
        """Return vectors rotated at positions."""
        return posenc.apply_rope(x, positions, base=self.base, layout=self.layout)

    def extend(self, x):
        """Return vectors rotated that follow those before."""
        places = np.arange(self.seen, self.seen + len(x))
        self.seen += len(x)
        return self.rotate(x, places)

    def shift(self, x, by, first=0):
        """Return keys that are rotated already, those from first on moved by so many positions."""
        return self.rotate(x, np.where(np.arange(len(x)) >= first, by, 0))

    def restart(self):
        """Begin another sequence."""
        self.seen = 0

    def frequencies(self, length):
        """Return the frequencies for a length."""
        return frequencies(d=self.d, base=self.base, length=length, **self.rule)["frequencies"]

    def cast(self, dtype):
        """Do nothing: there is nothing to cast."""


def sequences(objects, calls):
    """Return the answers to calls in order."""
    made, answers = {}, []
    for call in calls:
        number, name = call.pop("object"), call.pop("do")
        if number not in made:
            made[number] = Rotary(**objects[number])
        answers.append(getattr(made[number], name)(**call))
    return answers


ANSWERS = {
    "frequencies": frequencies,
    "config": config,
    "rotation": rotation,
    "rotation_2d": rotation_2d,
    "mrope": mrope,
    "scores": scores,
    "sinusoidal": sinusoidal,
    "alibi": alibi,
    "alibi_bias": alibi_bias,
    "t5": t5,
    "swin": posenc.swin_index,
    "shaw": shaw,
    "resize": posenc.resize_table,
    "positions": positions,
    "sequences": sequences,
    "swin_rectangle": swin_rectangle,
    "deberta": deberta,
    "mrope_positions": posenc.mrope_positions,
    "resize_grid": resize_grid,
}


def plain(value: Any) -> Any:
    """Return arrays as lists, and a hidden key as JSON can say it."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return "-Infinity" if value == -np.inf else value


def answer(question):
    """Return the answer to a question."""
    if question.get("request") == "capabilities":
        return {"suites": list(ANSWERS), "contract": "float64"}
    try:
        return {"ok": plain(ANSWERS[question["suite"]](**question["input"]))}
    except UnsupportedError as error:
        return {"unsupported": str(error)}
    except (TypeError, ValueError) as error:
        return {"refused": str(error)}


if __name__ == "__main__":
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps({"id": asked.get("id")} | answer(asked)), flush=True)
