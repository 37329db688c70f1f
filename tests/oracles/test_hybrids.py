"""What the attention layers of hybrid models rotate: docs/schemes/hybrids.md against transformers."""

from __future__ import annotations

import importlib
import inspect
import re
from collections import defaultdict
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

from posenc import alibi_slopes, read_config
from tests.oracles.libraries import config_class, in_transformers, library
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
    "Kimi Linear": ("kimi_linear", {}),
    "LFM2": ("lfm2", {"layer_types": ["conv", "full_attention"] * 2}),
    "MiniMax-01": ("minimax", {"layer_types": MIXED}),
    "Nemotron-H": ("nemotron_h", {"layers_block_type": ["mamba", "attention"] * 2}),
    "Olmo Hybrid": ("olmo_hybrid", {"layer_types": MIXED}),
    "Qwen3-Next": ("qwen3_next", {"layer_types": MIXED}),
    "RecurrentGemma": ("recurrent_gemma", {}),
    "Zamba2": ("zamba2", {}),
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
        {"rope_parameters": None},
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
    source = importlib.import_module(type(model).__module__)
    with pytest.MonkeyPatch.context() as patch, torch.no_grad():
        for name, one in vars(source).copy().items():
            if inspect.isfunction(one) and name.startswith("apply_rotary"):
                patch.setattr(source, name, rotating(one))
        model(input_ids=torch.zeros(1, 8, dtype=torch.long))
    assert len({*inside}) == 4
    return shares
