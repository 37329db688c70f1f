"""What `posenc.layers` promises; `tests/oracles/test_layers.py` compares it with transformers."""

from __future__ import annotations

import pytest

from posenc import layer_types, rotating_layers
from posenc.layers import RULES

# For models as they were published: how many layers, and which of them are open, counted from 0.
PUBLISHED = {
    "Command R7B": ("cohere2", 32, range(3, 32, 4)),
    "Gemma 2 9B": ("gemma2", 42, range(1, 42, 2)),
    "Gemma 3 1B": ("gemma3_text", 26, [5, 11, 17, 23]),
    "Gemma 3n E4B": ("gemma3n_text", 35, [4, 9, 14, 19, 24, 29, 34]),
    "gpt-oss 20B": ("gpt_oss", 24, range(1, 24, 2)),
    "Llama 4 Scout": ("llama4_text", 48, range(3, 48, 4)),
    "ModernBERT, base": ("modernbert", 22, [0, 3, 6, 9, 12, 15, 18, 21]),
    "OLMo 3 7B": ("olmo3", 32, range(3, 32, 4)),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_open_layers_of_a_published_model_have_full_attention(name: str) -> None:
    model_type, layers, opens = PUBLISHED[name]
    types = layer_types(model_type, layers)
    assert len(types) == layers
    assert [i for i, kind in enumerate(types) if kind == "full_attention"] == [*opens]
    others = "chunked_attention" if model_type == "llama4_text" else "sliding_attention"
    assert {*types} == {"full_attention", others}


@pytest.mark.parametrize("model_type", ["cohere2", "llama4_text", "smollm3"])
def test_every_fourth_layer_goes_without_rotation(model_type: str) -> None:
    assert rotating_layers(model_type, 9) == (True, True, True, False) * 2 + (True,)


@pytest.mark.parametrize("model_type", sorted({*RULES} - {"cohere2", "llama4_text", "smollm3"}))
def test_all_layers_of_the_other_models_rotate(model_type: str) -> None:
    assert rotating_layers(model_type, 9) == (True,) * 9


def test_smollm3_attends_to_everything_in_every_layer() -> None:
    assert layer_types("smollm3", 5) == ("full_attention",) * 5


@pytest.mark.parametrize("model_type", RULES)
def test_a_model_with_fewer_layers_is_the_beginning_of_one_with_more(model_type: str) -> None:
    for function in (layer_types, rotating_layers):
        whole = function(model_type, 25)
        assert all(function(model_type, layers) == whole[:layers] for layers in range(1, 25))


def test_the_documentation_names_every_model_type() -> None:
    documentation = " ".join((layer_types.__doc__ or "").split())
    assert [kind for kind in RULES if f'"{kind}"' not in documentation] == []
