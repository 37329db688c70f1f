"""litgpt answers the test vectors."""

from __future__ import annotations

import torch
from lines import CountedByCaller, Unsupported, answer_lines, library, objects
from litgpt import GPT, Config
from litgpt.model import apply_rope, apply_rope_interleave, build_rope_cache

APPLY = {"half": apply_rope, "interleaved": apply_rope_interleave}


def frequencies(rule, d, base=10000, ramp="pairs", **given):
    """Return the angles at position 1 of `build_rope_cache`, and the length of its vectors."""
    if rule not in ("default", "linear", "llama3", "yarn"):
        raise Unsupported(f"rule {rule}")
    if "attention_factor" in given:
        raise Unsupported("a given attention_factor")
    if ramp != "pairs":
        raise Unsupported(f"ramp {ramp}")
    extra = {"factor": given["factor"]} if "factor" in given else None
    if rule == "llama3":
        extra |= {
            "low_freq_factor": given.get("low", 1),
            "high_freq_factor": given.get("high", 4),
            "original_max_seq_len": given["trained_length"],
        }
    if rule == "yarn":
        extra |= {
            "beta_fast": given.get("fast", 32),
            "beta_slow": given.get("slow", 1),
            "original_max_seq_len": given["trained_length"],
        }
        extra |= {
            name: given[name] for name in ("truncate", "mscale", "mscale_all_dim") if name in given
        }
    with library():
        tables = build_rope_cache(2, d, None, base, 1, extra)
    cos, sin = (table[1, : d // 2] for table in tables)
    return {"frequencies": torch.atan2(sin, cos), "attention_factor": torch.hypot(sin, cos).mean()}


def whole(positions):
    """Return positions as a tensor, if they are rows of a table."""
    places = torch.tensor(positions)
    if places.is_floating_point() or (places.numel() and places.min() < 0):
        raise Unsupported("positions other than 0, 1, 2, …")
    return places


def rotation(x, positions, layout, base=None, rotary_d=None, frequencies=None):
    """Return vectors rotated by `apply_rope`, or `apply_rope_interleave`."""
    if frequencies is not None:
        raise Unsupported("given frequencies")
    if layout not in APPLY:
        raise Unsupported(f"layout {layout}")
    vectors, places = torch.tensor(x, dtype=torch.float32), whole(positions)
    width = rotary_d or vectors.shape[-1]
    with library():
        cos, sin = build_rope_cache(int(places.max()) + 1, width, base=base)
    rotated = rotate(APPLY[layout], vectors[..., :width], cos[places], sin[places])
    with library():
        return torch.cat([rotated, vectors[..., width:]], -1)  # as attention does


def rotate(apply, vectors, cos, sin):
    """Return vectors rotated by rows of tables, with the axis of texts that is needed."""
    batch = vectors if vectors.ndim > 2 else vectors[None]
    rows = [table if table.ndim > 2 else table[None] for table in (cos, sin)]
    with library():
        rotated = apply(batch, *rows)
    return rotated if vectors.ndim > 2 else rotated[0]


def scores(query, key, query_positions, key_positions, layout, base):
    """Return the dot products of rotated queries and keys."""
    queries = rotation(query, query_positions, layout, base)
    keys = rotation(key, key_positions, layout, base)
    with library():
        return queries @ keys.T


class Model(CountedByCaller):
    """The tables of a model, for suite sequences."""

    def __init__(self, d, base, layout=None, rule=None, **given):
        if layout != "half":
            raise Unsupported(f"rule {rule}" if rule else f"layout {layout}")
        with library():
            self.gpt = GPT(
                Config(
                    block_size=8192,
                    n_layer=1,
                    n_embd=d,
                    n_head=1,
                    vocab_size=8,
                    padded_vocab_size=8,
                    rotary_percentage=1.0,
                    rope_base=base,
                )
            )

    def rotate(self, x, positions):
        """Return vectors rotated by rows of the tables of the model."""
        places = torch.tensor(positions)
        return rotate(apply_rope, torch.tensor(x), self.gpt.cos[places], self.gpt.sin[places])

    def cast(self, dtype):
        """Convert the model."""
        with library():
            self.gpt.to(getattr(torch, dtype))


if __name__ == "__main__":
    answer_lines(
        {
            "frequencies": frequencies,
            "rotation": rotation,
            "scores": scores,
            "sequences": objects(Model),
        }
    )
