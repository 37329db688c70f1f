"""The schemes as PyTorch modules, and a small GPT built from them. This file is the map.

Added to tokens
  The sinusoidal encoding       `SinusoidalPositionalEncoding`         posenc/nn/sinusoidal.py
  Learned embeddings            `LearnedPositionalEmbedding`           posenc/nn/learned.py
  Learned rows of a grid        `LearnedGridEmbedding`                 posenc/nn/grid.py
  Nodes by degree               `CentralityEmbedding`                  posenc/nn/graphormer.py
  Paths in a tree               `TreeEncoding`                         posenc/nn/trees.py
  Tokens and positions          `PositionalEmbedding`                  posenc/nn/embedding.py
Rotating queries and keys
  Rotary embedding              `RotaryEmbedding`                      posenc/nn/rotary.py
  With more than one axis       `RotaryEmbeddingND`                    posenc/nn/rotary_nd.py
  Fading rotation               `XPos`                                 posenc/nn/xpos.py
Added to the scores
  Relative embeddings           `RelativePositionEmbedding`,           posenc/nn/relative.py
                                `relative_positions`, `relative_row`,
                                `relative_attention`,
                                `relative_score_mod`, `reversed_view`
  T5's buckets                  `T5RelativeBias`                       posenc/nn/t5.py
  Swin's windows                `SwinRelativeBias`,                    posenc/nn/swin.py
                                `SwinContinuousBias`
  Linear biases                 `ALiBi`                                posenc/nn/alibi.py
  Powers and logarithms         `KerpleBias`                           posenc/nn/kerple.py
  Products of sinusoids         `SandwichBias`                         posenc/nn/sandwich.py
  By content                    `CoPE`                                 posenc/nn/cope.py
                                `ForgettingBias`                       posenc/nn/forgetting.py
                                `PaTH`                                 posenc/nn/path.py
                                `DAPEBias`                             posenc/nn/dape.py
  Content and distance apart    `DisentangledBias`                     posenc/nn/deberta.py
                                `TransformerXLBias`                    posenc/nn/transformer_xl.py
                                `TUPEBias`                             posenc/nn/tupe.py
  Distances in a graph          `GraphormerBias`                       posenc/nn/graphormer.py
  Learned curves                `FIREBias`                             posenc/nn/fire.py
All together
  Attention                     `attention`                            posenc/nn/attention.py
  A small GPT                   `GPTModel`, `Cache`,                   posenc/nn/gpt.py
                                `create_model_config`
  Text to ids and back          `create_tokenizer`, `ByteTokenizer`,   posenc/nn/tokenizer.py
                                `WordTokenizer`
What is wrong with a model
  All questions at once         `diagnose`                             posenc/diagnose/report.py
  Does it see order?            `sees_order`                           posenc/diagnose/order.py
  Do positions drown tokens?    `drowned_tokens`                       posenc/diagnose/drowned.py
  Do positions collide?         `colliding_positions`                  posenc/diagnose/collisions.py
  Is a table too short?         `longest_input`                        posenc/diagnose/length.py
  Which layout is rotary?       `rope_layout`, `trained_layout`        posenc/diagnose/layout.py
  Key − query alone?            `relative_scores`                      posenc/diagnose/relative.py
  Was it trained so long?       `unseen_positions`                     posenc/diagnose/unseen.py

Each call computes angles and biases in float64 and indices in integers. What is added is cast at
the end; a rotation uses cosines and sines that were cast. So the sinusoids, RoPE and ALiBi need a
device with float64, such as a CPU or a CUDA GPU. Everything learned is a parameter, and there are
no buffers. Values inside tensors, such as ids, are checked in eager mode only: not under
`torch.compile`, on the meta device or inside `torch.func.vmap`. Types, shapes and devices are
always checked.
"""

from posenc.diagnose import (
    colliding_positions,
    diagnose,
    drowned_tokens,
    longest_input,
    relative_scores,
    rope_layout,
    sees_order,
    trained_layout,
    unseen_positions,
)
from posenc.nn.alibi import ALiBi
from posenc.nn.attention import attention
from posenc.nn.cope import CoPE
from posenc.nn.dape import DAPEBias
from posenc.nn.deberta import DisentangledBias
from posenc.nn.embedding import PositionalEmbedding
from posenc.nn.fire import FIREBias
from posenc.nn.forgetting import ForgettingBias
from posenc.nn.gpt import Cache, GPTModel, create_model_config
from posenc.nn.graphormer import CentralityEmbedding, GraphormerBias
from posenc.nn.grid import LearnedGridEmbedding
from posenc.nn.kerple import KerpleBias
from posenc.nn.learned import LearnedPositionalEmbedding
from posenc.nn.path import PaTH
from posenc.nn.relative import (
    RelativePositionEmbedding,
    relative_attention,
    relative_positions,
    relative_row,
    relative_score_mod,
    reversed_view,
)
from posenc.nn.rotary import RotaryEmbedding
from posenc.nn.rotary_nd import RotaryEmbeddingND
from posenc.nn.sandwich import SandwichBias
from posenc.nn.sinusoidal import SinusoidalPositionalEncoding
from posenc.nn.swin import SwinContinuousBias, SwinRelativeBias
from posenc.nn.t5 import T5RelativeBias
from posenc.nn.tokenizer import ByteTokenizer, WordTokenizer, create_tokenizer
from posenc.nn.transformer_xl import TransformerXLBias
from posenc.nn.trees import TreeEncoding
from posenc.nn.tupe import TUPEBias
from posenc.nn.xpos import XPos

__all__ = [
    "ALiBi",
    "ByteTokenizer",
    "Cache",
    "CentralityEmbedding",
    "CoPE",
    "DAPEBias",
    "DisentangledBias",
    "FIREBias",
    "ForgettingBias",
    "GPTModel",
    "GraphormerBias",
    "KerpleBias",
    "LearnedGridEmbedding",
    "LearnedPositionalEmbedding",
    "PaTH",
    "PositionalEmbedding",
    "RelativePositionEmbedding",
    "RotaryEmbedding",
    "RotaryEmbeddingND",
    "SandwichBias",
    "SinusoidalPositionalEncoding",
    "SwinContinuousBias",
    "SwinRelativeBias",
    "T5RelativeBias",
    "TUPEBias",
    "TransformerXLBias",
    "TreeEncoding",
    "WordTokenizer",
    "XPos",
    "attention",
    "colliding_positions",
    "create_model_config",
    "create_tokenizer",
    "diagnose",
    "drowned_tokens",
    "longest_input",
    "relative_attention",
    "relative_positions",
    "relative_row",
    "relative_score_mod",
    "relative_scores",
    "reversed_view",
    "rope_layout",
    "sees_order",
    "trained_layout",
    "unseen_positions",
]
