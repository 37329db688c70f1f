"""Which models normalise queries and keys, how, and whether before RoPE: docs/schemes/norms.md."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn

from tests.oracles.libraries import config_class, library, run_with_rotations
from tests.oracles.page_tables import rows

# Some modules of transformers script a function on import.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script")

ROWS = rows("schemes/norms.md", "models")
NAMES = [name for row in ROWS for name in row[0].split(", ")]
TYPES: dict[str, tuple[str, dict[str, Any]]] = {
    "Apertus": ("apertus", {}),
    "Command A": ("cohere2", {}),
    "Command R": ("cohere", {"use_qk_norm": True}),
    "dots.llm1": ("dots1", {"first_k_dense_replace": 4}),
    "EXAONE 4": ("exaone4", {}),
    "Gemma 3": ("gemma3_text", {}),
    "GLM-4.5": ("glm4_moe", {"use_qk_norm": True}),
    "gpt-oss": ("gpt_oss", {}),
    "HunYuan": ("hunyuan_v1_dense", {"head_dim": 128}),
    "LFM2": ("lfm2", {}),
    "Llama 4": ("llama4_text", {"use_qk_norm": True}),
    "MiniMax-M2": ("minimax_m2", {}),
    "nanochat": ("nanochat", {}),
    "OLMo 2": ("olmo2", {}),
    "Olmo 3": ("olmo3", {}),
    "OLMoE": ("olmoe", {}),
    "Qwen3": ("qwen3", {}),
    "Qwen3-Next": ("qwen3_next", {}),
    "SmolLM3": ("smollm3", {}),
    "StableLM 2": ("stablelm", {"qk_layernorm": True}),
}
QUERY_NORMS = ("q_norm", "q_layernorm", "query_layernorm", "qk_norm")


class Seen(NamedTuple):
    """What a model without weights did, and its first norm of queries, if it has one."""

    steps: list[str]
    norm: nn.Module | None
    width: int  # of what is normalised
    projected: int  # how wide all queries are together


@cache
def seen(name: str) -> Seen:
    """Return what a small model does with queries, in order."""
    kind, options = TYPES[name]
    config = config_class(kind)(num_hidden_layers=4, **options)
    found = library("transformers.models.auto.modeling_auto", "MODEL_MAPPING")[type(config)]
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)  # which products of groups of matrices ask for
    try:
        with torch.device("meta"):
            return _watched(found(config), config)
    finally:
        torch.set_default_dtype(before)


def _watched(model: Any, config: Any) -> Seen:
    steps: list[str] = []
    norms: list[tuple[nn.Module, int]] = []

    def normalising(module: nn.Module, given: tuple[Tensor, ...], _: Tensor) -> None:
        steps.append("norm")
        norms.append((module, given[0].shape[-1]))

    def rotating(function: Any) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            steps.append("RoPE")
            return function(*given, **named)

        return call

    for name, module in model.named_modules():
        if name.rpartition(".")[2] in QUERY_NORMS:
            module.register_forward_hook(normalising)
    run_with_rotations(model, rotating)
    norm, width = norms[0] if norms else (None, 0)
    head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    return Seen(steps, norm, width, head * config.num_attention_heads)


def order(steps: list[str]) -> str:
    """Return the order of norm and RoPE, or the one of them that is there."""
    return ", ".join(dict.fromkeys(steps))


def on_cpu(norm: nn.Module, gain: float) -> nn.Module:
    """Return the norm with all its parameters equal to a number, its biases 0."""
    copied = norm.to_empty(device="cpu").float()
    for name, parameter in copied.named_parameters():
        nn.init.constant_(parameter, 0.0 if name.endswith("bias") else gain)
    return copied


@torch.no_grad()
def gains(norm: nn.Module, shape: tuple[int, ...]) -> str:
    """Say what is learned, and whether the mean is subtracted, by what the norm does."""
    if not [*norm.parameters()]:
        return "none"
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    kind = "$g$" if not on_cpu(norm, 0.0)(x).any() else "$1 + g$"
    centred = on_cpu(norm, 1.0)
    return f"{kind}, LayerNorm" if torch.allclose(centred(x), centred(x + 3), atol=1e-4) else kind


def described(name: str) -> list[str]:
    """Return the cells of a model's row, from what its classes do."""
    found = seen(name)
    if found.norm is None:
        return ["–", "no norm", order(found.steps)]
    heads = found.projected // found.width
    wide = "all heads" if heads == 1 else "a head"
    shape = (1, 5, found.width) if heads == 1 else (1, 5, heads, found.width)
    if type(found.norm).__name__ == "StableLmLayerNormPerHead":
        shape = (1, heads, 5, found.width)
    return [gains(found.norm, shape), wide, order(found.steps)]


def test_every_model_of_the_table_is_known() -> None:
    assert sorted(NAMES) == sorted(TYPES)


@pytest.mark.parametrize("name", NAMES)
def test_the_table_of_norms_is_what_the_classes_of_transformers_do(name: str) -> None:
    row = next(row for row in ROWS if name in row[0].split(", "))
    assert described(name) == row[1:]
