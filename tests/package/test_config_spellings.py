"""Spellings of single models are read as the usual ones, and what is wrong in them is named."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from posenc import dynamic_frequencies, frequencies, read_config, yarn_frequencies
from posenc.config.families import REMOTE

Config = dict[str, Any]

SMALL: Config = {
    "hidden_size": 512,
    "num_attention_heads": 8,
    "num_hidden_layers": 4,
    "max_position_embeddings": 4096,
}
FULL, SLIDING = "full_attention", "sliding_attention"
COMPRESSED, HEAVY = "compressed_sparse_attention", "heavily_compressed_attention"
YARN = {"factor": 4.0, "original_max_position_embeddings": 1024}
GROK = {"model_type": "git", "architectures": ["Grok1ForCausalLM"], "rope_theta": 2e8}
DEEPSEEK = {"model_type": "deepseek_v2", "qk_rope_head_dim": 0, "qk_nope_head_dim": 0}


def of(kind: str, **others: Any) -> Config:
    """Return a small configuration of a model type."""
    return SMALL | {"model_type": kind} | others


def notes(config: Config) -> str:
    """Return all notes on a configuration."""
    return " ".join(read_config(config).notes)


@pytest.mark.parametrize("kind", ["exaone", "internlm2", "minicpm", "plamo", "xverse", "yuan"])
def test_the_base_of_code_with_weights_is_10000_where_no_key_says_so(kind: str) -> None:
    found = read_config(of(kind))
    assert (found.base, found.base_given, found.layout, found.rotates) == (1e4, False, "half", True)
    assert REMOTE[kind] == "half"


@pytest.mark.parametrize(("width", "rotates"), [(4096, True), (5120, False), (None, False)])
def test_baichuan_rotates_at_the_width_of_its_small_model(width: int | None, rotates: bool) -> None:
    config = of("baichuan", hidden_size=width, num_attention_heads=32)
    if rotates:
        assert read_config(config).base == 1e4
        return
    with pytest.raises(ValueError, match=r"hidden_size must be 4096, .* not one with ALiBi; got"):
        read_config(config)


@pytest.mark.parametrize("length", [100, 4096, 5000])
def test_internlm_has_its_rule_in_rotary(length: int) -> None:
    found = read_config(of("internlm", rotary={"base": 2e4, "type": "dynamic"}))
    expected = dynamic_frequencies(64, length, factor=1.0, trained_length=4096, base=2e4)
    np.testing.assert_allclose(found.frequencies(length), expected, rtol=1e-15)
    assert read_config(of("internlm", rotary={"type": "origin"})).scheme == "default"


def test_telechats_temperature_is_its_own() -> None:
    """As in transformers_utils/config.py of vLLM 0.33: 0.07 * math.log(factor) + 1.0."""
    rule = YARN | {"rope_type": "telechat3-yarn", "type": "telechat3-yarn"}
    found = read_config(of("telechat3", rope_theta=1e6, rope_scaling=rule))
    assert found.attention_factor == pytest.approx(1 + 0.07 * np.log(4), rel=1e-15)
    expected = yarn_frequencies(64, 4.0, ramp="pairs", trained_length=1024, base=1e6)
    np.testing.assert_array_equal(found.frequencies(), expected)


def test_the_rule_of_grok_2_has_no_effect() -> None:
    found = read_config(SMALL | GROK | {"rope_type": "original", "scaling_factor": 16.0})
    np.testing.assert_array_equal(found.frequencies(), frequencies(64, base=2e8))
    assert "scaling_factor have no effect" in " ".join(found.notes)
    assert (found.layout, found.rotates) == ("half", True)


def test_a_deepseek_without_latent_attention_rotates_whole_heads() -> None:
    found = read_config(SMALL | DEEPSEEK | {"use_mla": False})
    assert (found.d, found.rotary_d, found.layout) == (64, 64, "half")


def test_lengths_that_contradict_one_another_are_noted() -> None:
    longrope: Config = {
        "rope_type": "longrope",
        "short_factor": [1.0] * 32,
        "long_factor": [2.0] * 32,
    }
    longrope |= {"original_max_position_embeddings": 4100}
    found = read_config(of("llama", rope_scaling=longrope))
    assert (found.trained_length, found.factor, found.attention_factor) == (4100, 1.0, 1.0)
    assert "is 4100, more than max_position_embeddings, 4096." in " ".join(found.notes)


@pytest.mark.parametrize(("kind", "hidden"), [("llama", 4096), ("qwen2", 4096), ("phi", 2048)])
def test_sizes_that_are_left_out_are_those_of_the_type(kind: str, hidden: int) -> None:
    config = {"text_config": {"model_type": kind, "max_position_embeddings": 4096}}
    assert read_config(config).d == hidden // 32
    assert f"transformers uses {hidden} and 32 for" in notes(config)
    with pytest.raises(ValueError, match="head_dim must be given, or hidden_size and"):
        read_config({"model_type": kind, "hidden_size": 512})


@pytest.mark.parametrize(("value", "told"), [(True, True), (False, False)])
def test_rope_traditional_is_a_note_where_mlx_has_another_layout(value: bool, told: bool) -> None:
    found = read_config(of("llama", rope_traditional=value))
    assert found.layout == "half"
    assert ('takes the layout "interleaved"' in " ".join(found.notes)) == told


# Layers


def layers(config: Config) -> dict[str | None, tuple[tuple[int, ...] | None, float | None]]:
    """Return the numbers and the base of the layers of each type."""
    types = read_config(config).layer_types or (None,)
    found = [read_config(config, layer_type=one) for one in types]
    return {one.layer_type: (one.layers, one.base) for one in found}


def test_each_layer_has_a_base_of_its_own() -> None:
    config = of("granite_swa", layer_rope_theta=[1e4, 0, 5e5, 1e4], rope_theta=1e6)
    assert layers(config) == {
        "rope_theta 10000": ((0, 3), 1e4),
        "rope_theta 500000": ((2,), 5e5),
        "no_rope": ((1,), None),
    }
    assert layers(of("granite_swa", layer_rope_theta=[1e4, 0, 0, 1e4])) == {
        "rope": ((0, 3), 1e4),
        "no_rope": ((1, 2), None),
    }
    assert layers(of("granite_swa", layer_rope_theta=[3e4] * 4)) == {None: ((0, 1, 2, 3), 3e4)}
    assert "layer_rope_theta has no effect" in notes(of("llama", layer_rope_theta=[1e4] * 4))


def test_muse_goes_without_rope_in_every_fourth_layer_from_the_last() -> None:
    config = of("muse_glimmer_text", num_hidden_layers=6, rope_theta=1e4)
    assert layers(config) == {"rope": ((0, 2, 3, 4), 1e4), "no_rope": ((1, 5), None)}
    config["layer_rope_theta"] = [0, 9e9, 9e9, 9e9, 9e9, 9e9]  # which is no base there
    assert layers(config) == {"rope": ((1, 2, 3, 4, 5), 1e4), "no_rope": ((0,), None)}
    assert layers(config | {"num_hidden_layers": None, "layer_rope_theta": None}) == {
        "rope": (None, 1e4),
        "no_rope": (None, None),
    }


def test_molmo_2_scales_the_layers_that_are_listed() -> None:
    config = of("molmo2_text", rope_scaling=YARN | {"rope_type": "yarn"}, rope_theta=1e6)
    assert layers(config) == {None: ((0, 1, 2, 3), 1e6)}
    config["rope_scaling_layers"] = [1, 3]
    assert layers(config) == {"unscaled": ((0, 2), 1e6), "scaled": ((1, 3), 1e6)}
    schemes = [read_config(config, layer_type=one).scheme for one in ("scaled", "unscaled")]
    assert schemes == ["yarn", "default"]
    assert read_config(config, layer_type="scaled").windowed_layers == ()
    assert "A rule applies to all" in notes(of("llama", rope_scaling_layers=[1]))


@pytest.mark.parametrize(
    ("config", "types"),
    [
        (of("deepseek_v4", compress_ratios=[0, 4, 128, 4, 4]), [SLIDING, COMPRESSED, HEAVY]),
        (of("mimo_v2_flash", hybrid_layer_pattern=[0, 1, 1, 0, 1]), [FULL, SLIDING]),
    ],
)
def test_layer_types_may_be_numbers(config: Config, types: list[str]) -> None:
    (key,) = {"compress_ratios", "hybrid_layer_pattern"} & {*config}
    names = {0: types[0], 1: types[-1], 4: COMPRESSED, 128: HEAVY}
    if key == "compress_ratios":
        config = config | {"head_dim": 512, "rope_theta": 1e4}
    listed = {**config, "layer_types": [names[one] for one in config[key][:4]]}
    del listed[key]
    assert layers(config) == layers(listed)
    assert all(numbers is not None for numbers, _ in layers(config).values())


@pytest.mark.parametrize("kind", ["deepseek_v4", "mimo_v2_flash"])
@pytest.mark.parametrize("count", [1, 2, 14])
def test_layer_types_that_no_key_lists_are_those_of_the_class(kind: str, count: int) -> None:
    """As `__post_init__` of the configurations of transformers 5.24 derives them."""
    config = of(kind, head_dim=192, num_hidden_layers=count)
    meant = {
        "mimo_v2_flash": [FULL if i == 0 or (i + 1) % 6 == 0 else SLIDING for i in range(count)],
        "deepseek_v4": [COMPRESSED if i > 1 and i % 2 else HEAVY for i in range(count)],
    }[kind]
    found = {name: numbers for name, (numbers, _) in layers(config).items() if numbers}
    labels = {COMPRESSED: "compress", HEAVY: "compress"}
    named = [labels.get(one, one) for one in meant]
    assert found == {
        name: tuple(i for i, one in enumerate(named) if one == name) for name in {*named}
    }


def test_step_lists_the_base_and_the_share_of_each_layer() -> None:
    config = of("step3p5", layer_types=[FULL, SLIDING, SLIDING, FULL, SLIDING], head_dim=64)
    config |= {
        "rope_theta": [5e6, 1e4, 1e4, 5e6, 1e4],
        "rope_scaling": YARN | {"rope_type": "yarn"},
    }
    config["partial_rotary_factors"] = [0.5, 1.0, 1.0, 0.5, 1.0]
    full, sliding = (read_config(config, layer_type=one) for one in (FULL, SLIDING))
    assert (full.scheme, full.base, full.rotary_d, full.layers) == ("yarn", 5e6, 32, (0, 3))
    assert (sliding.scheme, sliding.base, sliding.rotary_d) == ("default", 1e4, 64)
    assert read_config(of("step3p5", rope_theta=2e4)).base == 2e4
    assert read_config(of("step3p5", rope_parameters={FULL: {"rope_theta": 3e4}})).base == 3e4
    assert read_config(of("step3p5", layer_types=[SLIDING] * 4)).layer_types == (SLIDING,)


def test_a_base_beside_one_for_each_type_is_dropped_as_in_north_micro_vision() -> None:
    rules = {FULL: {"rope_theta": 5e4, "rope_type": "default"}, "rope_theta": 1e4}
    config = of("cohere_compass_text", rope_parameters=rules, layer_types=[FULL] * 4)
    assert read_config(config).base == 5e4
    plain = of("cohere_compass_text", rope_parameters={"rope_theta": 7e4, "rope_type": "default"})
    assert read_config(plain).base == 7e4


BAD: list[tuple[Config, str]] = [
    (of("internlm", rotary={"type": "ntk"}), 'rotary.type must be "origin" or "dynamic"; got'),
    (of("internlm", rotary={"bass": 1}), "rotary.bass must be a key that InternLM reads, such as"),
    (SMALL | GROK | {"rope_type": "yarn"}, "rope_type must be \"original\"; got 'yarn' (str)"),
    (of("deepseek_v4", compress_ratios=[0, 5]), "compress_ratios must be a list of 0, 4, 128; got"),
    (of("deepseek_v4", compress_ratios=[[]]), "compress_ratios must be a list of 0, 4, 128; got"),
    (of("mimo_v2_flash", hybrid_layer_pattern=1), "hybrid_layer_pattern must be a list of 0, 1;"),
    (of("step3p5", rope_theta=[1e4]), "rope_theta must have one entry for each of 4 layers; got 1"),
    (of("granite_swa", layer_rope_theta=1e4), "layer_rope_theta must be a list of numbers; got"),
    (of("granite_swa", layer_rope_theta=[1e4]), "layer_rope_theta must have one entry for each of"),
    (of("granite_swa", layer_rope_theta=[1, 0, 0, 0]), "layer_rope_theta.0 must be 0 or a number"),
    (of("granite_swa", layer_rope_theta=["", 0, 0, 0]), "layer_rope_theta.0 must be a number, 0"),
    (
        of("molmo2_text", rope_scaling_layers=[4]),
        "rope_scaling_layers must be a list of layers, fr",
    ),
    (of("molmo2_text", rope_scaling_layers=[True]), "must be a list of layers, from 0 to 3; got"),
    (
        of("llama", rope_scaling=YARN | {"rope_type": "yarn", "extrapolation_factor": 0.5}),
        "rope_scaling.extrapolation_factor must be 1; got 0.5 (float)",
    ),
]


@pytest.mark.parametrize(("config", "message"), BAD, ids=range(len(BAD)))
def test_a_fault_in_a_spelling_is_named(config: Config, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(message)) as refusal:
        read_config(config)
    assert "; got " in str(refusal.value)


def test_internlm_without_rotary_has_the_base_of_its_code() -> None:
    assert read_config({"model_type": "internlm", **SMALL}).base == 10000


def test_grok_without_a_rule_has_no_note_about_one() -> None:
    read = read_config({**GROK, "rope_type": "original", **SMALL})
    assert not any("no effect" in note for note in read.notes)
