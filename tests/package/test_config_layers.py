"""Which layers rotate and have a window, by number, and what an unknown model type is told."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posenc import (
    frequencies,
    interpolated_frequencies,
    llama3_frequencies,
    ntk_frequencies,
    read_config,
)
from posenc.__main__ import config as command
from posenc.config.explain import explained, explanation_text, numbered
from posenc.config.reading import UNKNOWN

Config = dict[str, Any]

PLAIN: Config = {
    "model_type": "llama",
    "hidden_size": 512,
    "num_attention_heads": 8,
    "num_hidden_layers": 8,
    "max_position_embeddings": 4096,
    "rope_theta": 10000.0,
}
FULL, SLIDING = "full_attention", "sliding_attention"
FOURTH = [SLIDING, SLIDING, SLIDING, FULL] * 2


def of(kind: str, **others: Any) -> Config:
    """Return a configuration of a model type."""
    return PLAIN | {"model_type": kind} | others


def words(config: Config, layer_type: str | None = None) -> str:
    """Return what the command prints about one type of layers, in one line."""
    found = explained(read_config(config, layer_type=layer_type))
    return " ".join(explanation_text("c", found).split())


def notes(config: Config) -> str:
    """Return all notes on a configuration."""
    return " ".join(read_config(config).notes)


# Unknown types


@pytest.mark.parametrize("kind", ["of tomorrow", None])
def test_nothing_is_claimed_of_the_layers_of_an_unknown_type(kind: str | None) -> None:
    found = read_config(PLAIN | {"model_type": kind})
    assert (found.rotates, found.layers) == (None, None)
    assert UNKNOWN in found.notes[0]
    assert "which rotate is not known" in words(PLAIN | {"model_type": kind})


def test_an_unknown_type_is_told_so_on_standard_error_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "config.json"
    for kind, told in (("of tomorrow", True), ("llama", False)):
        path.write_text(json.dumps(PLAIN | {"model_type": kind}), "utf-8")
        command(str(path), as_json=True)
        output, error = capsys.readouterr()
        assert (UNKNOWN in error) == told
        assert json.loads(output)["layers"][0]["rotates"] is (None if told else True)


@pytest.mark.parametrize("kind", ["nemotron_h", "zamba2"])
def test_a_type_that_does_not_rotate_says_so(kind: str) -> None:
    found = read_config(of(kind, partial_rotary_factor=1.0))
    assert (found.scheme, found.rotates, found.rotary_d) == ("none", False, 0)
    assert "rope_theta, partial_rotary_factor have no effect" in " ".join(found.notes)


def test_the_command_says_that_no_layer_rotates() -> None:
    assert "none of 8 rotates" in words(of("kimi_linear"))


def test_compressing_layers_of_deepseek_v4_need_no_rule() -> None:
    config = of("deepseek_v4", head_dim=512, qk_rope_head_dim=64, compress_rope_theta=16e4)
    found = read_config(config, layer_type="compress")
    assert (found.scheme, found.base, found.attention_factor) == ("default", 16e4, 1)


def test_a_switch_of_the_type_lets_it_rotate() -> None:
    found = read_config(of("zamba2", use_mem_rope=True))
    assert (found.scheme, found.d) == ("default", 128)  # twice the quotient


@pytest.mark.parametrize(
    ("config", "width", "rotates"),
    [
        (of("zamba2", use_mem_rope=True, kv_channels=64), 128, True),
        (of("glm_moe_dsa", qk_rope_head_dim=32, qk_nope_head_dim=96, head_dim=96), 32, True),
        (of("kimi_linear", mla_use_nope=True), 64, False),
        (of("llama4_text", nope_layer_interval=4), 128, True),
        (of("llava"), 64, True),
        (of("phi-msft"), 64, True),
        ({"model_type": "llava_llama", "llm_cfg": of("llama")}, 64, True),
        (of("molmo", use_position_ids=True, model_dtype="bfloat16"), 64, None),
        (of("qwen3", rope_scaling={"type": "default", "interleaved": True}), 128, True),
    ],
)
def test_a_published_key_without_effect_is_no_error(
    config: Config, width: int, rotates: bool | None
) -> None:
    layers = "rope" if config["model_type"] == "llama4_text" else None
    found = read_config(config, layer_type=layers)
    assert (found.d, found.rotates) == (width, rotates)


@pytest.mark.parametrize(
    ("config", "axes"),
    [
        (of("dinov3_vit"), "height and width"),
        (of("falcon_perception"), "the place in the sequence, height and width"),
        (of("ernie4_5_vl_moe_text"), "time, height and width"),
        (of("a", rope_parameters={"rope_type": "axial", "rope_theta": 1e4}), "height and width"),
    ],
)
def test_a_type_with_several_axes_is_refused_by_their_names(config: Config, axes: str) -> None:
    with pytest.raises(ValueError, match=f"one axis of positions; got .*, which rotates by {axes}"):
        read_config(config)


# By number


@pytest.mark.parametrize(
    ("config", "rotating", "windowed"),
    [
        (PLAIN, range(8), ()),
        (of("exaone4", sliding_window=4096), (0, 1, 2, 4, 5, 6), (0, 1, 2, 4, 5, 6)),
        (of("afmoe", layer_types=FOURTH), (0, 1, 2, 4, 5, 6), (0, 1, 2, 4, 5, 6)),
        (of("gemma2"), range(8), (0, 2, 4, 6)),
        (of("gemma2", sliding_window=None), range(8), ()),
        (of("llama4_text", head_dim=64), (0, 1, 2, 4, 5, 6), ()),
        (of("smollm3", no_rope_layers=[0, 1, 1, 1, 1, 1, 1, 0]), range(1, 7), ()),
        (of("smollm3", no_rope_layer_interval=2), (0, 2, 4, 6), ()),
        (of("llama4_text", head_dim=64, no_rope_layer_interval=3), (0, 1, 3, 4, 6, 7), ()),
        (of("mistral", sliding_window=4096), range(8), range(8)),
        (of("qwen2", use_sliding_window=True, max_window_layers=6), range(8), (6, 7)),
        (of("qwen2", sliding_window=4096, max_window_layers=6), range(8), ()),
        (of("qwen3_next", head_dim=64), (3, 7), ()),
        (of("minimax", layer_types=["linear_attention", FULL] * 4), (1, 3, 5, 7), ()),
    ],
)
def test_rotating_layers_and_those_with_a_window_are_given_by_number(
    config: Config, rotating: Any, windowed: Any
) -> None:
    first = read_config(config)
    found = [read_config(config, layer_type=one) for one in first.layer_types or (None,)]
    assert sorted(n for one in found if one.rotates for n in one.layers or ()) == [*rotating]
    assert sorted(n for one in found for n in one.windowed_layers or ()) == [*windowed]


def test_every_layer_is_in_one_type() -> None:
    config = of("exaone4")
    found = [read_config(config, layer_type=one) for one in (FULL, SLIDING)]
    assert sorted(n for one in found for n in one.layers or ()) == [*range(8)]
    assert "3, 7 of 8 do not rotate" in words(config, FULL)
    assert "0-2, 4-6 of 8 rotate; with a window: all of them" in words(config, SLIDING)


def test_runs_of_numbers_are_given_by_their_ends() -> None:
    assert numbered([0, 1, 2, 4, 5, 7]) == "0-2, 4, 5, 7"
    assert numbered([]) == "none"


def test_a_missing_window_is_that_of_the_model_type() -> None:
    config: Config = {"model_type": "gemma4_text", "max_position_embeddings": 8192}
    assert explained(read_config(config, layer_type=SLIDING))["window"] == 512
    config["sliding_window"] = None
    assert explained(read_config(config, layer_type=SLIDING))["window"] is None


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"layer_types": [FULL] * 7},
            "layer_types must have one entry for each of 8 layers; got 7",
        ),
        ({"n_layer": 9}, "num_hidden_layers and n_layer must agree"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers must be an integer, at most 10000"),
    ],
)
def test_contradictory_counts_are_named(keys: Config, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_config(PLAIN | keys)
    with pytest.raises(ValueError, match="no_rope_layers must have one entry for each of 8"):
        read_config(of("smollm3", no_rope_layers=[1, 0]))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("no_rope_layers", [1, 0] * 4),
        ("no_rope_layer_interval", 2),
        ("rope_local_base_freq", 1e3),
    ],
)
def test_a_key_that_the_model_type_does_not_read_is_not_obeyed(key: str, value: Any) -> None:
    found = read_config(PLAIN | {key: value})
    assert (found.layer_types, found.layers) == ((), tuple(range(8)))
    assert f"{key} has no effect with model type 'llama'" in " ".join(found.notes)


# Read since people run them


def test_pairs_that_stand_still_are_counted_apart() -> None:
    rule = {"rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1e6}
    config: Config = {"model_type": "gemma4_text", "max_position_embeddings": 262144}
    config["rope_parameters"] = {FULL: rule, SLIDING: {"rope_type": "default", "rope_theta": 1e4}}
    said = words(config, FULL)
    assert "512 wide, 128 rotated, 64 pairs" in said
    assert "0 of 64 pairs complete no turn within 262,144 positions. 192 more stand still." in said
    pairs = explained(read_config(config, layer_type=FULL))["pairs"]
    assert {pair["turns"] for pair in pairs[64:]} == {0.0}


@pytest.mark.parametrize("spelling", ["old", "new"])
def test_layers_of_deepseek_v4_that_compress_have_a_base_and_a_rule(spelling: str) -> None:
    rule: Config = {"type": "yarn", "factor": 16, "original_max_position_embeddings": 65536}
    config: Config = {
        "model_type": "deepseek_v4",
        "head_dim": 512,
        "max_position_embeddings": 2**20,
    }
    if spelling == "old":
        config |= {"qk_rope_head_dim": 64, "rope_theta": 1e4, "compress_rope_theta": 16e4}
        config["rope_scaling"] = rule
    else:
        parts: Config = {"main": {"rope_theta": 1e4}, "compress": rule | {"rope_theta": 16e4}}
        parts["compress"]["attention_factor"] = 1.0
        config |= {"rope_parameters": parts, "partial_rotary_factor": 0.125}
    main, compress = (read_config(config, layer_type=one) for one in ("main", "compress"))
    assert (main.scheme, main.base, main.d, main.rotary_d) == ("default", 1e4, 512, 64)
    said = "The last 64 of the 512 dimensions of a head are rotated, not the first 64."
    assert said in main.notes and said in compress.notes
    assert (compress.scheme, compress.base, compress.factor) == ("yarn", 16e4, 16)
    assert (compress.attention_factor, compress.trained_length) == (1.0, 65536)


def test_which_dimensions_rotate_is_not_noted_where_they_are_the_first_or_all() -> None:
    some, all_of_it = (of("deepseek_v4", partial_rotary_factor=share) for share in (0.5, 1.0))
    assert "The last" in notes(some)
    for config in (some | {"model_type": "stablelm"}, all_of_it):
        assert "The last" not in notes(config)


def test_windows_of_mimo_have_their_base_and_the_share_of_all() -> None:
    config = of("mimo_v2_flash", head_dim=192, swa_rope_theta=1e3, partial_rotary_factor=0.334)
    far, near = (read_config(config, layer_type=one) for one in (FULL, SLIDING))
    assert (far.base, far.rotary_d, near.base, near.rotary_d) == (1e4, 64, 1e3, 64)


def test_attn_factor_is_noted_and_changes_nothing() -> None:
    rule = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}
    plain, given = (
        read_config(PLAIN | {"rope_scaling": one, "max_position_embeddings": 16384})
        for one in (rule, rule | {"attn_factor": 0.5})
    )
    assert given.attention_factor == plain.attention_factor
    assert f"which makes {plain.attention_factor / 2:.10g}" in " ".join(given.notes)


def test_a_type_of_the_whole_is_that_of_a_text_without_one() -> None:
    text = {key: value for key, value in PLAIN.items() if key != "model_type"}
    found = read_config({"model_type": "exaone4_5", "text_config": text})
    assert (found.layer_type, found.rotates) == ("sliding_attention", True)


def test_yarn_without_its_scaling_is_noted() -> None:
    rule: Config = {"rope_type": "yarn", "factor": 1.0, "original_max_position_embeddings": 4096}
    plain, given = (
        read_config(PLAIN | {"rope_scaling": rule | more})
        for more in ({}, {"apply_yarn_scaling": False})
    )
    assert given.attention_factor == plain.attention_factor
    assert "apply_yarn_scaling is false" in " ".join(given.notes)


def test_the_text_of_a_thinker_is_read() -> None:
    text = of("qwen2_5_omni_text", rope_theta=1e6)
    whole = {"model_type": "qwen2_5_omni", "thinker_config": {"text_config": text}}
    assert read_config(whole).base == 1e6
    assert "thinker_config.text_config, is read" in notes(whole)


def test_a_length_before_chunks_is_the_trained_one() -> None:
    chunks = {"chunk_size": 262144, "original_max_position_embeddings": 262144}
    config = of("qwen2", max_position_embeddings=1010000, dual_chunk_attention_config=chunks)
    found = read_config(config)
    assert (found.trained_length, found.length) == (262144, 1010000)


def test_the_trained_length_of_nomic_is_not_the_promised_one() -> None:
    config = of("nomic_bert", n_positions=8192, max_trained_positions=4096)
    found = read_config(config)
    assert (found.trained_length, found.length) == (4096, 8192)


def test_a_fixed_ntk_enlarges_the_base_and_slows_all_pairs() -> None:
    found = read_config(of("new", rope_scaling={"type": "ntk", "factor": 2.0}))
    expected = [(10000 * 2) ** (-2 * i / 64) / 2 ** (2 / 64) for i in range(32)]
    np.testing.assert_allclose(found.frequencies(), expected, rtol=1e-14)
    with pytest.raises(ValueError, match=r'type must not be "ntk" with model type'):
        read_config(PLAIN | {"rope_scaling": {"type": "ntk", "factor": 2.0}})


@pytest.mark.parametrize(("length", "alpha"), [(1, 1), (2048, 1), (2049, 3), (4096, 3), (8192, 7)])
def test_the_base_of_qwen_7b_grows_in_steps(length: int, alpha: int) -> None:
    config: Config = {"model_type": "qwen", "kv_channels": 128, "seq_length": 2048}
    config |= {"n_positions": 8192, "rotary_emb_base": 10000, "use_dynamic_ntk": True}
    found = read_config(config)
    assert (found.trained_length, found.length) == (2048, 8192)
    expected = ntk_frequencies(128, alpha) if alpha > 1 else frequencies(128)
    np.testing.assert_allclose(found.frequencies(length), expected, rtol=1e-14)


def test_the_ratio_of_chatglm_multiplies_its_base() -> None:
    config: Config = {"model_type": "chatglm", "kv_channels": 128, "seq_length": 2**20}
    found = read_config(config | {"rope_ratio": 500, "original_rope": True, "num_layers": 40})
    assert (found.base, found.rotary_d, found.layout) == (5e6, 64, "interleaved")
    assert read_config(config | {"original_rope": False}).layout == "half"  # as in CogAgent


def test_a_base_left_out_is_that_of_the_code_that_comes_with_the_weights() -> None:
    found = read_config({"model_type": "internlm2", "head_dim": 128, "hidden_size": 4096})
    assert found.base == 10000
    assert "The code of this model uses 10000" in found.notes[0]


def test_keys_of_hunyuan_that_rotate_nothing_else_are_passed_over() -> None:
    config = of("hunyuan_v1_dense", use_cla=False, use_rotary_pos_emb=True)
    assert read_config(config).notes == read_config(of("hunyuan_v1_dense")).notes


def test_a_scale_of_positions_is_a_factor() -> None:
    config: Config = {"model_type": "phi3small", "head_dim": 64, "rope_embedding_base": 1e6}
    found = read_config(config | {"rope_position_scale": 0.25})
    np.testing.assert_allclose(found.frequencies(), interpolated_frequencies(64, 4, base=1e6))
    assert read_config(config | {"rope_position_scale": 1.0}).scheme == "default"


def test_sections_of_hunyuan_are_read_beside_alpha() -> None:
    rule = {"type": "xdrope", "alpha": 1000.0, "xdrope_section": [16, 16]}
    found = read_config(of("hunyuan_vl_text", rope_scaling=rule))
    assert (found.scheme, found.sections) == ("ntk", (16, 16))


@pytest.mark.parametrize("scaled", [True, False])
def test_params_of_meta_are_read_as_its_code_reads_them(scaled: bool) -> None:
    params = {"dim": 512, "n_heads": 8, "n_layers": 4, "rope_theta": 5e5, "use_scaled_rope": scaled}
    found = read_config(params)
    plain = frequencies(64, base=5e5)
    expected = (
        llama3_frequencies(64, factor=8, base=5e5, trained_length=8192, low=1, high=4)
        if scaled
        else plain
    )
    np.testing.assert_allclose(found.frequencies(), expected)
    assert (found.layout, found.layers) == ("interleaved", (0, 1, 2, 3))
    del params["rope_theta"]
    assert read_config(params).base == 10000
    with pytest.raises(ValueError, match=r"rope_theta must be given|use_scaled_rope must be"):
        read_config(params | {"head_dim": 64})  # another publisher's, with another default


LLAMA31: Config = {
    "dim": 4096,
    "n_heads": 32,
    "n_layers": 32,
    "rope_theta": 5e5,
    "use_scaled_rope": True,
}


def test_params_promise_no_length_and_no_angle_is_called_new() -> None:
    found = read_config(LLAMA31)
    assert (found.trained_length, found.length) == (8192, None)
    assert "The file does not say how long sequences were after scaling: 8192" in found.notes[1]
    met = " ".join(explanation_text("c", explained(found, 65536)).split())
    assert "no pair meets a new angle" in met and " 8 met " in met
    longer = explained(found, 131072)
    text = " ".join(explanation_text("c", longer).split())
    assert not longer["wrong"] and not longer["unseen"]
    assert "Whether these meet new angles in 131,072 positions is not known." in text
    assert " 63 0.003201 8 - " in text  # a slow pair, of which nothing is claimed
    assert " 0 1304 1 met " in text


def test_params_have_no_place_for_another_rule() -> None:
    text = explanation_text("c", explained(read_config(LLAMA31 | {"max_seq_len": 4096}), 131072))
    assert "a params.json has no place for another rule" in text
    assert "reads no rule" not in text


def test_params_of_mistral_are_not_said_to_be_those_of_meta_alone() -> None:
    found = read_config(LLAMA31 | {"use_scaled_rope": None, "head_dim": 128})
    assert "a params.json, as Meta and Mistral publish it" in found.notes[0]


# What is said


@pytest.mark.parametrize("kind", ["mixtral", "hunyuan_v1_dense", "ministral", "minimax"])
def test_what_to_set_has_the_width_that_the_type_needs(kind: str) -> None:
    config = of(kind, sliding_window=None, num_hidden_layers=2)
    assert explained(read_config(config), 16384)["set"]["head_dim"] == 64
    assert "head_dim" not in explained(read_config(PLAIN), 16384)["set"]
    assert "head_dim" not in explained(read_config(config | {"head_dim": 64}), 16384)["set"]


def test_a_base_that_is_not_in_the_file_is_said_to_be_none_of_it() -> None:
    config = PLAIN | {"rope_theta": None}
    assert "base 10,000, not in the file" in words(config)
    assert "base 10,000 " in words(PLAIN)
    gemma = of("gemma3_text")
    assert "base 10,000, not in the file" in words(gemma, SLIDING)
    assert "not in the file" not in words(gemma, FULL).split("layers")[1]
    assert "base 150,000, not in the file" in words({"model_type": "gpt_oss"})


@pytest.mark.parametrize(
    ("key", "hint"), [("mla_use_nope", ""), ("rope_tehta", ", such as rope_theta")]
)
def test_the_nearest_key_is_offered_where_it_is_near(key: str, hint: str) -> None:
    with pytest.raises(ValueError, match=f"^{key} must be a key that is read{hint}; got 1"):
        read_config(PLAIN | {key: 1})


def seconds(config: Config) -> float:
    """Return how long a configuration takes to read, by the time of this process alone.

    Others run beside the tests, so the fastest of three counts. Coverage, which makes each line
    slower, waits.
    """

    def once() -> float:
        start = time.process_time()
        read_config(config)
        return time.process_time() - start

    tracing = sys.gettrace()
    sys.settrace(None)
    try:
        return min(once() for _ in range(3))
    finally:
        sys.settrace(tracing)


def test_a_hundred_thousand_keys_are_read_in_less_than_a_second() -> None:
    assert seconds(PLAIN | {f"unrelated_key_{n}": n for n in range(100_000)}) < 1


def test_ten_thousand_layers_are_read_in_less_than_a_second() -> None:
    count = {"num_hidden_layers": 10_000}
    rule = {"rope_scaling": {"rope_type": "linear", "factor": 2.0}}
    halves = [n for n in range(10_000) if n % 2]
    assert seconds(of("molmo2_text", **count, **rule, rope_scaling_layers=halves)) < 1
    assert seconds(of("granite_swa", **count, layer_rope_theta=[n + 2 for n in range(10_000)])) < 1
