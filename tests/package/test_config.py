"""`read_config` reads what a configuration says, and refuses what it cannot read by its name."""

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
    RotaryConfig,
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

pytestmark = pytest.mark.filterwarnings("error")

Config = dict[str, Any]

PLAIN: Config = {
    "hidden_size": 512,
    "num_attention_heads": 8,
    "max_position_embeddings": 4096,
    "rope_theta": 10000.0,
}
ORIGINAL = "original_max_position_embeddings"
LONG: Config = {"max_position_embeddings": 131072}
YARN: Config = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}
LLAMA3: Config = {
    "rope_type": "llama3",
    "factor": 8.0,
    "original_max_position_embeddings": 8192,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
}
LONGROPE: Config = {
    "rope_type": "longrope",
    "original_max_position_embeddings": 4096,
    "short_factor": [1.0] * 32,
    "long_factor": [float(i) for i in range(1, 33)],
}
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


def scaled(scaling: Config, **others: Any) -> Config:
    """Return a configuration in the old spelling."""
    return PLAIN | {"rope_scaling": scaling} | others


def said(config: RotaryConfig) -> str:
    """Return all notes."""
    return " ".join(config.notes)


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


@pytest.mark.parametrize("length", [1, 4096, 4097, 20000])
@pytest.mark.parametrize("spelling", ["old", "new"])
@pytest.mark.parametrize("scheme", RULES)
def test_each_rule_is_the_function_of_that_name(scheme: str, spelling: str, length: int) -> None:
    scaling, function = RULES[scheme]
    config = PLAIN | {"max_position_embeddings": 8192 if scheme == "llama3" else 4096}
    if spelling == "old":
        config["rope_scaling"] = scaling | {"type": scheme}
    else:
        config["rope_parameters"] = scaling | {"rope_theta": config.pop("rope_theta")}
        config["rope_parameters"] |= {"rope_type": scheme}
    config.get("rope_scaling", {}).pop("rope_type", None)
    found = read_config(config)
    assert found.scheme == scheme
    np.testing.assert_array_equal(found.frequencies(length), function(length))


def test_frequencies_without_a_length_are_those_of_a_short_sequence() -> None:
    for scheme in ("dynamic", "longrope"):
        found = read_config(scaled(RULES[scheme][0] | {"rope_type": scheme}))
        np.testing.assert_array_equal(found.frequencies(), found.frequencies(1))


def test_a_configuration_is_left_as_it_was() -> None:
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
        ({"mscale": 0.707, "mscale_all_dim": 1.0}, None),
        ({"mscale": 0.707}, yarn_temperature(4)),
        ({"mscale_all_dim": 0.707, "mscale": 0}, yarn_temperature(4)),
    ],
)
def test_yarns_attention_factor_is_given_or_a_quotient_or_the_temperature(
    more: Config, expected: float | None
) -> None:
    if expected is None:
        expected = yarn_temperature(4, mscale=0.707) / yarn_temperature(4, mscale=1)
    found = read_config(scaled(YARN | more))
    assert found.attention_factor == expected
    assert found.softmax_factor == 1
    assert ("mscale" in said(found)) == bool(more.get("mscale") or more.get("mscale_all_dim"))


def test_latent_attention_scales_the_scores_by_the_square_of_a_temperature() -> None:
    scaling = YARN | {"factor": 40, "mscale": 1.0, "mscale_all_dim": 1.0}
    found = read_config(LATENT | {"rope_scaling": scaling})
    assert (found.d, found.rotary_d, found.layout) == (64, 64, "interleaved")
    assert found.attention_factor == 1
    assert found.softmax_factor == yarn_temperature(40) ** 2
    assert "128 wide" in said(found)


def test_the_rest_of_a_latent_head_may_be_left_out() -> None:
    found = read_config({"head_dim": 64, "qk_rope_head_dim": 64, "rope_theta": 1e4})
    assert (found.d, found.rotary_d) == (64, 64)
    assert "the rest of a head is not" in said(found)


def test_rotated_values_are_noted() -> None:
    assert "Values are rotated too." in read_config(PLAIN | {"rotary_value": True}).notes


def test_scores_that_are_scaled_by_position_are_noted() -> None:
    found = read_config(scaled(YARN | {"llama_4_scaling_beta": 0.1}))
    assert "Queries are scaled by their position as well" in said(found)


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
    assert ("truncated" in said(found)) == (not found.settings["truncate"])


def test_longropes_attention_factor_is_given_or_computed() -> None:
    computed = read_config(scaled(LONGROPE, **LONG))
    assert computed.attention_factor == longrope_temperature(32, 4096)
    given = read_config(scaled(LONGROPE | {"attention_factor": 1.19}, **LONG))
    assert (given.attention_factor, given.factor) == (1.19, 32)
    factor = read_config(scaled(LONGROPE | {"factor": 8.0}, **LONG))
    assert (factor.attention_factor, factor.length) == (longrope_temperature(8, 4096), 131072)
    scales = {"short_mscale": 1.24, "long_mscale": 1.24}
    assert read_config(scaled(LONGROPE | scales, **LONG)).attention_factor == 1.24


def test_a_fixed_alpha_is_a_larger_base_at_every_length() -> None:
    found = read_config(scaled({"type": "dynamic", "alpha": 1000.0, "factor": 1.0, "mscale": 1.0}))
    assert found.scheme == "ntk"
    np.testing.assert_array_equal(found.frequencies(), ntk_frequencies(64, 1000))
    assert "factor, mscale have no effect" in said(found)
    assert "no effect" not in said(read_config(scaled({"type": "dynamic", "alpha": 2})))


def test_alpha_of_an_unknown_model_type_is_noted() -> None:
    scaling = {"type": "dynamic", "alpha": 1000.0}
    for kind, noted in ((None, True), ("of tomorrow", True), ("hunyuan_v1_dense", False)):
        found = read_config(scaled(scaling, model_type=kind, head_dim=64))
        assert ("Whether alpha is read is open" in said(found)) == noted


# Lengths


@pytest.mark.parametrize(
    ("config", "trained", "promised"),
    [
        (PLAIN, 4096, 4096),
        (PLAIN | {"original_max_position_embeddings": 2048}, 2048, 4096),
        ({"head_dim": 8, "rope_theta": 100}, None, None),
        (scaled({"type": "linear", "factor": 4}), None, 4096),
        (scaled({"type": "linear", "factor": 1}), 4096, 4096),
        (scaled({"type": "dynamic", "factor": 4}), 4096, 16384),
        (scaled(YARN), 4096, 16384),
        (scaled({"type": "yarn", "factor": 2.5}), 4096, 10240),
        (scaled(YARN | {"factor": None}, max_position_embeddings=32768), 4096, 32768),
        (scaled(YARN | {"max_position_embeddings": 4096}), 4096, 16384),
        (scaled(LLAMA3, max_position_embeddings=131072), 8192, 131072),
        (scaled(LLAMA3, max_position_embeddings=None), 8192, 65536),
        (scaled(LONGROPE), 4096, 4096),
        (scaled(LONGROPE | {"factor": 2}, max_position_embeddings=None), 4096, 8192),
        (scaled({"rope_type": "proportional"}), 4096, 4096),
    ],
)
def test_trained_and_promised_lengths(
    config: Config, trained: int | None, promised: int | None
) -> None:
    found = read_config(config)
    assert (found.trained_length, found.length) == (trained, promised)


def test_the_factor_may_be_left_to_two_lengths() -> None:
    found = read_config(scaled(YARN | {"factor": None}, max_position_embeddings=32768))
    assert found.factor == 8


def test_lengths_that_do_not_fit_the_factor_are_noted() -> None:
    note = "is 32768, but factor times original_max_position_embeddings is 16384"
    assert note in said(read_config(scaled(YARN, max_position_embeddings=32768)))
    assert "is not given. transformers takes max_pos" in said(
        read_config(scaled({"type": "yarn", "factor": 2}))
    )


@pytest.mark.parametrize("key", ["n_positions", "max_sequence_length", "seq_length", "n_ctx"])
def test_the_length_has_several_names(key: str) -> None:
    assert read_config({"head_dim": 8, "rope_theta": 100, key: 512}).length == 512


# Widths


@pytest.mark.parametrize(
    ("config", "d", "rotary_d"),
    [
        ({"hidden_size": 512, "num_attention_heads": 8}, 64, 64),
        ({"n_embd": 4096, "n_head": 16, "rotary_dim": 64}, 256, 64),
        ({"hidden_size": 5120, "num_attention_heads": 32, "head_dim": 128}, 128, 128),
        ({"kv_channels": 128}, 128, 128),
        ({"head_dim": 80, "partial_rotary_factor": 0.4}, 80, 32),
        ({"head_dim": 64, "rotary_pct": 0.25}, 64, 16),
        ({"head_dim": 64, "rope_pct": 0.25, "partial_rotary_factor": 0.25}, 64, 16),
        ({"head_dim": 128, "rotary_dim": 64, "partial_rotary_factor": 0.5}, 128, 64),
        ({"head_dim": 128, "rope_parameters": {"partial_rotary_factor": 0.5}}, 128, 64),
        ({"model_type": "gpt_neox", "head_dim": 64}, 64, 16),
        ({"model_type": "gemma3_text"}, 256, 256),
        ({"model_type": "qwen3", "hidden_size": 1024, "num_attention_heads": 16}, 128, 128),
    ],
)
def test_widths_are_read_in_every_spelling(config: Config, d: int, rotary_d: int) -> None:
    found = read_config(config | {"rope_theta": 10000.0})
    assert (found.d, found.rotary_d) == (d, rotary_d)
    np.testing.assert_array_equal(found.frequencies(), frequencies(rotary_d))


def test_a_head_of_another_width_than_the_quotient_is_noted() -> None:
    config = {"hidden_size": 5120, "num_attention_heads": 32, "rope_theta": 1e6}
    assert "A head is 128 wide, not" in said(read_config(config | {"head_dim": 128}))
    assert "wide" not in said(read_config(config | {"head_dim": 160}))


@pytest.mark.parametrize("share", [0.25, 0.5, 1.0])
def test_proportional_layers_rotate_the_first_pairs_of_the_whole_head(share: float) -> None:
    scaling = {"rope_type": "proportional", "partial_rotary_factor": share}
    found = read_config({"head_dim": 64, "rope_parameters": scaling | {"rope_theta": 1e6}})
    assert (found.d, found.rotary_d) == (64, 64)
    turning = int(64 * share)
    expected = proportional_frequencies(64, turning, base=1e6)
    np.testing.assert_array_equal(found.frequencies(), expected)


def test_sections_are_read_and_noted() -> None:
    scaling = {"type": "mrope", "rope_type": "default", "mrope_section": [8, 12, 12]}
    found = read_config(scaled(scaling))
    assert (found.scheme, found.sections, found.interleaved_sections) == (
        "default",
        (8, 12, 12),
        False,
    )
    turns: Config = {"mrope_section": [8, 12, 12], "mrope_interleaved": True}
    assert read_config(scaled(turns)).interleaved_sections
    assert "often taken for one another" in said(found)


# Layers that differ


GEMMA: Config = {
    "model_type": "gemma3_text",
    "rope_theta": 1e6,
    "rope_local_base_freq": 1e4,
    "rope_scaling": {"rope_type": "linear", "factor": 8.0},
}
NESTED: Config = {
    "model_type": "gemma3_text",
    "rope_parameters": {
        "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
        "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
    },
}


@pytest.mark.parametrize("config", [GEMMA, NESTED, {**GEMMA, "rope_local_base_freq": None}])
def test_each_type_of_layers_has_its_own_base(config: Config) -> None:
    far, near = read_config(config), read_config(config, layer_type="sliding_attention")
    assert far.layer_types == ("full_attention", "sliding_attention")
    assert (far.layer_type, far.scheme, far.base) == ("full_attention", "linear", 1e6)
    assert (near.layer_type, near.scheme, near.base) == ("sliding_attention", "default", 1e4)
    assert 'ask for "sliding_attention" as well' in said(far)
    assert "ask for" not in said(near)
    same = read_config(config, layer_type="full_attention")
    np.testing.assert_array_equal(same.frequencies(), far.frequencies())


def test_a_rule_may_hold_for_full_attention_alone() -> None:
    config = PLAIN | {"model_type": "olmo3", "rope_scaling": YARN}
    near = read_config(config, layer_type="sliding_attention")
    assert (read_config(config).scheme, near.scheme, near.base) == ("yarn", "default", 1e4)
    inside = PLAIN | {"model_type": "olmo3", "rope_theta": None}
    inside["rope_scaling"] = YARN | {"rope_theta": 5e5}
    assert read_config(inside, layer_type="sliding_attention").base == 5e5


def test_a_base_of_all_layers_is_the_default_of_each() -> None:
    sections = {"full_attention": {"rope_type": "default"}, "sliding_attention": None}
    config = {"head_dim": 64, "rope_theta": 5e5, "rope_parameters": sections}
    assert read_config(config).base == 5e5


@pytest.mark.parametrize(
    ("config", "rotating", "other"),
    [
        ({"model_type": "cohere2", "sliding_window": 4096}, "sliding_attention", "full_attention"),
        ({"model_type": "smollm3"}, "rope", "no_rope"),
        ({"model_type": "llama4_text", "head_dim": 64, "no_rope_layers": []}, "rope", "no_rope"),
        ({"no_rope_layers": [1, 1, 1, 0]}, "rope", "no_rope"),
        (
            {"rope_parameters": {"a": {"rope_theta": 10000.0}, "b": None}, "rope_theta": None},
            "a",
            "b",
        ),
    ],
)
def test_layers_without_rotation_have_no_frequencies(
    config: Config, rotating: str, other: str
) -> None:
    config = PLAIN | config
    found = read_config(config)
    assert (found.layer_type, found.rotary_d) == (rotating, 64)
    still = read_config(config, layer_type=other)
    assert (still.scheme, still.rotary_d, still.base) == ("none", 0, None)
    assert still.frequencies(10).shape == (0,)
    assert repr(still) == "RotaryConfig(none, d=64, rotary_d=0, length=4096)"


def test_layers_that_all_rotate_are_alike() -> None:
    for config in ({"no_rope_layers": [1, 1]}, {"model_type": "exaone4", "sliding_window": None}):
        assert read_config(PLAIN | config).layer_types == ()


def test_the_first_layers_that_rotate_are_read_if_full_attention_does_not() -> None:
    sections = {"full_attention": None, "b": {"rope_theta": 1e4}, "c": {"rope_theta": 1e5}}
    assert read_config({"head_dim": 64, "rope_parameters": sections}).layer_type == "b"


def test_a_type_that_is_listed_may_be_asked_for_where_layers_are_alike() -> None:
    config = PLAIN | {"layer_types": ["full_attention", "sliding_attention"]}
    found = read_config(config, layer_type="sliding_attention")
    assert (found.layer_type, found.base) == ("sliding_attention", 1e4)
    with pytest.raises(
        ValueError, match='layer_type must be one of "full_attention", "sliding_attention", or None'
    ):
        read_config(config, layer_type="linear_attention")
    hybrid = PLAIN | {"layer_types": ["conv", "linear_attention", "full_attention"]}
    for still in ("conv", "linear_attention"):
        with pytest.raises(ValueError, match='layer_type must be one of "full_attention", or None'):
            read_config(hybrid, layer_type=still)
    with pytest.raises(ValueError, match="layer_type must be None, as all layers are alike"):
        read_config(PLAIN, layer_type="full_attention")


def test_layers_of_a_gemma_4_differ_without_parameters_too() -> None:
    far = read_config({"model_type": "gemma4_text"})
    near = read_config({"model_type": "gemma4_text"}, layer_type="sliding_attention")
    assert (far.scheme, far.d, far.base) == ("proportional", 512, 1e6)
    np.testing.assert_array_equal(far.frequencies(), proportional_frequencies(512, 128, base=1e6))
    assert (near.scheme, near.d, near.base) == ("default", 256, 1e4)


def test_a_missing_base_of_layers_with_a_window_is_the_local_one() -> None:
    sections = {"full_attention": {"rope_theta": 1e6}, "sliding_attention": {}}
    nested = {"head_dim": 64, "rope_parameters": sections}
    for config, base in (
        (nested | {"model_type": "gemma3_text"}, 1e4),
        (nested | {"rope_local_base_freq": 777}, 777),
        (nested | {"rope_theta": 1e6}, 1e6),
    ):
        assert read_config(config, layer_type="sliding_attention").base == base


def test_wide_heads_of_full_attention_have_their_own_key() -> None:
    sections = {"full_attention": {"rope_theta": 1e6}, "sliding_attention": {"rope_theta": 1e4}}
    config = {"head_dim": 256, "global_head_dim": 512, "rope_parameters": sections}
    for one in (config, {"model_type": "gemma4_text", "rope_parameters": sections}):
        assert read_config(one).d == 512
        assert read_config(one, layer_type="sliding_attention").d == 256


# Model types


def test_the_layout_is_that_of_the_model_type() -> None:
    assert read_config(PLAIN | {"model_type": "llama"}).layout == "half"
    assert read_config(PLAIN | {"model_type": "gptj"}).layout == "interleaved"
    assert read_config(PLAIN | {"model_type": "of tomorrow"}).layout is None
    assert read_config(LATENT | {"rope_interleave": False}).layout == "half"
    for interleaved, layout in ((True, "interleaved"), (False, "half")):
        config = PLAIN | {"rotary_emb_interleaved": interleaved}
        assert read_config(config).layout == layout
        assert read_config(PLAIN | {"rope_interleaved": interleaved}).layout == layout
    unknown = read_config(LATENT | {"model_type": "of tomorrow"})
    assert (unknown.layout, "layout depends" in said(unknown)) == (None, True)


def test_a_missing_base_is_that_of_the_model_type_and_noted() -> None:
    config = {"model_type": "mixtral", "hidden_size": 512, "num_attention_heads": 8}
    found = read_config(config)
    assert found.base == 1e6
    assert "rope_theta is not given. transformers takes 1000000 for this model type." in found.notes
    with pytest.raises(ValueError, match="rope_theta must be given, as the default"):
        read_config({"head_dim": 64, "rope_scaling": {"type": "linear", "factor": 2}})


def test_a_base_in_rope_parameters_is_noted_if_it_is_there_alone() -> None:
    inside = {"head_dim": 64, "rope_parameters": {"rope_theta": 1e6}}
    assert "takes its default" in said(read_config(inside))
    assert "takes its default" not in said(read_config(inside | {"rope_theta": 1e6}))
    outside = PLAIN | {"rope_theta": None, "model_type": "modernbert"}
    outside |= {"global_rope_theta": 16e4, "local_rope_theta": 1e4}
    for kind in ("full_attention", "sliding_attention"):
        assert "rope_parameters" not in said(read_config(outside, layer_type=kind))


def test_a_base_in_the_settings_of_attention_is_read_and_noted() -> None:
    """As in DBRX."""
    config = {"d_model": 6144, "n_heads": 48, "max_seq_len": 32768, "model_type": "dbrx"}
    found = read_config(config | {"attn_config": {"rope_theta": 5e5, "clip_qkv": 8}})
    assert (found.base, found.d, found.length) == (5e5, 128, 32768)
    assert "outside takes its default, as transformers 5.24 does: 10000." in said(found)
    both = config | {"attn_config": {"rope_theta": 5e5}, "rope_theta": 5e5}
    assert "outside" not in said(read_config(both))
    new = {"head_dim": 64, "rotary_pct": 1.0, "attn_config": {"rope_theta": 5e5}}
    assert "A program that looks for it outside takes its default." in said(read_config(new))
    assert read_config(PLAIN | {"attn_config": "flash"}).base == 10000


def test_the_place_of_a_base_is_noted_only_if_it_is_there() -> None:
    found = read_config({"head_dim": 64, "rotary_emb_base": 1e6})
    assert (found.base, found.notes) == (1e6, ())


@pytest.mark.parametrize(("kind", "window"), [("modernbert", 65), ("modernbert-decoder", 64)])
def test_a_rule_of_modernbert_holds_for_layers_with_a_window_too(kind: str, window: int) -> None:
    config = PLAIN | {"model_type": kind, "rope_theta": None, "rope_scaling": YARN}
    near = read_config(config, layer_type="sliding_attention")
    assert (read_config(config).base, near.base) == (160000, 10000)
    assert (near.scheme, near.trained_length, near._place.window) == ("yarn", 4096, window)
    wide = read_config(config | {"local_attention": 256}, layer_type="sliding_attention")
    assert wide._place.window == window + 64


@pytest.mark.parametrize(
    ("kind", "positions", "noted"),
    [
        ("modernbert", "absolute", True),
        ("llama", "absolute", True),
        ("cohere2", "rope_gptj", False),
        ("of tomorrow", "rope_gptj", False),
        ("cohere2", "rope", False),
    ],
)
def test_a_type_of_positions_is_passed_over_where_transformers_does_not_read_it(
    kind: str, positions: str, noted: bool
) -> None:
    config = PLAIN | {"model_type": kind}
    found = read_config(config | {"position_embedding_type": positions})
    np.testing.assert_array_equal(found.frequencies(), read_config(config).frequencies())
    assert (
        "position_embedding_type is 'absolute'. transformers does not read it for this model type,"
        " which rotates." in found.notes
    ) == noted
    assert ("position_embedding_type" in said(found)) == noted


@pytest.mark.parametrize("scaling", [YARN, LLAMA3, LONGROPE])
def test_a_missing_trained_length_is_noted(scaling: Config) -> None:
    note = f"{ORIGINAL} is not given. transformers takes max_position_embeddings, 131072."
    assert note not in read_config(scaled(scaling, **LONG)).notes
    missing = scaled(scaling | {ORIGINAL: None, "factor": 4.0}, **LONG)
    found = read_config(missing)
    assert note in found.notes
    assert found.trained_length == 131072


def test_a_missing_rule_is_that_of_the_model_type_and_noted() -> None:
    config: Config = {"model_type": "gpt_oss", "hidden_size": 2880, "num_attention_heads": 64}
    found = read_config(config)
    assert (found.scheme, found.factor, found.trained_length) == ("yarn", 32, 4096)
    assert found.settings["truncate"] is False
    assert "rope_parameters is not given. transformers takes a rule of its own" in said(found)
    given = read_config(config | {"rope_scaling": {"type": "linear", "factor": 2.0}})
    assert (given.scheme, "rope_parameters" in said(given)) == ("linear", False)
    assert read_config(config | {"rope_parameters": {"rope_theta": 1e6}}).scheme == "default"
    assert "takes its default" not in said(read_config({"model_type": "apertus", "head_dim": 64}))


def test_the_part_about_text_is_read() -> None:
    config = {"model_type": "a", "text_config": PLAIN | {"rope_theta": 5e5}, "vision_config": {}}
    found = read_config(config)
    assert (found.base, found.d) == (5e5, 64)
    assert "The part about text, text_config, is read" in said(found)
    assert read_config(config | {"rope_theta": 5e5}).base == 5e5


# Files


def test_a_configuration_may_be_a_file_or_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(PLAIN), encoding="utf-8")
    for place in (path, str(path), tmp_path):
        assert read_config(place).d == 64
    with pytest.raises(FileNotFoundError):
        read_config(tmp_path / "other.json")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "config must be a file of JSON; got config.json: Expecting"),
        ("", "config must be a file of JSON; got config.json, which is empty"),
        ("\n", "config must be a file of JSON; got config.json, which is empty"),
        ("\xff", "config must be a file of JSON; got config.json, which is not UTF-8"),
        ("\xff\xfe\0{", "config must be a file of JSON; got config.json, which is not UTF-8"),
        (
            "[" * 100_000,
            "config must be a file of JSON; got config.json: too many brackets are nested",
        ),
        ("[1, 2]", "config must be a JSON object; got [1, 2] (list)"),
        ("null", "config must be a JSON object; got None"),
        (
            '{"rope_theta": 1, "rope_theta": 2}',
            "config must have one value for rope_theta; got 1 (int) and 2 (int)",
        ),
        ('{"rope_theta": NaN, "head_dim": 8}', "rope_theta must be a number above 1; got nan"),
        ('{"rope_theta": Infinity, "head_dim": 8}', "rope_theta must be a number above 1; got inf"),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(ValueError, match=f"^{re.escape(says)}"):
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
    (
        scaled({"type": "default", "factor": 2.0}),
        'rope_scaling.factor must be a key that rope_type "default" reads',
    ),
    (
        scaled(LLAMA3 | {"attention_factor": 1.0}),
        'rope_scaling.attention_factor must be a key that rope_type "llama3" reads, such as',
    ),
    (PLAIN | {"rope_scaling": YARN | {"attn_factor": 1}}, "such as rope_scaling.attention_factor"),
    (PLAIN | {"rope_parameters": {"rope_tpe": "yarn"}}, "such as rope_parameters.rope_type; got"),
    # Rules
    (scaled({"type": "yran", "factor": 2}), 'rope_scaling.type must be one of "default", "linear"'),
    (scaled({"rope_type": 3, "factor": 2}), "rope_scaling.rope_type must be a string; got 3 (int)"),
    (
        scaled({"type": "linear", "rope_type": "yarn"}),
        "rope_scaling.rope_type and rope_scaling.type",
    ),
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
    (
        scaled(LLAMA3 | {"low_freq_factor": 5}, **LONG),
        "high_freq_factor must be at least low_freq_factor",
    ),
    (
        scaled(LLAMA3 | {"low_freq_factor": None}, **LONG),
        "rope_scaling.low_freq_factor must be given",
    ),
    (
        scaled({"type": "dynamic", "alpha": 1000.0}, model_type="llama"),
        "rope_scaling.alpha must be in a configuration of HunYuan, which alone reads it; got",
    ),
    (scaled({"type": "linear", "factor": 1e200}), "factor must be a number, at most 1e100; got 1e"),
    (scaled(YARN | {"mscale": 1e200}), "rope_scaling.mscale must be a number, at most 1e100; got"),
    (
        scaled(YARN | {"factor": 1e20}),
        "rope_scaling.factor must promise at most 2**53 positions; got 1e+20",
    ),
    (scaled(YARN | {"llama_4_scaling_beta": "0.1"}), "beta must be a number, 0 or more; got '0.1'"),
    (
        scaled(YARN | {"finetuned": "yes"}),
        "rope_scaling.finetuned must be true or false; got 'yes'",
    ),
    (
        scaled({"type": "dynamic", "alpha": 2.0, "factor": "1"}),
        "rope_scaling.factor must be a number, 0 or more; got '1' (str)",
    ),
    # Lists
    (
        scaled({"mrope_interleaved": True}),
        "rope_scaling.mrope_section must be given with mrope_interleaved; got none",
    ),
    (scaled({"type": "mrope"}), 'rope_scaling.mrope_section must be given with type "mrope"; got'),
    (scaled(LONGROPE | {"short_factor": [1.0] * 31}), "a list of 32 numbers, one a pair; got 31"),
    (scaled(LONGROPE | {"long_factor": 2.0}), "rope_scaling.long_factor must be a list of 32"),
    (scaled(LONGROPE | {"long_factor": None}), "rope_scaling.long_factor must be a list of 32"),
    (scaled(LONGROPE | {"long_factor": [0.0] * 32}), "long_factor.0 must be a number above 0"),
    (scaled(LONGROPE | {"long_factor": ["1"] * 32}), "long_factor.0 must be a number above 0"),
    (
        scaled(LONGROPE | {"short_mscale": 1.1, "long_mscale": 1.2}),
        "rope_scaling.short_mscale and rope_scaling.long_mscale must agree; got 1.1",
    ),
    (scaled({"mrope_section": [16, 24, 24]}), "add up to the 32 pairs that rotate; got 16 + 24"),
    (scaled({"mrope_section": 32}), "mrope_section must be a list of integers; got 32"),
    (scaled({"mrope_section": [32, "0"]}), "mrope_section.1 must be an integer, 0 or more"),
    # Lengths
    (
        scaled(YARN, max_position_embeddings=2048),
        "max_position_embeddings must be at least original_max_position_embeddings, 4096; got 2048",
    ),
    (
        scaled(LONGROPE, original_max_position_embeddings=2048),
        "original_max_position_embeddings and rope_scaling.original_max_position_embeddings must"
        " agree; got 2048 (int) and 4096 (int)",
    ),
    (scaled(YARN, max_position_embeddings=4096.5), "max_position_embeddings must be an integer"),
    (scaled(YARN, max_position_embeddings=0), "max_position_embeddings must be an integer, 1"),
    (scaled(YARN, max_position_embeddings="4096"), "max_position_embeddings must be an integer"),
    (
        scaled({"type": "dynamic", "factor": 2}, max_position_embeddings=None),
        'max_position_embeddings must be given with rope_type "dynamic"; got none',
    ),
    (PLAIN | {"n_positions": 2048}, "max_position_embeddings and n_positions must agree; got 4096"),
    (PLAIN | {"n_ctx": 99}, "max_position_embeddings and n_ctx must agree; got 4096 (int) and 99"),
    (PLAIN | {"max_position_embeddings": 10**20}, "embeddings must be an integer, at most 2**53"),
    (
        {
            **scaled(LONGROPE),
            "max_position_embeddings": 1,
            "rope_scaling": {**LONGROPE, ORIGINAL: None},
        },
        'max_position_embeddings must be 2 or more with rope_type "longrope"; got 1',
    ),
    # Bases
    (
        PLAIN | {"attn_config": {"rope_theta": 5e5}},
        "rope_theta and attn_config.rope_theta must agree; got 10000.0 (float) and 500000.0",
    ),
    (
        {"model_type": "apertus", "head_dim": 128, "rope_theta": 1e4},
        "rope_parameters.rope_theta and rope_theta must agree; got 12000000.0 (float) and 10000.0",
    ),
    (PLAIN | {"rope_theta": "10000"}, "rope_theta must be a number above 1; got '10000' (str)"),
    (PLAIN | {"rope_theta": 1}, "rope_theta must be a number above 1; got 1 (int)"),
    (
        PLAIN | {"rope_parameters": {"rope_theta": 5e5}},
        "rope_parameters.rope_theta and rope_theta must agree; got 500000.0",
    ),
    (PLAIN | {"rotary_emb_base": 5e5}, "rope_theta and rotary_emb_base must agree; got 10000.0"),
    (
        scaled({"type": "linear", "factor": 2}, rope_parameters={"rope_type": "default"}),
        "rope_scaling.rope_type and rope_parameters.rope_type must agree",
    ),
    (
        scaled(YARN, rope_parameters=YARN | {"factor": 8.0}),
        "rope_scaling.factor and rope_parameters.factor must agree; got 4.0",
    ),
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
    (
        scaled({"type": "dynamic", "factor": 2}, head_dim=2),
        'head_dim must be 4 or more with rope_type "dynamic"; got a rotated width of 2',
    ),
    (LATENT | {"qk_rope_head_dim": 63}, "qk_rope_head_dim must be an even integer, 2 or more"),
    (LATENT | {"qk_head_dim": 100}, "qk_rope_head_dim + qk_nope_head_dim and qk_head_dim must"),
    (LATENT | {"head_dim": 80}, "qk_rope_head_dim and head_dim must agree; got 64 and 80"),
    (LATENT | {"partial_rotary_factor": 0.5}, "qk_rope_head_dim and partial_rotary_factor must"),
    (
        {"model_type": "deepseek_v3", "hidden_size": 7168, "num_attention_heads": 128},
        "qk_rope_head_dim must be given with model type 'deepseek_v3' (str); got none",
    ),
    # Layouts
    (
        PLAIN | {"model_type": "llama", "rope_interleave": True},
        "rope_interleave and the layout must agree; got 'interleaved' (str) and 'half' (str)",
    ),
    (
        PLAIN | {"model_type": "llama", "rope_interleaved": True},
        "rope_interleaved and the layout must agree; got 'interleaved' (str) and 'half' (str)",
    ),
    # Layers
    (PLAIN | {"no_rope_layers": [1, 2]}, "no_rope_layers must be a list of 0 and 1; got [1, 2]"),
    (PLAIN | {"no_rope_layers": 4}, "no_rope_layers must be a list of 0 and 1; got 4 (int)"),
    (PLAIN | {"layer_types": "full"}, "layer_types must be a list of strings; got 'full' (str)"),
    (
        {"head_dim": 8, "rope_parameters": {"full_attention": {"rope_theta": 10}, "factor": 2}},
        "rope_parameters.factor must be an object or null; got 2 (int)",
    ),
    (
        NESTED | {"rope_scaling": YARN},
        "rope_scaling must not stand beside rope_parameters with one rule for each type of layers",
    ),
    (
        NESTED | {"rope_theta": 5e6},
        "rope_parameters.full_attention.rope_theta and rope_theta must agree; got 1000000.0",
    ),
    (
        NESTED | {"rope_local_base_freq": 777},
        "rope_parameters.sliding_attention.rope_theta and rope_local_base_freq must agree",
    ),
    (
        {"rope_parameters": {"full_attention": {"rope_theta": 10}}, "rope_local_base_freq": 7},
        "rope_local_base_freq must have a rope_parameters.sliding_attention to hold for; got 7",
    ),
    (
        NESTED | {"layer_types": ["full_attention"]},
        "rope_parameters.sliding_attention must be about a type in layer_types; got",
    ),
    (
        NESTED | {"layer_types": ["sliding_attention", "ful_attention"]},
        'layer_types must have types such as those in rope_parameters, "full_attention",'
        " \"sliding_attention\"; got 'ful_attention'",
    ),
    (
        NESTED | {"layer_types": ["sliding_attention", "conv"]},
        "rope_parameters.full_attention must be about a type in layer_types; got",
    ),
    (
        {"model_type": "gemma3_text", "rope_parameters": {"rope_type": "linear", "factor": 8.0}},
        "rope_parameters must have one rule for each type of layers with model type 'gemma3_text'",
    ),
    (PLAIN | {"rope_scaling": 4}, "rope_scaling must be an object or null; got 4 (int)"),
    (PLAIN | {"rope_scaling": "yarn"}, "rope_scaling must be an object or null; got 'yarn'"),
    # Other schemes, other parts
    (PLAIN | {"alibi": True}, "alibi must be false in a model with rotary positions; got True"),
    (PLAIN | {"rotary": False}, "rotary must be true in a model with rotary positions; got False"),
    (PLAIN | {"position_embedding_type": "absolute"}, 'position_embedding_type must be "rope" or'),
    (PLAIN | {"model_type": "esm"}, 'position_embedding_type must be "rope" or "rotary" in a'),
    (
        PLAIN | {"model_type": "esm", "position_embedding_type": "rope_gptj"},
        'position_embedding_type must be "rope" or "rotary" in a model with rotary positions;'
        " got 'rope_gptj'",
    ),
    ({"model_type": "bert", "hidden_size": 8}, "config must have rotary positions, and a key such"),
    ({}, "config must have rotary positions, and a key such as rope_theta; got none"),
    (
        {"text_config": {"head_dim": 8}, "rope_theta": 1e4},
        "rope_theta must be in text_config, which is what is read; got 10000.0 (float) outside",
    ),
    (
        {"text_config": {"head_dim": 8, "rope_theta": 1e5}, "rope_theta": 1e4},
        "rope_theta and text_config.rope_theta must agree; got 10000.0",
    ),
    ({"text_config": PLAIN, "llm_config": {}}, "llm_config must not stand beside text_config; got"),
    ({"text_config": 3}, "text_config must be an object or null; got 3 (int)"),
    (PLAIN | {"model_type": 3}, "model_type must be a string; got 3 (int)"),
]


@pytest.mark.parametrize(("config", "says"), BAD, ids=range(len(BAD)))
def test_a_fault_is_refused_by_the_name_of_its_key(config: Config, says: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(says)) as refusal:
        read_config(config)
    assert "; got " in str(refusal.value)


@pytest.mark.parametrize(
    "key", ["vocab_size", "logits_scaling", "routed_scaling_factor", "v_head_dim", "index_head_dim"]
)
def test_keys_that_are_not_about_positions_pass(key: str) -> None:
    assert read_config(PLAIN | {key: 3, "architectures": ["A"]}).notes == ()


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
