"""Models of transformers compute the same logits once their layout is converted.

Each model rotates the halves of a head. Its weights are converted by the package to neighbours,
and its own function that rotates is exchanged for one that rotates neighbours; nothing else of the
model changes. Without the conversion, or with a part of it left out, the logits are others.
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from posenc import convert_layout, convert_projection, convert_qkv

CHANGE: dict[str, Any] = {"source": "half", "target": "interleaved"}
HEADS, KEY_HEADS, D = 4, 2, 8
SIZES = {
    "vocab_size": 50,
    "hidden_size": HEADS * D,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": HEADS,
    "max_position_embeddings": 64,
}
IDS = torch.arange(24).reshape(2, 12) % 50


def random_model(name: str, **options: Any) -> torch.nn.Module:
    """Return a model of transformers in float64, with random numbers in every parameter."""
    them = importlib.import_module("transformers")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model: torch.nn.Module = getattr(them, f"{name}ForCausalLM")(
            getattr(them, f"{name}Config")(**SIZES, **options)
        )
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, mean=float(parameter.ndim == 1), std=0.3)
    return model.double().eval()


def neighbours(x: Tensor) -> Tensor:
    """Return (−y, x) for every pair (x, y) of neighbours."""
    return torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).flatten(-2)


@contextmanager
def rotating_neighbours(name: str) -> Iterator[None]:
    """Exchange what rotates in a model's module: pair i is dimensions 2i and 2i + 1."""
    module: Any = importlib.import_module(f"transformers.models.{name}.modeling_{name}")

    def rotate(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
        width = cos.shape[-1]
        cos, sin = (x[..., : width // 2].repeat_interleave(2, -1)[:, None] for x in (cos, sin))
        rotated = [
            torch.cat(
                (x[..., :width] * cos + neighbours(x[..., :width]) * sin, x[..., width:]), dim=-1
            )
            for x in (q, k)
        ]
        return rotated[0], rotated[1]

    original = module.apply_rotary_pos_emb
    module.apply_rotary_pos_emb = rotate
    try:
        yield
    finally:
        module.apply_rotary_pos_emb = original


def converted(
    model: torch.nn.Module, rule: Callable[[str, np.ndarray[Any, Any]], Any]
) -> torch.nn.Module:
    """Return a copy of the model whose parameters went through a rule, by their names."""
    other = copy.deepcopy(model)
    with torch.no_grad():
        for name, parameter in other.named_parameters():
            parameter.copy_(torch.from_numpy(np.ascontiguousarray(rule(name, parameter.numpy()))))
    return other


@torch.no_grad()
def logits(model: torch.nn.Module) -> Tensor:
    found: Tensor = model(IDS).logits
    return found


def separate(name: str, x: Any) -> Any:
    """Convert a model with a matrix for queries and one for keys, and norms of both."""
    if ".q_proj." in name:
        return convert_projection(x, heads=HEADS, **CHANGE)
    if ".k_proj." in name:
        return convert_projection(x, heads=KEY_HEADS, **CHANGE)
    if ".q_norm." in name or ".k_norm." in name:
        return convert_layout(x, **CHANGE)
    return x


def wide_norms(name: str, x: Any) -> Any:
    """Convert a model whose norms have a weight for every dimension of every head."""
    if ".q_norm." in name:
        return convert_projection(x, heads=HEADS, **CHANGE)
    if ".k_norm." in name:
        return convert_projection(x, heads=KEY_HEADS, **CHANGE)
    return separate(name, x)


def neox(name: str, x: Any) -> Any:
    """Convert GPT-NeoX: one matrix with a group for each head, half of whose dimensions rotate."""
    if ".query_key_value." not in name:
        return x
    return convert_qkv(x, heads=HEADS, arrangement="groups", rotary_d=D // 2, **CHANGE)


def phi3(name: str, x: Any) -> Any:
    """Convert Phi-3: one matrix with all queries, all keys and all values."""
    if ".qkv_proj." not in name:
        return x
    return convert_qkv(x, heads=HEADS, key_heads=KEY_HEADS, **CHANGE)


GROUPED = {"num_key_value_heads": KEY_HEADS}
NEOX = {"rotary_pct": 0.5, "rope_parameters": {"rope_type": "default", "rope_theta": 1e4}}
NEOX["rope_parameters"]["partial_rotary_factor"] = 0.5  # type: ignore[index]
FAMILIES: dict[str, tuple[str, dict[str, Any], Callable[[str, Any], Any]]] = {
    "llama": ("Llama", {**GROUPED, "attention_bias": True}, separate),
    "qwen3": ("Qwen3", {**GROUPED, "head_dim": D}, separate),
    "olmo2": ("Olmo2", GROUPED, wide_norms),
    "gpt_neox": ("GPTNeoX", NEOX, neox),
    "phi3": ("Phi3", {**GROUPED, "pad_token_id": 0}, phi3),
}
# Parts that can be forgotten, by the words in their names.
FORGOTTEN = [
    *[("llama", part) for part in ("q_proj.weight", "q_proj.bias", "k_proj.weight", "k_proj.bias")],
    *[(family, part) for family in ("qwen3", "olmo2") for part in ("q_norm", "k_norm")],
    ("gpt_neox", "query_key_value.bias"),
]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_converted_model_has_the_logits_that_it_had(family: str) -> None:
    name, options, rule = FAMILIES[family]
    model = random_model(name, **options)
    right = logits(model)
    with rotating_neighbours(family):
        found = logits(converted(model, rule))
        unconverted = logits(model)
    torch.testing.assert_close(found, right, atol=1e-5, rtol=0)  # their angles are float32
    assert (unconverted - right).abs().max() > 0.1


@pytest.mark.parametrize(("family", "part"), FORGOTTEN)
def test_every_part_that_is_forgotten_changes_the_logits(family: str, part: str) -> None:
    name, options, rule = FAMILIES[family]
    model = random_model(name, **options)
    right = logits(model)
    changed = converted(model, lambda name, x: x if part in name else rule(name, x))
    with rotating_neighbours(family):
        assert (logits(changed) - right).abs().max() > 0.01


def test_rows_go_where_the_conversion_script_puts_them() -> None:
    """Its formula, for n heads: row (head, pair, side) becomes row (head, side, pair)."""
    weight = np.arange(HEADS * D * 3.0).reshape(HEADS * D, 3)
    expected = np.empty_like(weight)
    for head in range(HEADS):
        for pair in range(D // 2):
            for side in range(2):
                row = weight[head * D + 2 * pair + side]
                expected[head * D + side * (D // 2) + pair] = row
    found = convert_projection(weight, heads=HEADS, source="interleaved", target="half")
    np.testing.assert_array_equal(found, expected)
