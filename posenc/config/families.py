"""What is known about the model types of transformers: layout, and defaults of missing keys.

A configuration need not name every setting. What it leaves out is in the code of the library, per
model type, so the same missing key means 10000 for one model and 1000000 for another. These are the
facts, as transformers 5.24 has them; tests/oracles/test_config.py asks it for each of them.
"""

from __future__ import annotations

from typing import Any

# Which dimensions of the published weights form a pair.
INTERLEAVED = [
    "blt_global_transformer", "blt_local_decoder", "blt_local_encoder", "blt_patcher",
    "codegen", "cohere", "cohere2", "cohere2_moe", "deepseek_v2", "deepseek_v32", "deepseek_v4",
    "ernie4_5", "ernie4_5_moe", "glm", "glm4", "glm_moe_dsa", "gptj", "helium", "llama4_text",
    "longcat_flash", "moonshine", "moonshine_streaming", "roformer",
]  # fmt: skip
HALF = [
    "afmoe", "apertus", "apertus1p5_text", "arcee", "aria_text", "bamba", "beam", "bitnet",
    "chameleon", "cohere_compass_text", "csm", "csm_depth_decoder_model", "cwm", "dbrx",
    "deepseek_ocr2_text", "dia_decoder", "dia_encoder", "diffllama", "diffusion_gemma_text", "doge",
    "dots1", "embedding_gemma2_text", "emu3_text_model", "esm", "esmc", "eurobert", "evolla",
    "exaone4", "exaone_moe", "falcon", "falcon_h1", "flex_olmo", "flint", "gemma", "gemma2",
    "gemma3_text", "gemma3n_text", "gemma4_text", "gemma4_unified_text", "glm4_moe",
    "glm4v_moe_text", "glm4v_text", "glm_image_text", "glm_ocr_text", "glmasr_encoder", "gpt_neox",
    "gpt_neox_japanese", "gpt_oss", "granite", "granite4_vision_text", "granite_swa",
    "granite_docling_text", "granitemoe", "granitemoehybrid", "granitemoe_swa", "granitemoeshared",
    "gte", "higgs_audio_v2", "hunyuan_v1_dense", "hunyuan_v1_moe", "hunyuan_vl_text", "hy_v3",
    "hyperclovax", "idefics", "jais2", "jetmoe", "jina_embeddings_v3", "kolibri1",
    "kyutai_speech_to_text", "lara_mini", "lfm2", "lfm2_moe", "lfm3", "llama", "mimi",
    "mimo_v2_flash", "minicpm3", "minimax", "minimax_m2", "minimax_m3_vl_text", "ministral",
    "ministral3", "mistral", "mixtral", "mllama_text_model", "molmo2_text", "modernbert",
    "modernbert-decoder", "moshi", "muse_glimmer_text", "muse_spark_text", "nemotron", "neucodec",
    "nomic_bert", "olmo", "olmo2", "olmo3", "olmo_hybrid", "olmoe", "paddleocr_vl_text",
    "persimmon", "phi", "phi3", "phi4_multimodal", "phimoe", "pocket_tts", "qwen2",
    "qwen2_5_omni_talker", "qwen2_5_omni_text", "qwen2_5_vl_text", "qwen2_moe", "qwen2_vl_text",
    "qwen3", "qwen3_5_moe_text", "qwen3_5_text", "qwen3_moe", "qwen3_next",
    "qwen3_omni_moe_talker_code_predictor", "qwen3_omni_moe_talker_text", "qwen3_omni_moe_text",
    "qwen3_vl_moe_text", "qwen3_vl_text", "recurrent_gemma", "seed_oss", "smollm3", "solar_open",
    "stablelm", "starcoder2", "step3p5", "t5_gemma_module", "t5gemma2_decoder", "t5gemma2_text",
    "timesfm2_5", "vaultgemma", "voxtral_realtime_text", "wav2vec2-bert", "wav2vec2-conformer",
    "xcodec2", "zamba2",
]  # fmt: skip
# Interleaved unless the configuration says `"rope_interleave": false`.
CHOOSING = [
    "axk1", "deepseek_v3", "glm4_moe_lite", "mistral4", "youtu",
]  # fmt: skip

# Those that rotate a vector of its own beside the rest of a head, as wide as `qk_rope_head_dim`.
LATENTS = [
    *CHOOSING, "deepseek_v2", "deepseek_v32", "glm_moe_dsa", "longcat_flash", "minicpm3",
]  # fmt: skip

# Model types whose configurations hold the settings of the text model themselves.
SAME = {
    "deepseek_ref": "deepseek_v4",
    "gemma3": "gemma3_text",
    "gemma3n": "gemma3n_text",
    "gemma4": "gemma4_text",
    "glm4v": "glm4v_text",
    "glm4v_moe": "glm4v_moe_text",
    "exaone4_5": "exaone4",
    "llava": "llama",
    "phi-msft": "phi",
    "cohere_compass": "cohere_compass_text",
    "exaone4_5_text": "exaone4",
    "hunyuan_vl": "hunyuan_vl_text",
    "kimi_k2": "deepseek_v3",
    "llama4": "llama4_text",
    "mllama": "mllama_text_model",
    "molmo2": "molmo2_text",
    "muse_glimmer": "muse_glimmer_text",
    "muse_spark": "muse_spark_text",
    "qwen2_5_vl": "qwen2_5_vl_text",
    "qwen2_vl": "qwen2_vl_text",
    "qwen3_vl": "qwen3_vl_text",
    "qwen2_audio": "qwen2",
    "qwen3_vl_moe": "qwen3_vl_moe_text",
    "step3p7": "step3p5",
}

# Types whose code comes with the weights: their layout, and where that is read. baichuan: the class
# RotaryEmbedding of modeling_baichuan.py, base 10000. chatglm: rope_ratio and half of kv_channels
# in modeling_chatglm.py; rtp_llm/models/chat_glm_v3.py. deepseek: modeling_deepseek.py,
# LlamaAttention of DeepSeek-VL2. exaone, internlm2, internlm3, mimo, minicpm, nemotron-nas, plamo,
# telechat3: the modeling files of mlx-lm; minicpm's base is 10000 in configuration_minicpm.py and
# vLLM, and another in mlx-lm. grok: ScalingRotaryEmbedding in SGLang's grok.py. internlm:
# modeling_internlm.py. llada: modeling_llada.py. meta: params.json, as Meta publishes it;
# apply_scaling in its model.py. new: modeling.py of Alibaba-NLP/new-impl, whose rule vLLM has as
# ntk_scaling_rope.py. openelm: OpenELMRotaryEmbedding. phi3small: nn.RoPE in the modeling file of
# mlx-lm. qwen: get_ntk_alpha and rotate_half in modeling_qwen.py. xverse: vLLM up to 0.23 read it
# as Llama. yuan: YuanRotaryEmbedding of modeling_yuan.py, base 10000. litgpt, megatron and
# torchtune: see training.py.
REMOTE = {
    "baichuan": "half", "chatglm": "interleaved", "deepseek": "half", "diffusers": "interleaved",
    "exaone": "half", "grok": "half", "internlm": "half", "internlm2": "half", "internlm3": "half",
    "litgpt": "half", "llada": "half", "megatron": "half", "meta": "interleaved", "mimo": "half",
    "minicpm": "half", "nemotron-nas": "half", "new": "half", "openelm": "half",
    "phi3small": "half", "plamo": "half", "qwen": "half", "telechat3": "half",
    "torchtune": "interleaved", "xverse": "half", "yuan": "half",
}  # fmt: skip

BASE, LOCAL, SHARE = "rope_theta", "rope_local_base_freq", "partial_rotary_factor"
WINDOW = "sliding_window"
WIDTH, WIDE = "head_dim", "global_head_dim"
ORIGINAL = "original_max_position_embeddings"

# Missing keys, where they do not mean a base of 10000 and a rotation of the whole head.
DEFAULTS: dict[str, dict[str, float]] = {
    "afmoe": {WIDTH: 128},
    "apertus": {BASE: 12e6},
    "apertus1p5_text": {BASE: 12e6},
    "bamba": {SHARE: 0.5},
    "beam": {WIDTH: 128},
    "bitnet": {BASE: 5e5},
    "blt_global_transformer": {BASE: 5e5},
    "blt_local_decoder": {BASE: 5e5},
    "blt_local_encoder": {BASE: 5e5},
    "chatglm": {SHARE: 0.5},
    "cohere": {BASE: 5e5},
    "cohere2_moe": {WIDTH: 128},
    "csm": {BASE: 5e5},
    "csm_depth_decoder_model": {BASE: 5e5},
    "cwm": {BASE: 1e6, WIDTH: 128},
    "deepseek_v4": {"compress_rope_theta": 16e4, SHARE: 0.125, WIDTH: 512},
    "dia_decoder": {WIDTH: 128},
    "dia_encoder": {WIDTH: 128},
    "diffusion_gemma_text": {WIDTH: 256, WIDE: 512},
    "embedding_gemma2_text": {WIDTH: 256, WIDE: 512},
    "emu3_text_model": {BASE: 1e6},
    "ernie4_5": {BASE: 5e5, WIDTH: 128},
    "ernie4_5_moe": {BASE: 5e5},
    "evolla": {BASE: 5e5},
    "flex_olmo": {BASE: 5e5},
    "flint": {WIDTH: 128},
    "gemma": {WIDTH: 256},
    "gemma2": {WIDTH: 256},
    "gemma3_text": {BASE: 1e6, LOCAL: 1e4, WIDTH: 256},
    "gemma3n_text": {BASE: 1e6, LOCAL: 1e4, WIDTH: 256},
    "gemma4_text": {WIDTH: 256, WIDE: 512},
    "gemma4_unified_text": {WIDTH: 256, WIDE: 512},
    "glm": {SHARE: 0.5, WIDTH: 128},
    "glm4": {SHARE: 0.5, WIDTH: 128},
    "glm4_moe": {SHARE: 0.5},
    "glm4v_moe_text": {SHARE: 0.5},
    "glmasr_encoder": {SHARE: 0.5},
    "gpt_neox": {SHARE: 0.25},
    "gpt_oss": {BASE: 15e4, WIDTH: 64},
    "gte": {BASE: 16e4},
    "helium": {BASE: 1e5, WIDTH: 128},
    "higgs_audio_v2": {WIDTH: 128},
    "hy_v3": {BASE: 11158840.0, WIDTH: 128},
    "jina_embeddings_v3": {BASE: 2e4},
    "kolibri1": {WIDTH: 128},
    "lara_mini": {WIDTH: 128},
    "lfm2": {BASE: 1e6},
    "lfm2_moe": {BASE: 1e6},
    "lfm3": {BASE: 1e6, WIDTH: 128},
    "llama4_text": {BASE: 5e5, WIDTH: 128},
    "longcat_flash": {BASE: 1e7},
    "mimo_v2_flash": {BASE: 5e6, LOCAL: 1e4, SHARE: 0.334, WIDTH: 192},
    "minimax": {BASE: 1e6},
    "minimax_m2": {BASE: 5e6, WIDTH: 128},
    "minimax_m3_vl_text": {BASE: 5e6, WIDTH: 128},
    "ministral3": {WIDTH: 128},
    "mixtral": {BASE: 1e6},
    "mllama_text_model": {BASE: 5e5},
    "modernbert": {BASE: 16e4, LOCAL: 1e4},
    "modernbert-decoder": {BASE: 16e4, LOCAL: 1e4},
    "moonshine": {SHARE: 0.9},
    "molmo2_text": {WIDTH: 128},
    "muse_glimmer_text": {WIDTH: 128},
    "muse_spark_text": {WIDTH: 64},
    "nemotron": {SHARE: 0.5},
    "neucodec": {WIDTH: 64},
    "nomic_bert": {BASE: 1e3},
    "olmo3": {BASE: 5e5},
    "paddleocr_vl_text": {BASE: 5e5, WIDTH: 128},
    "persimmon": {SHARE: 0.5},
    "phi": {SHARE: 0.5},
    "phimoe": {BASE: 1e6},
    "qwen2_5_omni_talker": {BASE: 1e6, WIDTH: 128},
    "qwen2_5_omni_text": {BASE: 1e6},
    "qwen2_5_vl_text": {BASE: 1e6},
    "qwen2_vl_text": {BASE: 1e6},
    "qwen3": {WIDTH: 128},
    "qwen3_5_moe_text": {SHARE: 0.25, WIDTH: 256},
    "qwen3_5_text": {SHARE: 0.25, WIDTH: 256},
    "qwen3_next": {SHARE: 0.25, WIDTH: 256},
    "qwen3_omni_moe_talker_code_predictor": {WIDTH: 128},
    "qwen3_omni_moe_text": {BASE: 1e6},
    "qwen3_vl_moe_text": {BASE: 5e5},
    "qwen3_vl_text": {BASE: 5e5, WIDTH: 128},
    "recurrent_gemma": {SHARE: 0.5},
    "seed_oss": {WIDTH: 128},
    "smollm3": {BASE: 2e6},
    "solar_open": {BASE: 1e6, WIDTH: 128},
    "stablelm": {SHARE: 0.25},
    "step3p5": {WIDTH: 128},
    "t5_gemma_module": {WIDTH: 256},
    "t5gemma2_decoder": {BASE: 1e6, LOCAL: 1e4, WIDTH: 256},
    "t5gemma2_text": {BASE: 1e6, LOCAL: 1e4, WIDTH: 256},
    "timesfm2_5": {WIDTH: 80},
    "vaultgemma": {WIDTH: 256},
    "xcodec2": {WIDTH: 64},
}

# The model's width and how many heads it has, where both are left out, as in parts about text.
SIZES: tuple[tuple[int, int, tuple[str, ...]], ...] = (
    (288, 8, ("moonshine",)),
    (320, 8, ("moonshine_streaming",)),
    (512, 8, ("mimi",)),
    (768, 12, (
        "blt_patcher", "esm", "eurobert", "gte", "modernbert", "modernbert-decoder", "nomic_bert",
        "roformer", "wav2vec2-conformer",
    )),
    (1024, 8, ("csm_depth_decoder_model", "doge")),
    (1024, 16, (
        "blt_local_decoder", "blt_local_encoder", "glm_ocr_text", "granite_docling_text",
        "jina_embeddings_v3", "pocket_tts", "qwen3_omni_moe_talker_text", "wav2vec2-bert",
    )),
    (1280, 20, ("glmasr_encoder",)),
    (2048, 16, (
        "blt_global_transformer", "dbrx", "olmoe", "qwen2_moe", "qwen3_vl_moe_text", "smollm3",
    )),
    (2048, 32, (
        "csm", "diffllama", "jetmoe", "kyutai_speech_to_text", "lfm2_moe", "phi", "qwen3_moe",
    )),
    (2560, 10, ("recurrent_gemma",)),
    (2560, 20, ("bitnet", "ernie4_5_moe", "granite_swa")),
    (2560, 32, ("arcee", "gpt_neox_japanese", "lfm2", "stablelm", "zamba2")),
    (2560, 40, ("esmc",)),
    (3072, 24, ("starcoder2",)),
    (3072, 32, ("phi3", "phi4_multimodal")),
    (3328, 26, ("jais2",)),
    (3584, 28, ("qwen2_5_omni_text",)),
    (3840, 30, ("olmo_hybrid",)),
    (4096, 16, ("codegen", "gptj")),
    (4096, 32, (
        "apertus", "apertus1p5_text", "aria_text", "bamba", "chameleon", "deepseek_ocr2_text",
        "emu3_text_model", "evolla", "exaone4", "exaone_moe", "falcon_h1", "flex_olmo",
        "glm4v_text", "glm_image_text", "granite", "granite4_vision_text", "granitemoe",
        "granitemoe_swa", "granitemoehybrid", "granitemoeshared", "hunyuan_v1_dense",
        "hunyuan_v1_moe", "hunyuan_vl_text", "hyperclovax", "idefics", "llama", "minimax",
        "ministral", "mistral", "mixtral", "mllama_text_model", "moshi", "olmo", "olmo2", "olmo3",
        "phimoe", "qwen2", "voxtral_realtime_text",
    )),
    (4096, 64, ("persimmon",)),
    (4544, 71, ("falcon",)),
    (4608, 32, ("dots1",)),
    (6144, 48, ("nemotron",)),
    (6144, 64, ("gpt_neox",)),
    (8192, 64, ("cohere", "cohere2", "cohere_compass_text", "qwen2_5_vl_text", "qwen2_vl_text")),
)  # fmt: skip
# Missing rope_parameters, where they do not mean plain frequencies in all layers.
_LLAMA3 = {"rope_type": "llama3", "low_freq_factor": 1.0, "high_freq_factor": 4.0}
_MISTRAL = {
    "rope_type": "yarn", "beta_fast": 32.0, "beta_slow": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0,
    "llama_4_scaling_beta": 0.1,
}  # fmt: skip


def _by_window(base: float) -> dict[str, Any]:
    """Return plain frequencies of two bases: of layers with full attention, and with a window."""
    full = {"rope_type": "default", BASE: base}
    return {"full_attention": full, "sliding_attention": full | {BASE: 1e4}}


_GEMMA4 = _by_window(1e6)
_GEMMA4["full_attention"] |= {"rope_type": "proportional", SHARE: 0.25}
PARAMETERS: dict[str | None, dict[str, Any]] = {
    "apertus": _LLAMA3 | {"factor": 8.0, ORIGINAL: 8192, BASE: 12e6},
    "apertus1p5_text": _LLAMA3 | {"factor": 8.0, ORIGINAL: 8192, BASE: 12e6},
    "beam": {"sliding_attention": {"rope_type": "default", BASE: 1e4}, "full_attention": None},
    "cwm": _LLAMA3 | {"factor": 16.0, ORIGINAL: 8192, BASE: 1e6},
    "diffusion_gemma_text": _GEMMA4,
    "embedding_gemma2_text": _by_window(1e6),
    "gemma4_text": _GEMMA4,
    "gemma4_unified_text": _GEMMA4,
    "gpt_oss": {
        "rope_type": "yarn", "factor": 32.0, ORIGINAL: 4096, "beta_fast": 32.0, "beta_slow": 1.0,
        "truncate": False,
    },
    "higgs_audio_v2": {
        "rope_type": "llama3", "factor": 32.0, ORIGINAL: 1024, BASE: 5e5, "low_freq_factor": 0.125,
        "high_freq_factor": 0.5,
    },
    "lfm3": {
        "full_attention": {"rope_type": "proportional", BASE: 1e6, SHARE: 0.5},
        "sliding_attention": {"rope_type": "default", BASE: 1e4},
    },
    "moonshine_streaming": {"rope_type": "default", BASE: 1e4, SHARE: 0.8},
    "muse_spark_text": {"rope_type": "default", BASE: 5e5},
    "ministral3": _MISTRAL | {"factor": 16.0, ORIGINAL: 16384, BASE: 1e6},
    "mistral4": _MISTRAL | {"factor": 128.0, ORIGINAL: 8192, BASE: 1e4},
}  # fmt: skip

# Types whose attention does not rotate, whatever their keys say.
UNROTATED = ("inkling2_loop_text", "inkling2_text", "kimi_linear", "nemotron_h")
# Types that have other positions in transformers 5.24, whatever their keys say, and which.
ALIBI, LEARNED, BUCKETS = "ALiBi", "a learned table of positions", "T5's learned bias"
OTHERS = {
    ALIBI: ("bloom",),
    LEARNED: (
        "albert", "bart", "bert", "biogpt", "camembert", "electra", "gpt2", "gpt_bigcode",
        "gpt_neo", "mbart", "openai-gpt", "opt", "roberta", "xlm-roberta",
    ),
    BUCKETS: ("longt5", "mt5", "t5", "umt5"),
}  # fmt: skip
# Types that rotate by positions on several axes, and how; read_config reads those on one.
_IMAGE = "height and width"
AXES = {
    "cohere_compass_vision": _IMAGE, "dinov3_vit": _IMAGE, "edgetam_video": _IMAGE,
    "efficientloftr": _IMAGE, "eomt_dinov3": _IMAGE,
    "falcon_perception": "the place in the sequence, height and width",
    "ernie4_5_vl_moe": "time, height and width, in an order of its own",
    "ernie4_5_vl_moe_text": "time, height and width, in an order of its own",
    "gemma4_vision": _IMAGE, "llama4_vision_model": _IMAGE, "musicflamingo": "time and place",
    "muse_glimmer_vision": _IMAGE, "muse_spark_vision": _IMAGE, "pixtral": _IMAGE,
    "qwen3_5_moe_vision": _IMAGE, "qwen3_5_vision": _IMAGE, "qwen3_omni_moe_vision_encoder": _IMAGE,
    "qwen3_vl_moe_vision": _IMAGE, "qwen3_vl_vision": _IMAGE, "qwen4_exp_vision": _IMAGE,
    "sam2_video": _IMAGE, "sam3_tracker_video": _IMAGE, "sapiens2": _IMAGE,
    "step3p5_vision": _IMAGE,
}  # fmt: skip
# The width of the one model of a type that rotates; the others have ALiBi.
ROTATING_WIDTHS = {"baichuan": 4096}
AXIAL = "axial"  # the rope_type of image encoders

# Types whose rule holds for full attention alone: layers with a window have plain frequencies.
UNSCALED_WINDOWS = ("olmo3",)
# Those whose layers with a window have a base of their own, and the rule of the others, if there is
# one; and how many tokens such a window is wide, half of them on each side.
SCALED_WINDOWS, WIDE_WINDOW = ("modernbert", "modernbert-decoder"), 128

# Those whose layers all have a window if one is given.
NARROW = ("ministral", "ministral3", "mistral", "mixtral", "phi3", "starcoder2")
# How many positions back such layers attend if `sliding_window` is left out.
WINDOWS = {
    "afmoe": 1024, "cohere2": 4096, "cohere2_moe": 4096, "cwm": 8192, "dots1": 4096, "exaone4":
    4096, "exaone_moe": 4096, "flint": 513, "kolibri1": 513, "lara_mini": 512, "gemma2": 4096,
    "gemma3_text": 4096, "gemma3n_text": 512, "gemma4_text": 512, "gpt_oss": 128, "granite_swa":
    128, "granitemoe_swa": 128, "ministral": 4096, "mistral": 4096, "olmo3": 4096, "qwen2": 4096,
    "qwen2_5_vl_text": 4096, "qwen2_moe": 4096, "qwen2_vl_text": 4096, "qwen3": 4096, "qwen3_moe":
    4096, "vaultgemma": 4096,
}  # fmt: skip
# In each group of so many layers the last has full attention, or the first; what the others have.
# posenc.layers has those of other types.
_FOURTH = (4, "sliding_attention", False)
PERIODS: dict[str, tuple[int, str, bool]] = {
    "afmoe": _FOURTH,
    "cohere2_moe": _FOURTH,
    "cwm": (4, "sliding_attention", True),
    "exaone4": _FOURTH,
    "exaone_moe": _FOURTH,
    "gemma4_text": (6, "sliding_attention", False),
    "granite_swa": (4, "sliding_attention", True),
    "granitemoe_swa": (4, "sliding_attention", True),
    "minimax": (2, "linear_attention", True),
    "modernbert-decoder": (3, "sliding_attention", True),
    "qwen3_5_moe_text": (4, "linear_attention", False),
    "qwen3_5_text": (4, "linear_attention", False),
    "qwen3_next": (4, "linear_attention", False),
    "recurrent_gemma": (3, "recurrent", False),
    "vaultgemma": (2, "sliding_attention", False),
}
# Those whose layers from `max_window_layers` on have the window, if `use_sliding_window` says so.
LATER_WINDOWS = (
    "dots1", "qwen2", "qwen2_5_vl_text", "qwen2_moe", "qwen2_vl_text", "qwen3", "qwen3_moe",
)  # fmt: skip
# Those whose layers are of different types that no key read here lists, unless `layer_types` does.
MIXED = (
    "bamba", "beam", "deepseek_v4", "diffusion_gemma_text", "embedding_gemma2_text", "flint",
    "gemma4_unified_text", "granitemoehybrid", "kolibri1", "lara_mini", "lfm2", "lfm2_moe", "lfm3",
    "mimo_v2_flash", "muse_glimmer_text", "muse_spark_text", "olmo_hybrid", "t5_gemma_module",
    "t5gemma2_decoder", "t5gemma2_text", "zamba2",
)  # fmt: skip
# Those that do not rotate in every fourth layer, counted back from the last, unless
# `layer_rope_theta` has a 0 for others; its other numbers they do not read.
BACKWARD = ("muse_glimmer_text", "muse_spark_text")
# Those whose rule is for the layers in `rope_scaling_layers` alone.
RESCALING = ("molmo2_text",)
# Those that read `layer_rope_theta`, a base for each layer.
BY_LAYER = ("granite_swa", "granitemoe_swa")
# Which section holds for a type of layers, where the sections have names of their own.
LABELS = {
    "deepseek_v4": {
        "sliding_attention": "main",
        "heavily_compressed_attention": "compress",
        "compressed_sparse_attention": "compress",
    }
}
# Those that rotate the last `qk_rope_head_dim` dimensions of a head, not a vector beside it.
TAILS = ("deepseek_v4",)
# Those whose pairs are halves apart if this key is false: vLLM, chatglm.py, which names CogAgent.
PAIRING = {"chatglm": "original_rope"}
# Those whose heads are twice as wide as the quotient of the model's width and their number.
DOUBLED = ("zamba2",)
# Those that rotate only if this key says so.
SWITCHED = {"zamba2": "use_mem_rope"}
# Those whose rules need `head_dim` in the file: without it transformers 5.24 multiplies None.
WIDTHLESS = ("hunyuan_v1_dense", "hunyuan_v1_moe", "minimax", "ministral", "mixtral")
# Those that read `alpha`, a larger base, beside the type "dynamic".
ALPHA = ("hunyuan_v1_dense", "hunyuan_v1_moe", "hunyuan_vl_text")
# Those whose code reads no rule: their frequencies are plain whatever rope_scaling says.
RULELESS = ("codegen", "esm", "gptj", "meta", "recurrent_gemma", "roformer")
# Those that read `partial_rotary_factor` without a rule, too. The classes of other types rotate the
# whole head then, unless it has a default above.
PARTIAL = (
    "glm4_moe_lite", "glm4v_text", "glm_image_text", "glm_ocr_text", "gpt_neox_japanese",
    "minimax_m2", "minimax_m3_vl_text", "moonshine_streaming", "phi3", "phi4_multimodal",
    "qwen4_exp_text", "solar_open",
)  # fmt: skip
# Those that rotate only if `position_embedding_type` says so.
ASKING = ("esm", "granitemoehybrid", "wav2vec2-bert", "wav2vec2-conformer")


# Those whose frequencies go by the length, in steps, if `use_dynamic_ntk` says so.
STEPPING = ("qwen",)
META = "meta"
META_RULE = _LLAMA3 | {"factor": 8.0, ORIGINAL: 8192}
# Those that multiply the base by `rope_ratio`.
MULTIPLIED = ("chatglm",)
# Those whose rule "ntk" is one of their own.
FIXED = ("new",)


def layout_of(kind: str | None, interleave: bool) -> str | None:
    """Return the layout of a model type, or None if it is not known."""
    if kind in REMOTE:
        return REMOTE[kind]
    if kind in INTERLEAVED or (kind in CHOOSING and interleave):
        return "interleaved"
    return "half" if kind in HALF or kind in CHOOSING else None


def defaults_of(kind: str | None) -> dict[str, float] | None:
    """Return what keys mean that a configuration leaves out, or None if that is not known."""
    if kind is None or kind not in {*INTERLEAVED, *HALF, *CHOOSING, *UNROTATED, *REMOTE}:
        return None
    return {BASE: 1e4, SHARE: 1.0} | DEFAULTS.get(kind, {})
