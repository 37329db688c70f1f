"""`read_config` reads the rotary settings of a configuration, and names the key that it refuses."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posenc import (
    dynamic_frequencies,
    frequencies,
    interpolated_frequencies,
    llama3_frequencies,
    longrope_frequencies,
    longrope_temperature,
    ntk_frequencies,
    proportional_frequencies,
    read_config,
    yarn_frequencies,
    yarn_temperature,
)

Config = dict[str, Any]

PLAIN: Config = {
    "hidden_size": 512,
    "num_attention_heads": 8,
    "max_position_embeddings": 4096,
    "rope_theta": 10000.0,
}
ORIGINAL = "original_max_position_embeddings"
LONG: Config = {"max_position_embeddings": 131072}
YARN: Config = {"rope_type": "yarn", "factor": 4.0, ORIGINAL: 4096}
LLAMA3: Config = {
    "rope_type": "llama3",
    "factor": 8.0,
    ORIGINAL: 8192,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
}
LONGROPE: Config = {
    "rope_type": "longrope",
    ORIGINAL: 4096,
    "short_factor": [1.0] * 32,
    "long_factor": [float(i) for i in range(1, 33)],
}
LINEAR: Config = {"type": "linear", "factor": 2.0}
DYNAMIC: Config = {"type": "dynamic", "factor": 2.0}
ALPHA: Config = {"type": "dynamic", "alpha": 1000.0}
LATENT: Config = {
    "model_type": "deepseek_v3",
    "hidden_size": 7168,
    "num_attention_heads": 128,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "max_position_embeddings": 163840,
    "rope_theta": 10000,
}
FULL, SLIDING = "full_attention", "sliding_attention"
GEMMA: Config = {
    "model_type": "gemma3_text",
    "rope_theta": 1e6,
    "rope_local_base_freq": 1e4,
    "rope_scaling": {"rope_type": "linear", "factor": 8.0},
}
NESTED: Config = {
    "model_type": "gemma3_text",
    "rope_parameters": {
        FULL: {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
        SLIDING: {"rope_type": "default", "rope_theta": 1e4},
    },
}
MODERNBERT: Config = PLAIN | {"model_type": "modernbert", "rope_theta": None}
DBRX: Config = {"d_model": 6144, "n_heads": 48, "max_seq_len": 32768, "model_type": "dbrx"}
GPT_OSS: Config = {"model_type": "gpt_oss", "hidden_size": 2880, "num_attention_heads": 64}


def scaled(scaling: Config, **others: Any) -> Config:
    """Return a configuration in the old spelling."""
    return PLAIN | {"rope_scaling": scaling} | others


def head(width: int = 64, **others: Any) -> Config:
    """Return a configuration that gives the width of a head."""
    return {"head_dim": width, **others}


def notes(config: Config, layer_type: str | None = None) -> str:
    """Return all notes on a configuration."""
    return " ".join(read_config(config, layer_type=layer_type).notes)


# The rules


def test_without_scaling_a_configuration_gives_plain_frequencies() -> None:
    found = read_config(PLAIN)
    assert (found.scheme, found.d, found.rotary_d, found.base) == ("default", 64, 64, 10000.0)
    assert (found.factor, found.attention_factor, found.softmax_factor) == (1, 1, 1)
    assert (found.trained_length, found.length) == (4096, 4096)
    assert (found.layout, found.sections, found.layer_types) == (None, None, ())
    np.testing.assert_array_equal(found.frequencies(), frequencies(64))


RULES: dict[str, tuple[Config, Callable[[int], np.ndarray]]] = {
    "linear": ({"factor": 4.0}, lambda n: interpolated_frequencies(64, 4)),
    "dynamic": (
        {"factor": 2.0},
        lambda n: dynamic_frequencies(64, n, factor=2, trained_length=4096),
    ),
    "yarn": (YARN, lambda n: yarn_frequencies(64, 4, 4096, ramp="pairs")),
    "llama3": (LLAMA3, lambda n: llama3_frequencies(64, factor=8, trained_length=8192)),
    "longrope": (
        LONGROPE,
        lambda n: longrope_frequencies(
            64, n, short=np.ones(32), long=np.arange(1, 33), trained_length=4096
        ),
    ),
    "proportional": ({"factor": 2.0}, lambda n: proportional_frequencies(64, 64, factor=2)),
}


@pytest.mark.parametrize("length", [None, 1, 4096, 4097, 20000])
@pytest.mark.parametrize("spelling", ["old", "new"])
@pytest.mark.parametrize("scheme", RULES)
def test_each_rule_is_the_function_of_that_name(
    scheme: str, spelling: str, length: int | None
) -> None:
    settings, function = RULES[scheme]
    settings = {key: value for key, value in settings.items() if key != "rope_type"}
    config = PLAIN | {"max_position_embeddings": 8192 if scheme == "llama3" else 4096}
    if spelling == "old":
        config["rope_scaling"] = settings | {"type": scheme}
    else:
        base = {"rope_theta": config.pop("rope_theta")}
        config["rope_parameters"] = settings | base | {"rope_type": scheme}
    found = read_config(config)
    assert found.scheme == scheme
    np.testing.assert_array_equal(found.frequencies(length), function(length or 1))


def test_a_configuration_is_not_changed() -> None:
    config = scaled(LONGROPE)
    before = copy.deepcopy(config)
    found = read_config(config)
    found.frequencies()[:] = 0
    assert config == before
    np.testing.assert_array_equal(found.frequencies(), frequencies(64))


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, yarn_temperature(4)),
        ({"attention_factor": 1.5}, 1.5),
        ({"attention_factor": 1.5, "mscale": 1.0}, 1.5),
        (
            {"mscale": 0.707, "mscale_all_dim": 1.0},
            yarn_temperature(4, mscale=0.707) / yarn_temperature(4, mscale=1),
        ),
        ({"mscale": 0.707}, yarn_temperature(4)),
        ({"mscale_all_dim": 0.707, "mscale": 0}, yarn_temperature(4)),
    ],
)
def test_yarns_attention_factor_is_given_or_a_quotient_or_the_temperature(
    more: Config, expected: float
) -> None:
    found = read_config(scaled(YARN | more))
    assert (found.attention_factor, found.softmax_factor) == (expected, 1)
    noted = bool(more.get("mscale") or more.get("mscale_all_dim"))
    assert ("mscale" in " ".join(found.notes)) == noted


def test_latent_attention_scales_the_scores_by_the_square_of_a_temperature() -> None:
    scaling = YARN | {"factor": 40, "mscale": 1.0, "mscale_all_dim": 1.0}
    found = read_config(LATENT | {"rope_scaling": scaling})
    assert (found.d, found.rotary_d, found.layout) == (64, 64, "interleaved")
    assert (found.attention_factor, found.softmax_factor) == (1, yarn_temperature(40) ** 2)


@pytest.mark.parametrize(
    ("scaling", "settings"),
    [
        ({}, {"fast": 32.0, "slow": 1.0, "truncate": True}),
        ({"beta_fast": 16, "beta_slow": 2, "truncate": False}, {"fast": 16.0, "slow": 2.0}),
        ({"beta_fast": None, "truncate": None}, {"fast": 32.0, "truncate": True}),
    ],
)
def test_yarns_limits_and_truncation_are_read(scaling: Config, settings: Config) -> None:
    found = read_config(scaled(YARN | scaling))
    assert found.settings.items() >= settings.items()
    expected = yarn_frequencies(64, 4, 4096, ramp="pairs", **found.settings)
    np.testing.assert_array_equal(found.frequencies(), expected)
    assert ("truncated" in " ".join(found.notes)) == (not found.settings["truncate"])


@pytest.mark.parametrize(
    ("more", "attention_factor", "factor"),
    [
        ({}, longrope_temperature(32, 4096), 32),
        ({"attention_factor": 1.19}, 1.19, 32),
        ({"factor": 8.0}, longrope_temperature(8, 4096), 8),
        ({"short_mscale": 1.24, "long_mscale": 1.24}, 1.24, 32),
    ],
)
def test_longropes_attention_factor_is_given_or_computed(
    more: Config, attention_factor: float, factor: float
) -> None:
    found = read_config(scaled(LONGROPE | more, **LONG))
    assert (found.attention_factor, found.factor) == (attention_factor, factor)
    assert found.length == 131072


def test_a_fixed_alpha_is_a_larger_base_at_every_length() -> None:
    found = read_config(scaled(ALPHA | {"factor": 1.0, "mscale": 1.0}))
    assert found.scheme == "ntk"
    np.testing.assert_array_equal(found.frequencies(), ntk_frequencies(64, 1000))


# Lengths


@pytest.mark.parametrize(
    ("config", "trained", "promised"),
    [
        (PLAIN, 4096, 4096),
        (PLAIN | {ORIGINAL: 2048}, 2048, 4096),
        (head(rope_theta=100), None, None),
        (scaled({"type": "linear", "factor": 4}), None, 4096),
        (scaled({"type": "linear", "factor": 1}), 4096, 4096),
        (scaled({"type": "dynamic", "factor": 4}), 4096, 16384),
        (scaled(YARN), 4096, 16384),
        (scaled({"type": "yarn", "factor": 2.5}), 4096, 10240),
        (scaled(YARN | {"factor": None}, max_position_embeddings=32768), 4096, 32768),
        (scaled(YARN | {"max_position_embeddings": 4096}), 4096, 16384),
        (scaled(LLAMA3, **LONG), 8192, 131072),
        (scaled(LLAMA3, max_position_embeddings=None), 8192, 65536),
        (scaled(LONGROPE), 4096, 4096),
        (scaled(LONGROPE | {"factor": 2}, max_position_embeddings=None), 4096, 8192),
        (scaled({"rope_type": "proportional"}), 4096, 4096),
        *((head(rope_theta=100, **{key: 512}), 512, 512) for key in ("n_positions", "n_ctx")),
        *((head(rope_theta=9, **{k: 7}), 7, 7) for k in ("max_sequence_length", "seq_length")),
        (scaled(YARN | {ORIGINAL: None, "factor": 4.0}, **LONG), 131072, 524288),
        (scaled(LLAMA3 | {ORIGINAL: None, "factor": 4.0}, **LONG), 131072, 131072),
        (scaled(LONGROPE | {ORIGINAL: None, "factor": 4.0}, **LONG), 131072, 131072),
    ],
)
def test_trained_and_promised_lengths(
    config: Config, trained: int | None, promised: int | None
) -> None:
    found = read_config(config)
    assert (found.trained_length, found.length) == (trained, promised)


@pytest.mark.parametrize("rule", [{}, {"rope_scaling": LLAMA3 | {ORIGINAL: None}}])
def test_the_trained_length_may_be_given_beside_the_configuration(rule: Config) -> None:
    found = read_config(PLAIN | rule, trained_length=2048)
    same = read_config(PLAIN | rule | {ORIGINAL: 2048})
    assert (found.trained_length, found.length) == (2048, same.length)
    np.testing.assert_array_equal(found.frequencies(), same.frequencies())
    inner = read_config({"model_type": "a", "text_config": PLAIN | rule}, trained_length=2048)
    assert inner.trained_length == 2048


def test_another_trained_length_than_that_of_the_rule_is_refused() -> None:
    with pytest.raises(ValueError, match=r"must agree; got 2048 .* and 4096"):
        read_config(scaled(YARN), trained_length=2048)
    with pytest.raises(ValueError, match='left out with rope_type "dynamic"'):
        read_config(scaled({"type": "dynamic", "factor": 4}), trained_length=2048)
    with pytest.raises(ValueError, match="trained_length must be an integer, 2 or more"):
        read_config(PLAIN, trained_length=1)


def test_the_factor_may_be_left_to_two_lengths() -> None:
    found = read_config(scaled(YARN | {"factor": None}, max_position_embeddings=32768))
    assert found.factor == 8


# Widths


@pytest.mark.parametrize(
    ("config", "d", "rotary_d"),
    [
        ({"hidden_size": 512, "num_attention_heads": 8}, 64, 64),
        ({"n_embd": 4096, "n_head": 16, "rotary_dim": 64}, 256, 64),
        ({"hidden_size": 5120, "num_attention_heads": 32, "head_dim": 128}, 128, 128),
        ({"kv_channels": 128}, 128, 128),
        (head(80, partial_rotary_factor=0.4), 80, 32),
        (head(rotary_pct=0.25), 64, 16),
        (head(rope_pct=0.25, partial_rotary_factor=0.25), 64, 16),
        (head(128, rotary_dim=64, partial_rotary_factor=0.5), 128, 64),
        (head(128, rope_parameters={"partial_rotary_factor": 0.5}), 128, 64),
        (head(model_type="gpt_neox"), 64, 16),
        (head(qk_rope_head_dim=64), 64, 64),
        ({"model_type": "gemma3_text"}, 256, 256),
        ({"model_type": "qwen3", "hidden_size": 1024, "num_attention_heads": 16}, 128, 128),
    ],
)
def test_widths_are_read_in_every_spelling(config: Config, d: int, rotary_d: int) -> None:
    found = read_config(config | {"rope_theta": 10000.0})
    assert (found.d, found.rotary_d) == (d, rotary_d)
    np.testing.assert_array_equal(found.frequencies(), frequencies(rotary_d))


@pytest.mark.parametrize("share", [0.25, 0.5, 1.0])
def test_proportional_layers_rotate_the_first_pairs_of_the_whole_head(share: float) -> None:
    scaling = {"rope_type": "proportional", "partial_rotary_factor": share, "rope_theta": 1e6}
    found = read_config(head(rope_parameters=scaling))
    assert (found.d, found.rotary_d) == (64, 64)
    expected = proportional_frequencies(64, int(64 * share), base=1e6)
    np.testing.assert_array_equal(found.frequencies(), expected)


@pytest.mark.parametrize("interleaved", [False, True])
def test_sections_are_read(interleaved: bool) -> None:
    scaling = {"type": "mrope", "rope_type": "default", "mrope_section": [8, 12, 12]}
    found = read_config(scaled(scaling | {"mrope_interleaved": interleaved}))
    assert (found.scheme, found.sections) == ("default", (8, 12, 12))
    assert found.interleaved_sections == interleaved


# Layers that differ

FAR, NEAR = (FULL, "linear", 1e6), (SLIDING, "default", 1e4)
BOTH: Config = head(rope_parameters={FULL: {"rope_theta": 1e6}, SLIDING: {}})
WIDE: Config = {"rope_parameters": {FULL: {"rope_theta": 1e6}, SLIDING: {"rope_theta": 1e4}}}
OLMO3: Config = PLAIN | {"model_type": "olmo3", "rope_scaling": YARN}
LISTED: Config = PLAIN | {"layer_types": [FULL, SLIDING]}


@pytest.mark.parametrize("config", [GEMMA, NESTED, GEMMA | {"rope_local_base_freq": None}])
def test_each_type_of_layers_has_its_own_base(config: Config) -> None:
    far, near = read_config(config), read_config(config, layer_type=SLIDING)
    assert far.layer_types == (FULL, SLIDING)
    assert (far.layer_type, far.scheme, far.base) == FAR
    assert (near.layer_type, near.scheme, near.base) == NEAR
    np.testing.assert_array_equal(
        read_config(config, layer_type=FULL).frequencies(), far.frequencies()
    )


@pytest.mark.parametrize(
    ("config", "layer_type", "expected"),
    [
        (OLMO3, None, {"scheme": "yarn"}),
        (OLMO3, SLIDING, {"scheme": "default", "base": 1e4}),
        (
            OLMO3 | {"rope_theta": None, "rope_scaling": YARN | {"rope_theta": 5e5}},
            SLIDING,
            {"base": 5e5},
        ),
        (
            head(rope_theta=5e5, rope_parameters={FULL: {"rope_type": "default"}, SLIDING: None}),
            None,
            {"base": 5e5},
        ),
        (
            head(rope_parameters={FULL: None, "b": {"rope_theta": 10}, "c": {"rope_theta": 11}}),
            None,
            {"layer_type": "b"},
        ),
        (LISTED, SLIDING, {"layer_type": SLIDING, "base": 1e4}),
        ({"model_type": "gemma4_text"}, None, {"scheme": "proportional", "d": 512, "base": 1e6}),
        ({"model_type": "gemma4_text"}, SLIDING, {"scheme": "default", "d": 256, "base": 1e4}),
        (BOTH | {"model_type": "gemma3_text"}, SLIDING, {"base": 1e4}),
        (BOTH | {"rope_local_base_freq": 777}, SLIDING, {"base": 777}),
        (BOTH | {"rope_theta": 1e6}, SLIDING, {"base": 1e6}),
        (WIDE | head(256, global_head_dim=512), None, {"d": 512}),
        (WIDE | head(256, global_head_dim=512), SLIDING, {"d": 256}),
        (WIDE | {"model_type": "gemma4_text"}, None, {"d": 512}),
        (WIDE | {"model_type": "gemma4_text"}, SLIDING, {"d": 256}),
        (MODERNBERT | {"rope_scaling": YARN}, None, {"base": 160000}),
        (
            MODERNBERT | {"rope_scaling": YARN},
            SLIDING,
            {"base": 10000, "scheme": "yarn", "trained_length": 4096},
        ),
        (PLAIN | {"no_rope_layers": [1, 1]}, None, {"layer_types": ()}),
        (PLAIN | {"model_type": "exaone4", "sliding_window": None}, None, {"layer_types": ()}),
    ],
)
def test_settings_of_a_type_of_layers(
    config: Config, layer_type: str | None, expected: Config
) -> None:
    found = read_config(config, layer_type=layer_type)
    assert {name: getattr(found, name) for name in expected} == expected


def test_default_layers_of_gemma_4_rotate_a_quarter_of_the_head() -> None:
    found = read_config({"model_type": "gemma4_text"})
    expected = proportional_frequencies(512, 128, base=1e6)
    np.testing.assert_array_equal(found.frequencies(), expected)


@pytest.mark.parametrize(
    ("more", "rotating", "other"),
    [
        ({"model_type": "cohere2", "sliding_window": 4096}, SLIDING, FULL),
        ({"model_type": "smollm3"}, "rope", "no_rope"),
        ({"model_type": "llama4_text", "head_dim": 64, "no_rope_layers": []}, "rope", "no_rope"),
        ({"no_rope_layers": [1, 1, 1, 0]}, "rope", "no_rope"),
        ({"rope_parameters": {"a": {"rope_theta": 1e4}, "b": None}, "rope_theta": None}, "a", "b"),
    ],
)
def test_layers_without_rotation_have_no_frequencies(
    more: Config, rotating: str, other: str
) -> None:
    config = PLAIN | more
    found = read_config(config)
    assert (found.layer_type, found.rotary_d) == (rotating, 64)
    unrotated = read_config(config, layer_type=other)
    assert (unrotated.scheme, unrotated.rotary_d, unrotated.base) == ("none", 0, None)
    assert unrotated.frequencies(10).shape == (0,)
    assert repr(unrotated) == "RotaryConfig(none, d=64, rotary_d=0, length=4096)"


@pytest.mark.parametrize(
    ("config", "layer_type", "allowed"),
    [
        (LISTED, "linear_attention", f'one of "{FULL}", "{SLIDING}", or None'),
        (PLAIN | {"layer_types": ["conv", FULL]}, "conv", f'one of "{FULL}", or None'),
        (PLAIN | {"layer_types": ["linear_attention", FULL]}, "linear_attention", f'"{FULL}", or'),
        (PLAIN, FULL, "None, as all layers are alike"),
    ],
)
def test_a_type_of_layers_that_does_not_rotate_is_refused(
    config: Config, layer_type: str, allowed: str
) -> None:
    with pytest.raises(ValueError, match=f"layer_type must be .*{allowed}"):
        read_config(config, layer_type=layer_type)


@pytest.mark.parametrize(("model_type", "window"), [("modernbert", 65), ("modernbert-decoder", 64)])
def test_windows_of_modernbert(model_type: str, window: int) -> None:
    config = MODERNBERT | {"model_type": model_type}
    near = read_config(config, layer_type=SLIDING)
    wide = read_config(config | {"local_attention": 256}, layer_type=SLIDING)
    assert (near._place.window, wide._place.window) == (window, window + 64)


# Model types


@pytest.mark.parametrize(
    ("config", "layout"),
    [
        (PLAIN | {"model_type": "llama"}, "half"),
        (PLAIN | {"model_type": "gptj"}, "interleaved"),
        (PLAIN | {"model_type": "unknown"}, None),
        (LATENT | {"model_type": "unknown"}, None),
        (LATENT | {"rope_interleave": False}, "half"),
        (PLAIN | {"rotary_emb_interleaved": True}, "interleaved"),
        (PLAIN | {"rotary_emb_interleaved": False}, "half"),
        (PLAIN | {"rope_interleaved": True}, "interleaved"),
        (PLAIN | {"rope_interleaved": False}, "half"),
    ],
)
def test_the_layout_is_that_of_the_model_type(config: Config, layout: str | None) -> None:
    assert read_config(config).layout == layout


def test_a_missing_base_is_that_of_the_model_type_and_noted() -> None:
    found = read_config({"model_type": "mixtral", "hidden_size": 512, "num_attention_heads": 8})
    assert found.base == 1e6
    told = "rope_theta is not given. transformers uses 1000000 for this model type. Compare it with"
    assert any(note.startswith(f"{told} the base in training") for note in found.notes)
    with pytest.raises(ValueError, match="rope_theta must be given, as the default"):
        read_config(head(rope_scaling=LINEAR))


@pytest.mark.parametrize(
    ("kind", "rule", "is_noted"),
    [
        ("llama", {"rope_type": "default"}, True),
        ("cohere2", {"rope_type": "default"}, True),
        ("llama", LINEAR, False),
        ("minimax_m2", {"rope_type": "default"}, False),
        ("phi", {"rope_type": "default"}, False),
        ("new-type", {"rope_type": "default"}, False),
    ],
)
def test_a_part_that_transformers_reads_only_with_a_rule_is_noted(
    kind: str, rule: Config, is_noted: bool
) -> None:
    rope = {"rope_theta": 1e4, "partial_rotary_factor": 0.25} | rule
    sizes = {"head_dim": 64, "max_position_embeddings": 512}
    found = read_config({"model_type": kind, **sizes, "rope_parameters": rope})
    assert found.rotary_d == 16
    told = "partial_rotary_factor is 0.25. For this model type transformers reads it only with"
    assert any(note.startswith(told) for note in found.notes) == is_noted


@pytest.mark.parametrize("key", ["rope_parameters", "rope_scaling"])
def test_a_base_of_null_beside_a_rule_is_refused(key: str) -> None:
    """As transformers 5.24 saves one, which its class then raises TypeError at."""
    with pytest.raises(ValueError, match=rf"^{key}.rope_theta must be the base .* got null"):
        read_config(PLAIN | {"rope_theta": None, key: YARN | {"rope_theta": None}})
    llama = PLAIN | {"model_type": "llama", "rope_theta": None}
    assert read_config(llama).base == 10000  # beside no rule


@pytest.mark.parametrize(
    ("config", "base", "d"),
    [
        (DBRX | {"attn_config": {"rope_theta": 5e5, "clip_qkv": 8}}, 5e5, 128),
        (PLAIN | {"attn_config": "flash"}, 10000, 64),
        (head(rotary_emb_base=1e6), 1e6, 64),
        ({"model_type": "a", "text_config": PLAIN | {"rope_theta": 5e5}}, 5e5, 64),
        ({"text_config": PLAIN | {"rope_theta": 5e5}, "rope_theta": 5e5}, 5e5, 64),
    ],
)
def test_a_base_is_found_where_it_is_given(config: Config, base: float, d: int) -> None:
    found = read_config(config)
    assert (found.base, found.d) == (base, d)


def test_a_missing_rule_is_that_of_the_model_type() -> None:
    found = read_config(GPT_OSS)
    assert (found.scheme, found.factor, found.trained_length) == ("yarn", 32, 4096)
    assert found.settings["truncate"] is False
    assert read_config(GPT_OSS | {"rope_scaling": LINEAR}).scheme == "linear"
    assert read_config(GPT_OSS | {"rope_parameters": {"rope_theta": 1e6}}).scheme == "default"


# Notes


def cohere(positions: str, **others: Any) -> Config:
    """Return a configuration of a model that reads no type of positions, with one."""
    return PLAIN | {"model_type": "cohere2", "position_embedding_type": positions} | others


HUNYUAN: Config = scaled(ALPHA, model_type="hunyuan_v1_dense", head_dim=64)
INSIDE: Config = head(rope_parameters={"rope_theta": 1e6})
OUTSIDE: Config = MODERNBERT | {"global_rope_theta": 16e4, "local_rope_theta": 1e4}
ABSOLUTE = "is 'absolute'. transformers does not read it for this model type, which rotates."
MISSING = (
    f"{ORIGINAL} is not given. transformers uses max_position_embeddings, 131072. This answer holds"
    " only if sequences in training were that long"
)


@pytest.mark.parametrize(
    ("note", "config", "without"),
    [
        ("Values are rotated too.", PLAIN | {"rotary_value": True}, PLAIN),
        ("128 wide", LATENT, PLAIN),
        ("the rest of a head is not", head(qk_rope_head_dim=64, rope_theta=1e4), PLAIN),
        ("queries are also scaled", scaled(YARN | {"llama_4_scaling_beta": 0.1}), scaled(YARN)),
        ("factor, mscale have no", scaled(ALPHA | {"factor": 1.0, "mscale": 1}), scaled(ALPHA)),
        ("no effect", scaled(ALPHA | {"factor": 1.0}), scaled(ALPHA)),
        ("It is unclear whether alpha is read", scaled(ALPHA), HUNYUAN),
        ("It is unclear whether alpha is read", HUNYUAN | {"model_type": "unknown"}, HUNYUAN),
        (
            f"is 32768, but factor times {ORIGINAL} is 16384",
            scaled(YARN, max_position_embeddings=32768),
            scaled(YARN),
        ),
        *((MISSING, scaled(one | {ORIGINAL: None, "factor": 4.0}, **LONG), scaled(one, **LONG))
          for one in (YARN, LLAMA3, LONGROPE)),
        ("A head is 128 wide, not", PLAIN | head(128), PLAIN | head(64)),
        ("often taken for one another", scaled({"mrope_section": [8, 12, 12]}), PLAIN),
        (f'ask for "{SLIDING}" as well', GEMMA, PLAIN),
        ("layout depends", LATENT | {"model_type": "unknown"}, LATENT),
        ("uses its own default", INSIDE, INSIDE | {"rope_theta": 1e6}),
        ("uses its own default", INSIDE, {"model_type": "apertus", "head_dim": 64}),
        ("uses its own default", INSIDE, head(rotary_emb_base=1e6)),
        (
            "outside uses its own default, as transformers 5.24 does: 10000.",
            DBRX | {"attn_config": {"rope_theta": 5e5}},
            DBRX | {"attn_config": {"rope_theta": 5e5}, "rope_theta": 5e5},
        ),
        (
            "A program that looks for it outside uses its own default.",
            head(rotary_pct=1.0, attn_config={"rope_theta": 5e5}),
            PLAIN,
        ),
        ("rope_parameters is not given", GPT_OSS, GPT_OSS | {"rope_scaling": LINEAR}),
        ("Only the part about text, text_config, is read", {"text_config": PLAIN}, PLAIN),
        (ABSOLUTE, PLAIN | {"model_type": "llama", "position_embedding_type": "absolute"}, PLAIN),
        (ABSOLUTE, MODERNBERT | {"position_embedding_type": "absolute"}, MODERNBERT),
    ],
)  # fmt: skip
def test_what_is_unusual_is_noted(note: str, config: Config, without: Config) -> None:
    assert note in notes(config)
    assert note not in notes(without)


@pytest.mark.parametrize(
    ("config", "layer_type", "words"),
    [
        (GEMMA, SLIDING, "ask for"),
        (OUTSIDE, FULL, "rope_parameters"),
        (OUTSIDE, SLIDING, "rope_parameters"),
        (head(rotary_emb_base=1e6), None, "rope_theta"),
        (cohere("rope_gptj"), None, "position_embedding_type"),
        (cohere("rope_gptj", model_type="unknown"), None, "position_embedding_type"),
        (cohere("rope"), None, "position_embedding_type"),
    ],
)
def test_what_is_usual_is_not_noted(config: Config, layer_type: str | None, words: str) -> None:
    assert words not in notes(config, layer_type)


# Files


def test_a_configuration_may_be_a_file_or_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(PLAIN), encoding="utf-8")
    for place in (path, str(path), tmp_path):
        assert read_config(place).d == 64
    with pytest.raises(FileNotFoundError):
        read_config(tmp_path / "other.json")


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ('{"a": 1,\n}', "JSON allows no comma before } or ]: "),
        ('{"a": [1, ]}', "JSON allows no comma before } or ]: "),
        ('{"a": 1, // one\n}', "JSON has no comments: Expecting"),
        ('{/* one */ "a": 1}', "JSON has no comments: Expecting"),
        ('{"a": None}', "JSON has null, true and false for Python's None, True and False: Expec"),
        ("{'a': 1}", "JSON has double quotes, not single ones: Expecting"),
        ('{"a": Nothing}', "Expecting"),
        ('{"a":,}', "Expecting"),
        ('{"x": 1, "a":,}', "Expecting"),
        ('{"a": "it\'\n"}', "Invalid control"),
    ],
)
def test_what_breaks_json_is_said_plainly_where_it_is_clear(
    tmp_path: Path, text: str, cause: str
) -> None:
    (tmp_path / "config.json").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=f"got config.json: {re.escape(cause)}"):
        read_config(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "config must be a JSON file; got config.json: Expecting"),
        ("", "config must be a JSON file; got config.json, which is empty"),
        ("\n", "config must be a JSON file; got config.json, which is empty"),
        ("\xff", "config must be a JSON file; got config.json, which is not UTF-8"),
        ("\xff\xfe\0{", "config must be a JSON file; got config.json, which is not UTF-8"),
        ("[" * 100_000, "config must be a JSON file; got config.json: brackets are nested too"),
        ("[1, 2]", "config must be a JSON object; got [1, 2] (list)"),
        ("null", "config must be a JSON object; got None"),
        ('{"a": 1, "a": 2}', "config must have one value for a; got 1 (int) and 2 (int)"),
        ('{"a": 1, "a": true}', "config must have one value for a; got 1 (int) and True (bool)"),
        ('{"a": 1, "a": 1.0}', "config must have one value for a; got 1 (int) and 1.0 (float)"),
        ('{"a": [1], "a": [true]}', "config must have one value for a; got [1] (list) and [True]"),
        ('{"a": {"b": 1, "c": 2}, "a": {"c": 2, "b": 1}}', "config must have a model type that"),
        ('{"rope_theta": NaN, "head_dim": 8}', "rope_theta must be a number above 1; got nan"),
        ('{"rope_theta": Infinity, "head_dim": 8}', "rope_theta must be a number above 1; got inf"),
    ],
)
def test_a_file_without_a_configuration_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        read_config(path)


# Faults

BAD: list[tuple[Config, str]] = [
    # Keys that are not read
    (PLAIN | {"rope_tehta": 1e4}, "rope_tehta must be a key that is read, such as rope_theta; got"),
    (PLAIN | {"haed_dim": 64}, "haed_dim must be a key that is read, such as head_dim; got 64"),
    (PLAIN | {"hed_dim": 64}, "hed_dim must be a key that is read, such as head_dim; got 64"),
    (PLAIN | {"max_postion_embeddings": 4}, "max_postion_embeddings must be a key that is read"),
    (PLAIN | {"use_rope_magic": True}, "use_rope_magic must be a key that is read"),
    (PLAIN | {"RoPE_base": 1}, "RoPE_base must be a key that is read"),
    (PLAIN | {"rope_ratio": 50}, "rope_ratio must be a key that is read"),
    (scaled(YARN | {"beta_fsat": 3}), "rope_scaling.beta_fsat must be a key that rope_type"),
    (scaled({"factor": 8}), "rope_scaling.rope_type must be given where factor is; got none"),
    (scaled({"type": "default", "factor": 2.0}), "rope_scaling.factor must be a key that"),
    (scaled(LLAMA3 | {"attention_factor": 1.0}), "rope_scaling.attention_factor must be a key"),
    (
        PLAIN | {"rope_scaling": YARN | {"attention_facter": 1}},
        "such as rope_scaling.attention_factor",
    ),
    (PLAIN | {"rope_parameters": {"rope_tpe": "yarn"}}, "such as rope_parameters.rope_type; got"),
    # Rules
    (scaled({"type": "yran", "factor": 2}), 'rope_scaling.type must be one of "default", "linear"'),
    (scaled({"rope_type": 3, "factor": 2}), "rope_scaling.rope_type must be a string; got 3 (int)"),
    (scaled({"type": "linear", "rope_type": "yarn"}), "rope_scaling.rope_type and"),
    # Factors
    (scaled({"type": "linear"}), "rope_scaling.factor must be given; got none"),
    (scaled({"type": "linear", "factor": 0.5}), "rope_scaling.factor must be a number, 1 or more"),
    (scaled({"type": "linear", "factor": "4"}), "1 or more; got '4' (str)"),
    (scaled({"type": "linear", "factor": True}), "1 or more; got True (bool)"),
    (scaled({"type": "linear", "factor": 10**400}), "rope_scaling.factor must be a number"),
    (scaled({"type": "dynamic", "factor": float("nan")}), "rope_scaling.factor must be a number"),
    (scaled({"type": "dynamic", "alpha": 0}), "rope_scaling.alpha must be a number, 1 or more"),
    (scaled(YARN | {"attention_factor": 0}), "attention_factor must be a number above 0; got 0"),
    (scaled(YARN | {"mscale": -1}), "rope_scaling.mscale must be a number, 0 or more; got -1"),
    (scaled(YARN | {"truncate": "no"}), "rope_scaling.truncate must be true or false; got 'no'"),
    (scaled(YARN | {"beta_slow": 40}), "beta_fast must be at least beta_slow, 40; got 32"),
    (scaled(LLAMA3 | {"low_freq_factor": 5}, **LONG), "high_freq_factor must be at least"),
    (scaled(LLAMA3 | {"low_freq_factor": None}, **LONG), "rope_scaling.low_freq_factor must be"),
    (
        scaled(ALPHA, model_type="llama"),
        "rope_scaling.alpha must be in a configuration of HunYuan,",
    ),
    (scaled({"type": "linear", "factor": 1e200}), "factor must be a number, at most 1e100; got 1e"),
    (scaled(YARN | {"mscale": 1e200}), "rope_scaling.mscale must be a number, at most 1e100; got"),
    (scaled(YARN | {"factor": 1e20}), "rope_scaling.factor must promise at most 2**53 positions;"),
    (scaled(YARN | {"llama_4_scaling_beta": "0.1"}), "beta must be a number, 0 or more; got '0.1'"),
    (scaled(YARN | {"finetuned": "yes"}), "rope_scaling.finetuned must be true or false; got"),
    (scaled(ALPHA | {"factor": "1"}), "rope_scaling.factor must be a number, 0 or more; got '1'"),
    # Lists
    (scaled({"mrope_interleaved": True}), "rope_scaling.mrope_section must be given with"),
    (scaled({"type": "mrope"}), 'rope_scaling.mrope_section must be given with type "mrope"; got'),
    (scaled(LONGROPE | {"short_factor": [1.0] * 31}), "a list of 32 numbers, one per pair; got 31"),
    (scaled(LONGROPE | {"long_factor": 2.0}), "rope_scaling.long_factor must be a list of 32"),
    (scaled(LONGROPE | {"long_factor": None}), "rope_scaling.long_factor must be a list of 32"),
    (scaled(LONGROPE | {"long_factor": [0.0] * 32}), "long_factor.0 must be a number above 0"),
    (scaled(LONGROPE | {"long_factor": ["1"] * 32}), "long_factor.0 must be a number above 0"),
    (scaled(LONGROPE | {"short_mscale": 1.1, "long_mscale": 1.2}), "rope_scaling.short_mscale and"),
    (scaled({"mrope_section": [16, 24, 24]}), "add up to the 32 pairs that rotate; got 16 + 24"),
    (scaled({"mrope_section": 32}), "mrope_section must be a list of integers; got 32"),
    (scaled({"mrope_section": [32, "0"]}), "mrope_section.1 must be an integer, 0 or more"),
    # Lengths
    (scaled(LONGROPE) | {ORIGINAL: 2048}, "and rope_scaling.original_max_position_embeddings must"),
    (scaled(YARN, max_position_embeddings=4096.5), "max_position_embeddings must be an integer"),
    (scaled(YARN, max_position_embeddings=0), "max_position_embeddings must be an integer, 1"),
    (scaled(YARN, max_position_embeddings="4096"), "max_position_embeddings must be an integer"),
    (scaled(DYNAMIC) | {"max_position_embeddings": None}, 'must be given with rope_type "dynamic"'),
    (PLAIN | {"n_positions": 2048}, "max_position_embeddings and n_positions must agree; got 4096"),
    (PLAIN | {"n_ctx": 99}, "max_position_embeddings and n_ctx must agree; got 4096 (int) and 99"),
    (PLAIN | {"max_position_embeddings": 10**20}, "embeddings must be an integer, at most 2**53"),
    (
        scaled(LONGROPE | {ORIGINAL: None}, max_position_embeddings=1),
        'max_position_embeddings must be 2 or more with rope_type "longrope"; got 1',
    ),
    # Bases
    (PLAIN | {"attn_config": {"rope_theta": 5e5}}, "rope_theta and attn_config.rope_theta must"),
    (head(model_type="apertus", rope_theta=1e4), "rope_parameters.rope_theta and rope_theta must"),
    (PLAIN | {"rope_theta": "10000"}, "rope_theta must be a number above 1; got '10000' (str)"),
    (PLAIN | {"rope_theta": 1}, "rope_theta must be a number above 1; got 1 (int)"),
    (PLAIN | {"rope_parameters": {"rope_theta": 5e5}}, "rope_parameters.rope_theta and rope_theta"),
    (PLAIN | {"rotary_emb_base": 5e5}, "rope_theta and rotary_emb_base must agree; got 10000.0"),
    (scaled(LINEAR, rope_parameters={"rope_type": "yarn"}), "rope_parameters.rope_type must agree"),
    (scaled(YARN, rope_parameters=YARN | {"factor": 8}), "and rope_parameters.factor must agree"),
    # Widths
    (PLAIN | {"head_dim": 63}, "head_dim must be an even integer, 2 or more; got 63"),
    (PLAIN | {"head_dim": 2e12}, "head_dim must be at most 65536; got 2000000000000"),
    (PLAIN | {"hidden_size": 8e12}, "hidden_size / num_attention_heads must be at most 65536"),
    (LATENT | {"qk_rope_head_dim": 2**17}, "qk_rope_head_dim must be at most 65536; got 131072"),
    (PLAIN | {"num_attention_heads": 7}, "hidden_size must be a multiple of num_attention_heads"),
    (PLAIN | {"hidden_size": 8}, "hidden_size / num_attention_heads must be an even integer"),
    ({"rope_theta": 1e4}, "head_dim must be given, or hidden_size and num_attention_heads"),
    (PLAIN | {"partial_rotary_factor": 1.5}, "partial_rotary_factor must be a number above 0, at"),
    (PLAIN | {"rotary_pct": 0.3}, "rotary_pct must leave an even number of dimensions, 2 or more"),
    (PLAIN | {"rotary_pct": 0.5, "rope_pct": 0.25}, "rotary_pct and rope_pct must agree; got 0.5"),
    (PLAIN | {"rotary_dim": 15}, "rotary_dim must be an even integer from 2 to 64; got 15"),
    (PLAIN | {"rotary_dim": 128}, "rotary_dim must be an even integer from 2 to 64; got 128"),
    (PLAIN | {"rotary_dim": 16, "rotary_pct": 0.5}, "rotary_dim and partial_rotary_factor must"),
    (
        scaled({"type": "proportional", "partial_rotary_factor": 0.01}),
        "rope_scaling.partial_rotary_factor must leave a pair to rotate; got 0.01 of 64",
    ),
    (scaled(DYNAMIC, head_dim=2), 'head_dim must be 4 or more with rope_type "dynamic"; got a rot'),
    (LATENT | {"qk_rope_head_dim": 63}, "qk_rope_head_dim must be an even integer, 2 or more"),
    (LATENT | {"qk_head_dim": 100}, "qk_rope_head_dim + qk_nope_head_dim and qk_head_dim must"),
    (LATENT | {"head_dim": 80}, "qk_rope_head_dim and head_dim must agree; got 64 and 80"),
    (LATENT | {"partial_rotary_factor": 0.5}, "qk_rope_head_dim and partial_rotary_factor must"),
    (
        LATENT | {"qk_rope_head_dim": None},
        "qk_rope_head_dim must be given with model type 'deepseek",
    ),
    # Layouts
    (PLAIN | {"model_type": "llama", "rope_interleave": True}, "rope_interleave and the layout"),
    (PLAIN | {"model_type": "llama", "rope_interleaved": True}, "rope_interleaved and the layout"),
    # Layers
    (PLAIN | {"no_rope_layers": [1, 2]}, "no_rope_layers must be a list of 0 and 1; got [1, 2]"),
    (PLAIN | {"no_rope_layers": 4}, "no_rope_layers must be a list of 0 and 1; got 4 (int)"),
    (PLAIN | {"layer_types": "full"}, "layer_types must be a list of strings; got 'full' (str)"),
    (head(rope_parameters={FULL: {}, "factor": 2}), "rope_parameters.factor must be an object or"),
    (
        NESTED | {"rope_scaling": YARN},
        "rope_scaling must not be given together with rope_parameters with",
    ),
    (NESTED | {"rope_theta": 5e6}, "rope_parameters.full_attention.rope_theta and rope_theta must"),
    (NESTED | {"rope_local_base_freq": 777}, "rope_parameters.sliding_attention.rope_theta and"),
    (
        head(rope_parameters={FULL: {}}, rope_local_base_freq=7),
        "must have a rope_parameters.sliding",
    ),
    (NESTED | {"layer_types": ["full_attention"]}, "rope_parameters.sliding_attention must be"),
    (NESTED | {"layer_types": [SLIDING, "ful_attention"]}, "layer_types must have types such as"),
    (NESTED | {"layer_types": ["sliding_attention", "conv"]}, "rope_parameters.full_attention"),
    (
        {"model_type": "gemma3_text", "rope_parameters": {"rope_type": "linear", "factor": 8.0}},
        "rope_parameters must have one rule for each type of layers with model type 'gemma3_text'",
    ),
    (PLAIN | {"rope_scaling": 4}, "rope_scaling must be an object or null; got 4 (int)"),
    (PLAIN | {"rope_scaling": "yarn"}, "rope_scaling must be an object or null; got 'yarn'"),
    # Other schemes, other parts
    (PLAIN | {"alibi": True}, "alibi must be false in a model with rotary positions; got True"),
    (PLAIN | {"rotary": False}, "rotary must be true in a model with rotary positions; got False"),
    (PLAIN | {"use_rotary_pos_emb": False}, "use_rotary_pos_emb must be true in a model with rot"),
    (PLAIN | {"position_embedding_type": "absolute"}, 'position_embedding_type must be "rope" or'),
    (PLAIN | {"model_type": "esm"}, 'position_embedding_type must be "rope" or "rotary" in a'),
    (
        PLAIN | {"model_type": "esm", "position_embedding_type": "rope_gptj"},
        'position_embedding_type must be "rope" or "rotary" in a model with rotary positions;'
        " got 'rope_gptj'",
    ),
    (
        {"model_type": "unheard-of", "hidden_size": 8},
        "a model type that is known to rotate, or a key such as rope_theta; got model type 'unhe",
    ),
    *(
        (
            {"model_type": kind, "hidden_size": 8} | given,
            f"rotates queries and keys; got model type '{kind}' (str), which uses {scheme}: it has",
        )
        for kind, given, scheme in (
            ("bloom", {}, "ALiBi"),
            ("falcon", {"alibi": True, "rope_theta": 1e4}, "ALiBi"),
            ("mpt", {"attn_config": {"alibi": True}}, "ALiBi"),
            ("gpt2", {}, "a learned table of positions"),
            ("bert", {"position_embedding_type": "absolute"}, "a learned table of positions"),
            ("t5", {}, "T5's learned bias"),
        )
    ),
    ({"model_type": "mpt", "attn_config": {"alibi": False}}, "type that is known to rotate"),
    (
        {"model_type": "bert", "position_embedding_type": "relative_key"},
        'position_embedding_type must be "rope" or "rotary"',
    ),
    ({}, "got no model type, and no such key"),
    (
        {"text_config": head(8), "rope_theta": 1e4},
        "rope_theta must be in text_config, which is what",
    ),
    ({"text_config": PLAIN, "rope_theta": 9}, "rope_theta and text_config.rope_theta must agree;"),
    (
        {"text_config": PLAIN, "llm_config": {}},
        "llm_config must not be given together with text_config; got",
    ),
    ({"text_config": 3}, "text_config must be an object or null; got 3 (int)"),
    (PLAIN | {"model_type": 3}, "model_type must be a string; got 3 (int)"),
]


@pytest.mark.parametrize(("config", "message"), BAD, ids=range(len(BAD)))
def test_a_fault_is_refused_by_the_name_of_its_key(config: Config, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(message)) as refusal:
        read_config(config)
    assert "; got " in str(refusal.value)


@pytest.mark.parametrize(
    "key", ["vocab_size", "logits_scaling", "routed_scaling_factor", "v_head_dim", "index_head_dim"]
)
def test_keys_that_are_not_about_positions_pass(key: str) -> None:
    known = PLAIN | {"model_type": "qwen2"}
    assert read_config(known | {key: 3, "architectures": ["A"]}).notes == ()


def test_unknown_keys_that_are_null_pass() -> None:
    config = scaled(YARN | {"beta_fsat": None}, rope_tehta=None)
    assert repr(read_config(config)) == repr(read_config(scaled(YARN)))


def test_a_value_too_deep_to_print_is_refused_all_the_same() -> None:
    deep: Config = {}
    for _ in range(100_000):
        deep = {"a": deep}
    with pytest.raises(TypeError, match=r"head_dim must be an integer, .* a value too deep to"):
        read_config(PLAIN | {"head_dim": deep})


def test_a_configuration_is_shown_in_a_line() -> None:
    shown = repr(read_config(scaled(YARN)))
    assert shown == "RotaryConfig(yarn, d=64, rotary_d=64, base=10000, factor=4, length=16384)"
