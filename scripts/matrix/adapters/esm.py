"""The package esm answers the test vectors."""

from __future__ import annotations

import torch
from esm.layers.rotary import RotaryEmbedding
from lines import Unsupported, answer_lines, library, objects


def frequencies(rule, d, base=10000, factor=1.0, **given):
    """Return the angles at position 1 of `RotaryEmbedding`."""
    if rule not in ("default", "linear"):
        raise Unsupported(f"rule {rule}")
    with library():
        unit = torch.zeros(1, 1, 1, d)
        unit[..., : d // 2] = 1
        rotated, _ = RotaryEmbedding(d, base, scaling_factor=factor)(unit, unit, seqlen_offset=1)
    cos, sin = rotated[0, 0, 0, : d // 2], rotated[0, 0, 0, d // 2 :]
    return {"frequencies": torch.atan2(sin, cos), "attention_factor": 1}


def rotate(embedding, x, positions):
    """Return vectors, each rotated by a call with its position as offset."""
    vectors = torch.tensor(x, dtype=torch.float32)
    places = torch.tensor(positions)
    if places.is_floating_point() or (places.numel() and places.min() < 0):
        raise Unsupported("positions other than 0, 1, 2, …")
    if vectors.ndim == 4:  # heads before tokens
        places = places.expand(*vectors.shape[:2], -1)
    if vectors.shape[:-1] != places.shape:
        raise Unsupported("positions for other than all vectors")
    rotated = [
        one_call(embedding, vector[None, None, None], place)
        for vector, place in zip(
            vectors.reshape(-1, vectors.shape[-1]), places.flatten().tolist(), strict=True
        )
    ]
    return torch.stack(rotated).reshape(vectors.shape)


def one_call(embedding, vectors, offset):
    """Return one vector rotated."""
    with library():
        return embedding(vectors, vectors, seqlen_offset=offset)[0][0, 0, 0]


def rotation(x, positions, layout, base=None, rotary_d=None, frequencies=None):
    """Return vectors rotated at positions."""
    if frequencies is not None:
        raise Unsupported("given frequencies")
    if layout not in ("half", "interleaved"):
        raise Unsupported(f"layout {layout}")
    with library():
        width = rotary_d or torch.tensor(x).shape[-1]
        embedding = RotaryEmbedding(width, base, interleaved=layout == "interleaved")
    return rotate(embedding, x, positions)


def scores(query, key, query_positions, key_positions, layout, base):
    """Return the dot products of rotated queries and keys."""
    queries = rotation(query, query_positions, layout, base)
    keys = rotation(key, key_positions, layout, base)
    with library():
        return queries @ keys.T


class Rotary:
    """An object for suite sequences."""

    def __init__(self, d, base, layout=None, rule=None, **given):
        if rule:
            raise Unsupported(f"rule {rule}")
        self.seen = 0
        with library():
            self.embedding = RotaryEmbedding(d, base, interleaved=layout == "interleaved")

    def rotate(self, x, positions):
        """Return vectors rotated at positions."""
        return rotate(self.embedding, x, positions)

    def extend(self, x):
        """Return vectors rotated in one call, the tokens before them as offset."""
        with library():
            vectors = torch.tensor(x)[None, :, None]
            rotated, _ = self.embedding(vectors, vectors, seqlen_offset=self.seen)
        self.seen += len(x)
        return rotated[0, :, 0]

    def restart(self):
        """Begin another sequence."""
        self.seen = 0

    def cast(self, dtype):
        """Convert the module."""
        with library():
            self.embedding.to(getattr(torch, dtype))


if __name__ == "__main__":
    answer_lines(
        {
            "frequencies": frequencies,
            "rotation": rotation,
            "scores": scores,
            "sequences": objects(Rotary),
        }
    )
