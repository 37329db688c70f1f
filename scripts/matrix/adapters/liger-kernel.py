"""liger-kernel answers the test vectors.

Its kernels are for a GPU; here triton interprets them. Callers give cosines and sines, which are
computed here in float64 as in the definition.
"""

from __future__ import annotations

import os

from lines import Unsupported, answer_lines, library

os.environ["TRITON_INTERPRET"] = "1"

import torch
from liger_kernel.transformers.qwen2vl_mrope import liger_multimodal_rotary_pos_emb
from liger_kernel.transformers.rope import liger_rotary_pos_emb


def angles(positions, d, base, frequencies=None):
    """Return position · frequency, which callers have to compute."""
    if frequencies is None:
        omega = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    else:
        omega = torch.tensor(frequencies, dtype=torch.float64)
    return torch.tensor(positions, dtype=torch.float64)[..., None] * omega


def rotation(x, positions, layout, base=None, rotary_d=None, frequencies=None):
    """Return vectors rotated by `liger_rotary_pos_emb`."""
    if layout != "half":
        raise Unsupported(f"layout {layout}")
    vectors = torch.tensor(x, dtype=torch.float32)
    once = angles(positions, rotary_d or vectors.shape[-1], base, frequencies)
    twice = torch.cat([once, once], -1)
    twice = twice if twice.ndim == 3 else twice[None]
    batch = vectors
    if vectors.ndim == 3:
        batch = vectors[:, None]
    elif vectors.ndim == 2:
        batch = vectors[None, None]
    with library():
        turned, _ = liger_rotary_pos_emb(
            batch.clone(), batch.clone(), twice.cos().float(), twice.sin().float()
        )
        return turned.reshape(vectors.shape)


def scores(query, key, query_positions, key_positions, layout, base):
    """Return the dot products of rotated queries and keys."""
    queries = rotation(query, query_positions, layout, base)
    keys = rotation(key, key_positions, layout, base)
    with library():
        return queries @ keys.T


def mrope(x, positions, sections, layout, interleaved_sections, base):
    """Return vectors rotated by `liger_multimodal_rotary_pos_emb`."""
    if layout != "half":
        raise Unsupported(f"layout {layout}")
    if interleaved_sections:
        raise Unsupported("axes that take turns")
    vectors = torch.tensor(x, dtype=torch.float32)
    once = angles(positions, vectors.shape[-1], base)
    twice = torch.cat([once, once], -1)[:, None]
    with library():
        batch = vectors[None, None]
        turned, _ = liger_multimodal_rotary_pos_emb(
            batch.clone(), batch.clone(), twice.cos().float(), twice.sin().float(), sections
        )
        return turned[0, 0]


if __name__ == "__main__":
    answer_lines({"rotation": rotation, "scores": scores, "mrope": mrope})
