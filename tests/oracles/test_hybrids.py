"""What attention rotates in hybrid models: docs/schemes/hybrids.md against transformers."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

from posenc import alibi_slopes, read_config
from tests.oracles.libraries import config_class, in_transformers, library, run_with_rotations
from tests.oracles.page_tables import rows

# Some modules of transformers script a function on import.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script")

ROWS = rows("schemes/hybrids.md", "models")
MIXED = ["linear_attention", "full_attention", "linear_attention", "full_attention"]
TYPES: dict[str, tuple[str, dict[str, Any]]] = {
    "Bamba": ("bamba", {"attn_layer_indices": [1, 3]}),
    "Falcon-H1": ("falcon_h1", {}),
    "Granite 4.0 H": ("granitemoehybrid", {"layer_types": MIXED}),
    "Jamba": ("jamba", {"attn_layer_period": 2, "attn_layer_offset": 1}),
    "Kimi Linear": ("kimi_linear", {"layer_types": MIXED}),
    "LFM2": ("lfm2", {"layer_types": ["conv", "full_attention"] * 2}),
    "MiniMax-01": ("minimax", {"layer_types": MIXED}),
    "Nemotron-H": ("nemotron_h", {"layers_block_type": ["mamba", "attention"] * 2}),
    "Olmo Hybrid": ("olmo_hybrid", {"layer_types": MIXED}),
    "Qwen3-Next": ("qwen3_next", {"layer_types": MIXED}),
    "RecurrentGemma": ("recurrent_gemma", {}),
    "Zamba2": ("zamba2", {"layers_block_type": ["mamba", "hybrid"] * 2}),
}
SHARES = {
    "a quarter of a head": 0.25,
    "half of a head": 0.5,
    "the whole head": 1.0,
    "nothing": 0.0,
}
# What the table says of models that rotate only if a key says so, and configurations of both kinds.
SWITCHES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "Zamba2": ("if `use_mem_rope`", {"use_mem_rope": True}, {"use_mem_rope": False}),
    "Olmo Hybrid": (
        "if `rope_theta`",
        {"rope_parameters": {"rope_type": "default", "rope_theta": 1e4}},
        {"rope_parameters": {"rope_type": "default", "rope_theta": None}},
    ),
}


def configured(name: str, **more: Any) -> Any:
    """Return the configuration of a model with four layers, two of which attend, or all."""
    kind, options = TYPES[name]
    return config_class(kind)(num_hidden_layers=4, **options, **more)


def rotated(config: Any) -> dict[int, float]:
    """Return what share of a head rotates, by the number of the layer that rotates it."""
    mapping = library("transformers.models.auto.modeling_auto", "MODEL_MAPPING")
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)  # which products of groups of matrices ask for
    try:
        with torch.device("meta"):
            return _watched(mapping[type(config)](config))
    finally:
        torch.set_default_dtype(before)


def _watched(model: Any) -> dict[int, float]:
    shares: dict[int, float] = {}
    inside: list[int] = []

    def rotating(function: Any) -> Any:
        def call(q: Any, k: Any, cos: Any, *given: Any, **named: Any) -> Any:
            shares[inside[-1]] = cos.shape[-1] / q.shape[-1]
            return function(q, k, cos, *given, **named)

        return call

    for name, module in model.named_modules():
        number = re.fullmatch(r"(?:layers)\.(\d+)", name)
        if number:
            module.register_forward_pre_hook(lambda *_, n=int(number[1]): inside.append(n))
    run_with_rotations(model, rotating)
    assert len({*inside}) == 4
    return shares


def attending(config: Any) -> set[int]:
    """Return the numbers of the layers that attend, alone or beside a recurrent layer."""
    recurrent = ("linear_attention", "conv")
    return {number for number, kind in enumerate(config.layer_types) if kind not in recurrent}


@cache
def shares(name: str) -> set[float]:
    """Return the shares of a head that rotate in the layers that attend, 0 for none."""
    config = configured(name)
    found, attend = rotated(config), attending(config)
    assert attend
    assert {*found} <= attend  # no recurrent layer rotates
    return {found.get(number, 0.0) for number in attend}


CELLS = {row[0]: row[2] for row in ROWS}


def test_every_model_of_the_table_of_hybrids_is_known() -> None:
    assert sorted(CELLS) == sorted(TYPES)


@pytest.mark.parametrize("name", sorted({*TYPES} - {*SWITCHES} - {"MiniMax-01"}))
def test_the_table_of_hybrids_is_what_the_classes_of_transformers_do(name: str) -> None:
    assert shares(name) == {SHARES[CELLS[name]]}


@pytest.mark.parametrize("name", SWITCHES)
def test_a_hybrid_rotates_only_if_its_key_says_so(name: str) -> None:
    cell, on, off = SWITCHES[name]
    assert CELLS[name] == cell
    assert {*rotated(configured(name, **on)).values()} == {1.0}
    assert not rotated(configured(name, **off))


@pytest.mark.parametrize("more", [{}, {"rotary_dim": 64}, {"partial_rotary_factor": 0.5}])
def test_the_class_of_minimax_rotates_whole_heads_whatever_the_configuration_says(
    more: dict[str, Any],
) -> None:
    assert {*rotated(configured("MiniMax-01", head_dim=128, **more)).values()} == {1.0}
    assert CELLS["MiniMax-01"] == "half of a head"  # its authors' statement, and read_config's:
    read = read_config({"model_type": "minimax", "head_dim": 128, "rotary_dim": 64})
    assert read.rotary_d == read.d / 2


@pytest.mark.parametrize("name", sorted({*TYPES} - {"Granite 4.0 H", "Jamba", "MiniMax-01"}))
def test_read_config_agrees_with_the_table_of_hybrids(name: str) -> None:
    """Granite without its key is refused, and Jamba has no keys of a rotation to be read."""
    found = read_config(configured(name).to_dict())
    switched = CELLS[name].startswith("if ")
    share = 0.0 if name == "Zamba2" else 1.0 if switched else SHARES[CELLS[name]]
    assert found.rotary_d == share * found.d
    assert (found.scheme == "none") is (share == 0)


def test_granite_is_read_only_if_its_key_asks_for_a_rotation() -> None:
    config = configured("Granite 4.0 H").to_dict()
    with pytest.raises(ValueError, match='position_embedding_type must be "rope"'):
        read_config(config)
    found = read_config(config | {"position_embedding_type": "rope"})
    assert found.rotary_d == found.d
    assert {*rotated(configured("Granite 4.0 H", position_embedding_type="rope")).values()} == {1.0}


@pytest.mark.parametrize("heads", [8, 64])
@pytest.mark.parametrize("layer", [0, 3, 9])
def test_slopes_of_minimax_are_those_of_alibi_times_a_factor_of_the_layer(
    layer: int, heads: int
) -> None:
    config = config_class("minimax")(
        hidden_size=64, num_attention_heads=heads, num_hidden_layers=10, block_size=4
    )
    module = in_transformers("minimax", "MiniMaxLightningAttention")(config, layer)
    factor = 1 - layer / (9 + 1e-5) + 1e-5
    expected = alibi_slopes(heads) * factor
    np.testing.assert_allclose(module.slope_rate.flatten(), expected, rtol=1e-5)
    assert abs(factor - (1 - layer / 9)) < 1e-4
