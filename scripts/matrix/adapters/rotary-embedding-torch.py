"""rotary-embedding-torch answers the test vectors.

`rotate_queries_or_keys` counts from an offset. Any positions can be given to the module itself,
whose angles `apply_rotary_emb` takes. Both are asked.
"""

from __future__ import annotations

import torch
from lines import CountedByCaller, Unsupported, answer_lines, library, objects
from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb

RULES = ("default", "linear", "ntk")
ROWS = 8192  # of the table that a module keeps


def frequencies(rule, d, base=10000, factor=1.0, **given):
    """Return the angles at the second position."""
    if rule not in RULES:
        raise Unsupported(f"rule {rule}")
    named = {"linear": "interpolate_factor", "ntk": "theta_rescale_factor"}
    options = {named[rule]: factor} if rule in named else {}
    with library():
        embedding = RotaryEmbedding(d, theta=base, **options)
        angles = embedding(embedding.get_seq_pos(2))
        return {"frequencies": angles[1, ::2].detach(), "attention_factor": 1.0}


def made(x, layout, base=None, rotary_d=None, frequencies=None):
    """Return the module for vectors."""
    if layout != "interleaved":
        raise Unsupported(f"layout {layout}" if layout == "half" else "a choice of layouts")
    vectors = torch.tensor(x)
    with library():
        if frequencies is None:
            return RotaryEmbedding(rotary_d or vectors.shape[-1], theta=base)
        return RotaryEmbedding(vectors.shape[-1], custom_freqs=torch.tensor(frequencies))


def by_positions(embedding, x, positions):
    """Return vectors rotated by the angles of positions."""
    vectors, places = torch.tensor(x), torch.tensor(positions, dtype=torch.float32)
    with library():
        return apply_rotary_emb(embedding(places), vectors, freqs_seq_dim=-2).detach()


def by_offset(embedding, x, positions):
    """Return vectors rotated from the first of their positions on.

    If positions are not in a row, vectors are put into a text that begins at 0, with zeros between
    them.
    """
    vectors, places = torch.tensor(x), torch.tensor(positions)
    if places.ndim > 1:
        raise Unsupported("positions for each sequence")
    if len(places) != vectors.shape[-2]:
        raise Unsupported("more positions than vectors")
    first = positions[0]
    if positions == [*range(int(first), int(first) + len(positions))]:
        with library():
            return embedding.rotate_queries_or_keys(vectors, offset=first).detach()
    if places.is_floating_point() or places.min() < 0 or places.max() >= ROWS:
        raise Unsupported(f"positions that are not in a row, nor from 0 to {ROWS - 1}")
    if len(set(positions)) < len(positions):
        raise Unsupported("a position twice")
    text = torch.zeros(*vectors.shape[:-2], int(places.max()) + 1, vectors.shape[-1])
    text[..., places, :] = vectors
    with library():
        return embedding.rotate_queries_or_keys(text)[..., places, :].detach()


def rotating(rotate):
    """Return what answers suites rotation and scores in a way."""

    def rotation(x, positions, layout, base=None, rotary_d=None, frequencies=None):
        return rotate(made(x, layout, base, rotary_d, frequencies), x, positions)

    def scores(query, key, query_positions, key_positions, layout, base):
        queries = rotation(query, query_positions, layout, base)
        keys = rotation(key, key_positions, layout, base)
        with library():
            return queries @ keys.T

    return {"rotation": rotation, "scores": scores}


def rotation_2d(x, positions, first, layout, base):
    """Return patches rotated by `get_axial_freqs` of a grid that has their positions.

    The caller orders the axes.
    """
    if layout != "interleaved":
        raise Unsupported(f"layout {layout}")
    if first not in ("row", "column"):
        raise Unsupported(f"{first} first")
    vectors, places = torch.tensor(x), torch.tensor(positions)
    if places.is_floating_point() or (places.numel() and places.min() < 0):
        raise Unsupported("positions outside of a grid")
    one, other = places.T if first == "row" else places.T.flip(0)
    with library():
        embedding = RotaryEmbedding(vectors.shape[-1] // 2, theta=base)
        angles = embedding.get_axial_freqs(int(one.max()) + 1, int(other.max()) + 1)
        return apply_rotary_emb(angles[one, other], vectors).detach()


class Rotary(CountedByCaller):
    """An object for suite sequences."""

    way = staticmethod(by_positions)

    def __init__(self, d, base, layout=None, rule=None, **given):
        if rule is not None:
            raise Unsupported(f"rule {rule}")
        self.embedding = made([[0.0] * d], layout, base)

    def rotate(self, x, positions):
        """Return vectors rotated at positions."""
        return self.way(self.embedding, x, positions)

    def cast(self, dtype):
        """Convert the module, and back."""
        with library():
            self.embedding.to(getattr(torch, dtype)).to(torch.float32)


class Counting(Rotary):
    """One that rotates by an offset."""

    way = staticmethod(by_offset)


if __name__ == "__main__":
    answer_lines(
        ways={
            "positions": {
                "frequencies": frequencies,
                **rotating(by_positions),
                "rotation_2d": rotation_2d,
                "sequences": objects(Rotary),
            },
            "offset": {**rotating(by_offset), "sequences": objects(Counting)},
        }
    )
