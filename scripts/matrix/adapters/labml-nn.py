"""labml-nn answers the test vectors."""

from __future__ import annotations

import torch
from labml_nn.transformers.alibi import get_alibi_biases, get_slopes
from labml_nn.transformers.positional_encoding import get_positional_encoding
from labml_nn.transformers.rope import RotaryPositionalEmbeddings
from lines import CountedByCaller, Unsupported, answer_lines, library, objects


def whole(positions):
    """Return positions as a tensor, if they are rows of a table."""
    places = torch.tensor(positions)
    if places.is_floating_point() or (places.numel() and places.min() < 0):
        raise Unsupported("positions other than 0, 1, 2, …")
    return places


def rotate(rope, x, positions):
    """Return vectors rotated: each stands alone in a text, at its position, among zeros."""
    vectors, places = torch.tensor(x, dtype=torch.float32), whole(positions)
    if vectors.ndim == 4:  # heads before tokens
        places = places.expand(*vectors.shape[:2], -1)
    if vectors.shape[:-1] != places.shape:
        raise Unsupported("positions for other than all vectors")
    flat, rows = vectors.reshape(-1, vectors.shape[-1]), places.flatten()
    turned = []
    for vector, row in zip(flat, rows.tolist(), strict=True):
        text = torch.zeros(row + 1, 1, 1, len(vector))
        text[row, 0, 0] = vector
        with library():
            turned.append(rope(text)[row, 0, 0])
    return torch.stack(turned).reshape(vectors.shape)


def rotation(x, positions, layout, base=None, rotary_d=None, frequencies=None):
    """Return vectors rotated by `RotaryPositionalEmbeddings`."""
    if frequencies is not None:
        raise Unsupported("given frequencies")
    if layout != "half":
        raise Unsupported(f"layout {layout}")
    with library():
        rope = RotaryPositionalEmbeddings(rotary_d or torch.tensor(x).shape[-1], base)
    return rotate(rope, x, positions)


def scores(query, key, query_positions, key_positions, layout, base):
    """Return the dot products of rotated queries and keys."""
    queries = rotation(query, query_positions, layout, base)
    keys = rotation(key, key_positions, layout, base)
    with library():
        return queries @ keys.T


def sinusoidal(positions, d_model, base, order, first, shift):
    """Return rows of `get_positional_encoding`."""
    if (order, first, shift, base) != ("interleaved", "sine", 0, 10000):
        raise Unsupported(f"order {order}, {first} first, shift {shift}, base {base}")
    places = whole(positions)
    with library():
        table = get_positional_encoding(d_model, int(places.max()) + 1)
    return table[places, 0]


def alibi(heads):
    """Return the slopes of `get_slopes`."""
    with library():
        return get_slopes(heads)


def alibi_bias(heads, query_length, key_length, causal=True, query_offset=0):
    """Return the biases of `get_alibi_biases`; attention hides later keys, as is done here."""
    if not causal:
        raise Unsupported("a bias that is not causal")
    with library():
        queries = torch.arange(query_offset, query_offset + query_length)[:, None]
        mask = torch.arange(key_length) <= queries
        bias = get_alibi_biases(heads, mask).permute(2, 0, 1)
        return bias.masked_fill(~mask, -torch.inf)


class Rotary(CountedByCaller):
    """An object for suite sequences."""

    def __init__(self, d, base, layout=None, rule=None, **given):
        if layout != "half":
            raise Unsupported(f"rule {rule}" if rule else f"layout {layout}")
        with library():
            self.rope = RotaryPositionalEmbeddings(d, base)

    def rotate(self, x, positions):
        """Return vectors rotated at positions."""
        return rotate(self.rope, x, positions)

    def cast(self, dtype):
        """Convert the module."""
        with library():
            self.rope.to(getattr(torch, dtype))


if __name__ == "__main__":
    answer_lines(
        {
            "rotation": rotation,
            "scores": scores,
            "sinusoidal": sinusoidal,
            "alibi": alibi,
            "alibi_bias": alibi_bias,
            "sequences": objects(Rotary),
        }
    )
