"""YAML of training frameworks is read by its own keys, or refused by what is seen in it."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest

from posenc import RotaryConfig, frequencies, llama3_frequencies, read_config
from posenc.__main__ import main

LITGPT = """
name: pythia-1b
block_size: 2048
n_layer: 16
n_embd: 2048
n_head: 8
rotary_percentage: 0.25
rope_base: 10000
rope_condense_ratio: 1
"""
LITGPT_LLAMA = """
n_embd: 4096
n_head: 32
rotary_percentage: 1.0
rope_base: 500000
block_size: 131072
rope_interleave: true
rope_adjustments:
  factor: 8.0
  low_freq_factor: 1.0
  high_freq_factor: 4.0
  original_max_seq_len: 8192
"""
NEMO = """
trainer: {devices: 8}
model:
  num_layers: 32
  hidden_size: 4096
  num_attention_heads: 32
  position_embedding_type: rope
  rotary_base: 1e6  # a string to PyYAML, a number to NeMo
  rotary_percentage: 0.5
  max_position_embeddings: 8192
  seq_len_interpolation_factor: null
"""
MEGATRON = """
hidden_size: 4096
num_attention_heads: 32
kv_channels: 128
position_embedding_type: rope
rotary_base: 500000
rotary_interleaved: true
use_rope_scaling: true
max_position_embeddings: 131072
"""
TORCHTUNE = """
model:
  _component_: torchtune.models.llama3_1.llama3_1
  num_layers: 32
  num_heads: 32
  embed_dim: 4096
  max_seq_len: 131072
  scale_factor: 16
"""
NANOTRON = """
model:
  model_config:
    head_dim: 64
    rope_theta: 5e5
    max_position_embeddings: 4096
"""


def from_text(text: str, folder: Path, name: str = "settings.yaml") -> RotaryConfig:
    """Return what is read of a text in a file."""
    path = folder / name
    path.write_text(text, "utf-8")
    return read_config(path)


def test_litgpt_is_read_by_its_keys(tmp_path: Path) -> None:
    found = from_text(LITGPT, tmp_path)
    assert (found.d, found.rotary_d, found.layout, found.length) == (256, 64, "half", 2048)
    assert (found.frequencies() == frequencies(64)).all()
    assert found.layers == tuple(range(16))
    assert found.rotates


def test_litgpt_has_the_rule_of_llama_3(tmp_path: Path) -> None:
    found = from_text(LITGPT_LLAMA, tmp_path)
    expected = llama3_frequencies(128, factor=8, trained_length=8192, base=5e5)
    np.testing.assert_array_equal(found.frequencies(), expected)
    assert found.layout == "interleaved"


def test_a_condense_ratio_divides_positions(tmp_path: Path) -> None:
    found = from_text(LITGPT.replace("ratio: 1", "ratio: 8"), tmp_path)
    assert (found.scheme, found.factor) == ("linear", 8)
    np.testing.assert_array_equal(found.frequencies(), frequencies(64) / 8)


def test_what_litgpt_leaves_out_has_its_own_default(tmp_path: Path) -> None:
    found = from_text("n_embd: 2048\nn_head: 16\nrope_base: 5000\n", tmp_path)
    assert (found.rotary_d, found.base) == (32, 5000)


def test_nemo_is_read_inside_of_its_part_about_the_model(tmp_path: Path) -> None:
    found = from_text(NEMO, tmp_path)
    assert (found.base, found.rotary_d, found.scheme) == (1e6, 64, "default")
    assert found.layout == "half"
    scaled = from_text(NEMO.replace("factor: null", "factor: 4"), tmp_path)
    assert (scaled.scheme, scaled.factor) == ("linear", 4)


def test_megatron_has_the_rule_of_llama_3(tmp_path: Path) -> None:
    found = from_text(MEGATRON, tmp_path)
    expected = llama3_frequencies(128, factor=8, trained_length=8192, base=5e5)
    np.testing.assert_array_equal(found.frequencies(), expected)
    assert found.layout == "interleaved"
    larger = from_text(f"{MEGATRON}rope_scaling_factor: 32\n", tmp_path)
    assert (larger.factor, larger.trained_length) == (32, 8192)


def test_torchtune_is_read_where_a_model_is_built_by_widths(tmp_path: Path) -> None:
    found = from_text(TORCHTUNE, tmp_path)
    assert (found.d, found.base, found.factor) == (128, 5e5, 16)
    assert found.layout == "interleaved"
    plain = from_text(TORCHTUNE.replace("llama3_1.llama3_1", "qwen2.qwen2"), tmp_path)
    assert (plain.scheme, plain.base, plain.layout) == ("default", 1e6, "half")


def test_the_keys_of_config_json_may_stand_in_yaml(tmp_path: Path) -> None:
    found = from_text(NANOTRON, tmp_path, "settings.yml")
    assert (found.d, found.base, found.length) == (64, 5e5, 4096)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "base_model: owner/name\nsequence_len: 4096\n",
            "for training 'owner/name' .str.: pass the conf",
        ),
        ("model_name_or_path: a/b\nrope_scaling: yarn\n", "for training 'a/b'"),
        ("optimizer: adam\nlr: 1e-4\n", "got the keys optimizer, lr: pass the config.json"),
        ("{}", "got the keys none"),
        ("- 1\n- 2\n", "must be a YAML mapping; got"),
        (
            "model:\n  _component_: torchtune.models.llama3_1.llama3_1_8b\n",
            "widths are in its code",
        ),
        (TORCHTUNE.replace("llama3_1.llama3_1", "gemma.gemma"), "must be one of llama2, "),
        (NEMO.replace(": rope", ": alibi"), 'position_embedding_type must be "rope"; got .alibi'),
        (NEMO.replace("position_embedding_type: rope", ""), "none, which means learned_absolute"),
        (
            NEMO.replace("rotary_base", "rotary_bass"),
            "rotary_bass must be a key of megatron that is",
        ),
        (NEMO.replace("base: 1e6", "base: ${base}"), "rotary_base must be a number above 1; got"),
        (f"{MEGATRON}seq_len_interpolation_factor: 2\n", "must be 1 with use_rope_scaling; got 2"),
        (f"{MEGATRON}multi_latent_attention: true\n", "multi_latent_attention must be a key of"),
        (f"{LITGPT}rope_local_base_freq: 10000\n", "rope_local_base_freq must be a key of litgpt"),
        (f"{LITGPT_LLAMA}  beta_fast: 32\n", "rope_adjustments.beta_fast must be a key of Llama 3"),
        (f"{LITGPT_LLAMA}rope_condense_ratio: 2\n", "must be 1 with rope_adjustments; got 2"),
    ],
)
def test_what_is_not_read_is_named_and_what_to_pass(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises((ValueError, TypeError), match=said):
        from_text(text, tmp_path)


def test_a_false_switch_is_no_key_that_is_read(tmp_path: Path) -> None:
    assert from_text(f"{MEGATRON}multi_latent_attention: false\n", tmp_path).d == 128


BOMB = "a: &a [x]\n" + "".join(
    f"{name}: &{name} [*{last}, *{last}]\n"
    for last, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "head_dim: !!python/object/apply:os.system [id]\n",
            "no tag; got tag:yaml.org,2002:python",
        ),
        ("head_dim: !secret 64\n", "must have no tag; got !secret"),
        ("head_dim: !!int 64\n", "must have no tag"),
        (BOMB, r"must have no alias; got \*a in settings.yaml"),
        ("head_dim: 64\nhead_dim: 32\n", "must have one value for head_dim; got two"),
        ("[" * 100 + "]" * 100, "nested at most 64 deep"),
        ("a: [1\n", "must be a YAML file; got settings.yaml: while parsing"),
        ("a: 1\n---\na: 2\n", "must be a YAML file; got settings.yaml: expected a single"),
        ("a: " + "x" * 2**20, "at most 1048576 bytes of YAML; got 1048579"),
    ],
)
def test_yaml_that_may_do_more_than_hold_settings_is_refused(
    text: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=said):
        from_text(text, tmp_path)


def test_yaml_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"a: \xff\n")
    with pytest.raises(ValueError, match=r"must be a YAML file; got a\.yaml"):
        read_config(tmp_path / "a.yaml")


def test_a_file_named_otherwise_says_that_it_looks_like_yaml(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"got config.json, which looks like YAML: a file is read"):
        from_text(NEMO, tmp_path, "config.json")


@pytest.mark.parametrize(
    ("text", "status"), [(f"# settings\n{LITGPT}", 0), ('{"head_dim": 64, "rope_theta": 1e4}', 0)]
)
def test_yaml_is_known_on_standard_input_by_its_first_line(
    text: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert main(["config", "-"]) == status


def test_without_pyyaml_the_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(ValueError, match=r"PyYAML is not installed \(pip install pyyaml\); got"):
        from_text(LITGPT, tmp_path)
