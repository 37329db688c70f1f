"""Diagnoses of independent models: small, randomly initialised models of transformers.

| model   | positions                      | known properties                                 |
|---------|--------------------------------|--------------------------------------------------|
| GPT-2   | a learned row, added           | sees order, level rows, ends with its table      |
| BERT    | a learned row, added           | the same, looking both ways                      |
| RoBERTa | a learned row, from row 2 on   | its table has two rows more than positions       |
| Llama   | rotary, half                   | nothing added, no end                            |
| GPT-J   | rotary in part, interleaved    | its sines are a table, and end                   |
| NeoX    | rotary in part, half           | no end                                           |
| BLOOM   | ALiBi                          | in bfloat16 it counts keys in that type          |
| Falcon  | ALiBi                          | counts keys in bfloat16, whatever its type       |
| T5      | buckets                        | far ones shared on purpose                       |
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from posenc import mrope_positions, nn, wavelengths
from posenc.diagnose.answers import ABSENT, HEALTHY, ILL, UNDETERMINED

WORDS: dict[str, Any] = {"vocab_size": 100, "bos_token_id": 1, "eos_token_id": 2}
SMALL: dict[str, Any] = {
    **WORDS,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "max_position_embeddings": 64,
}
SHORT: dict[str, Any] = {**WORDS, "n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 64}
T5: dict[str, Any] = {"vocab_size": 100, "d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": 2}


def small_model(name: str) -> torch.nn.Module:
    """Return a small model of transformers with its default initialisation."""
    import transformers

    torch.manual_seed(0)
    models: dict[str, Any] = {
        "GPT-2": lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config(**SHORT)),
        "BERT": lambda: transformers.BertModel(transformers.BertConfig(**SMALL)),
        "RoBERTa": lambda: transformers.RobertaModel(
            transformers.RobertaConfig(**SMALL | {"max_position_embeddings": 66})
        ),
        "Llama": lambda: transformers.LlamaForCausalLM(
            transformers.LlamaConfig(**SMALL, num_key_value_heads=1)
        ),
        "GPT-J": lambda: transformers.GPTJForCausalLM(
            transformers.GPTJConfig(**SHORT, rotary_dim=8)
        ),
        "NeoX": lambda: transformers.GPTNeoXForCausalLM(transformers.GPTNeoXConfig(**SMALL)),
        "BLOOM": lambda: transformers.BloomForCausalLM(
            transformers.BloomConfig(**WORDS, hidden_size=32, n_layer=2, n_head=2)
        ),
        "Falcon": lambda: transformers.FalconForCausalLM(
            transformers.FalconConfig(
                **WORDS, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, alibi=True
            )
        ),
        "T5": lambda: transformers.T5EncoderModel(transformers.T5Config(**T5, num_heads=2)),
        "T5, both": lambda: transformers.T5Model(transformers.T5Config(**T5, num_heads=2)),
    }
    model: torch.nn.Module = models[name]()
    return model


@pytest.fixture(autouse=True)
def at_rest() -> Iterator[None]:
    """Restore torch's generator."""
    with torch.random.fork_rng():
        yield


# Of each model: order, drowned, collisions, longest input, rotary layout, relative scores.
KNOWN = {
    "GPT-2": ("it sees order", HEALTHY, HEALTHY, "it ends at 64 tokens", ABSENT, ABSENT),
    "BERT": ("it sees order", HEALTHY, HEALTHY, "it ends at 64 tokens", ABSENT, ABSENT),
    "RoBERTa": ("it sees order", HEALTHY, HEALTHY, "it ends at 64 tokens", ABSENT, ABSENT),
    "Llama": ("it sees order", ABSENT, HEALTHY, "it reads 1024 tokens", "half", HEALTHY),
    "GPT-J": ("it sees order", ABSENT, HEALTHY, "it ends at 64 tokens", "interleaved", HEALTHY),
    "NeoX": ("it sees order", ABSENT, HEALTHY, "it reads 1024 tokens", "half", HEALTHY),
    "BLOOM": ("it sees order", ABSENT, HEALTHY, "it reads 1024 tokens", ABSENT, HEALTHY),
    "T5": ("it sees order", ABSENT, HEALTHY, "it reads 1024 tokens", ABSENT, HEALTHY),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", KNOWN)
def test_a_model_of_transformers_gets_its_known_diagnosis(name: str) -> None:
    report = nn.diagnose(small_model(name))
    assert not report.ill, str(report)
    for diagnosis, known in zip(report.diagnoses, KNOWN[name], strict=True):
        assert known in (diagnosis.verdict, diagnosis.status), str(diagnosis)


@pytest.mark.slow
@pytest.mark.parametrize("name", KNOWN)
def test_only_bloom_confuses_two_positions_in_bfloat16(name: str) -> None:
    """Its biases are slopes times key positions in the model's dtype, where 256 equals 257."""
    report = nn.diagnose(small_model(name).to(torch.bfloat16))
    assert [d.ill for d in report.diagnoses if d is not report.diagnoses[2]] == [False] * 5
    assert report.diagnoses[2].ill == (name == "BLOOM")
    if name == "BLOOM":
        found = report.diagnoses[2].measured
        assert (found["first"], found["second"]) == (256, 257)


def test_falcon_confuses_two_positions_even_in_float32() -> None:
    report = nn.diagnose(small_model("Falcon"))
    assert [d.ill for d in report.diagnoses] == [False, False, True, False, False, False]
    found = report.diagnoses[2].measured
    assert (found["first"], found["second"]) == (256, 257)


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("GPT-2", "transformer.wpe.weight has 64 rows"),
        ("BERT", "embeddings.position_embeddings.weight has 64 rows"),
        ("RoBERTa", "embeddings.position_embeddings.weight has 66 rows"),
    ],
)
def test_the_table_that_ends_is_named(name: str, table: str) -> None:
    found = nn.longest_input(small_model(name), length=65)
    assert found.ill
    assert table in found.why


def test_gpt2_without_its_positions_sees_order_only_through_its_mask() -> None:
    """The planted fault: rows of zeros are no positions, but two layers have their mask."""
    model = small_model("GPT-2")
    torch.nn.init.zeros_(model.get_parameter("transformer.wpe.weight"))
    assert nn.sees_order(model).verdict == "only through the causal mask"
    assert nn.drowned_tokens(model).status == ABSENT


def test_bert_without_its_positions_does_not_see_order() -> None:
    model = small_model("BERT")
    torch.nn.init.zeros_(model.get_parameter("embeddings.position_embeddings.weight"))
    assert nn.sees_order(model).verdict == "it does not see order"


def test_t5_is_diagnosed_once_its_decoder_gets_inputs() -> None:
    model = small_model("T5, both")
    assert {d.status for d in nn.diagnose(model).diagnoses} == {UNDETERMINED}
    ids = torch.arange(3, 60)[None]
    report = nn.diagnose(model, {"input_ids": ids, "decoder_input_ids": ids[:, :1]})
    assert report.status == HEALTHY
    assert report.diagnoses[0].verdict == "it sees order"


# How transformers scales the frequencies of a model trained on 64 tokens, and the result at 128:
# 5 of 8 pairs complete no turn in 64. Dynamic NTK keeps the slowest within the angles of training,
# and by its larger factor some others; the other rules keep all.
SCALED: dict[str, tuple[dict[str, Any], str, int]] = {
    "default": ({}, ILL, 5),
    "linear": ({"factor": 2.0}, HEALTHY, 0),
    "linear, too little": ({"rope_type": "linear", "factor": 1.5}, ILL, 5),
    "yarn": ({"factor": 2.0, "original_max_position_embeddings": 64}, HEALTHY, 0),
    "llama3": (
        {
            "factor": 2.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 64,
        },
        HEALTHY,
        0,
    ),
}


def rotating(rope_type: str, theta: float = 10000.0, **others: Any) -> torch.nn.Module:
    """Return a small Llama whose frequencies are scaled by a rule of transformers."""
    import transformers

    torch.manual_seed(0)
    rope = {"rope_type": rope_type, "rope_theta": theta, **others}
    longer = SMALL | {"max_position_embeddings": 64 if rope_type == "dynamic" else 128}
    config = transformers.LlamaConfig(**longer, rope_parameters=rope)
    model: torch.nn.Module = transformers.LlamaForCausalLM(config)
    return model


@pytest.mark.parametrize("rule", SCALED)
def test_scaled_frequencies_of_llama_are_compared_with_the_trained_ones(rule: str) -> None:
    settings, status, unseen = SCALED[rule]
    model = rotating(**{"rope_type": rule, **settings})
    found = nn.unseen_positions(model, trained=64, length=128)
    assert (found.status, found.measured["unseen"]) == (status, unseen), str(found)
    assert (found.measured["slow"], found.measured["base"]) == (5, 10000)


def test_dynamic_frequencies_of_llama_are_compared_with_those_of_a_short_sequence() -> None:
    """At twice the length and a factor of 2 its base is that of NTK-aware scaling by 3."""
    found = nn.unseen_positions(rotating("dynamic", factor=2.0), trained=64, length=128)
    slowest = 3.0
    by = slowest ** (torch.arange(8) / 7)
    slow = torch.from_numpy(wavelengths(16)) > 64
    assert found.measured["unseen"] == int((slow & (64 * by <= 127)).sum()) > 0
    assert found.measured["factor"] == pytest.approx(slowest, rel=1e-5)


@pytest.mark.parametrize("theta", [100.0, 500_000.0, 1_000_000.0])
def test_the_base_of_llama_is_measured(theta: float) -> None:
    found = nn.unseen_positions(rotating("default", theta), trained=64, length=128)
    assert found.measured["base"] == theta
    assert found.measured["slow"] == int((wavelengths(16, base=theta) > 64).sum())


# Faults that are planted in rotations and biases of transformers.

Turn = Callable[..., tuple[Tensor, Tensor]]
FAULTS: dict[str, Callable[[Turn, Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]] = {
    "keys alone are rotated": lambda turn, q, k, cos, sin: (q, turn(q, k, cos, sin)[1]),
    "queries alone are rotated": lambda turn, q, k, cos, sin: (turn(q, k, cos, sin)[0], k),
    "queries and keys are rotated in opposite ways": lambda turn, q, k, cos, sin: (
        turn(q, k, cos, -sin)[0],
        turn(q, k, cos, sin)[1],
    ),
    "keys are rotated twice": lambda turn, q, k, cos, sin: (
        turn(q, k, cos, sin)[0],
        turn(q, turn(q, k, cos, sin)[1], cos, sin)[1],
    ),
    "queries and keys are rotated twice": lambda turn, q, k, cos, sin: turn(
        *turn(q, k, cos, sin), cos, sin
    ),
}
FILES = {"Llama": "llama", "NeoX": "gpt_neox"}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", FILES)
def test_a_fault_in_the_rotations_of_a_model_of_transformers_is_named(
    name: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = small_model(name)
    file = importlib.import_module(f"transformers.models.{FILES[name]}.modeling_{FILES[name]}")
    planted = partial(FAULTS[fault], file.apply_rotary_pos_emb)
    monkeypatch.setattr(file, "apply_rotary_pos_emb", planted)
    found = nn.relative_scores(model)
    assert (found.verdict, found.status) == (fault, ILL), str(found)


@pytest.mark.parametrize("name", ["Llama", "NeoX", "GPT-J", "GPT-2"])
def test_positions_from_0_in_every_call_lose_the_offset_of_transformers(name: str) -> None:
    """As where a caller gives position_ids and does not count the tokens in the cache."""

    def from_0(part: torch.nn.Module, args: Any, kwargs: Any) -> tuple[Any, Any]:
        return args, kwargs | {"position_ids": torch.arange(args[0].shape[1])[None]}

    model = small_model(name)
    assert not nn.relative_scores(model).ill
    model.register_forward_pre_hook(from_0, with_kwargs=True)
    assert nn.relative_scores(model).verdict == "the offset of cached tokens is lost"


def test_bloom_with_the_other_sign_favours_far_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers.models.bloom import modeling_bloom as file

    right = file._get_alibi_slopes
    monkeypatch.setattr(file, "_get_alibi_slopes", lambda *given: -right(*given))
    assert nn.relative_scores(small_model("BLOOM")).verdict == "far keys are favoured"


def test_positions_on_three_axes_of_transformers_are_judged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Qwen2-VL reads an image of 2 by 4 patches in a text; then both sides as the height."""
    from transformers.models.qwen2_vl import Qwen2VLTextConfig, Qwen2VLTextModel
    from transformers.models.qwen2_vl.modeling_qwen2_vl import Qwen2VLRotaryEmbedding

    rope = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 3, 3]}
    model = Qwen2VLTextModel(
        Qwen2VLTextConfig(**SMALL, num_key_value_heads=1, rope_parameters=rope)
    )
    positions = torch.as_tensor(mrope_positions([3, (1, 2, 4), 2])).T[:, None]
    example = {"input_ids": torch.arange(13)[None], "position_ids": positions}
    found = nn.relative_scores(model, example)
    assert (found.status, found.measured["cached"]) == (HEALTHY, 1), str(found)
    assert "axis 0 pairs 0 to 1, along axis 1 pairs 2 to 4, along axis 2 pairs 5 to 7" in found.why
    right = Qwen2VLRotaryEmbedding.forward
    monkeypatch.setattr(
        Qwen2VLRotaryEmbedding, "forward", lambda self, x, ids: right(self, x, ids[[0, 1, 1]])
    )
    assert nn.relative_scores(model, example).verdict == "an axis of its positions is not read"


def test_a_window_of_transformers_is_read_past_at_the_length_asked_for() -> None:
    from transformers import MistralConfig, MistralForCausalLM

    config = MistralConfig(**SMALL, num_key_value_heads=1, sliding_window=520)
    found = nn.relative_scores(MistralForCausalLM(config), length=520)
    assert (found.status, found.measured["window"]) == (HEALTHY, 520), str(found)
