"""mlx-lm: the rotary modules of its models, and its caches, which count tokens.

`initialize_rope` is called as models call it, and for configurations a whole small model is made.
Modules do not show their frequencies all in one way, so these are the angles by which unit vectors
turn from position 0 to 1 in a sequence as long as asked for.
"""

from __future__ import annotations

import importlib
import sys
from itertools import pairwise

sys.path.append(sys.path.pop(0))  # "transformers" is the library that mlx-lm imports

import mlx.core as mx
import numpy as np
from lines import Unsupported, answer_lines, library, objects
from mlx_lm.models.cache import BatchKVCache, KVCache
from mlx_lm.models.rope_utils import initialize_rope

LAYOUTS = {"half": False, "interleaved": True}
NAMES = {  # of settings in rope_scaling
    "factor": "factor",
    "trained_length": "original_max_position_embeddings",
    "fast": "beta_fast",
    "slow": "beta_slow",
    "low": "low_freq_factor",
    "high": "high_freq_factor",
    "short": "short_factor",
    "long": "long_factor",
    "truncate": "truncate",
    "mscale": "mscale",
    "mscale_all_dim": "mscale_all_dim",
    "attention_factor": "attention_factor",
}
SMALL = {  # what a model needs and positions do not
    "num_hidden_layers": 1,
    "intermediate_size": 8,
    "vocab_size": 8,
    "rms_norm_eps": 1e-5,
    "layer_norm_eps": 1e-5,
    "use_qkv_bias": False,
    "qk_layernorm": False,
}


def module(rule, d, base=10000.0, layout="half", **given):
    """Return the rotary module for a rule."""
    if rule not in ("default", "linear", "dynamic", "yarn", "llama3", "longrope", "proportional"):
        raise Unsupported(f"rule {rule}")
    if given.get("ramp", "pairs") != "pairs":
        raise Unsupported("a ramp by turns")
    scaling = {"type": rule} | {NAMES[key]: given[key] for key in given if key in NAMES}
    longest = given.get("trained_length")
    if rule == "longrope":
        longest = round(scaling.pop("factor") * longest)
    if rule == "proportional":
        scaling["partial_rotary_factor"] = given["rotary_d"] / d
    with library():
        return initialize_rope(d, base, LAYOUTS[layout], scaling, longest)


def angles(rope, d, length):
    """Return how unit vectors turn and grow from position 0 to 1 of a sequence."""
    if length < 2:
        raise Unsupported("a text of one token, where nothing turns")
    if getattr(rope, "traditional", False):
        first, second = slice(0, d, 2), slice(1, d, 2)
    else:
        first, second = slice(d // 2), slice(d // 2, d)
    unit = np.zeros((1, 1, length, max(d, 0)), np.float32)
    unit[..., first] = 1
    with library():
        turned = np.array(rope(mx.array(unit), offset=0)[0, 0, 1].astype(mx.float32), np.float64)
    cosines, sines = turned[first], turned[second]
    return {
        "frequencies": np.arctan2(sines, cosines),
        "attention_factor": float(np.hypot(sines, cosines).mean()),
    }


def frequencies(rule, d=0, length=None, **given):
    """Return the frequencies of a rule, and its attention factor."""
    return angles(module(rule, d, **given), d, 2 if length is None else length)


def config(config, length=None):
    """Return what the rotary module of a model made from a configuration does."""
    if config["model_type"] == "gpt_neox":
        raise Unsupported("GPT-NeoX with rope_theta: the older key rotary_emb_base is read")
    if config["model_type"] == "modernbert":
        raise Unsupported("model type modernbert")
    with library():
        models = importlib.import_module(f"mlx_lm.models.{config['model_type']}")
        heads = {"num_key_value_heads": config["num_attention_heads"]}
        model = models.Model(models.ModelArgs.from_dict(SMALL | heads | config))
        attentions = [layer.self_attn for layer in model.layers]
    found = [of_attention(attention, length) for attention in attentions]
    if "layer_types" in config or "no_rope_layers" in config:
        return {"layers": found}
    if config["model_type"] == "deepseek_v3":
        [attention] = attentions
        with library():
            found[0]["softmax_factor"] = attention.scale * attention.q_head_dim**0.5
    return found[0]


def of_attention(attention, length):
    """Return what the rotary module of a layer does, nothing if the layer does not rotate."""
    rope = attention.rope
    if not (hasattr(rope, "dim") or hasattr(rope, "dims")):
        return {"frequencies": [], "attention_factor": 1.0}
    rotated = rope.dim if hasattr(rope, "dim") else rope.dims
    return angles(rope, rotated, 2 if length is None else length)


def positions(mask=None, lengths=None, queries=None):
    """Return the positions that a cache of a batch with left padding gives to tokens."""
    if lengths is not None:
        raise Unsupported("packed texts")
    if len({len(row) for row in mask}) > 1 or {entry for row in mask for entry in row} - {0, 1}:
        raise Unsupported("a mask: the count of paddings is the argument")
    kept = np.array(mask)
    if (np.diff(kept, axis=1) < 0).any():
        raise Unsupported("padding that is not on the left")
    rows, length = kept.shape
    asked = length if queries is None else queries
    if asked > length:
        raise Unsupported("a count of queries: tokens are passed")
    with library():
        cache = BatchKVCache([int(row) for row in length - kept.sum(1)])
        if asked < length:
            before = mx.zeros((rows, 1, length - asked, 4))
            cache.update_and_fetch(before, before)
        return np.array(cache.offset)[:, None] + np.arange(asked)


class Rotary:
    """A rotary module and a cache that counts, for suite sequences."""

    def __init__(self, d, rule="default", **given):
        self.d = d
        self.rope = module(rule, d, **given)
        self.cache = KVCache()

    def _at(self, x, offset):
        rows = mx.array(np.array(x, np.float32)[None, None])
        with library():
            return self.rope(rows, offset=offset)

    def rotate(self, x, positions):
        """Return rotated vectors: those in a row as one sequence, others one by one."""
        starts = [0, *(np.flatnonzero(np.diff(positions) != 1) + 1), len(positions)]
        turned = [self._at(x[one:end], int(positions[one])) for one, end in pairwise(starts)]
        return np.concatenate([np.array(part)[0, 0] for part in turned])

    def extend(self, x):
        """Return the vectors that follow, rotated from the offset of the cache, as models do."""
        with library():
            turned = self._at(x, self.cache.offset)
            self.cache.update_and_fetch(turned, turned)
            return np.array(turned)[0, 0]

    def restart(self):
        """Trim the cache."""
        with library():
            self.cache.trim(self.cache.offset)

    def frequencies(self, length):
        """Return the frequencies in a sequence of a length."""
        return angles(self.rope, self.d, length)["frequencies"]

    def cast(self, dtype):
        """Cast the module."""
        with library():
            self.rope.set_dtype(getattr(mx, dtype))


if __name__ == "__main__":
    answer_lines(
        {
            "frequencies": frequencies,
            "config": config,
            "positions": positions,
            "sequences": objects(Rotary),
        }
    )
