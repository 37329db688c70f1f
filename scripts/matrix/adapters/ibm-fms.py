"""ibm-fms answers the test vectors."""

from __future__ import annotations

import torch
from fms.modules.positions import (
    Alibi,
    CachedYarnRotaryEmbedding,
    PixtralRotaryEmbedding,
    RotaryEmbedding,
)
from lines import Unsupported, answer_lines, library, objects

CPU = torch.device("cpu")


def frequencies(rule, d, base=10000, factor=1.0, ramp="pairs", **given):
    """Return the frequencies that `RotaryEmbedding` computes, and its concentration."""
    for name in ("attention_factor", "mscale", "mscale_all_dim"):
        if name in given:
            raise Unsupported(name)
    trained, alpha = given.get("trained_length", 2048), 1
    if rule == "default":
        scaling = {}
    elif rule == "ntk":
        if factor <= 0 or factor != 2 ** (int(factor).bit_length() - 1):
            raise Unsupported("a factor that is no power of two")
        scaling, alpha = {"rope_type": "ntk"}, int(factor)
    elif rule == "llama3":
        scaling = {
            "rope_type": "llama3",
            "factor": factor,
            "low_freq_factor": given.get("low", 1),
            "high_freq_factor": given.get("high", 4),
            "original_max_position_embeddings": trained,
        }
    elif rule == "yarn":
        if ramp != "pairs" or given.get("truncate", True):
            raise Unsupported("a ramp whose ends are whole pairs, or that is linear in turns")
        scaling = {
            "rope_type": "yarn",
            "scaling_factor": factor,
            "ntk_beta": given.get("fast", 32),
            "ntk_alpha": given.get("slow", 1),
        }
    else:
        raise Unsupported(f"rule {rule}")
    with library():
        rule_of = RotaryEmbedding(d, base, trained, scaling=scaling).rope_scaling
        found = rule_of.compute_scaled_freqs(CPU, alpha)
    return {"frequencies": found, "attention_factor": getattr(rule_of, "concentration", 1)}


def cached_yarn(rule, d, base=10000, factor=1.0, ramp="pairs", **given):
    """Return the angles at position 1 of `CachedYarnRotaryEmbedding`, and the length of vectors."""
    if rule != "yarn":
        raise Unsupported(f"rule {rule}")
    if ramp != "pairs" or not given.get("truncate", True):
        raise Unsupported("a ramp whose ends are no whole pairs, or that is linear in turns")
    names = {"fast": "beta_fast", "slow": "beta_slow", "attention_factor": "attn_factor"}
    names |= {"mscale": "mscale", "mscale_all_dim": "mscale_all_dim"}
    options = {names[name]: value for name, value in given.items() if name in names}
    with library():
        unit = torch.zeros(1, 1, 1, d)
        unit[..., ::2] = 1
        rope = CachedYarnRotaryEmbedding(
            d, given["trained_length"], base, factor, llama_4_scaling_beta=0, **options
        )
        turned = rope.adjusted_qk(unit, unit, torch.tensor([[1]]))[0][0, 0, 0]
    cos, sin = turned[::2], turned[1::2]
    return {"frequencies": torch.atan2(sin, cos), "attention_factor": torch.hypot(sin, cos).mean()}


def rotate(rope, x, positions):
    """Return vectors rotated by `adjusted_qk`."""
    vectors, places = torch.tensor(x, dtype=torch.float32), torch.tensor(positions)
    if places.is_floating_point() or (places.numel() and places.min() < 0):
        raise Unsupported("positions other than 0, 1, 2, …")
    heads = vectors.transpose(1, 2) if vectors.ndim == 4 else vectors[..., None, :]
    batch = heads if heads.ndim == 4 else heads[None]
    texts = places if places.ndim == 2 else places[None]
    if len(texts) == 1:
        texts = texts.expand(len(batch), -1)
    with library():
        turned = rope.adjusted_qk(batch, batch, texts)[0]
    back = turned.transpose(1, 2) if vectors.ndim == 4 else turned[:, :, 0]
    return back if vectors.ndim > 2 else back[0]


def rotation(x, positions, layout, base=None, rotary_d=None, frequencies=None):
    """Return vectors rotated by `RotaryEmbedding`, made for as many positions as are needed."""
    if frequencies is not None:
        raise Unsupported("given frequencies")
    if layout != "interleaved":
        raise Unsupported(f"layout {layout}")
    width = torch.tensor(x).shape[-1]
    with library():
        length = int(torch.tensor(positions).max()) + 1
        rope = RotaryEmbedding(width, base, max(length, 1), (rotary_d or width) / width)
    return rotate(rope, x, positions)


def scores(query, key, query_positions, key_positions, layout, base):
    """Return the dot products of rotated queries and keys."""
    queries = rotation(query, query_positions, layout, base)
    keys = rotation(key, key_positions, layout, base)
    with library():
        return queries @ keys.T


def rotation_2d(x, positions, first, layout, base):
    """Return patches rotated by `PixtralRotaryEmbedding`."""
    if layout != "interleaved":
        raise Unsupported(f"layout {layout}")
    if first != "row":
        raise Unsupported(f"{first} first")
    vectors, places = torch.tensor(x), torch.tensor(positions)
    if places.is_floating_point():
        raise Unsupported("fractions of positions")
    with library():
        side = int(places.max()) + 1
        rope = PixtralRotaryEmbedding(vectors.shape[-1], base, side, 1)
        return rope.adjusted_qk(vectors[None, :, None], vectors[None, :, None], places[None])[0][
            0, :, 0
        ]


def alibi(heads):
    """Return the slopes of `Alibi`."""
    with library():
        return Alibi(heads).scales[0].flatten()


def alibi_bias(heads, query_length, key_length, causal=True, query_offset=0):
    """Return the bias of `Alibi`."""
    if query_offset or query_length != key_length:
        raise Unsupported("queries other than all keys, without a cache")
    mask = torch.ones(query_length, key_length).tril() if causal else None
    with library():
        empty = torch.zeros(1, query_length, heads, 1)
        return Alibi(heads).adjusted_mask(mask, empty, empty, None)[0]


class Rotary:
    """An object for suite sequences."""

    def __init__(self, d, base, layout=None, rule=None, **given):
        if layout != "interleaved":
            raise Unsupported(f"rule {rule}" if rule else f"layout {layout}")
        self.seen = 0
        with library():
            self.rope = RotaryEmbedding(d, base)

    def rotate(self, x, positions):
        """Return vectors rotated at positions."""
        return rotate(self.rope, x, positions)

    def extend(self, x):
        """Return vectors rotated at the positions that follow those of a cache."""
        with library():
            vectors = torch.tensor(x)[None, :, None]
            past = (torch.zeros(1, 1, self.seen, 1), None) if self.seen else None
            turned = self.rope.adjusted_qk(vectors, vectors, None, past, use_cache=True)[0]
        self.seen += len(x)
        return turned[0, :, 0]

    def restart(self):
        """Begin another sequence."""
        self.seen = 0


if __name__ == "__main__":
    answer_lines(
        ways={
            "RotaryEmbedding": {
                "frequencies": frequencies,
                "rotation": rotation,
                "rotation_2d": rotation_2d,
                "scores": scores,
                "alibi": alibi,
                "alibi_bias": alibi_bias,
                "sequences": objects(Rotary),
            },
            "CachedYarnRotaryEmbedding": {"frequencies": cached_yarn},
        }
    )
