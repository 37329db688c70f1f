"""What `read_config` makes of a configuration is what transformers 5 makes of the same one."""

from __future__ import annotations

import importlib
import inspect
import math
import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from posenc import read_config
from posenc.config.families import (
    ASKING,
    BASE,
    CHOOSING,
    DEFAULTS,
    HALF,
    INTERLEAVED,
    LATENTS,
    LOCAL,
    OTHERS,
    PARAMETERS,
    SHARE,
    SWITCHED,
    TAILS,
    WIDE,
    WIDTH,
    defaults_of,
)
from tests.oracles.libraries import config_class

SETTINGS = 200
SCHEMES = ("linear", "dynamic", "yarn", "longrope", "llama3", "proportional")
FACTORS = ("factor", "attention_factor", "softmax_factor")
FAMILIES = sorted({*INTERLEAVED, *HALF, *CHOOSING})


def random_config(scheme: str, seed: int) -> tuple[dict[str, Any], dict[str, Any], int]:
    """Return the keys of a whole configuration, those of its rule, and a length to ask about."""
    random = np.random.default_rng([seed, SCHEMES.index(scheme)])

    def choice(*values: Any) -> Any:
        return values[random.integers(len(values))]

    d = int(random.integers(2, 17)) * 16
    share = choice(1.0, 1.0, 1.0, 0.25, 0.5, 0.75)
    trained = int(random.integers(2048, 32769))
    factor = float(np.round(random.uniform(1, 40), int(random.integers(3))))
    config = {
        "head_dim": d,
        "hidden_size": 4 * d,
        "num_attention_heads": 4,
        "max_position_embeddings": trained,
        "rope_theta": float(np.round(10 ** random.uniform(4, 7))),
    }
    if share != 1 or scheme == "proportional":
        config["partial_rotary_factor"] = share
    scaling: dict[str, Any] = {"factor": factor}
    pairs = int(d * share) // 2
    if scheme in ("yarn", "longrope", "llama3"):
        scaling["original_max_position_embeddings"] = trained
        config["max_position_embeddings"] = int(factor * trained)
    if scheme == "yarn":
        optional = {
            "beta_fast": float(random.uniform(16, 64)),
            "beta_slow": float(random.uniform(0.5, 4)),
            "truncate": bool(random.integers(2)),
            "mscale": choice(0.707, 1.0, 0, 1),
            "mscale_all_dim": choice(0.707, 1.0, 0),
            "attention_factor": choice(None, float(random.uniform(0.5, 2))),
        }
        scaling |= {key: value for key, value in optional.items() if random.random() < 0.5}
    if scheme == "longrope":
        scaling["short_factor"] = random.uniform(0.9, 2, pairs).tolist()
        scaling["long_factor"] = random.uniform(1, 64, pairs).tolist()
        if random.random() < 0.5:
            del scaling["factor"]
        if random.random() < 0.3:
            scaling["attention_factor"] = float(random.uniform(1, 2))
    if scheme == "llama3":
        scaling["low_freq_factor"] = float(random.uniform(0.5, 2))
        scaling["high_freq_factor"] = float(random.uniform(2.5, 8))
    return config, scaling, choice(1, trained, trained + 1, 3 * trained)


def with_rule(
    spelling: str, scheme: str, config: dict[str, Any], scaling: dict[str, Any]
) -> dict[str, Any]:
    """Return the whole configuration in the old spelling or in the new."""
    if spelling == "old":
        return config | {"rope_scaling": scaling | {"type": scheme}}
    moved = {key: config[key] for key in ("rope_theta", "partial_rotary_factor") if key in config}
    rest = {key: value for key, value in config.items() if key not in moved}
    return rest | {"rope_parameters": scaling | moved | {"rope_type": scheme}}


def transformers_frequencies(
    config: dict[str, Any], scheme: str, length: int
) -> tuple[NDArray[np.float64], float]:
    """Return the frequencies and the factor that transformers computes."""
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    peer = LlamaConfig(**config)
    found, factor = ROPE_INIT_FUNCTIONS[scheme](peer, device="cpu", seq_len=length)
    return found.double().numpy(), factor


def tolerance(config: dict[str, Any], factor: float) -> float:
    """Return the relative error of float32: of the power, and of the ramp where little is kept."""
    base = config.get("rope_theta") or config["rope_parameters"]["rope_theta"]
    return float(2**-24 * (6 + math.log(base)) * (1 + factor / 2))


@pytest.mark.parametrize("spelling", ["old", "new"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_frequencies_and_attention_factor_are_those_of_transformers(
    scheme: str, spelling: str
) -> None:
    for seed in range(SETTINGS):
        config, scaling, length = random_config(scheme, seed)
        whole = with_rule(spelling, scheme, config, scaling)
        found, factor = transformers_frequencies(whole, scheme, length)
        ours = read_config(whole)
        near = tolerance(whole, ours.factor)
        np.testing.assert_allclose(ours.frequencies(length), found, rtol=near, err_msg=str(whole))
        assert ours.attention_factor == pytest.approx(factor, rel=1e-14), whole
        assert ours.scheme == scheme


def test_random_settings_reach_every_branch() -> None:
    """Both ramps, both sets of divisors, every way to an attention factor, partial rotation."""
    yarn = [random_config("yarn", seed)[1] for seed in range(SETTINGS)]
    for key in ("beta_fast", "truncate", "mscale", "mscale_all_dim", "attention_factor"):
        assert {key in one for one in yarn} == {True, False}
    assert {one.get("truncate") for one in yarn} == {True, False, None}
    both = [one for one in yarn if one.get("mscale") and one.get("mscale_all_dim")]
    assert any(one.get("attention_factor") is None for one in both)
    longrope = [random_config("longrope", seed) for seed in range(SETTINGS)]
    beyond = {
        length > scaling["original_max_position_embeddings"] for _, scaling, length in longrope
    }
    assert beyond == {True, False}
    assert {"partial_rotary_factor" in config for config, *_ in longrope} == {True, False}


@pytest.mark.parametrize("spelling", ["old", "new"])
def test_plain_frequencies_are_those_of_a_llama(spelling: str) -> None:
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    for seed in range(20):
        config, _, _ = random_config("linear", seed)
        config.pop("partial_rotary_factor", None)
        whole = config if spelling == "old" else with_rule("new", "default", config, {})
        expected = LlamaRotaryEmbedding(LlamaConfig(**whole)).inv_freq.double().numpy()
        np.testing.assert_allclose(
            read_config(whole).frequencies(), expected, rtol=tolerance(whole, 1)
        )


@pytest.mark.parametrize("length", [4096, 8192, 65536])
@pytest.mark.parametrize("base", [1e4, 5e4, 5e5])
def test_equal_limits_are_those_of_transformers(base: float, length: int) -> None:
    """As in Llama 4 and Kimi K2."""
    config = {
        "hidden_size": 128,
        "num_attention_heads": 1,
        "max_position_embeddings": 16 * length,
        "rope_theta": base,
    }
    llama = {"factor": 16.0, "low_freq_factor": 1.0, "high_freq_factor": 1.0}
    kimi = {"factor": 16.0, "beta_fast": 1.0, "beta_slow": 1.0}
    for scheme, scaling in (("llama3", llama), ("yarn", kimi)):
        scaling["original_max_position_embeddings"] = length
        whole = with_rule("old", scheme, config, scaling)
        found, _ = transformers_frequencies(whole, scheme, 1)
        ours = read_config(whole)
        np.testing.assert_allclose(ours.frequencies(), found, rtol=tolerance(whole, 16))


# Where the two differ on purpose


def test_a_limit_of_zero_is_refused_where_transformers_takes_its_default() -> None:
    """A zero counts as missing there: `beta_slow or 1`."""
    config, scaling, length = random_config("yarn", 0)
    scaling |= {"beta_slow": 0, "beta_fast": 32}
    whole = with_rule("new", "yarn", config, scaling)
    found, _ = transformers_frequencies(whole, "yarn", length)
    one = with_rule("new", "yarn", config, scaling | {"beta_slow": 1})
    np.testing.assert_array_equal(found, transformers_frequencies(one, "yarn", length)[0])
    with pytest.raises(ValueError, match=r"^rope_parameters.beta_slow must be a number above 0"):
        read_config(whole)


def test_a_misspelt_key_is_refused_where_transformers_takes_its_default() -> None:
    config, scaling, length = random_config("yarn", 0)
    plain = {key: scaling[key] for key in ("factor", "original_max_position_embeddings")}
    misspelt = with_rule("new", "yarn", config, plain | {"beta_fsat": 4})
    np.testing.assert_array_equal(
        transformers_frequencies(misspelt, "yarn", length)[0],
        transformers_frequencies(with_rule("new", "yarn", config, plain), "yarn", length)[0],
    )
    with pytest.raises(ValueError, match=r"beta_fsat must be a key that .* reads, such as .*_fast"):
        read_config(misspelt)


def test_a_ramp_of_no_width_is_a_step_where_that_of_transformers_may_rise() -> None:
    """Two limits that round to pairs in the wrong order, as in no model in use."""
    config: dict[str, Any] = {
        "head_dim": 32,
        "hidden_size": 32,
        "num_attention_heads": 1,
        "max_position_embeddings": 2,
        "rope_theta": 10000.0,
    }
    scaling = {"factor": 8.0, "original_max_position_embeddings": 2}
    whole = with_rule("old", "yarn", config, scaling)
    plain = read_config(config).frequencies()
    np.testing.assert_allclose(transformers_frequencies(whole, "yarn", 2)[0], plain, rtol=1e-6)
    ours = read_config(whole).frequencies()
    np.testing.assert_allclose(ours[1:], plain[1:] / 8, rtol=1e-15)


@pytest.mark.parametrize("kind", ["gemma3_text", "gemma3n_text", "olmo3"])
def test_a_rule_for_all_layers_is_refused_where_transformers_drops_it(kind: str) -> None:
    linear = {"rope_type": "linear", "factor": 8.0, "rope_theta": 12345.0}
    dropped = config_class(kind)(rope_parameters=dict(linear)).rope_parameters
    plain = config_class(kind)().rope_parameters
    for name in ("full_attention", "sliding_attention"):
        assert dropped[name] == plain[name]
    with pytest.raises(ValueError, match="rope_parameters must have one rule for each type"):
        read_config({"model_type": kind, "head_dim": 64, "rope_parameters": linear})


def test_the_base_of_dbrx_is_read_where_transformers_takes_its_default() -> None:
    from transformers import DbrxConfig

    attention = {"attn_config": {"rope_theta": 5e5, "kv_n_heads": 8}}
    assert DbrxConfig(**attention).rope_parameters["rope_theta"] == 10000
    found = read_config({"model_type": "dbrx", "d_model": 6144, "n_heads": 48, **attention})
    assert found.base == 5e5
    assert "as transformers 5.24 does: 10000." in " ".join(found.notes)


@pytest.mark.parametrize("layer_type", ["full_attention", "sliding_attention"])
@pytest.mark.parametrize("kind", ["modernbert", "modernbert-decoder"])
def test_a_rule_holds_for_all_layers_of_a_modernbert(kind: str, layer_type: str) -> None:
    config = {"model_type": kind, "hidden_size": 768, "num_attention_heads": 12}
    config |= {"rope_scaling": {"rope_type": "linear", "factor": 8.0}, "local_attention": 100}
    peer = config_class(kind)(**config)
    ours = read_config(config, layer_type=layer_type)
    section = peer.rope_parameters[layer_type]
    assert (ours.scheme, ours.base) == (section["rope_type"], section["rope_theta"])
    assert ours.factor == section["factor"]
    ahead = kind == "modernbert"  # its window reaches as far ahead as back, the token in the middle
    window = peer.sliding_window + ahead if layer_type == "sliding_attention" else None
    assert ours._place.window == window


def test_dynamic_ntk_remembers_nothing_where_a_model_of_transformers_does() -> None:
    import torch
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    config, scaling, _ = random_config("dynamic", 1)
    config.pop("partial_rotary_factor", None)
    config["max_position_embeddings"] = 64
    whole = with_rule("old", "dynamic", config, scaling)
    model, ours = LlamaRotaryEmbedding(LlamaConfig(**whole)), read_config(whole)

    def model_frequencies(length: int) -> NDArray[np.float64]:
        model(torch.zeros(1), torch.arange(length)[None])
        found: NDArray[np.float64] = model.inv_freq.double().numpy().copy()
        return found

    first = model_frequencies(100)
    np.testing.assert_allclose(first, ours.frequencies(100), rtol=1e-5)
    model_frequencies(1000)
    assert not np.allclose(model_frequencies(100), first, rtol=1e-3)
    np.testing.assert_allclose(ours.frequencies(100), first, rtol=1e-5)


# Latent attention, layers that differ


@pytest.mark.parametrize("everywhere", [0.0, 0.707, 1.0])
def test_the_softmax_factor_is_that_of_deepseeks_attention(everywhere: float) -> None:
    from transformers import DeepseekV3Config
    from transformers.models.deepseek_v3.modeling_deepseek_v3 import DeepseekV3Attention

    config = {
        "model_type": "deepseek_v3",
        "hidden_size": 64,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "qk_nope_head_dim": 32,
        "qk_rope_head_dim": 16,
        "max_position_embeddings": 163840,
        "rope_theta": 10000,
        "rope_scaling": {
            "type": "yarn",
            "factor": 40,
            "original_max_position_embeddings": 4096,
            "beta_fast": 32,
            "beta_slow": 1,
            "mscale": 1.0,
            "mscale_all_dim": everywhere,
        },
    }
    attention = DeepseekV3Attention(DeepseekV3Config(**config), layer_idx=0)
    ours = read_config(config)
    assert (ours.d, ours.rotary_d, ours.layout) == (16, 16, "interleaved")
    assert ours.softmax_factor == pytest.approx(attention.scaling * 48**0.5, rel=1e-14)
    found, factor = transformers_frequencies(config | {"head_dim": 16}, "yarn", 1)
    np.testing.assert_allclose(ours.frequencies(), found, rtol=1e-5)
    assert ours.attention_factor == pytest.approx(factor, rel=1e-14)


@pytest.mark.parametrize("layer_type", ["full_attention", "sliding_attention"])
@pytest.mark.parametrize("spelling", ["old", "new"])
def test_each_type_of_layers_has_the_frequencies_of_a_gemma_3(
    spelling: str, layer_type: str
) -> None:
    from transformers import Gemma3TextConfig
    from transformers.models.gemma3.modeling_gemma3 import Gemma3RotaryEmbedding

    config: dict[str, Any] = {"model_type": "gemma3_text", "head_dim": 32}
    scaling = {"rope_type": "linear", "factor": 8.0}
    if spelling == "old":
        config |= {"rope_theta": 1e6, "rope_local_base_freq": 1e4, "rope_scaling": scaling}
    else:
        config["rope_parameters"] = {
            "full_attention": scaling | {"rope_theta": 1e6},
            "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
        }
    peer = Gemma3RotaryEmbedding(Gemma3TextConfig(**config))
    found = getattr(peer, f"{layer_type}_inv_freq").double().numpy()
    ours = read_config(config, layer_type=layer_type)
    np.testing.assert_allclose(ours.frequencies(), found, rtol=2e-6)


# What is known about model types


@pytest.mark.parametrize("kind", sorted({*FAMILIES} - {"roformer"}))
def test_defaults_are_those_of_the_model_type(kind: str) -> None:
    peer = config_class(kind)
    ours = defaults_of(kind) or {}
    base = getattr(peer, "default_theta", ours[BASE])
    if kind == "mimo_v2_flash":  # its defaults are whole rules, with these bases
        rules = peer().rope_parameters
        base = {"global": rules["full_attention"][BASE], "local": rules["sliding_attention"][BASE]}
    if isinstance(base, dict):
        assert (ours[BASE], ours[LOCAL]) == (base["global"], base["local"])
    else:
        assert ours[BASE] == base
    width = inspect.getattr_static(peer, "head_dim", None)
    latent = hasattr(peer, "qk_rope_head_dim")
    assert latent == (kind in LATENTS)
    assert ours.get(WIDTH) == (width if isinstance(width, int) and not latent else None)
    assert (WIDE in ours) == ('"global_head_dim"' in inspect.getsource(peer))
    if WIDE in ours:
        assert ours[WIDE] == peer().per_layer_config["full_attention"].head_dim


@pytest.mark.parametrize("kind", sorted({*FAMILIES} - {"roformer"}))
def test_the_default_share_is_that_of_the_model_type(kind: str) -> None:
    ours = (defaults_of(kind) or {})[SHARE]
    if kind in TAILS:
        peer = config_class(kind)()
        assert ours == peer.qk_rope_head_dim / peer.head_dim
        return
    nested = LOCAL in DEFAULTS.get(kind, {}) or kind == "gemma4_text"
    peer = config_class(kind)(**({} if nested else {"rope_parameters": {"rope_type": "default"}}))
    found = getattr(peer, "rope_parameters", None) or {}
    if "qk_rope_head_dim" in peer.to_dict():  # a vector of its own, beside the rest of the head
        share = found.get("partial_rotary_factor", 1.0)
        assert (share * peer.head_dim, ours) == (peer.qk_rope_head_dim, 1.0)
        return
    sections = found.values() if nested else [found]
    plain = [one for one in sections if one.get("rope_type") != "proportional"]
    assert {one.get("partial_rotary_factor", 1.0) for one in plain} == {ours}


ROTATING = {"position_embedding_type": "rope", "position_embeddings_type": "rotary"}
# Where the default configuration has no head_dim, and hidden_size is no multiple of the heads.
UNEVEN = ("glm4_moe", "glm4v_moe_text", "qwen3_omni_moe_text")


@pytest.mark.parametrize("kind", FAMILIES)
def test_the_default_configuration_of_a_model_type_is_read_in_full(kind: str) -> None:
    """None of its keys is taken for a slip, and the base is its own."""
    config = config_class(kind)().to_dict()
    if kind in ASKING:
        with pytest.raises(ValueError, match=r"position_embeddings?_type must be"):
            read_config(config)
        config |= ROTATING
    if kind in SWITCHED:
        assert read_config(config).scheme == "none"
        config[SWITCHED[kind]] = True
    if kind in UNEVEN:
        with pytest.raises(ValueError, match="hidden_size must be a multiple"):
            read_config(config)
        config["head_dim"] = 128
    found = read_config(config)
    section = config.get("rope_parameters") or {BASE: 10000.0}
    assert found.base == section.get(found.layer_type, section).get(BASE, found.base)
    assert found.frequencies().shape == (found.rotary_d // 2,)


IN_CODE = {
    "ALiBi": "alibi",
    "a learned table of positions": r"positions?_embed\w* = nn\.Embedding|wpe = |LearnedPositional",
    "T5's learned bias": "relative_attention_bias = nn.Embedding",
}


@pytest.mark.parametrize(
    ("kind", "scheme"), [(kind, scheme) for scheme, kinds in OTHERS.items() for kind in kinds]
)
def test_a_model_type_that_does_not_rotate_has_the_positions_that_are_said(
    kind: str, scheme: str
) -> None:
    """Its default configuration is refused by them, and its code has them and no rotation."""
    made = config_class(kind)
    with pytest.raises(ValueError, match=f"which uses {scheme}: it has no frequencies"):
        read_config(made().to_dict())
    module = importlib.import_module(made.__module__.replace(".configuration_", ".modeling_"))
    code = inspect.getsource(module)
    assert re.search(IN_CODE[scheme], code)
    assert not re.search("rotary|rope_", code)


@pytest.mark.parametrize("kind", FAMILIES)
def test_without_rope_parameters_the_default_rule_of_a_model_type_is_read(kind: str) -> None:
    whole = config_class(kind)().to_dict() | ROTATING
    whole |= {"head_dim": 128} if kind in UNEVEN else {}
    bare = {key: value for key, value in whole.items() if key != "rope_parameters"}
    for layer_type in read_config(whole).layer_types or (None,):
        expected, found = (read_config(one, layer_type=layer_type) for one in (whole, bare))
        for name in ("scheme", "base", "rotary_d", "settings", "trained_length", *FACTORS):
            assert getattr(found, name) == getattr(expected, name), name
        noted = "rope_parameters is not given" in " ".join(found.notes)
        assert noted == (kind in PARAMETERS)


@pytest.mark.parametrize("kind", FAMILIES)
def test_the_layout_is_that_of_the_models_code(kind: str) -> None:
    """By what its code does to the numbers 1 to 8, or by its complex products."""
    import torch

    place = config_class(kind).__module__.replace("configuration_", "modeling_")
    module = importlib.import_module(place)
    source = inspect.getsource(module)
    rotated = [getattr(module, name, None) for name in ("rotate_half", "rotate_every_two")]
    found = {
        float(one(torch.arange(1.0, 9.0)[None, None, None]).flatten()[0]) for one in rotated if one
    }
    layouts = {{-5.0: "half", -2.0: "interleaved"}[one] for one in found}
    if "apply_rotary_pos_emb_interleave(" in source:
        layouts = {"interleaved"}  # it brings pairs together first
    if "view_as_complex" in source or kind == "roformer":
        layouts = {"interleaved"}
    if kind == "gpt_oss":
        layouts = {"half"} if "torch.chunk(x, 2, dim=-1)" in source else set()
    if "rotated_states_begin" in source:
        layouts = {"half"}
    config = {"model_type": kind, "head_dim": 80, **ROTATING}
    if kind in LATENTS:
        config = {"model_type": kind, "qk_rope_head_dim": 64}
    chooses = "config.rope_interleave" in source
    assert chooses == (kind in CHOOSING)
    if chooses:
        assert read_config(config | {"rope_interleave": False}).layout == "half"
    assert layouts == {read_config(config).layout}
