"""Published configurations are read as transformers reads them, and planted faults are refused."""

from __future__ import annotations

import copy
import re
from typing import Any

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray

from posenc import RotaryConfig, frequencies, read_config
from posenc.config.explain import explained
from posenc.config.families import RULELESS
from scripts import DATA
from scripts.book import models

Config = dict[str, Any]

ENTRIES: dict[str, dict[str, Any]] = yaml.safe_load(
    (DATA / "configurations.yml").read_text("utf-8")
)["models"]
# Model types whose code comes with the weights: transformers has a type with the same rotation.
ALIKE = {"internlm2": "llama", "minicpm": "llama", "phi3_v": "phi3"}
# How many models, of how many rules.
COUNT, RULES = 24, {"default", "linear", "dynamic", "yarn", "longrope", "llama3", "proportional"}


def config_of(key: str) -> Config:
    """Return a copy of a published configuration."""
    return copy.deepcopy(ENTRIES[key]["config"])


def read_all(config: Config) -> list[RotaryConfig]:
    """Return what is read about each type of layers."""
    types = read_config(config).layer_types or (None,)
    return [read_config(config, layer_type=one) for one in types]


def transformers_frequencies(
    config: Config, ours: RotaryConfig, length: int
) -> tuple[NDArray[np.float64], float]:
    """Return the frequencies and the factor that transformers computes for these layers."""
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    text = copy.deepcopy(config.get("text_config", config))
    kind = text.pop("model_type")
    if (
        text.get("rope_scaling", {}).get("type") == "su"
    ):  # its first name, which this release forgot
        text["rope_scaling"]["type"] = "longrope"
    peer = CONFIG_MAPPING[ALIKE.get(kind, kind)](**text)
    one = peer.per_layer_config[ours.layer_type] if kind == "gemma4_text" else peer
    width = getattr(one, "head_dim", None) or one.hidden_size // one.num_attention_heads
    if kind == "gptj":  # it has no base in its configuration
        rotary = peer.rotary_dim
        return 10000.0 ** (-np.arange(0, rotary, 2) / rotary), 1.0
    section = peer.rope_parameters
    if ours.layer_type is not None:
        section = section[ours.layer_type]
    if section["rope_type"] == "default":
        rotary = int(width * section.get("partial_rotary_factor", 1.0))
        return section["rope_theta"] ** (-np.arange(0, rotary, 2) / rotary), 1.0
    rule = ROPE_INIT_FUNCTIONS[section["rope_type"]]
    found, factor = rule(peer, device="cpu", seq_len=length, layer_type=ours.layer_type)
    return found.double().numpy(), factor


@pytest.mark.parametrize("key", ENTRIES)
def test_published_configurations_are_read_as_transformers_reads_them(key: str) -> None:
    config = config_of(key)
    for ours in read_all(config):
        for length in (1, (ours.trained_length or 1) + 1, ours.length or 1):
            found, factor = transformers_frequencies(config, ours, length)
            np.testing.assert_allclose(ours.frequencies(length), found, rtol=2e-5)
            assert ours.attention_factor == pytest.approx(factor, rel=1e-14)


@pytest.mark.parametrize("times", [1, 1.5, 8])
@pytest.mark.parametrize("key", ENTRIES)
def test_what_to_set_in_a_published_configuration_brings_no_new_angle(
    key: str, times: float
) -> None:
    """None beyond those of training, or beyond those that it met where a rule was trained with."""
    config = config_of(key)
    for before in read_all(config):
        if before.scheme == "none" or not before.length:
            continue
        length, trained = int(times * before.length), before.trained_length or 0
        found = explained(before, length)
        if not found["set"]:
            helpless = before.scheme in ("dynamic", "longrope") or config["model_type"] in RULELESS
            assert not found["wrong"] or helpless
            continue
        place = found["set_in"]
        inner = config[place] | found["set"] if place else found["set"]
        after = read_config(
            config | ({place: inner} if place else inner), layer_type=before.layer_type
        )
        plain = frequencies(before.rotary_d, base=before.base or 0) * trained
        promised = trained if before.scheme == "default" else before.length
        met = np.maximum(plain, before.frequencies(promised) * promised)
        angles = after.frequencies(length) * length
        assert ((angles <= met * (1 + 1e-9)) | (met >= 2 * np.pi)).all()
        assert (after.rotary_d, after.base) == (before.rotary_d, before.base)


def test_there_are_enough_models_of_every_rule() -> None:
    assert len(ENTRIES) >= COUNT
    assert {one.scheme for key in ENTRIES for one in read_all(config_of(key))} == RULES


@pytest.mark.parametrize("key", sorted({*ENTRIES} & {model.key for model in models.models()}))
def test_configurations_and_the_table_of_models_agree(key: str) -> None:
    """A table may be about another size, so widths may differ, and about a rule one may add."""
    model, found = models.model(key), read_config(config_of(key))
    if model.name == ENTRIES[key]["name"]:
        assert found.trained_length == model["stated"]
    assert found.base == model["base"]
    assert found.layout in (model["hf_layout"], None)
    rule = model["rule"] or {}
    if found.scheme != "default":
        assert found.scheme == rule["kind"]
        assert found.factor == rule.get("factor", found.factor)
        assert found.trained_length == rule.get("trained", found.trained_length)


# Planted faults: of which model, where, what is put there, and the key that must be named.
GONE = object()
FAULTS: list[tuple[str, str, Any, str]] = [
    # misspelt
    ("llama-3.1", "rope_scaling.facotr", 8.0, "rope_scaling.facotr"),
    ("llama-3.1", "rope_scaling.low_freq_facter", 1.0, "rope_scaling.low_freq_facter"),
    ("llama-3.2", "head_dims", 64, "head_dims"),
    ("code-llama", "rope_thetas", 1e6, "rope_thetas"),
    ("mistral", "rope_tetha", 1e6, "rope_tetha"),
    ("stablelm-2", "partial_rotary_facter", 0.25, "partial_rotary_facter"),
    ("deepseek-v2-lite", "rope_scaling.mscale_all_dims", 0.707, "rope_scaling.mscale_all_dims"),
    ("gpt-oss", "rope_parameters.truncated", False, "rope_parameters.truncated"),
    ("phi-3.5", "rope_scaling.short_factors", [1.0], "rope_scaling.short_factors"),
    ("gemma-3", "rope_local_base_freqs", 1e4, "rope_local_base_freqs"),
    # contradictory
    ("code-llama", "rope_parameters", {"rope_theta": 5e5}, "rope_theta"),
    ("llama-3.1", "rope_scaling.type", "yarn", "rope_scaling.type"),
    ("phi-3.5", "rope_scaling.original_max_position_embeddings", 8192, "original_max_position"),
    ("redpajama", "partial_rotary_factor", 0.25, "partial_rotary_factor"),
    ("deepseek-v2-lite", "head_dim", 100, "head_dim"),
    ("deepseek-v2-lite", "rope_scaling.beta_slow", 64, "rope_scaling.beta_fast"),
    ("qwen3", "rotary_emb_base", 1e4, "rotary_emb_base"),
    # missing
    ("llama-3.1", "rope_scaling.high_freq_factor", GONE, "rope_scaling.high_freq_factor"),
    ("llama-3.2", "rope_scaling.factor", GONE, "rope_scaling.factor"),
    ("internlm2.5", "max_position_embeddings", GONE, "max_position_embeddings"),
    ("phi-4-mini", "rope_scaling.long_factor", GONE, "rope_scaling.long_factor"),
    ("mixtral", "num_attention_heads", GONE, "head_dim"),
    ("apertus", "rope_parameters.low_freq_factor", None, "rope_parameters.low_freq_factor"),
    # of a wrong type or value
    ("mistral", "rope_theta", "10000.0", "rope_theta"),
    ("olmo-2", "rope_theta", float("nan"), "rope_theta"),
    ("gemma", "head_dim", 255, "head_dim"),
    ("qwen2", "hidden_size", 3583, "hidden_size"),
    ("gpt-oss", "rope_parameters.truncate", "false", "rope_parameters.truncate"),
    ("gpt-oss", "rope_parameters.factor", 0.5, "rope_parameters.factor"),
    ("phi-4-mini", "partial_rotary_factor", 0.5, "rope_scaling.short_factor"),
    ("gpt-j", "rotary_dim", 63, "rotary_dim"),
    ("starcoder2", "rope_scaling", [4.0], "rope_scaling"),
    ("ministral-3", "text_config.rope_parameters.rope_type", "yarns", "rope_parameters.rope_type"),
    ("gemma-4", "rope_parameters.full_attention.partial_rotary_factor", 2, "partial_rotary_factor"),
]


def planted(config: Config, place: str, value: Any) -> Config:
    """Return the configuration with one entry changed, added or removed."""
    *outer, key = place.split(".")
    inner = config
    for name in outer:
        inner = inner[name]
    if value is GONE:
        del inner[key]
    else:
        inner[key] = value
    return config


@pytest.mark.parametrize(("key", "place", "value", "named"), FAULTS)
def test_a_planted_fault_is_refused_by_the_name_of_its_key(
    key: str, place: str, value: Any, named: str
) -> None:
    config = config_of(key)
    read_config(config)  # without the fault it is read
    with pytest.raises((TypeError, ValueError), match=re.escape(named)):
        read_config(planted(config, place, value))
