"""megatron-core answers the test vectors.

It puts angles on a GPU. Here `torch.cuda.current_device` is the CPU, and nothing else is changed.
"""

from __future__ import annotations

import torch
from lines import CountedByCaller, Unsupported, answer_lines, library, objects
from megatron.core.models.common.embeddings import rope_utils
from megatron.core.models.common.embeddings.relative_pos_embedding import RelativePositionEmbedding
from megatron.core.models.common.embeddings.rotary_pos_embedding import (
    MultimodalRotaryEmbedding,
    RotaryEmbedding,
)
from megatron.core.models.common.embeddings.yarn_rotary_pos_embedding import YarnRotaryEmbedding
from megatron.core.transformer import TransformerConfig

torch.cuda.current_device = lambda: "cpu"
LAYOUTS = ("half", "interleaved")
ALONE = object()  # the group of processes that share a text; it is asked for and not used


def frequencies(rule, d, base=10000, factor=1.0, ramp="pairs", **given):
    """Return the angles at position 1 of `RotaryEmbedding` or `YarnRotaryEmbedding`."""
    if "attention_factor" in given:
        raise Unsupported("a given attention_factor")
    if rule == "yarn":
        return yarn(d, base, factor, ramp, given)
    options = {}
    if rule == "linear":
        options = {"seq_len_interpolation_factor": factor}
    elif rule == "llama3":
        if (given.get("low", 1), given.get("high", 4), given["trained_length"]) != (1, 4, 8192):
            raise Unsupported("limits other than 1 and 4, or a trained length other than 8192")
        options = {"rope_scaling": True, "rope_scaling_factor": factor}
    elif rule != "default":
        raise Unsupported(f"rule {rule}")
    with library():
        rope = RotaryEmbedding(d, 1.0, rotary_base=base, use_cpu_initialization=True, **options)
        angles = rope.get_freqs_non_repeated(2)
    return {"frequencies": angles[1], "attention_factor": 1}


def yarn(d, base, factor, ramp, given):
    """Return the angles at position 1 of `YarnRotaryEmbedding`, and its factor."""
    if ramp != "pairs":
        raise Unsupported(f"ramp {ramp}")
    with library():
        rope = YarnRotaryEmbedding(
            d,
            rotary_base=base,
            use_cpu_initialization=True,
            scaling_factor=factor,
            original_max_position_embeddings=given["trained_length"],
            beta_fast=given.get("fast", 32),
            beta_slow=given.get("slow", 1),
            mscale=given.get("mscale", 1.0),
            mscale_all_dim=given.get("mscale_all_dim", 0.0),
            correction_range_round_to_int=given.get("truncate", True),
        )
        angles, concentration = rope.get_emb(2)
    return {"frequencies": angles[1, 0, 0, : d // 2], "attention_factor": concentration}


def config(d, layout):
    """Return a configuration."""
    return TransformerConfig(
        num_layers=1,
        hidden_size=d,
        num_attention_heads=1,
        rotary_interleaved=layout == "interleaved",
        apply_rope_fusion=False,
    )


def by_angles(rope, vectors, angles, layout):
    """Return vectors, (length, texts, heads, d), rotated by `apply_rotary_pos_emb`."""
    return rope_utils.apply_rotary_pos_emb(
        vectors, angles, config(vectors.shape[-1], layout), cp_group=ALONE
    )


def by_cos_and_sin(rope, vectors, angles, layout):
    """Return them rotated by `apply_rotary_pos_emb_with_cos_sin`, without flash-attn."""
    if angles.shape[1] > 1:
        raise Unsupported("positions of each text")
    step = 2 if layout == "interleaved" else 1
    width = angles.shape[-1] // 2
    once = angles[:, 0, 0, ::step][:, :width]
    return rope_utils.apply_rotary_pos_emb_with_cos_sin(
        vectors, once.cos(), once.sin(), layout == "interleaved"
    )


def rotate(apply, rope, x, positions, layout):
    """Return vectors rotated; the angles of positions are rows of those from the least on."""
    vectors, places = torch.tensor(x, dtype=torch.float32), torch.tensor(positions)
    if places.is_floating_point():
        raise Unsupported("fractions of positions")
    first, last = int(places.min()), int(places.max())
    with library():
        rows = rope.forward(last - first + 1, offset=first)
    angles = rows[places - first][..., 0, 0, :]  # (length, d) or (texts, length, d)
    texts = angles if angles.ndim == 3 else angles[None]
    batch = vectors.reshape(-1, *vectors.shape[-2:])
    if vectors.ndim == 4:  # heads before tokens
        texts = texts.repeat_interleave(vectors.shape[1], 0) if len(texts) > 1 else texts
    with library():
        moved = batch.transpose(0, 1)[:, :, None]
        turned = apply(rope, moved, texts.transpose(0, 1)[:, :, None], layout)
    return turned[:, :, 0].transpose(0, 1).reshape(vectors.shape)


def rotation_by(apply):
    """Return the function for suite rotation."""

    def rotation(x, positions, layout, base=None, rotary_d=None, frequencies=None):
        if frequencies is not None:
            raise Unsupported("given frequencies")
        if layout not in LAYOUTS:
            raise Unsupported(f"layout {layout}")
        width = torch.tensor(x).shape[-1]
        with library():
            rope = RotaryEmbedding(
                width,
                (rotary_d or width) / width,
                rotary_interleaved=layout == "interleaved",
                rotary_base=base,
                use_cpu_initialization=True,
            )
        return rotate(apply, rope, x, positions, layout)

    return rotation


def scores_by(apply):
    """Return the function for suite scores."""

    def scores(query, key, query_positions, key_positions, layout, base):
        rotation = rotation_by(apply)
        queries = rotation(query, query_positions, layout, base)
        keys = rotation(key, key_positions, layout, base)
        with library():
            return queries @ keys.T

    return scores


def mrope(x, positions, sections, layout, interleaved_sections, base):
    """Return vectors rotated by the angles of `MultimodalRotaryEmbedding`."""
    if interleaved_sections:
        raise Unsupported("axes that take turns")
    if layout not in LAYOUTS:
        raise Unsupported(f"layout {layout}")
    vectors, places = torch.tensor(x), torch.tensor(positions)
    with library():
        rope = MultimodalRotaryEmbedding(
            vectors.shape[-1], 1.0, rotary_interleaved=layout == "interleaved", rotary_base=base
        )
        angles = rope(places[:, None], sections)
        turned = by_angles(rope, vectors[:, None, None], angles, layout)
    return turned[:, 0, 0]


def t5(relative, bidirectional, buckets, max_distance):
    """Return the buckets of `RelativePositionEmbedding`."""
    with library():
        table = RelativePositionEmbedding(
            bidirectional, torch.nn.init.zeros_, 1, buckets, max_distance
        )
        return table._relative_position_bucket(
            torch.tensor(relative), bidirectional, buckets, max_distance
        )


class Rotary(CountedByCaller):
    """An object for suite sequences."""

    def __init__(self, d, base, layout=None, rule=None, **given):
        if rule:
            raise Unsupported(f"rule {rule}")
        self.layout = layout
        with library():
            self.rope = RotaryEmbedding(
                d,
                1.0,
                rotary_interleaved=layout == "interleaved",
                rotary_base=base,
                use_cpu_initialization=True,
            )

    def rotate(self, x, positions):
        """Return vectors rotated at positions."""
        return rotate(by_angles, self.rope, x, positions, self.layout)

    def cast(self, dtype):
        """Convert the module."""
        with library():
            self.rope.to(getattr(torch, dtype))


if __name__ == "__main__":
    answer_lines(
        ways={
            "apply_rotary_pos_emb": {
                "frequencies": frequencies,
                "rotation": rotation_by(by_angles),
                "scores": scores_by(by_angles),
                "mrope": mrope,
                "t5": t5,
                "sequences": objects(Rotary),
            },
            "apply_rotary_pos_emb_with_cos_sin": {
                "rotation": rotation_by(by_cos_and_sin),
                "scores": scores_by(by_cos_and_sin),
            },
        }
    )
