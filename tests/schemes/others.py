"""The entries of what is no scheme: frequencies, layers, configurations, whole models, tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

import posenc
from posenc import nn
from tests.schemes.arrays import BASES, COUNTS, FLAGS, SIZES, at_least, choices, rows, without_none
from tests.schemes.table import Scheme, call
from tests.schemes.tensors import IDS, INFINITE, META, NAN, NO_TENSOR, ROWS, TENSORS, TOKEN_IDS, X

CONFIGURATION = {"head_dim": 8, "rope_theta": 1e4}
MODEL = nn.GPTModel(**nn.create_model_config("tiny")).eval()
SOURCES = [
    *rows(TypeError, "a mapping or the path of a file", None, 3, [("head_dim", 8)]),
    *rows(ValueError, "known to rotate", {"no model type": {}}),
]
LAYER_TYPES = [
    *rows(TypeError, "a string or None", 3, ["a"]),
    *rows(ValueError, "None, as all layers are alike", "full_attention"),
]
CONFIG_ARGUMENTS = {
    "config": SOURCES,
    "layer_type": LAYER_TYPES,
    "trained_length": without_none(at_least(2)),
}
MODEL_TYPES = {"model_type": choices('"cohere2", "gemma2", "gemma3_text"')}
PADDING = [*(True, [[True]], IDS, IDS[0] > 0, IDS < 0, torch.ones(2, 4) > 0, (IDS > 0).to(META))]
EXAMPLES = [
    *(*NO_TENSOR, {}, {"ids": 3}, [IDS], IDS[0], IDS[:, :0], IDS > 3, IDS.to(META)),
    *(X + 0j, X * NAN, X.to_sparse()),
]
CACHES = [True, 1, [], {}, {"cache": nn.Cache()}, {1: nn.Cache}, nn.Cache]
TEXT = [None, 3, b"words", ["words"], True]
TOKENS = [
    *(3, "7", b"7", [1.0], [-1], [10**6], [True], [None], ["7"], None, {65, 66}, {65: 66}),
    *(torch.tensor(1), torch.tensor([True]), torch.tensor([1.0]), torch.tensor([[1, 2]])),
    *(torch.zeros(3, device="meta").long(), torch.tensor([1, 2]).to_sparse(), np.array(1)),
    np.int64,
]
WORDS = [
    *(3, None, [3], [None], "words", ["two words"], ["Two"], ["!"], [""], ["a", "b", "a"]),
    *({"a", "b"}, frozenset("ab"), {"a": 1, "b": 2}, {"a": 1}.keys()),
]
TEXTS = [3, [3], [None], "words", b"words", {"words"}, {"words": 1}, ["\udfff"]]

FREQUENCY = Scheme(call(posenc.frequencies, d=8), call(posenc.wavelengths, d=8))
POSITIONS = Scheme(call(posenc.relative_positions, query_length=3, key_length=4))
LAYERS = Scheme(
    call(posenc.layer_types, model_type="llama4_text", layers=4).refuses(**MODEL_TYPES),
    call(posenc.rotating_layers, model_type="smollm3", layers=4).refuses(**MODEL_TYPES),
)
CONFIG = Scheme(
    call(posenc.RotaryConfig, config=CONFIGURATION).refuses(**CONFIG_ARGUMENTS),
    call(posenc.RotaryConfig, "frequencies").refuses(length=without_none(SIZES)),
    call(posenc.read_config, config=CONFIGURATION).refuses(**CONFIG_ARGUMENTS),
)

GPT = Scheme(
    call(nn.GPTModel, **nn.create_model_config("tiny")).refuses(
        pos_type=[*choices(""), "swin"], max_len=TENSORS["d"]
    ),
    call(nn.GPTModel, "forward", token_ids=IDS).refuses(
        token_ids=[*TOKEN_IDS, IDS[:, :0]],
        padding=PADDING,
        documents=[1, IDS.float(), IDS[0], IDS[:, :2], IDS > 0, IDS - 5, IDS.to(META)],
        cache=[True, 1, [], {}, object()],
        return_attention=FLAGS,
    ),
    call(nn.GPTModel, "generate", token_ids=IDS, new_tokens=1).refuses(
        token_ids=[*TOKEN_IDS, IDS[:, :0]],
        padding=PADDING,
        new_tokens=COUNTS,
        temperature=[None, "hot", -1.0, NAN, INFINITE, True, [1.0], 1j],
        generator=[7, "seed"],
    ),
    call(nn.create_model_config, name="tiny").refuses(name=choices("")),
)

TOKENIZER = Scheme(
    call(nn.ByteTokenizer),
    call(nn.ByteTokenizer, "encode", text="a").refuses(text=TEXT),
    call(nn.ByteTokenizer, "decode", ids=[97]).refuses(ids=TOKENS),
    call(nn.WordTokenizer, words=["a", "b"]).refuses(words=WORDS),
    call(nn.WordTokenizer, "encode", text="a").refuses(text=TEXT),
    call(nn.WordTokenizer, "decode", ids=[2]).refuses(ids=TOKENS),
    call(nn.create_tokenizer).refuses(kind=choices(""), texts=TEXTS),
)

QUESTIONS: dict[str, Sequence[Any]] = {
    "model": [None, *NO_TENSOR, IDS, nn.GPTModel],
    "example": EXAMPLES,
    "cache": CACHES,
    "trained": without_none(SIZES),
    "base": without_none(BASES),
    "limit": [None, "long", 0, -1.0, NAN, INFINITE, True, [10.0], 1j],
}
PART: dict[str, Sequence[Any]] = {"heads": without_none(SIZES), "rank": without_none(COUNTS)}
DIAGNOSE = Scheme(
    call(nn.diagnose, model=MODEL, heads=8, rank=0).refuses(**QUESTIONS, **PART),
    call(nn.sees_order, model=MODEL).refuses(**QUESTIONS),
    call(nn.drowned_tokens, model=MODEL).refuses(**QUESTIONS),
    call(nn.colliding_positions, model=MODEL, length=20).refuses(
        **(QUESTIONS | {"length": at_least(2)})
    ),
    call(nn.longest_input, model=MODEL).refuses(**QUESTIONS),
    call(nn.rope_layout, model=MODEL).refuses(**QUESTIONS),
    call(nn.relative_scores, model=MODEL, heads=8, rank=0).refuses(**QUESTIONS, **PART),
    call(nn.trained_layout, weight=ROWS, heads=2).refuses(
        weight=[
            *(None, *NO_TENSOR, ROWS.int(), ROWS + 0j, ROWS[0], ROWS[:3], ROWS[:, :0]),
            *(ROWS * NAN, ROWS.to_sparse(), ROWS.to(META)),
        ]
    ),
    call(nn.unseen_positions, model=MODEL, trained=20, length=21).refuses(
        **(QUESTIONS | {"trained": SIZES, "length": SIZES})
    ),
)
