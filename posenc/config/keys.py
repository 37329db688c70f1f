"""The keys of a configuration: those that are read, and those that are refused."""

from __future__ import annotations

import re

from posenc._arguments import _shown
from posenc.config.diffusion import PART_WIDTHS
from posenc.config.entries import SLIP, Entries, agreed, hint, is_misspelling
from posenc.config.families import (
    BASE,
    LOCAL,
    ORIGINAL,
    PAIRING,
    SHARE,
    SWITCHED,
    WIDE,
    WIDTH,
    WINDOW,
)

# Keys of the same meaning. Where several are given, they must agree.
HIDDEN = ("hidden_size", "n_embd", "d_model", "model_dim", "dim")
HEADS = (
    "num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_num_attention_heads",
    "decoder_num_attention_heads",
)  # fmt: skip
WIDTHS = (WIDTH, "kv_channels")
LENGTHS = (
    "max_position_embeddings",
    "n_positions",
    "max_sequence_length",
    "max_seq_len",
    "seq_length",
    "n_ctx",
    "model_max_length",
    "rope_max_length",
)
SAME_LENGTHS = ("max_position_embeddings", "n_positions", "n_ctx")  # the others are often shorter
BASES = (
    BASE, "rotary_emb_base", "global_rope_theta", "rotary_embedding_base", "rope_embedding_base",
    "rope_freq_constant",
)  # fmt: skip
LOCALS = (LOCAL, "local_rope_theta", "swa_rope_theta")
COMPRESSED = "compress_rope_theta"  # of the layers of DeepSeek-V4 that compress
RATIO = "rope_ratio"  # by which ChatGLM multiplies its base
SHARES = (SHARE, "rotary_pct", "rope_pct", "rotary_emb_fraction")
TEXTS = ("text_config", "llm_config", "language_config", "llm_cfg")
THINKER = "thinker_config"  # of Qwen-Omni, which holds a part about text
PARAMS = ("dim", "n_layers", "n_heads")  # by which params.json of Meta is known
SCALED = "use_scaled_rope"
TRAINED = "max_trained_positions"  # of Nomic
STEPS = "use_dynamic_ntk"  # of Qwen-7B
SCALE = "rope_position_scale"  # of Phi-3-small, by which positions are multiplied
SCHEMES = ("position_embedding_type", "position_embeddings_type")
FLAGS = {"alibi": False, "rotary": True, "use_rotary_pos_emb": True}  # of a model that rotates
LOCAL_WINDOW = "local_attention"
COUNTS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
# How many layers a group has of which one attends to everything.
LAYERS = (
    "sliding_window_pattern", "_sliding_window_pattern", "global_attn_every_n_layers",
    "full_attention_interval",
)  # fmt: skip
ATTENTION = "attn_config"
LATENT = ("qk_rope_head_dim", "qk_nope_head_dim", "qk_head_dim")
CHUNKS = "dual_chunk_attention_config"  # of Qwen2.5-1M
GAPS = "no_rope_layers"
INTERVAL = "no_rope_layer_interval"  # without a list: one layer in so many does not rotate
THETAS = "layer_rope_theta"  # the base of each layer, 0 where it does not rotate
RESCALED = "rope_scaling_layers"  # of Molmo 2: the layers that a rule is for
MLA = "use_mla"  # without which a DeepSeek has the attention of Llama
TRADITIONAL = "rope_traditional"  # of mlx-lm: whether pairs are interleaved
# Of a rule without a section, in Grok-2.
FLAT_RULE = ("scaling_factor", "extrapolation_factor", "attn_factor", "beta_fast", "beta_slow")

# Of these, one is enough to tell that a model rotates.
ROTARY = (*BASES, *LOCALS, *SHARES, "rotary_dim", "rope_scaling", "rope_parameters", LATENT[0])
KINDS = ("layer_types", GAPS, INTERVAL, WINDOW, LOCAL_WINDOW, "use_sliding_window")
READ = {
    *HIDDEN, *HEADS, *WIDTHS, *LENGTHS, *ROTARY, *TEXTS, THINKER, *LATENT, *KINDS, *COUNTS, *LAYERS,
    ORIGINAL, WIDE,
    "model_type", "rope_interleave", "rope_interleaved", "rotary_emb_interleaved",
    *FLAGS, *SCHEMES, TRAINED, STEPS, SCALE, "rotary_value", COMPRESSED, RATIO, CHUNKS,
    *SWITCHED.values(), *PAIRING.values(), THETAS, RESCALED, MLA, TRADITIONAL, PART_WIDTHS,
}  # fmt: skip


def _letters(word: str) -> int:
    """Return a bit for each letter of a word; few letters share one."""
    bits = 0
    for letter in set(word):
        bits |= 1 << (ord(letter) & 63)
    return bits


def _slips(size: int) -> int:
    """Return how many edits of a key of this length are a slip."""
    return 1 if size < 10 else SLIP


# By length of a key: the keys of about that length that are read, with their letters.
_NEAR = {
    size: [(_letters(one), one) for one in sorted(READ) if abs(len(one) - size) <= _slips(size)]
    for size in range(5, max(map(len, READ)) + SLIP + 1)
}

# Written like one of these, or about positions, and of no effect on the rotation.
UNRELATED = {
    "dropout_positions", "flash_rotary", "hidden_sizes", "in_channels",
    "indexer_rope_interleave", "layer_type", "left_max_position_embeddings",
    "max_source_positions", "max_window_layers", "model_dtype", "nope_layer_interval",
    "num_kv_heads", "num_position_embeddings", "position_embedding_size",
    "position_id_per_seconds", "right_max_position_embeddings", "rope_dropout",
    "rope_full_precision", "rotary_emb_scale_base", "t2u_max_position_embeddings", "use_cla",
    "use_mrope", "use_position_ids", "v_channels", "v_head_dim", "yarn_only_types",
}  # fmt: skip
WORDS = {
    "rope", "mrope", "xdrope", "rotary", "rotate", "rotation", "position", "positions",
    "positional", "theta", "yarn", "ntk", "longrope", "mscale", "alibi", "nope",
}  # fmt: skip

_SEPARATORS = re.compile(r"[^a-z]+")

# The keys that each rule reads, beside those that all read.
SECTIONS = ("mrope_section", "xdrope_section")
COMMON = {"rope_type", "type", BASE, SHARE, *SECTIONS, "mrope_interleaved", "interleaved"}
STRETCHED = {"factor", ORIGINAL, "attention_factor"}
ATTN = "attn_factor"  # by which SGLang multiplies, and which transformers does not read
EXTRAPOLATION = "extrapolation_factor"  # 1, but in experiments
OF_YARN = {"beta_fast", "beta_slow", "mscale", "mscale_all_dim"}
RULES: dict[str, set[str]] = {
    "default": set(),
    "linear": {"factor"},
    "dynamic": {"factor"},
    "ntk": {"factor", "alpha", *OF_YARN},
    "fixed-ntk": {"factor"},
    "yarn": {
        *STRETCHED, *OF_YARN, ATTN, "truncate", "finetuned", "llama_4_scaling_beta", LENGTHS[0],
        "apply_yarn_scaling", EXTRAPOLATION,
    },
    "longrope": {*STRETCHED, "short_factor", "long_factor", "short_mscale", "long_mscale"},
    "llama3": {"factor", ORIGINAL, "low_freq_factor", "high_freq_factor"},
    "proportional": {"factor"},
}  # fmt: skip
SCALING = sorted(set().union(*RULES.values()))  # none of them means anything without a rule

TELECHAT = "telechat3-yarn"  # with a temperature of its own
# Other names of rules. M-RoPE is no rule: it says which position rotates which pair.
SYNONYMS = {
    "mrope": "default", "su": "longrope", "deepseek_yarn": "yarn", "xdrope": "dynamic",
    "ntk": "fixed-ntk", TELECHAT: "yarn",
}  # fmt: skip
UNNAMED = ("ntk", "fixed-ntk")  # rules that no configuration names so
NONE = "none"  # the scheme of layers that do not rotate


def refuse_strangers(entries: Entries) -> None:
    """Raise ValueError if a key is about positions, or written like one that is read."""
    for given in entries.given(entries.mapping):
        key = str(given)
        if key in READ or key in UNRELATED:
            continue
        if _is_about_positions(key):
            raise ValueError(
                f"{entries.path(key)} must be a key that is read{hint(entries, key, READ)};"
                f" got {_shown(entries.mapping[given])}"
            )


def _is_about_positions(key: str) -> bool:
    """Say whether one of its words is about positions, or it is a slip for a key that is read."""
    word, most = key.lower(), _slips(len(key))
    if not WORDS.isdisjoint(_SEPARATORS.split(word)):
        return True
    letters = _letters(word)  # most words differ in more of them than so many edits can change
    for own, one in _NEAR.get(len(word), ()):  # a loop, as a configuration may have many keys
        if (letters ^ own).bit_count() <= 2 * most and is_misspelling(word, one, most):
            return True
    return False


def type_of(entries: Entries) -> str:
    """Return the rule that a section names."""
    said = {entries.path(key): entries.text(key) for key in ("rope_type", "type")}
    for path, name in said.items():
        if name is not None and name not in {*RULES, *SYNONYMS} - {"fixed-ntk"}:
            allowed = ", ".join(f'"{one}"' for one in RULES if one not in UNNAMED)
            raise ValueError(f"{path} must be one of {allowed}; got {_shown(name)}")
    name = agreed({path: name and SYNONYMS.get(name, name) for path, name in said.items()})
    needing = entries.given(SCALING) if name is None else []
    if needing:
        raise ValueError(
            f"{entries.path('rope_type')} must be given where {needing[0]} is; got none"
        )
    return name or "default"
