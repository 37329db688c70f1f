"""Bad input is refused for every argument of every public name of `posenc.nn`.

A message names the argument, what is allowed and what was given, as those of the definitions do
(tests/package/test_arguments.py).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from posenc import nn

torch.manual_seed(0)
Call = Callable[..., object]

NAN, INFINITE = float("nan"), float("inf")
FAR = torch.tensor([0, 2**53, 1])
X = torch.ones(2, 3, 8)
HEADS = torch.ones(2, 4, 3, 8)
IDS = torch.tensor([[1, 2, 3], [4, 5, 6]])
RELATIVE = nn.relative_positions(3)
ELSEWHERE = torch.device("meta")
ROWS = torch.ones(4, 5)
FACTORS = nn.RotaryEmbedding(8).factors(HEADS)

NO_TENSOR: list[object] = [None, 3.0, "words", True, [[1, 2]], object]
NO_INTEGER: list[object] = [None, 8.0, NAN, INFINITE, "8", True, [8], 8j, torch.tensor([8, 8])]
SIZE = [*NO_INTEGER, 0, -2, 2**60, -(2**70)]
EVEN = [*SIZE, 7, 1]
COUNT = [*NO_INTEGER, -1, 2**60]
FLAG: list[object] = [None, 1, 0, "yes", 1.0, torch.tensor(True)]
NAME: list[object] = [None, 1, "", "nobody's", b"half", ["half"]]
SHARE: list[object] = [None, "half", -0.1, 1.0, 1.5, NAN, True, 1j, [0.1]]
BASE: list[object] = [None, "10000", 0, -1.0, 1, NAN, INFINITE, True, 1j, [10.0]]


def activations(x: Tensor) -> list[object]:
    """Return bad values for activations of this shape: wrong types, dtypes and shapes."""
    return [*NO_TENSOR, x.int(), x > 0, x + 0j, x[..., :-1], x[0, 0, 0], x.to_sparse()]


def without_none(values: list[object]) -> list[object]:
    return [value for value in values if value is not None]


PLANE = [[1.0, 0.1, 0.0, 0.0], [0.0, 0.0, 1.0, 0.1]]
POINTS = torch.tensor([[0, 0], [0, 1], [1, 0]])
CHOICES = torch.tensor([[-1, -1, -1], [0, -1, -1], [1, 0, -1]])
TOKENS: list[object] = [
    *NO_TENSOR, IDS.float(), IDS > 3, IDS - 2, IDS + 1000, IDS[0], IDS[None], IDS.to(ELSEWHERE),
]  # fmt: skip
POSITIONS: list[object] = [
    *without_none(NO_TENSOR), torch.arange(4), torch.zeros(3, 3), torch.tensor(2), FAR,
    torch.tensor([0.0, NAN, 1.0]), torch.tensor([0.0, INFINITE, 1.0]), torch.ones(3) > 0,
    torch.ones(3).bfloat16(), torch.ones(3) + 0j, torch.zeros(1, 1, 3), FAR.to(ELSEWHERE),
    torch.tensor([0.0, 1.0, 2.0**24]),
]  # fmt: skip
RELATIVES: list[object] = [
    *NO_TENSOR, RELATIVE.float(), RELATIVE > 0, RELATIVE[0], RELATIVE[None, None], FAR[None],
]  # fmt: skip
POSITIVE: list[object] = [None, "hot", 0, -1.0, NAN, INFINITE, True, [1.0], 1j]
PLACES: list[object] = [
    *without_none(NO_TENSOR), torch.tensor(2), torch.tensor([0.0, NAN]), torch.ones(3) > 0,
    torch.ones(3).bfloat16(), torch.zeros(1, 1, 3), FAR,
]  # fmt: skip
CACHES: list[object] = [True, 1, [], {}, {"cache": nn.Cache()}, {1: nn.Cache}, nn.Cache]
OF_TEXT: list[object] = [None, 3, b"words", ["words"], True]

# An argument has one set of bad values, unless a function is named before it.
BAD: dict[str, list[object]] = {
    "heads": SIZE,
    "window": SIZE,
    "layers": SIZE,
    "vocab_size": SIZE,
    "max_len": SIZE,
    "d_model": SIZE,
    "d": SIZE,
    "max_distance": COUNT,
    "buckets": [*EVEN, 2],
    "T5RelativeBias.max_distance": [*SIZE, 8],
    "causal": FLAG,
    "bidirectional": FLAG,
    "scale_tokens": FLAG,
    "return_attention": FLAG,
    "add_special_tokens": FLAG,
    "dropout": SHARE,
    "base": BASE,
    "layout": NAME,
    "pos_type": [*NAME, "swin"],
    "name": NAME,
    "kind": NAME,
    "RotaryEmbedding.d": EVEN,
    "SinusoidalPositionalEncoding.d_model": EVEN,
    "SinusoidalPositionalEncoding.max_len": without_none(SIZE),
    "rotary_d": without_none([*EVEN, 10]),
    "attention_factor": [None, "hot", 0, -1.0, NAN, INFINITE, True, [1.0], 1j],
    "frequencies": ["fast", [1.0], [1.0, 1.0, 1.0, NAN], [1.0, 1.0, 1.0, -1.0], 1.0],
    "RotaryEmbeddingND.d": EVEN,
    "RotaryEmbeddingND.frequencies": [
        *("fast", None, 1.0, [1.0] * 4, PLANE[:0], [[NAN] * 4], [[[PLANE]]], [[True] * 4]),
    ],
    "RotaryEmbeddingND.forward.x": activations(HEADS),
    "RotaryEmbeddingND.forward.positions": [
        *(*NO_TENSOR, POINTS[:2], POINTS[:, :1], POINTS[None, None], POINTS > 0, POINTS + 0j),
        *(POINTS.bfloat16(), POINTS * NAN, POINTS + 2**53, POINTS[None].expand(3, 3, 2)),
        *(POINTS.to(ELSEWHERE), POINTS.float() + 2**24),
    ],
    "learned": FLAG,
    "sizes": [None, 3, "23", [], [0, 2], [2.0, 3], [True, 2], [2, 2**60], {2, 3}],
    "LearnedGridEmbedding.resized.sizes": [None, 3, "23", [], [0, 2], [2.0, 3], [2], [2, 3, 4]],
    "LearnedGridEmbedding.resized.kernel": NAME,
    "corners": FLAG,
    "antialias": FLAG,
    "offset": [*COUNT],
    "query_offset": [*COUNT],
    "key_length": [*COUNT],
    "new_tokens": [*COUNT],
    "temperature": [None, "hot", -1.0, NAN, INFINITE, True, [1.0], 1j],
    "generator": [7, "seed"],
    "positions": POSITIONS,
    "LearnedPositionalEmbedding.forward.positions": [
        5,
        -1,
        2.0,
        NAN,
        "3",
        True,
        None,
        torch.tensor([0, 4]),
        torch.tensor([-1]),
        torch.ones(2),
        torch.tensor([True]),
        FAR.to(ELSEWHERE),
    ],
    "PositionalEmbedding.forward.positions": [*POSITIONS, torch.tensor([0, 1, 20]), torch.ones(3)],
    "relative": RELATIVES,
    **{
        f"{name}.relative": [*RELATIVES, RELATIVE.to(ELSEWHERE)]
        for name in (
            "KerpleBias.forward",
            "RelativePositionEmbedding.forward",
            "T5RelativeBias.forward",
        )
    },
    "RelativePositionEmbedding.scores.relative": [
        *RELATIVES,
        RELATIVE.to(ELSEWHERE),
        RELATIVE[:2],
        RELATIVE.expand(3, 3, 3),
    ],
    "dtype": [None, int, torch.int64, torch.complex64, "float32"],
    "x": activations(X),
    "RotaryEmbedding.forward.x": activations(HEADS),
    "RotaryEmbedding.factors.x": activations(HEADS),
    "RotaryEmbedding.turn.x": activations(HEADS),
    "factors": [*NO_TENSOR, FACTORS.real, FACTORS[:, :3], FACTORS[None], FACTORS.to(ELSEWHERE)],
    "out": [
        *without_none(NO_TENSOR),
        HEADS.double(),
        HEADS[0],
        HEADS.to(ELSEWHERE),
        HEADS[:1].expand(2, 4, 3, 8),
        HEADS.clone().requires_grad_(),
        HEADS.to_sparse(),
    ],
    "relative_row.query_length": SIZE,
    "reversed_view.query_length": [*SIZE, 8],
    "relative_score_mod.query_length": [*SIZE, 7],
    "reversed_view.rows": [*NO_TENSOR, ROWS.int(), ROWS > 0, ROWS + 0j, ROWS[:, :1], ROWS[0, 0]],
    "relative_score_mod.rows": [*NO_TENSOR, ROWS.int(), ROWS > 0, ROWS[0], ROWS[:, :2]],
    "relative_attention.q": [*activations(HEADS)[:-3], HEADS[0, 0, 0], HEADS.to_sparse()],
    "relative_attention.k": [*activations(HEADS), HEADS.double()],
    "relative_attention.v": [*activations(HEADS)[:-3], HEADS[..., :-1, :], HEADS.double()],
    "relative_attention.rows": [
        *NO_TENSOR,
        ROWS.int(),
        ROWS[:3],
        ROWS[:, :4],
        ROWS.to(ELSEWHERE),
        ROWS * NAN,
        ROWS * INFINITE,
        ROWS * -INFINITE,
    ],
    "RelativePositionEmbedding.scores.q": [*activations(HEADS), HEADS.to(ELSEWHERE)],
    "RelativePositionEmbedding.shifted_scores.q": [*activations(HEADS), HEADS.to(ELSEWHERE)],
    "q": [*activations(HEADS)[:-3], HEADS[0, 0, 0], HEADS.to_sparse()],
    "k": activations(HEADS),
    "v": [*activations(HEADS)[:-3], HEADS[..., :-1, :], HEADS[0, 0, 0]],
    "bias": ["bias", 1.0, torch.ones(3, 3).int(), torch.ones(3, 2), torch.full((3, 3), NAN)],
    "mask": ["mask", True, torch.ones(3, 3), torch.ones(3, 2) > 0, torch.zeros(3, 3) > 0],
    "token_ids": TOKENS,
    "GPTModel.forward.token_ids": [*TOKENS, IDS[:, :0]],
    "GPTModel.generate.token_ids": [*TOKENS, IDS[:, :0]],
    "padding": [
        True,
        IDS,
        IDS[0] > 0,
        IDS < 0,
        torch.ones(2, 4) > 0,
        [[True]],
        (IDS > 0).to(ELSEWHERE),
    ],
    "documents": [1, IDS.float(), IDS[0], IDS[:, :2], IDS > 0, IDS - 5, IDS.to(ELSEWHERE)],
    "cache": [True, 1, [], {}, object()],
    "diagnose.cache": CACHES,
    "relative_scores.cache": CACHES,
    "query_positions": [*NO_INTEGER[:-1], -1, torch.ones(3), torch.ones(1, 1, 3).long(), FAR],
    "key_positions": [
        *(8.0, "8", True, -1, torch.ones(3), torch.ones(1, 1, 3).long(), FAR, FAR.to(ELSEWHERE)),
        torch.zeros(4, 3).long(),
    ],
    "model": [*NO_TENSOR, IDS, nn.GPTModel],
    "example": [
        *without_none(NO_TENSOR),
        {},
        {"ids": 3},
        IDS[0],
        IDS[:, :0],
        IDS > 3,
        X + 0j,
        X * NAN,
        X.to_sparse(),
        IDS.to(ELSEWHERE),
        [IDS],
    ],
    "limit": [None, "long", 0, -1.0, NAN, INFINITE, True, [10.0], 1j],
    "colliding_positions.length": [*SIZE, 1],
    "unseen_positions.length": SIZE,
    "length": without_none(SIZE),
    "unseen_positions.trained": SIZE,
    "trained": without_none(SIZE),
    "unseen_positions.base": without_none(BASE),
    "diagnose.base": without_none(BASE),
    "axis": [*without_none(SIZE), 2],
    "weight": [
        *NO_TENSOR,
        ROWS.int(),
        ROWS + 0j,
        ROWS[0],
        ROWS[:3],
        ROWS[:, :0],
        ROWS * NAN,
        ROWS.to_sparse(),
        ROWS.to(ELSEWHERE),
    ],
    "text": OF_TEXT,
    "DisentangledBias.max_distance": SIZE,
    "longest": without_none([*SIZE, 9]),
    "trained_window": without_none([*SIZE, 1]),
    "DisentangledBias.forward.q": [
        *activations(HEADS)[:-1],
        HEADS.to(ELSEWHERE),
        HEADS.to_sparse(),
    ],
    "DisentangledBias.forward.k": [*activations(HEADS)[:-1], HEADS[:1], HEADS.to_sparse()],
    "DisentangledBias.forward.relative": [*RELATIVES, RELATIVE[:, :2], RELATIVE.expand(3, 3, 3)],
    "TransformerXLBias.d_model": EVEN,
    "TUPEBias.heads": [*SIZE, 3],
    "TransformerXLBias.forward.q": activations(HEADS),
    "TransformerXLBias.forward.k": activations(HEADS),
    "TUPEBias.forward.query_positions": [None, *PLACES, torch.tensor([0, 9]), torch.ones(3)],
    "TUPEBias.forward.key_positions": [*PLACES, torch.tensor([-1, 0]), torch.ones(3)],
    "released": FLAG,
    "max_degree": COUNT,
    "branches": SIZE,
    "depth": SIZE,
    "features": SIZE,
    "distances": [
        *(*RELATIVES, RELATIVE - 9, RELATIVE.abs() - 2),
        RELATIVE.abs().to(ELSEWHERE),
    ],
    "degrees": [*NO_TENSOR, IDS.float(), IDS > 3, IDS - 2, IDS + 2**53, IDS.to(ELSEWHERE)],
    "choices": [
        *(*NO_TENSOR, CHOICES.float(), CHOICES > 0, CHOICES + 1, CHOICES - 1, CHOICES[:, :2]),
        *(CHOICES.to(ELSEWHERE), torch.tensor(0)),
    ],
    "rows": SIZE,
    "CoPE.forward.q": [*activations(HEADS), HEADS.to(ELSEWHERE)],
    "scores": [
        *activations(HEADS[..., :3])[:-2],
        HEADS[..., :2],
        HEADS[..., :3].to(ELSEWHERE),
        HEADS[..., :3].to_sparse(),
    ],
    "ForgettingBias.forward.x": [*activations(X), X.to(ELSEWHERE)],
    "rank": SIZE,
    "PaTH.forward.q": [*activations(HEADS), HEADS.to(ELSEWHERE)],
    "PaTH.forward.k": [*activations(HEADS), HEADS.to(ELSEWHERE), HEADS[:, :, :2], HEADS[:, :2]],
    "PaTH.forward.x": [*activations(X), X.to(ELSEWHERE), X[:, :2], X[:1]],
    "DAPEBias.forward.scores": [*activations(HEADS[:, :2]), HEADS.to(ELSEWHERE)],
    "DAPEBias.forward.bias": [
        *activations(HEADS[0]),
        HEADS[0].to(ELSEWHERE),
        HEADS[0, :2],
        HEADS[:1],
        HEADS[0] * NAN,
        HEADS * -INFINITE,
    ],
    "query_length": without_none([*COUNT, 4]),
    "kernel": NAME,
    "role": NAME,
    "width": EVEN,
    "hidden": SIZE,
    "threshold": POSITIVE,
    "scale_base": POSITIVE,
    "gamma": POSITIVE,
    "center": COUNT,
    "XPos.d": EVEN,
    "XPos.forward.x": activations(HEADS),
    "FIREBias.forward.query_positions": [None, *PLACES],
    "FIREBias.forward.key_positions": PLACES,
    "ids": [
        *(3, "7", b"7", [1.0], [-1], [10**6], [True], [None], ["7"], None, {65, 66}, {65: 66}),
        *(torch.tensor(1), torch.tensor([True]), torch.tensor([1.0]), torch.tensor([[1, 2]])),
        *(torch.zeros(3, device="meta").long(), torch.tensor([1, 2]).to_sparse(), np.array(1)),
        np.int64,
    ],
    "words": [
        *(3, None, [3], [None], "words", ["two words"], ["Two"], ["!"], [""], ["a", "b", "a"]),
        *({"a", "b"}, frozenset("ab"), {"a": 1, "b": 2}, {"a": 1}.keys()),
    ],
    "texts": [3, [3], [None], "words", b"words", {"words"}, {"words": 1}, ["\udfff"]],
}

MODEL = nn.GPTModel(**nn.create_model_config("tiny")).eval()
EMBEDDING = nn.PositionalEmbedding(100, 20, 8)
SHAW = nn.RelativePositionEmbedding(8, 2)
BYTES, WORDS = nn.create_tokenizer("byte"), nn.create_tokenizer("simple")

# Every public function, class and method, with arguments that are good.
CALLS: dict[str, tuple[Call, dict[str, Any]]] = {
    "ALiBi": (nn.ALiBi, {"heads": 4}),
    "ALiBi.forward": (nn.ALiBi(4).forward, {"relative": RELATIVE}),
    "ByteTokenizer.encode": (BYTES.encode, {"text": "a"}),
    "ByteTokenizer.decode": (BYTES.decode, {"ids": [97]}),
    "WordTokenizer": (nn.WordTokenizer, {"words": ["a", "b"]}),
    "WordTokenizer.encode": (WORDS.encode, {"text": "a"}),
    "WordTokenizer.decode": (WORDS.decode, {"ids": [97]}),
    "GPTModel": (nn.GPTModel, nn.create_model_config("tiny")),
    "GPTModel.forward": (MODEL.forward, {"token_ids": IDS}),
    "GPTModel.generate": (MODEL.generate, {"token_ids": IDS, "new_tokens": 1}),
    "CentralityEmbedding": (nn.CentralityEmbedding, {"d_model": 8, "max_degree": 4}),
    "CentralityEmbedding.forward": (nn.CentralityEmbedding(8, 4).forward, {"degrees": IDS}),
    "GraphormerBias": (nn.GraphormerBias, {"heads": 2, "max_distance": 4}),
    "GraphormerBias.forward": (nn.GraphormerBias(2, 4).forward, {"distances": RELATIVE.abs()}),
    "TreeEncoding": (nn.TreeEncoding, {"branches": 2, "depth": 3, "features": 4}),
    "TreeEncoding.forward": (nn.TreeEncoding(2, 3, 4).forward, {"choices": CHOICES}),
    "LearnedGridEmbedding": (nn.LearnedGridEmbedding, {"sizes": (2, 3), "d_model": 8}),
    "LearnedGridEmbedding.resized": (
        nn.LearnedGridEmbedding((2, 3), 8).resized,
        {"sizes": (3, 3)},
    ),
    "LearnedPositionalEmbedding": (nn.LearnedPositionalEmbedding, {"max_len": 4, "d_model": 8}),
    "LearnedPositionalEmbedding.forward": (
        nn.LearnedPositionalEmbedding(4, 8).forward,
        {"positions": 3},
    ),
    "LearnedPositionalEmbedding.resized": (
        nn.LearnedPositionalEmbedding(4, 8).resized,
        {"max_len": 5},
    ),
    "PositionalEmbedding": (
        nn.PositionalEmbedding,
        {"vocab_size": 100, "max_len": 20, "d_model": 8},
    ),
    "PositionalEmbedding.forward": (EMBEDDING.forward, {"token_ids": IDS}),
    "RelativePositionEmbedding": (nn.RelativePositionEmbedding, {"d": 8, "max_distance": 2}),
    "RelativePositionEmbedding.forward": (SHAW.forward, {"relative": RELATIVE}),
    "RelativePositionEmbedding.scores": (SHAW.scores, {"q": HEADS, "relative": RELATIVE}),
    "RelativePositionEmbedding.shifted_scores": (
        SHAW.shifted_scores,
        {"q": HEADS, "key_length": 3},
    ),
    "RotaryEmbedding": (nn.RotaryEmbedding, {"d": 8}),
    "RotaryEmbedding.factors": (nn.RotaryEmbedding(8).factors, {"x": HEADS}),
    "RotaryEmbedding.turn": (nn.RotaryEmbedding(8).turn, {"x": HEADS, "factors": FACTORS}),
    "relative_attention": (
        nn.relative_attention,
        {"q": HEADS, "k": HEADS, "v": HEADS, "rows": ROWS},
    ),
    "relative_row": (nn.relative_row, {"query_length": 3, "key_length": 3}),
    "relative_score_mod": (nn.relative_score_mod, {"rows": ROWS[:, :3], "query_length": 3}),
    "reversed_view": (nn.reversed_view, {"rows": ROWS, "query_length": 3}),
    "RotaryEmbedding.forward": (nn.RotaryEmbedding(8).forward, {"x": HEADS}),
    "RotaryEmbeddingND": (nn.RotaryEmbeddingND, {"d": 8, "frequencies": PLANE}),
    "RotaryEmbeddingND.forward": (
        nn.RotaryEmbeddingND(8, PLANE).forward,
        {"x": HEADS, "positions": POINTS},
    ),
    "SinusoidalPositionalEncoding": (nn.SinusoidalPositionalEncoding, {"d_model": 8}),
    "SinusoidalPositionalEncoding.forward": (
        nn.SinusoidalPositionalEncoding(8).forward,
        {"x": X},
    ),
    "SwinRelativeBias": (nn.SwinRelativeBias, {"heads": 2, "window": 2}),
    "T5RelativeBias": (nn.T5RelativeBias, {"heads": 2}),
    "T5RelativeBias.forward": (nn.T5RelativeBias(2).forward, {"relative": RELATIVE}),
    "diagnose": (nn.diagnose, {"model": MODEL}),
    "sees_order": (nn.sees_order, {"model": MODEL}),
    "drowned_tokens": (nn.drowned_tokens, {"model": MODEL}),
    "colliding_positions": (nn.colliding_positions, {"model": MODEL, "length": 20}),
    "longest_input": (nn.longest_input, {"model": MODEL}),
    "rope_layout": (nn.rope_layout, {"model": MODEL}),
    "relative_scores": (nn.relative_scores, {"model": MODEL}),
    "trained_layout": (nn.trained_layout, {"weight": ROWS, "heads": 2}),
    "unseen_positions": (nn.unseen_positions, {"model": MODEL, "trained": 20, "length": 21}),
    "KerpleBias": (nn.KerpleBias, {"heads": 2}),
    "KerpleBias.forward": (nn.KerpleBias(2).forward, {"relative": RELATIVE}),
    "SandwichBias": (nn.SandwichBias, {"heads": 2}),
    "SandwichBias.forward": (nn.SandwichBias(2).forward, {"relative": RELATIVE}),
    "CoPE": (nn.CoPE, {"d": 8, "rows": 4}),
    "CoPE.forward": (nn.CoPE(8, 4).forward, {"q": HEADS, "scores": HEADS[..., :3]}),
    "ForgettingBias": (nn.ForgettingBias, {"d_model": 8, "heads": 2}),
    "ForgettingBias.forward": (nn.ForgettingBias(8, 2).forward, {"x": X}),
    "PaTH": (nn.PaTH, {"heads": 2, "d": 4, "d_model": 8}),
    "PaTH.forward": (nn.PaTH(4, 8, 8).forward, {"q": HEADS, "k": HEADS, "x": X}),
    "DAPEBias": (nn.DAPEBias, {"heads": 2}),
    "DAPEBias.forward": (nn.DAPEBias(4).forward, {"scores": HEADS, "bias": HEADS[0]}),
    "DisentangledBias": (nn.DisentangledBias, {"heads": 4, "d": 8, "max_distance": 16}),
    "DisentangledBias.forward": (
        nn.DisentangledBias(4, 8, 16, longest=20).forward,
        {"q": HEADS, "k": HEADS, "relative": RELATIVE},
    ),
    "TransformerXLBias": (nn.TransformerXLBias, {"heads": 4, "d": 8, "d_model": 32}),
    "TransformerXLBias.forward": (
        nn.TransformerXLBias(4, 8, 32).forward,
        {"q": HEADS, "k": HEADS},
    ),
    "TUPEBias": (nn.TUPEBias, {"heads": 4, "d_model": 8, "max_len": 9}),
    "TUPEBias.forward": (nn.TUPEBias(4, 8, 9).forward, {"query_positions": torch.arange(3)}),
    "SwinContinuousBias": (nn.SwinContinuousBias, {"heads": 2, "window": 2}),
    "FIREBias": (nn.FIREBias, {"heads": 2}),
    "FIREBias.forward": (nn.FIREBias(2).forward, {"query_positions": torch.arange(3)}),
    "XPos": (nn.XPos, {"d": 8}),
    "XPos.forward": (nn.XPos(8).forward, {"x": HEADS, "role": "key"}),
    "attention": (nn.attention, {"q": HEADS, "k": HEADS, "v": HEADS}),
    "create_model_config": (nn.create_model_config, {"name": "tiny"}),
    "create_tokenizer": (nn.create_tokenizer, {}),
    "relative_positions": (nn.relative_positions, {"query_positions": IDS}),
}


def public_calls() -> Iterator[tuple[str, Call]]:
    """Yield every public function, class and method of this package that takes an argument."""
    for name in nn.__all__:
        thing = getattr(nn, name)
        yield name, thing
        if inspect.isclass(thing):
            for method, body in inspect.getmembers(thing, inspect.isfunction):
                if method[0] != "_" and body.__module__.startswith("posenc"):
                    yield f"{name}.{method}", body


def arguments(call: Call) -> list[str]:
    return [name for name in inspect.signature(call).parameters if name != "self"]


def bad_values(name: str, argument: str) -> list[object]:
    return BAD.get(f"{name}.{argument}", BAD.get(argument, []))


def cases() -> Iterator[tuple[str, str]]:
    for name, (call, _) in CALLS.items():
        for argument in arguments(call):
            if bad_values(name, argument):
                yield name, argument


@pytest.mark.parametrize("name", [name for name, call in public_calls() if arguments(call)])
def test_every_argument_of_every_public_name_has_bad_values_here(name: str) -> None:
    call, good = CALLS[name]
    call(**good)
    assert [argument for argument in arguments(call) if not bad_values(name, argument)] == []


@pytest.mark.parametrize(("name", "argument"), [*cases()])
def test_bad_input_is_refused_under_its_name(name: str, argument: str) -> None:
    call, good = CALLS[name]
    # An argument may be named with another that it has to fit, as q and k are.
    named = rf"(?:\w+(?:,| and| \+) )*{argument}(?:(?:,| and| \+) \w+)*"
    for number, value in enumerate(bad_values(name, argument)):
        with pytest.raises((TypeError, ValueError)) as refusal:
            pytest.fail(f"bad value {number} gave {call(**{**good, argument: value})}")
        said = str(refusal.value)
        assert re.fullmatch(rf"{named} must .+; got .+", said), (number, said)
        assert len(said) < 300, (number, said)
