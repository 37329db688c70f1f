"""torchtitan answers the test vectors."""

from __future__ import annotations

import torch
from lines import CountedByCaller, Unsupported, answer_lines, library, objects
from torchtitan.models.common.rope import ComplexRoPE, CosSinRoPE

KINDS = {"interleaved": ComplexRoPE, "half": CosSinRoPE}


def made(kind, d, length, base, **options):
    """Return a rotation with a table of positions below a length."""
    with library():
        return kind(kind.Config(dim=d, max_seq_len=length, theta=base, **options))


def frequencies(rule, d, base=10000, factor=1.0, ramp="pairs", **given):
    """Return the angles at position 1 of `ComplexRoPE.cache`, and the length of its numbers."""
    if rule not in ("default", "llama3", "yarn"):
        raise Unsupported(f"rule {rule}")
    if ramp != "pairs":
        raise Unsupported(f"ramp {ramp}")
    for name in ("attention_factor", "mscale", "mscale_all_dim"):
        if name in given:
            raise Unsupported(f"{name}, which is a model's")
    options = {}
    if rule == "llama3":
        options = {
            "scaling": "llama",
            "scaling_factor": factor,
            "low_freq_factor": given.get("low", 1),
            "high_freq_factor": given.get("high", 4),
            "original_max_position_embeddings": given["trained_length"],
        }
    if rule == "yarn":
        options = {
            "scaling": "yarn",
            "rope_factor": factor,
            "beta_fast": given.get("fast", 32),
            "beta_slow": given.get("slow", 1),
            "original_seq_len": given["trained_length"],
            "truncate": given.get("truncate", True),
        }
    row = made(ComplexRoPE, d, 2, base, **options).cache[1]
    return {"frequencies": row.angle(), "attention_factor": row.abs().mean()}


def rotate(rope, x, positions):
    """Return vectors rotated by a call of a rotation."""
    vectors, places = torch.tensor(x, dtype=torch.float32), torch.tensor(positions)
    with library():
        if vectors.ndim == 4:  # heads before tokens
            moved, back = vectors.transpose(1, 2), lambda rotated: rotated.transpose(1, 2)
        elif vectors.ndim == 3:
            moved, back = vectors[:, :, None], lambda rotated: rotated[:, :, 0]
        else:
            moved, back = vectors[None, :, None], lambda rotated: rotated[0, :, 0]
        texts = places if places.ndim == 2 else places[None]
        return back(rope(moved, moved, texts)[0])


def rotation(x, positions, layout, base=None, rotary_d=None, frequencies=None):
    """Return vectors rotated by `ComplexRoPE` or `CosSinRoPE`."""
    if frequencies is not None:
        raise Unsupported("given frequencies")
    if rotary_d is not None:
        raise Unsupported("a partial rotation")
    if layout not in KINDS:
        raise Unsupported(f"layout {layout}")
    places = torch.tensor(positions)
    if places.is_floating_point() or (places.numel() and places.min() < 0):
        raise Unsupported("positions other than 0, 1, 2, …")
    width = torch.tensor(x).shape[-1]
    return rotate(made(KINDS[layout], width, int(places.max()) + 1, base), x, positions)


def scores(query, key, query_positions, key_positions, layout, base):
    """Return the dot products of rotated queries and keys."""
    queries = rotation(query, query_positions, layout, base)
    keys = rotation(key, key_positions, layout, base)
    with library():
        return queries @ keys.T


class Rotary(CountedByCaller):
    """An object for suite sequences."""

    def __init__(self, d, base, layout=None, rule=None, **given):
        if rule:
            raise Unsupported(f"rule {rule}")
        self.rope = made(KINDS[layout], d, 8192, base)

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
            "frequencies": frequencies,
            "rotation": rotation,
            "scores": scores,
            "sequences": objects(Rotary),
        }
    )
