"""What is known about the model types of transformers: layout, and defaults of missing keys.

A configuration need not name every setting. What it leaves out is in the code of the library, per
model type, so the same missing key means 10000 for one model and 1000000 for another. These are the
facts, as transformers 5.24 has them; tests/oracles/test_config.py asks it for each of them.
"""

from __future__ import annotations

from typing import Any

# Which dimensions of the published weights form a pair.
INTERLEAVED = [
    "codegen", "cohere", "cohere2", "cohere2_moe", "deepseek_v2", "ernie4_5", "ernie4_5_moe",
    "glm", "glm4", "glm_moe_dsa", "gptj", "helium", "llama4_text", "longcat_flash", "roformer",
]  # fmt: skip
HALF = [
    "afmoe", "apertus", "arcee", "aria_text", "bamba", "bitnet", "chameleon", "cwm", "dbrx",
    "diffllama", "doge", "dots1", "esm", "esmc", "eurobert", "exaone4", "exaone_moe", "falcon",
    "falcon_h1", "flex_olmo", "gemma", "gemma2", "gemma3_text", "gemma3n_text", "gemma4_text",
    "glm4_moe", "glm4v_moe_text", "glm4v_text", "gpt_neox", "gpt_neox_japanese", "gpt_oss",
    "granite", "granitemoe", "granitemoehybrid", "granitemoeshared", "gte", "hunyuan_v1_dense",
    "hunyuan_v1_moe", "hy_v3", "hyperclovax", "jetmoe", "jina_embeddings_v3", "lfm2", "lfm2_moe",
    "llama", "minicpm3", "minimax", "minimax_m2", "ministral", "ministral3", "mistral", "mixtral",
    "mllama_text_model", "modernbert", "modernbert-decoder", "nemotron", "nomic_bert", "olmo",
    "olmo2", "olmo3", "olmoe", "persimmon", "phi", "phi3", "phi4_multimodal", "phimoe", "qwen2",
    "qwen2_5_vl_text", "qwen2_moe", "qwen2_vl_text", "qwen3", "qwen3_5_moe_text", "qwen3_5_text",
    "qwen3_moe", "qwen3_next", "qwen3_vl_moe_text", "qwen3_vl_text", "recurrent_gemma", "seed_oss",
    "smollm3", "solar_open", "stablelm", "starcoder2", "vaultgemma",
]  # fmt: skip
# Interleaved unless the configuration says `"rope_interleave": false`.
CHOOSING = [
    "axk1", "deepseek_v3", "deepseek_v32", "glm4_moe_lite", "mistral4", "youtu",
]  # fmt: skip

# Those that rotate a vector of its own beside the rest of a head, as wide as `qk_rope_head_dim`.
LATENTS = [
    *CHOOSING, "deepseek_v2", "glm_moe_dsa", "longcat_flash", "minicpm3",
]  # fmt: skip

# Model types whose configurations hold the settings of the text model themselves.
SAME = {
    "gemma3": "gemma3_text",
    "gemma3n": "gemma3n_text",
    "gemma4": "gemma4_text",
    "glm4v": "glm4v_text",
    "glm4v_moe": "glm4v_moe_text",
    "kimi_k2": "deepseek_v3",
    "llama4": "llama4_text",
    "mllama": "mllama_text_model",
    "qwen2_5_vl": "qwen2_5_vl_text",
    "qwen2_vl": "qwen2_vl_text",
    "qwen3_vl": "qwen3_vl_text",
    "qwen3_vl_moe": "qwen3_vl_moe_text",
}

BASE, LOCAL, SHARE = "rope_theta", "rope_local_base_freq", "partial_rotary_factor"
WIDTH, WIDE = "head_dim", "global_head_dim"
ORIGINAL = "original_max_position_embeddings"

# Missing keys, where they do not mean a base of 10000 and a rotation of the whole head.
DEFAULTS: dict[str, dict[str, float]] = {
    "afmoe": {WIDTH: 128},
    "apertus": {BASE: 12e6},
    "bamba": {SHARE: 0.5},
    "bitnet": {BASE: 5e5},
    "cohere": {BASE: 5e5},
    "cohere2_moe": {WIDTH: 128},
    "cwm": {BASE: 1e6, WIDTH: 128},
    "ernie4_5": {BASE: 5e5, WIDTH: 128},
    "ernie4_5_moe": {BASE: 5e5},
    "flex_olmo": {BASE: 5e5},
    "gemma": {WIDTH: 256},
    "gemma2": {WIDTH: 256},
    "gemma3_text": {BASE: 1e6, LOCAL: 1e4, WIDTH: 256},
    "gemma3n_text": {BASE: 1e6, LOCAL: 1e4, WIDTH: 256},
    "gemma4_text": {WIDTH: 256, WIDE: 512},
    "glm": {SHARE: 0.5, WIDTH: 128},
    "glm4": {SHARE: 0.5, WIDTH: 128},
    "glm4_moe": {SHARE: 0.5},
    "glm4v_moe_text": {SHARE: 0.5},
    "gpt_neox": {SHARE: 0.25},
    "gpt_oss": {BASE: 15e4, WIDTH: 64},
    "gte": {BASE: 16e4},
    "helium": {BASE: 1e5, WIDTH: 128},
    "hy_v3": {BASE: 11158840.0, WIDTH: 128},
    "jina_embeddings_v3": {BASE: 2e4},
    "lfm2": {BASE: 1e6},
    "lfm2_moe": {BASE: 1e6},
    "llama4_text": {BASE: 5e5, WIDTH: 128},
    "longcat_flash": {BASE: 1e7},
    "ministral3": {WIDTH: 128},
    "minimax": {BASE: 1e6},
    "minimax_m2": {BASE: 5e6, WIDTH: 128},
    "mixtral": {BASE: 1e6},
    "mllama_text_model": {BASE: 5e5},
    "modernbert": {BASE: 16e4, LOCAL: 1e4},
    "modernbert-decoder": {BASE: 16e4, LOCAL: 1e4},
    "nemotron": {SHARE: 0.5},
    "nomic_bert": {BASE: 1e3},
    "olmo3": {BASE: 5e5},
    "persimmon": {SHARE: 0.5},
    "phi": {SHARE: 0.5},
    "phimoe": {BASE: 1e6},
    "qwen2_5_vl_text": {BASE: 1e6},
    "qwen2_vl_text": {BASE: 1e6},
    "qwen3": {WIDTH: 128},
    "qwen3_5_moe_text": {SHARE: 0.25, WIDTH: 256},
    "qwen3_5_text": {SHARE: 0.25, WIDTH: 256},
    "qwen3_next": {SHARE: 0.25, WIDTH: 256},
    "qwen3_vl_moe_text": {BASE: 5e5},
    "qwen3_vl_text": {BASE: 5e5, WIDTH: 128},
    "recurrent_gemma": {SHARE: 0.5},
    "seed_oss": {WIDTH: 128},
    "smollm3": {BASE: 2e6},
    "solar_open": {BASE: 1e6, WIDTH: 128},
    "stablelm": {SHARE: 0.25},
    "vaultgemma": {WIDTH: 256},
}

# Missing rope_parameters, where they do not mean plain frequencies in all layers.
_LLAMA3 = {"rope_type": "llama3", "low_freq_factor": 1.0, "high_freq_factor": 4.0}
_MISTRAL = {
    "rope_type": "yarn", "beta_fast": 32.0, "beta_slow": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0,
    "llama_4_scaling_beta": 0.1,
}  # fmt: skip
PARAMETERS: dict[str | None, dict[str, Any]] = {
    "apertus": _LLAMA3 | {"factor": 8.0, ORIGINAL: 8192, BASE: 12e6},
    "cwm": _LLAMA3 | {"factor": 16.0, ORIGINAL: 8192, BASE: 1e6},
    "gemma4_text": {
        "full_attention": {"rope_type": "proportional", SHARE: 0.25, BASE: 1e6},
        "sliding_attention": {"rope_type": "default", BASE: 1e4},
    },
    "gpt_oss": {
        "rope_type": "yarn", "factor": 32.0, ORIGINAL: 4096, "beta_fast": 32.0, "beta_slow": 1.0,
        "truncate": False,
    },
    "ministral3": _MISTRAL | {"factor": 16.0, ORIGINAL: 16384, BASE: 1e6},
    "mistral4": _MISTRAL | {"factor": 128.0, ORIGINAL: 8192, BASE: 1e4},
}  # fmt: skip

# Types whose rule holds for full attention alone: layers with a window have plain frequencies.
UNSCALED_WINDOWS = ("olmo3",)
# Those whose layers with a window have a base of their own, and the rule of the others, if there is
# one; and how many tokens such a window is wide, half of them on each side.
SCALED_WINDOWS, WIDE_WINDOW = ("modernbert", "modernbert-decoder"), 128

# Those whose layers all have a window if one is given.
NARROW = ("mistral", "mixtral", "phi3", "starcoder2")
# Those that read `alpha`, a larger base, beside the type "dynamic".
ALPHA = ("hunyuan_v1_dense", "hunyuan_v1_moe")
# Those whose code reads no rule: their frequencies are plain whatever rope_scaling says.
RULELESS = ("codegen", "esm", "gptj", "recurrent_gemma", "roformer")
# Those that rotate only if `position_embedding_type` says so.
ASKING = ("esm", "granitemoehybrid")


def layout_of(kind: str | None, interleave: bool) -> str | None:
    """Return the layout of a model type, or None if it is not known."""
    if kind in INTERLEAVED or (kind in CHOOSING and interleave):
        return "interleaved"
    return "half" if kind in HALF or kind in CHOOSING else None


def defaults_of(kind: str | None) -> dict[str, float] | None:
    """Return what keys mean that a configuration leaves out, or None if that is not known."""
    if kind is None or kind not in {*INTERLEAVED, *HALF, *CHOOSING}:
        return None
    return {BASE: 1e4, SHARE: 1.0} | DEFAULTS.get(kind, {})
