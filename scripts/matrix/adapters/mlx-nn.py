"""MLX: `nn.RoPE`, `fast.rope`, `nn.SinusoidalPositionalEncoding` and `nn.ALiBi`.

MLX takes where a sequence starts, not a position for each vector. Neighbouring positions are asked
as one sequence with its offset, others as a batch of sequences of one vector with an offset each.
"""

from __future__ import annotations

import mlx.core as mx
import mlx.nn as nn
import numpy as np
from lines import CountedByCaller, Unsupported, answer_lines, library, objects

LAYOUTS = {"half": False, "interleaved": True}


def turned(rope, x, positions):
    """Return vectors rotated by a function of vectors and an offset."""
    vectors, places = np.array(x, np.float32), np.array(positions)
    if places.dtype.kind != "i":
        raise Unsupported("positions that are not integers")
    if places.shape != vectors.shape[-1 - places.ndim : -1]:
        raise Unsupported("a list of positions: sequences have an offset")
    length, width = vectors.shape[-2:]
    if (np.diff(places) == 1).all() and length > 1:
        # A sequence each, and an offset for all or for each.
        offset = int(places[0]) if places.ndim == 1 else mx.array(places[:, 0])
        rows = vectors.reshape(-1, 1, length, width)
    else:
        places = np.broadcast_to(places, vectors.shape[:-1])
        offset, rows = mx.array(places.reshape(-1)), vectors.reshape(-1, 1, 1, width)
    with library():
        return np.array(rope(mx.array(rows), offset)).reshape(vectors.shape)


def rotation(x, positions, layout, base=None, rotary_d=None, frequencies=None):
    """Return rotated vectors."""
    if layout not in LAYOUTS:
        raise Unsupported("layouts have no names, traditional is true or false")
    width = rotary_d or np.shape(x)[-1]
    if frequencies is None:
        module = nn.RoPE(width, traditional=LAYOUTS[layout], base=base)
        return turned(lambda rows, offset: module(rows, offset=offset), x, positions)
    # What MLX calls freqs are the radians' reciprocals, tokens per radian.
    with np.errstate(divide="ignore"):
        freqs = mx.array(1 / np.array(frequencies, np.float32))
    return turned(
        lambda rows, offset: mx.fast.rope(
            rows,
            width,
            traditional=LAYOUTS[layout],
            base=None,
            scale=1.0,
            offset=offset,
            freqs=freqs,
        ),
        x,
        positions,
    )


def scores(query, key, query_positions, key_positions, layout, base):
    """Return the dot products of rotated queries and keys."""
    if np.shape(query)[-1] != np.shape(key)[-1]:
        raise Unsupported("queries and keys are rotated apart")
    return (
        rotation(query, query_positions, layout, base)
        @ rotation(key, key_positions, layout, base).T
    )


def frequencies(rule, d=0, base=10000.0, factor=1.0, **_):
    """Return the angles by which unit vectors turn from position 0 to 1: there is no table."""
    if rule not in ("default", "linear"):
        raise Unsupported(f"rule {rule}")
    if factor < 1:
        raise Unsupported("a factor: positions are multiplied by a scale, which may be any number")
    unit = np.array([[[[1.0] * (d // 2) + [0.0] * (d - d // 2)]]], np.float32)
    with library():
        module = nn.RoPE(d, base=base, scale=1 / factor)
        turned = np.array(module(mx.array(unit), offset=1), np.float64)[0, 0, 0]
    cosines, sines = turned[: d // 2], turned[d // 2 :]
    return {
        "frequencies": np.arctan2(sines, cosines),
        "attention_factor": float(np.hypot(sines, cosines).mean()),
    }


def sinusoidal(positions, d_model, base, order, first, shift):
    """Return sines and cosines; the lowest frequency is an argument, and fits either shift."""
    if order != "halves" or first not in ("sine", "cosine"):
        raise Unsupported(f"order {order}, {first} first: sines and cosines are two halves")
    if base <= 0:
        raise Unsupported("a base: the lowest frequency is an argument")
    half = d_model // 2
    lowest = 1 / base if shift else base ** (-(half - 1) / half) if half else 1 / base
    with library():
        encoding = nn.SinusoidalPositionalEncoding(
            d_model, min_freq=lowest, scale=1.0, cos_first=first == "cosine"
        )
        return np.array(encoding(mx.array(np.array(positions, np.float32))))


def alibi(heads):
    """Return the slopes."""
    with library():
        return np.array(nn.ALiBi.create_alibi_slope(heads)).reshape(-1)


def alibi_bias(heads, query_length, key_length, causal, query_offset=0):
    """Return what is added to scores of 0; the causal mask is an argument, and MLX's own."""
    with library():
        mask = None
        if causal:
            size = max(query_offset + query_length, key_length)
            whole = nn.MultiHeadAttention.create_additive_causal_mask(size)
            mask = whole[query_offset : query_offset + query_length, :key_length]
        nothing = mx.zeros((1, heads, query_length, key_length))
        return np.array(nn.ALiBi()(nothing, offset=query_offset, mask=mask))[0]


class Rotary(CountedByCaller):
    """A module `nn.RoPE`, for suite sequences."""

    def __init__(self, d, base=10000.0, layout="half", rule="default", **_):
        if rule != "default":
            raise Unsupported(f"rule {rule}")
        self.module = nn.RoPE(d, traditional=LAYOUTS[layout], base=base)

    def rotate(self, x, positions):
        """Return rotated vectors."""
        return turned(lambda rows, offset: self.module(rows, offset=offset), x, positions)

    def cast(self, dtype):
        """Cast the module."""
        with library():
            self.module.set_dtype(getattr(mx, dtype))


if __name__ == "__main__":
    answer_lines(
        {
            "frequencies": frequencies,
            "rotation": rotation,
            "scores": scores,
            "sinusoidal": sinusoidal,
            "alibi": alibi,
            "alibi_bias": alibi_bias,
            "sequences": objects(Rotary),
        }
    )
