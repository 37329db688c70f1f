"""Six questions, asked of small random models of many families of transformers.

The expected answers follow from the definitions in the authors' papers and code. Tables have 64
rows. Sines drown tokens of deviation 0.02, by √(d/2) to 0.02·√d, unless the tokens are scaled or
have a larger deviation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import torch

from posenc import nn
from posenc.diagnose.answers import ABSENT, HEALTHY, ILL, UNDETERMINED

# Some modules of transformers script a function on import.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script")

IDS: dict[str, Any] = {"vocab_size": 100, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
SMALL: dict[str, Any] = {
    **IDS,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "max_position_embeddings": 64,
}
ROBERTA: dict[str, Any] = {**SMALL, "max_position_embeddings": 66, "pad_token_id": 1}
NARROW: dict[str, Any] = {**SMALL, "embedding_size": 16}
GROUPED: dict[str, Any] = {**SMALL, "num_key_value_heads": 1}
HEADS: dict[str, Any] = {**GROUPED, "head_dim": 16}
EXPERTS: dict[str, Any] = {
    **HEADS,
    "num_experts": 4,
    "num_local_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 32,
}
LATENT: dict[str, Any] = {
    **SMALL,
    "num_key_value_heads": 2,
    "q_lora_rank": 16,
    "kv_lora_rank": 16,
    "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 8,
    "v_head_dim": 16,
    "n_routed_experts": 4,
    "n_shared_experts": 1,
    "num_experts_per_tok": 2,
    "n_group": 1,
    "topk_group": 1,
    "moe_intermediate_size": 32,
    "first_k_dense_replace": 1,
}
GPT: dict[str, Any] = {**IDS, "n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 64}
XLM: dict[str, Any] = {
    "vocab_size": 100,
    "n_words": 100,
    "emb_dim": 32,
    "n_layers": 2,
    "n_heads": 2,
    "max_position_embeddings": 64,
    "pad_index": 0,
}
DISTIL: dict[str, Any] = {
    "vocab_size": 100,
    "dim": 32,
    "hidden_dim": 64,
    "n_layers": 2,
    "n_heads": 2,
    "max_position_embeddings": 64,
}
BART: dict[str, Any] = {
    **IDS,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "max_position_embeddings": 64,
    "decoder_start_token_id": 1,
}
T5: dict[str, Any] = {
    "vocab_size": 100,
    "d_model": 32,
    "d_kv": 16,
    "d_ff": 64,
    "num_layers": 2,
    "num_heads": 2,
}
DISENTANGLED: dict[str, Any] = {
    **SMALL,
    "relative_attention": True,
    "pos_att_type": ["c2p", "p2c"],
    "position_biased_input": False,
}
FUNNEL: dict[str, Any] = {
    "vocab_size": 100,
    "d_model": 32,
    "d_inner": 64,
    "n_head": 2,
    "d_head": 16,
    "block_sizes": [1, 1],
    "num_decoder_layers": 1,
}
STATES: dict[str, Any] = {"vocab_size": 100, "hidden_size": 32, "num_hidden_layers": 2}


class Known(NamedTuple):
    """The expected answers for a family: a verdict or a status for each question."""

    order: str
    drowned: str
    collisions: str
    longest: str
    layout: str
    relative: str


SEES, ENDS, READS = "it sees order", "it ends at 64 tokens", "it reads 1024 tokens"
BUCKETS = "far positions share a bias, in float64 too"
REORDERED = "interleaved weights, reordered to rotate half"

LEARNED = Known(SEES, HEALTHY, HEALTHY, ENDS, ABSENT, ABSENT)
SINES = Known(SEES, ILL, HEALTHY, ENDS, ABSENT, ABSENT)
GROWING_SINES = Known(SEES, HEALTHY, HEALTHY, READS, ABSENT, ABSENT)
BIASES = Known(SEES, ABSENT, HEALTHY, READS, ABSENT, HEALTHY)
SHARED_BIASES = BIASES._replace(collisions=BUCKETS)
TURNED_HALF = Known(SEES, ABSENT, HEALTHY, READS, "half", HEALTHY)
TURNED_PAIRS = Known(SEES, ABSENT, HEALTHY, READS, "interleaved", HEALTHY)
RECURRENT = Known(SEES, ABSENT, ABSENT, READS, ABSENT, UNDETERMINED)
NOWHERE = RECURRENT._replace(order="only through the causal mask", relative=ABSENT)

# The class, its changed configuration, and the expected answers.
FAMILIES: dict[str, tuple[str, dict[str, Any], Known]] = {
    # a learned row for each position, added
    "BERT": ("BertModel", SMALL, LEARNED),
    "RoBERTa": ("RobertaModel", ROBERTA, LEARNED),
    "ALBERT, narrow": ("AlbertModel", NARROW, LEARNED),
    "ELECTRA, narrow": ("ElectraModel", NARROW, LEARNED),
    "RemBERT, narrow": (
        "RemBertModel",
        SMALL | {"input_embedding_size": 16, "output_embedding_size": 16},
        LEARNED,
    ),
    "DistilBERT": ("DistilBertModel", DISTIL, LEARNED),
    "SqueezeBERT": ("SqueezeBertModel", SMALL | {"embedding_size": 32}, LEARNED),
    "ConvBERT": ("ConvBertModel", SMALL | {"embedding_size": 32}, LEARNED),
    "LayoutLM": ("LayoutLMModel", SMALL, LEARNED),
    "CLIP, text": ("CLIPTextModel", SMALL, LEARNED),
    "XLM": ("XLMModel", XLM, LEARNED),
    "GPT": (
        "OpenAIGPTModel",
        {key: GPT[key] for key in ("vocab_size", "n_embd", "n_layer", "n_head", "n_positions")},
        LEARNED,
    ),
    "GPT-2": ("GPT2LMHeadModel", GPT, LEARNED),
    "GPTBigCode": ("GPTBigCodeModel", GPT, LEARNED),
    "BioGPT": ("BioGptModel", SMALL, LEARNED),
    "OPT": ("OPTModel", SMALL | {"ffn_dim": 64, "word_embed_proj_dim": 32}, LEARNED),
    "BART": ("BartModel.encoder", BART, LEARNED),
    "BART, decoder": ("BartModel.decoder", BART, LEARNED),
    "Whisper, decoder": ("WhisperModel.decoder", BART | {"max_target_positions": 64}, LEARNED),
    # and a bias of the scores as well
    "MPNet": (
        "MPNetModel",
        SMALL | {"max_position_embeddings": 66},
        LEARNED._replace(relative=UNDETERMINED),
    ),
    # rows of sines, in a table
    "DistilBERT, sines": ("DistilBertModel", DISTIL | {"sinusoidal_pos_embds": True}, SINES),
    "XLM, sines": ("XLMModel", XLM | {"sinusoidal_embeddings": True}, SINES),
    "Marian": ("MarianModel.encoder", BART, SINES),
    "Pegasus": ("PegasusModel.encoder", BART, SINES),
    # the same, with tokens that are scaled or have a large deviation
    "CTRL": ("CTRLModel", GPT | {"dff": 64}, LEARNED),
    "M2M": ("M2M100Model.encoder", BART, GROWING_SINES),
    "Speech2Text, decoder": ("Speech2TextModel.decoder", BART, GROWING_SINES),
    "XGLM": (
        "XGLMModel",
        IDS | {"d_model": 32, "ffn_dim": 64, "num_layers": 2, "attention_heads": 2},
        GROWING_SINES,
    ),
    # biases of relative positions, in buckets
    "T5": ("T5EncoderModel", T5, SHARED_BIASES),
    "UMT5": ("UMT5EncoderModel", T5, SHARED_BIASES),
    # biases of blocks, not of queries and keys
    "LongT5": (
        "LongT5EncoderModel",
        T5 | {"local_radius": 5},
        BIASES._replace(collisions=UNDETERMINED, relative=UNDETERMINED),
    ),
    # ALiBi, in MPT from a table; Falcon counts in bfloat16, where 256 equals 257
    "BLOOM": ("BloomModel", IDS | {"hidden_size": 32, "n_layer": 2, "n_head": 2}, BIASES),
    "MPT": (
        "MptModel",
        {"vocab_size": 100, "d_model": 32, "n_layers": 2, "n_heads": 2, "max_seq_len": 64},
        BIASES._replace(longest=ENDS),
    ),
    "Falcon, ALiBi": ("FalconModel", SMALL | {"alibi": True}, BIASES._replace(collisions=ILL)),
    # disentangled: scores of tokens with relative positions
    "DeBERTa": ("DebertaModel", DISENTANGLED | {"max_relative_positions": -1}, SHARED_BIASES),
    "DeBERTa-v2": (
        "DebertaV2Model",
        DISENTANGLED | {"position_buckets": 16, "share_att_key": True},
        SHARED_BIASES,
    ),
    "XLNet": (
        "XLNetModel",
        {"vocab_size": 100, "d_model": 32, "n_layer": 2, "n_head": 2, "d_inner": 64},
        BIASES,
    ),
    # the same in Funnel, whose pooled rows change with one token fewer; its first token has none
    "Funnel": (
        "FunnelModel",
        FUNNEL,
        BIASES._replace(layout=UNDETERMINED, relative=UNDETERMINED),
    ),
    "Funnel, pooled": (
        "FunnelBaseModel",
        FUNNEL,
        Known(UNDETERMINED, ABSENT, UNDETERMINED, READS, UNDETERMINED, UNDETERMINED),
    ),
    "Funnel, whole": (
        "FunnelBaseModel",
        FUNNEL | {"block_sizes": [2]},
        BIASES._replace(relative=UNDETERMINED),
    ),
    # rotary, half
    "Llama": ("LlamaModel", GROUPED, TURNED_HALF),
    "Mistral": ("MistralModel", GROUPED, TURNED_HALF),
    "Qwen3": ("Qwen3Model", HEADS, TURNED_HALF),
    "Gemma 2": ("Gemma2Model", HEADS, TURNED_HALF),
    "Phi": ("PhiModel", SMALL | {"partial_rotary_factor": 0.5}, TURNED_HALF),
    "Phi-3": ("Phi3Model", GROUPED, TURNED_HALF),
    "StableLM": ("StableLmModel", SMALL | {"num_key_value_heads": 2}, TURNED_HALF),
    "OLMo 2": ("Olmo2Model", SMALL, TURNED_HALF),
    "GPT-NeoX": ("GPTNeoXModel", SMALL, TURNED_HALF),
    "Persimmon": ("PersimmonModel", SMALL, TURNED_HALF),
    "ModernBERT": ("ModernBertModel", SMALL | {"cls_token_id": 1, "sep_token_id": 2}, TURNED_HALF),
    "ESM": (
        "EsmModel",
        SMALL | {"position_embedding_type": "rotary", "mask_token_id": 4},
        TURNED_HALF,
    ),
    "LFM2": (
        "Lfm2Model",
        GROUPED | {"layer_types": ["conv", "full_attention"]},
        TURNED_HALF._replace(relative=UNDETERMINED),
    ),
    # and mixtures of experts
    "Mixtral": ("MixtralModel", EXPERTS, TURNED_HALF),
    "gpt-oss": ("GptOssModel", EXPERTS, TURNED_HALF._replace(relative=UNDETERMINED)),
    "AFMoE": ("AfmoeModel", EXPERTS | {"n_group": 1, "topk_group": 1}, TURNED_HALF),
    # rotary, interleaved; GPT-J, CodeGen and RoFormer read it from a table
    "GPT-J": ("GPTJModel", GPT | {"rotary_dim": 8}, TURNED_PAIRS._replace(longest=ENDS)),
    "CodeGen": (
        "CodeGenModel",
        GPT | {"n_head": 4, "rotary_dim": 4, "n_ctx": 64},
        TURNED_PAIRS._replace(longest=ENDS),
    ),
    "RoFormer": (
        "RoFormerModel",
        SMALL | {"embedding_size": 32},
        TURNED_PAIRS._replace(longest=ENDS),
    ),
    "Cohere": ("CohereModel", GROUPED, TURNED_PAIRS),
    "GLM-4": ("Glm4Model", HEADS, TURNED_PAIRS),
    "ERNIE 4.5": ("Ernie4_5Model", HEADS, TURNED_PAIRS),
    "Helium": ("HeliumModel", HEADS, TURNED_PAIRS),
    "Llama 4": (
        "Llama4TextModel",
        EXPERTS | {"interleave_moe_layer_step": 1, "intermediate_size_mlp": 64},
        TURNED_PAIRS,
    ),
    "DeepSeek-V2": ("DeepseekV2Model", LATENT | {"topk_method": "greedy"}, TURNED_PAIRS),
    # interleaved weights, reordered into halves before rotation
    "DeepSeek-V3": ("DeepseekV3Model", LATENT, TURNED_HALF._replace(layout=REORDERED)),
    # states, and no positions; where states come first, scores are those of unequal tokens
    "Mamba": ("MambaModel", STATES | {"state_size": 8}, RECURRENT),
    "Mamba-2": (
        "Mamba2Model",
        STATES | {"state_size": 8, "num_heads": 4, "head_dim": 16, "n_groups": 1, "chunk_size": 8},
        RECURRENT,
    ),
    "RWKV": ("RwkvModel", STATES | {"attention_hidden_size": 32}, RECURRENT),
    "Jamba": (
        "JambaModel",
        GROUPED
        | {"num_experts": 2, "attn_layer_period": 2, "attn_layer_offset": 1, "mamba_d_state": 8},
        RECURRENT,
    ),
    # SmolLM3 rotates all layers but every fourth; here none of two, or one
    "SmolLM3, none": (
        "SmolLM3Model",
        GROUPED | {"no_rope_layers": [0, 0]},
        NOWHERE,
    ),
    "SmolLM3": ("SmolLM3Model", GROUPED | {"no_rope_layers": [1, 0]}, TURNED_HALF),
}


@pytest.fixture(autouse=True)
def at_rest() -> Iterator[None]:
    """Restore torch's generator and threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield
    torch.set_num_threads(threads)


def check(model: torch.nn.Module, known: Known) -> None:
    for diagnosis, expected in zip(nn.diagnose(model).diagnoses, known, strict=True):
        assert expected in (diagnosis.verdict, diagnosis.status), str(diagnosis)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_of_transformers_gets_the_diagnosis_of_its_definition(family: str) -> None:
    import transformers

    name, settings, known = FAMILIES[family]
    name, _, part = name.partition(".")
    kind: Any = getattr(transformers, name)
    model = kind(kind.config_class(**settings))
    check(getattr(model, part) if part else model, known)


def test_channels_first_inputs_are_not_judged_without_an_axis() -> None:
    """Whisper's encoder reads (batch, 12 channels, 40 frames), and no other size."""
    import transformers

    settings = BART | {"num_mel_bins": 12, "max_source_positions": 20}
    encoder = transformers.WhisperModel(transformers.WhisperConfig(**settings)).encoder
    sound = torch.randn(2, 12, 40)
    for found in nn.diagnose(encoder, sound).diagnoses:
        assert found.status == UNDETERMINED
        assert "axis=1, or axis=2" in found.why
    assert nn.sees_order(encoder, sound, axis=2).verdict == SEES
    assert nn.longest_input(encoder, sound, axis=2).measured["longest"] == 40
