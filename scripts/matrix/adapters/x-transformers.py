"""x-transformers answers the test vectors."""

from __future__ import annotations

import torch
from lines import CountedByCaller, Unsupported, answer_lines, library, objects
from x_transformers.x_transformers import (
    AlibiPositionalBias,
    RelativePositionBias,
    RotaryEmbedding,
    ScaledSinusoidalEmbedding,
    apply_rotary_pos_emb,
)

FREQUENCIES = ("default", "linear", "ntk")


def frequencies(rule, d, base=10000, factor=1.0, **given):
    """Return the angles at position 1 of `RotaryEmbedding`."""
    if rule not in FREQUENCIES:
        raise Unsupported(f"rule {rule}")
    options = {"linear": {"interpolation_factor": factor}, "ntk": {"base_rescale_factor": factor}}
    with library():
        angles, scale = RotaryEmbedding(d, base=base, **options.get(rule, {}))(torch.ones(1))
        return {"frequencies": angles[0, 0, ::2], "attention_factor": scale}


def rotate(embedding, x, positions):
    """Return vectors rotated by `apply_rotary_pos_emb`."""
    vectors, places = torch.tensor(x), torch.tensor(positions, dtype=torch.float32)
    with library():
        angles, scale = embedding(places)
        batch = vectors if vectors.ndim > 2 else vectors[None]
        return apply_rotary_pos_emb(batch, angles, scale).reshape(vectors.shape)


def rotation(x, positions, layout, base=None, rotary_d=None, frequencies=None):
    """Return vectors rotated at positions."""
    if layout == "half":
        raise Unsupported("layout half")
    if frequencies is not None:
        raise Unsupported("given frequencies")
    if layout != "interleaved":
        raise Unsupported("a choice of layouts")
    with library():
        embedding = RotaryEmbedding(rotary_d or torch.tensor(x).shape[-1], base=base)
    return rotate(embedding, x, positions)


def scores(query, key, query_positions, key_positions, layout, base):
    """Return the dot products of rotated queries and keys."""
    queries = rotation(query, query_positions, layout, base)
    keys = rotation(key, key_positions, layout, base)
    with library():
        return queries @ keys.T


def sinusoidal(positions, d_model, base, order, first, shift):
    """Return the rows of `ScaledSinusoidalEmbedding`, with a scale of 1."""
    if (order, first, shift) != ("halves", "sine", 0):
        raise Unsupported(f"order {order}, {first} first, shift {shift}")
    with library():
        embedding = ScaledSinusoidalEmbedding(d_model, theta=base)
        torch.nn.init.ones_(embedding.scale)  # it is learned
        empty = torch.zeros(1, len(positions), d_model)
        return embedding(empty, pos=torch.tensor(positions, dtype=torch.float32)).detach()


def alibi(heads):
    """Return the slopes of `AlibiPositionalBias`."""
    with library():
        return AlibiPositionalBias(heads).slopes.flatten()


def alibi_bias(heads, query_length, key_length, causal=True, query_offset=0):
    """Return the bias of `AlibiPositionalBias`; attention hides later keys, as is done here."""
    with library():
        queries = torch.arange(query_offset, query_offset + query_length)
        keys = torch.arange(key_length)
        bias = AlibiPositionalBias(heads).forward_custom_pos(queries, keys)
        return bias.masked_fill(keys > queries[:, None], -torch.inf) if causal else bias


def t5(relative, bidirectional, buckets, max_distance):
    """Return the buckets of `RelativePositionBias`."""
    with library():
        return RelativePositionBias._relative_position_bucket(
            torch.tensor(relative),
            causal=not bidirectional,
            num_buckets=buckets,
            max_distance=max_distance,
        )


class Rotary(CountedByCaller):
    """An object for suite sequences."""

    def __init__(self, d, base, layout=None, rule=None, **given):
        if layout != "interleaved":
            raise Unsupported(f"rule {rule}" if rule else f"layout {layout}")
        with library():
            self.embedding = RotaryEmbedding(d, base=base)

    def rotate(self, x, positions):
        """Return vectors rotated at positions."""
        return rotate(self.embedding, x, positions)

    def cast(self, dtype):
        """Convert the module, and back."""
        with library():
            self.embedding.to(getattr(torch, dtype)).to(torch.float32)


if __name__ == "__main__":
    answer_lines(
        {
            "frequencies": frequencies,
            "rotation": rotation,
            "scores": scores,
            "sinusoidal": sinusoidal,
            "alibi": alibi,
            "alibi_bias": alibi_bias,
            "t5": t5,
            "sequences": objects(Rotary),
        }
    )
