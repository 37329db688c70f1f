"""Which layers attend to everything and which rotate, against transformers: settings and models."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from transformers import AutoConfig, AutoModel

from posenc import layer_types, read_config, relative_positions, rotating_layers, sink_mask
from posenc.layers import RULES

# Some modules of transformers script a function on import.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script")

SMALL: dict[str, Any] = {
    "vocab_size": 100,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 16,
    "max_position_embeddings": 64,
}
MORE: dict[str, dict[str, Any]] = {
    "gpt_oss": {"num_local_experts": 2, "num_experts_per_tok": 1},
    "llama4_text": {"num_local_experts": 2, "intermediate_size_mlp": 64, "attention_chunk_size": 8},
}


@pytest.mark.parametrize("layers", [1, 2, 3, 6, 7, 12, 25, 48])
@pytest.mark.parametrize("model_type", RULES)
def test_layer_types_are_those_of_transformers(model_type: str, layers: int) -> None:
    config = AutoConfig.for_model(model_type, num_hidden_layers=layers)
    assert layer_types(model_type, layers) == tuple(config.layer_types)


@pytest.mark.parametrize("layers", [1, 4, 7, 36, 48])
@pytest.mark.parametrize("model_type", ["llama4_text", "smollm3"])
def test_rotating_layers_are_those_with_a_one_in_no_rope_layers(
    model_type: str, layers: int
) -> None:
    config = AutoConfig.for_model(model_type, num_hidden_layers=layers)
    assert [
        int(rotates) for rotates in rotating_layers(model_type, layers)
    ] == config.no_rope_layers


# gemma3n's layers need tables of their own for every token; its attention is that of gemma3.
@pytest.mark.parametrize("model_type", sorted({*RULES} - {"gemma3n_text"}))
@torch.no_grad()
def test_rotating_layers_rotate_in_a_model_of_transformers(
    model_type: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    layers = 7
    sizes = {**SMALL, **MORE.get(model_type, {}), "num_hidden_layers": layers}
    model = AutoModel.from_config(AutoConfig.for_model(model_type, **sizes)).eval()
    rotated: set[int] = set()
    current: list[int] = []

    def entering(layer: int) -> Any:
        return lambda *_: current.append(layer)

    for number, layer in enumerate(model.layers):
        layer.register_forward_pre_hook(entering(number))
    module = sys.modules[type(model).__module__]
    name = "apply_rotary_emb" if model_type == "llama4_text" else "apply_rotary_pos_emb"
    rotate = getattr(module, name)

    def recording(*arguments: Any, **options: Any) -> Any:
        rotated.add(current[-1])
        return rotate(*arguments, **options)

    monkeypatch.setattr(module, name, recording)
    model(torch.arange(1, 13)[None])
    assert current == list(range(layers))
    assert tuple(i in rotated for i in range(layers)) == rotating_layers(model_type, layers)


@pytest.mark.parametrize("model_type", RULES)
def test_read_config_agrees_on_which_layers_rotate(model_type: str) -> None:
    config = AutoConfig.for_model(model_type, num_hidden_layers=12).to_dict()
    kinds = dict(zip(layer_types(model_type, 12), rotating_layers(model_type, 12), strict=True))
    if model_type in ("llama4_text", "smollm3"):  # counted under names of their own
        kinds = {"rope": True, "no_rope": False}
    differ = read_config(config).layer_types  # none where all layers have the same settings
    for kind, rotates in kinds.items():
        found = read_config(config, layer_type=kind if differ else None)
        assert (found.scheme != "none") is rotates, kind


PERIODS = {
    "cohere2": "sliding_window_pattern",
    "gemma3_text": "sliding_window_pattern",
    "llama4_text": "no_rope_layer_interval",
    "modernbert": "global_attn_every_n_layers",
    "smollm3": "no_rope_layer_interval",
}


@pytest.mark.parametrize("model_type", PERIODS)
def test_a_configuration_may_give_another_period(model_type: str) -> None:
    config = AutoConfig.for_model(model_type, num_hidden_layers=12, **{PERIODS[model_type]: 2})
    found = config.no_rope_layers if model_type == "smollm3" else config.layer_types
    assert [*found] == [*found[:2]] * 6
    assert found[0] != found[1]


@pytest.mark.parametrize("model_type", PERIODS)
def test_a_period_is_read_as_the_list_that_transformers_makes_of_it(model_type: str) -> None:
    period = {PERIODS[model_type]: 2}
    listed = AutoConfig.for_model(model_type, num_hidden_layers=12, **period).to_dict()
    unlisted = listed | {"layer_types": None, "no_rope_layers": None}
    assert numbers(unlisted | period) == numbers(listed)
    assert numbers(unlisted | {PERIODS[model_type]: 3}) != numbers(listed)


def numbers(config: dict[str, Any]) -> dict[str, tuple[tuple[int, ...] | None, bool | None]]:
    """Return the numbers of the layers of each type, and whether they rotate."""
    found = {name: read_config(config, layer_type=name) for name in read_config(config).layer_types}
    return {name: (one.layers, one.rotates) for name, one in found.items()}


@pytest.mark.parametrize("model_type", sorted({*RULES} - {"smollm3"}))
def test_a_configuration_that_lists_its_layers_overrides_the_default(model_type: str) -> None:
    listed = list(reversed(layer_types(model_type, 12)))
    config = AutoConfig.for_model(model_type, num_hidden_layers=12, layer_types=listed)
    assert config.layer_types == listed != list(layer_types(model_type, 12))


def transformers_mask(name: str, window: int, module: str = "masking_utils") -> NDArray[np.bool_]:
    """Return the mask of transformers for 40 tokens, by one of its functions of two places."""
    visible = getattr(importlib.import_module(f"transformers.{module}"), name)(window)
    places = torch.arange(40)
    mask: NDArray[np.bool_] = visible(0, 0, places[:, None], places).numpy()
    return mask


@pytest.mark.parametrize("window", [1, 2, 7, 40])
def test_a_window_of_transformers_counts_the_querys_own_key(window: int) -> None:
    expected = transformers_mask("sliding_window_causal_mask_function", window)
    np.testing.assert_array_equal(sink_mask(40, window=window, sinks=0), expected)


@pytest.mark.parametrize("window", [1, 2, 7])
def test_without_a_causal_mask_gemma_3_leaves_out_the_ends_of_the_general_window(
    window: int,
) -> None:
    general = transformers_mask("sliding_window_bidirectional_mask_function", window)
    np.testing.assert_array_equal(np.abs(relative_positions(40, 40)) <= window, general)
    assert general.sum(axis=1).max() == 2 * window + 1
    own = transformers_mask(
        "_bidirectional_window_overlay", window, "models.gemma3.modeling_gemma3"
    )
    np.testing.assert_array_equal(np.abs(relative_positions(40, 40)) < window, own)
    config = AutoConfig.for_model(
        "gemma3_text", sliding_window=512, use_bidirectional_attention=True
    )
    assert config.sliding_window == 512 // 2 + 1


@pytest.mark.parametrize("window", [7, 8])
@pytest.mark.parametrize("model_type", ["gemma3_text", "modernbert"])
def test_modernbert_and_gemma_3_see_half_of_their_window_either_way(
    model_type: str, window: int
) -> None:
    more = (
        {"local_attention": window}
        if model_type == "modernbert"
        else {"sliding_window": window, "use_bidirectional_attention": True}
    )
    config = AutoConfig.for_model(
        model_type,
        **SMALL,
        num_hidden_layers=2,
        **more,
        attn_implementation="eager",
        layer_types=["full_attention", "sliding_attention"],
    )
    torch.manual_seed(0)
    model = AutoModel.from_config(config).eval()
    with torch.no_grad():
        found = model(torch.arange(10, 50)[None], output_attentions=True).attentions
    assert (found[0] > 0).all()
    visible = np.abs(relative_positions(40, 40)) <= window // 2
    np.testing.assert_array_equal((found[1] > 0).numpy(), np.broadcast_to(visible, (1, 2, 40, 40)))
