"""rotary-embedding-torch answers the test vectors.

`rotate_queries_or_keys` counts from an offset. Any positions can be given to the module itself,
whose angles `apply_rotary_emb` takes. Both are asked.
"""

from __future__ import annotations

import torch
from lines import Unsupported, answer_lines, library, objects
from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb

RULES = ("default", "linear", "ntk")


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
    """Return vectors rotated from the first of their positions on."""
    vectors = torch.tensor(x)
    if torch.tensor(positions).ndim > 1:
        raise Unsupported("positions for each sequence")
    if positions != [*range(int(positions[0]), int(positions[0]) + len(positions))]:
        raise Unsupported("positions that are not in a row")
    if len(positions) != vectors.shape[-2]:
        raise Unsupported("more positions than vectors")
    with library():
        return embedding.rotate_queries_or_keys(vectors, offset=positions[0]).detach()


def rotating(rotate):
    """Return what answers suites rotation and scores in a way."""

    def rotation(x, positions, **how):
        return rotate(made(x, **how), x, positions)

    def scores(query, key, query_positions, key_positions, **how):
        queries = rotation(query, query_positions, **how)
        keys = rotation(key, key_positions, **how)
        with library():
            return queries @ keys.T

    return {"rotation": rotation, "scores": scores}


def rotation_2d(x, positions, first, layout, base):
    """Return patches rotated by `get_axial_freqs` of a grid that has their positions."""
    if (first, layout) != ("row", "interleaved"):
        raise Unsupported(f"{first} first, layout {layout}")
    vectors, places = torch.tensor(x), torch.tensor(positions)
    if places.is_floating_point() or (places.numel() and places.min() < 0):
        raise Unsupported("positions outside of a grid")
    rows, columns = places.T
    with library():
        embedding = RotaryEmbedding(vectors.shape[-1] // 2, theta=base)
        angles = embedding.get_axial_freqs(int(rows.max()) + 1, int(columns.max()) + 1)
        return apply_rotary_emb(angles[rows, columns], vectors).detach()


class Rotary:
    """An object for suite sequences."""

    way = staticmethod(by_positions)

    def __init__(self, d, base, layout=None, rule=None, **given):
        if rule is not None:
            raise Unsupported(f"rule {rule}")
        self.embedding = made([[0.0] * d], layout, base)
        self.seen = 0

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

    def extend(self, x):
        """Return vectors rotated that follow those before; the caller counts."""
        rotated = self.rotate(x, [*range(self.seen, self.seen + len(x))])
        self.seen += len(x)
        return rotated

    def restart(self):
        """Begin another sequence."""
        self.seen = 0


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
