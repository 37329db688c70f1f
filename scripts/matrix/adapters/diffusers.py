"""diffusers answers the test vectors."""

from __future__ import annotations

import torch
from diffusers.models.embeddings import (
    SinusoidalPositionalEmbedding,
    apply_rotary_emb,
    get_1d_rotary_pos_embed,
    get_2d_rotary_pos_embed_from_grid,
    get_timestep_embedding,
)
from diffusers.models.transformers import transformer_ideogram4 as ideogram4
from diffusers.models.transformers.transformer_flux import FluxPosEmbed
from lines import Unsupported, answer_lines, library

PAIRS = {"interleaved": -1, "half": -2}  # the argument use_real_unbind_dim


def frequencies(rule, d, base=10000, factor=1.0, **given):
    """Return the angles at position 1 of `get_1d_rotary_pos_embed`."""
    names = {"default": None, "linear": "linear_factor", "ntk": "ntk_factor"}
    if rule not in names:
        raise Unsupported(f"rule {rule}")
    options = {names[rule]: factor} if names[rule] else {}
    with library():
        row = get_1d_rotary_pos_embed(d, torch.tensor([1]), base, **options)[0]
    return {"frequencies": row.angle(), "attention_factor": row.abs().mean()}


def rotated(vectors, places, layout, base, width):
    """Return vectors of one text, or of its heads, rotated."""
    batch = vectors.reshape(1, -1, *vectors.shape[-2:])
    with library():
        tables = get_1d_rotary_pos_embed(
            width, places, base, use_real=True, repeat_interleave_real=layout == "interleaved"
        )
        turned = apply_rotary_emb(batch[..., :width], tables, use_real_unbind_dim=PAIRS[layout])
        turned = torch.cat([turned, batch[..., width:]], -1)
    return turned.reshape(vectors.shape) if turned.numel() == vectors.numel() else turned


def rotation(x, positions, layout, base=None, rotary_d=None, frequencies=None):
    """Return vectors rotated by `apply_rotary_emb`, text by text if each has its own positions."""
    if frequencies is not None:
        raise Unsupported("given frequencies")
    if layout not in PAIRS:
        raise Unsupported(f"layout {layout}")
    vectors, places = torch.tensor(x, dtype=torch.float32), torch.tensor(positions)
    width = rotary_d or vectors.shape[-1]
    if width > vectors.shape[-1]:
        raise Unsupported("a rotation wider than the vectors")
    if places.ndim == 1:
        return rotated(vectors, places, layout, base, width)
    texts = zip(vectors, places, strict=True)
    return torch.stack([rotated(text, its, layout, base, width) for text, its in texts])


def scores(query, key, query_positions, key_positions, layout, base):
    """Return the dot products of rotated queries and keys."""
    queries = rotation(query, query_positions, layout, base)
    keys = rotation(key, key_positions, layout, base)
    with library():
        return queries @ keys.T


def rotation_2d(x, positions, first, layout, base):
    """Return patches rotated by `get_2d_rotary_pos_embed_from_grid` and `apply_rotary_emb`."""
    if layout != "interleaved":
        raise Unsupported(f"layout {layout}")
    if base != 10000:
        raise Unsupported("a base other than 10000")
    if first not in ("row", "column"):
        raise Unsupported(f"{first} first")
    vectors = torch.tensor(x, dtype=torch.float32)
    grid = torch.tensor(positions, dtype=torch.float32)
    with library():
        axes = grid.T if first == "row" else grid.T.flip(0)
        tables = get_2d_rotary_pos_embed_from_grid(vectors.shape[-1], axes, use_real=True)
        return apply_rotary_emb(vectors[None, None], tables)[0, 0]


def flux(x, positions, first, layout, base):
    """Return patches rotated by `FluxPosEmbed`, whose axes the caller orders."""
    if layout != "interleaved":
        raise Unsupported(f"layout {layout}")
    if first not in ("row", "column"):
        raise Unsupported(f"{first} first")
    vectors, places = torch.tensor(x, dtype=torch.float32), torch.tensor(positions)
    with library():
        axes = places if first == "row" else places.flip(-1)
        tables = FluxPosEmbed(base, [vectors.shape[-1] // 2] * 2)(axes)
        return apply_rotary_emb(vectors[None, :, None], tables, sequence_dim=1)[0, :, 0]


def ideogram(x, positions, sections, layout, interleaved_sections, base):
    """Return vectors rotated by the tables of `Ideogram4MRoPE`, as its attention does."""
    if layout != "half" or not interleaved_sections:
        told = "in turns" if interleaved_sections else "in blocks"
        raise Unsupported(f"layout {layout}, sections {told}")
    vectors = torch.tensor(x, dtype=torch.float32)
    with library():
        rope = ideogram4.Ideogram4MRoPE(vectors.shape[-1], base, sections)
        cos, sin = (table[0] for table in rope(torch.tensor(positions).T[None]))
        return vectors * cos + ideogram4._rotate_half(vectors) * sin


def sinusoidal(positions, d_model, base, order, first, shift):
    """Return rows of `SinusoidalPositionalEmbedding`, or `get_timestep_embedding` for halves."""
    if order == "halves" and first in ("sine", "cosine"):
        with library():
            return get_timestep_embedding(
                torch.tensor(positions),
                d_model,
                flip_sin_to_cos=first == "cosine",
                downscale_freq_shift=shift,
                max_period=base,
            )
    if (order, first, shift, base) != ("interleaved", "sine", 0, 10000):
        raise Unsupported(f"order {order}, {first} first, shift {shift}, base {base}")
    places = torch.tensor(positions)
    if places.is_floating_point() or (places.numel() and places.min() < 0):
        raise Unsupported("positions other than 0, 1, 2, …")
    length = int(places.max()) + 1
    with library():
        rows = SinusoidalPositionalEmbedding(d_model, length)(torch.zeros(1, length, d_model))
    return rows[0, places]


if __name__ == "__main__":
    answer_lines(
        ways={
            "embeddings": {
                "frequencies": frequencies,
                "rotation": rotation,
                "rotation_2d": rotation_2d,
                "scores": scores,
                "sinusoidal": sinusoidal,
            },
            "Flux": {"rotation_2d": flux},
            "Ideogram 4": {"mrope": ideogram},
        }
    )
