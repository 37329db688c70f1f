"""The keys of a configuration: those that are read, and those that are refused."""

from __future__ import annotations

import re

from posenc._arguments import _shown
from posenc.config.entries import Entries, agreed, is_misspelling, nearest
from posenc.config.families import BASE, LOCAL, ORIGINAL, SHARE, WIDE, WIDTH

# Keys of the same meaning. Where several are given, they must agree.
HIDDEN = ("hidden_size", "n_embd", "d_model")
HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads")
WIDTHS = (WIDTH, "kv_channels")
LENGTHS = (
    "max_position_embeddings",
    "n_positions",
    "max_sequence_length",
    "max_seq_len",
    "seq_length",
    "n_ctx",
    "model_max_length",
)
SAME_LENGTHS = ("max_position_embeddings", "n_positions", "n_ctx")  # the others are often shorter
BASES = (BASE, "rotary_emb_base", "global_rope_theta")
LOCALS = (LOCAL, "local_rope_theta")
SHARES = (SHARE, "rotary_pct", "rope_pct", "rotary_emb_fraction")
TEXTS = ("text_config", "llm_config", "language_config")
WINDOW, LOCAL_WINDOW = "sliding_window", "local_attention"
ATTENTION = "attn_config"
LATENT = ("qk_rope_head_dim", "qk_nope_head_dim", "qk_head_dim")

# Of these, one is enough to tell that a model rotates.
ROTARY = (*BASES, *LOCALS, *SHARES, "rotary_dim", "rope_scaling", "rope_parameters", LATENT[0])
KINDS = ("layer_types", "no_rope_layers", WINDOW, LOCAL_WINDOW)
READ = {
    *HIDDEN, *HEADS, *WIDTHS, *LENGTHS, *ROTARY, *TEXTS, *LATENT, *KINDS, ORIGINAL, WIDE,
    "model_type", "rope_interleave", "rope_interleaved", "rotary_emb_interleaved", "alibi",
    "position_embedding_type", "rotary", "rotary_value",
}  # fmt: skip

# Written like one of these, or about positions, and of no effect on the rotation.
UNRELATED = {
    "v_head_dim", "hidden_sizes", "layer_type", "v_channels", "num_kv_heads",
    "sliding_window_pattern", "_sliding_window_pattern", "no_rope_layer_interval", "use_mrope",
    "max_window_layers", "rope_dropout", "position_id_per_seconds",
    "in_channels", "flash_rotary",
}  # fmt: skip
WORDS = {
    "rope", "mrope", "xdrope", "rotary", "rotate", "rotation", "position", "positions",
    "positional", "theta", "yarn", "ntk", "longrope", "mscale", "alibi", "nope",
}  # fmt: skip

# The keys that each rule reads, beside those that all read.
COMMON = {"rope_type", "type", BASE, SHARE, "mrope_section", "mrope_interleaved"}
STRETCHED = {"factor", ORIGINAL, "attention_factor"}
OF_YARN = {"beta_fast", "beta_slow", "mscale", "mscale_all_dim"}
RULES: dict[str, set[str]] = {
    "default": set(),
    "linear": {"factor"},
    "dynamic": {"factor"},
    "ntk": {"factor", "alpha", *OF_YARN},
    "yarn": {*STRETCHED, *OF_YARN, "truncate", "finetuned", "llama_4_scaling_beta", LENGTHS[0]},
    "longrope": {*STRETCHED, "short_factor", "long_factor", "short_mscale", "long_mscale"},
    "llama3": {"factor", ORIGINAL, "low_freq_factor", "high_freq_factor"},
    "proportional": {"factor"},
}
SCALING = sorted(set().union(*RULES.values()))  # none of them means anything without a rule

# Other names of rules. M-RoPE is no rule: it says which position rotates which pair.
SYNONYMS = {"mrope": "default", "su": "longrope", "deepseek_yarn": "yarn"}
NONE = "none"  # the scheme of layers that do not rotate


def refuse_strangers(entries: Entries) -> None:
    """Raise ValueError if a key is about positions, or written like one that is read."""
    for given in entries.given(entries.mapping):
        key = str(given)
        if key in READ or key in UNRELATED:
            continue
        near = _closest_key(key)
        if near is not None:
            raise ValueError(
                f"{entries.path(key)} must be a key that is read, such as {entries.path(near)};"
                f" got {_shown(entries.mapping[given])}"
            )


def _closest_key(key: str) -> str | None:
    """Return the key that is read which another was to be, or None if it is about other things."""
    word, most = key.lower(), 1 if len(key) < 10 else 2
    about = WORDS & set(re.split(r"[^a-z]+", word))
    if not about and (len(key) <= 4 or not any(is_misspelling(word, one, most) for one in READ)):
        return None
    near = nearest(key, READ)
    return near if about or is_misspelling(word, near, most) else None


def type_of(entries: Entries) -> str:
    """Return the rule that a section names."""
    said = {entries.path(key): entries.text(key) for key in ("rope_type", "type")}
    for path, name in said.items():
        if name is not None and SYNONYMS.get(name, name) not in RULES.keys() - {"ntk"}:
            allowed = ", ".join(f'"{one}"' for one in RULES if one != "ntk")
            raise ValueError(f"{path} must be one of {allowed}; got {_shown(name)}")
    name = agreed({path: name and SYNONYMS.get(name, name) for path, name in said.items()})
    needing = entries.given(SCALING) if name is None else []
    if needing:
        raise ValueError(
            f"{entries.path('rope_type')} must be given where {needing[0]} is; got none"
        )
    return name or "default"
