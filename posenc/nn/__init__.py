"""The schemes as PyTorch modules, and a small GPT built from them. This file is the map.

Each import below names a file, under its subject, and all that is public in it. A name that is
imported `as` itself is public, for type checkers too.

Each call computes angles and biases in float64 and indices in integers. What is added is cast at
the end; a rotation uses cosines and sines that were cast. So the sinusoids, RoPE and ALiBi need a
device with float64, such as a CPU or a CUDA GPU. Everything learned is a parameter, and there are
no buffers. Values inside tensors, such as ids, are checked in eager mode only: not under
`torch.compile`, on the meta device or inside `torch.func.vmap`. Types, shapes and devices are
always checked.
"""

# Added to tokens

# The sinusoidal encoding
from posenc.nn.sinusoidal import SinusoidalPositionalEncoding as SinusoidalPositionalEncoding

# Learned embeddings
from posenc.nn.learned import LearnedPositionalEmbedding as LearnedPositionalEmbedding

# Learned rows of a grid
from posenc.nn.grid import LearnedGridEmbedding as LearnedGridEmbedding

# Nodes by degree, distances in a graph
from posenc.nn.graphormer import (
    CentralityEmbedding as CentralityEmbedding,
    GraphormerBias as GraphormerBias,
)

# Paths in a tree
from posenc.nn.trees import TreeEncoding as TreeEncoding

# Tokens and positions
from posenc.nn.embedding import PositionalEmbedding as PositionalEmbedding

# Rotating queries and keys

# Rotary embedding
from posenc.nn.rotary import RotaryEmbedding as RotaryEmbedding

# With more than one axis
from posenc.nn.rotary_nd import RotaryEmbeddingND as RotaryEmbeddingND

# Fading rotation
from posenc.nn.xpos import XPos as XPos

# Angles from positions alone
from posenc.nn.pope import PoPE as PoPE

# Added to the scores

# Relative embeddings
from posenc.nn.relative import (
    RelativePositionEmbedding as RelativePositionEmbedding,
    relative_attention as relative_attention,
    relative_positions as relative_positions,
    relative_row as relative_row,
    relative_score_mod as relative_score_mod,
    reversed_view as reversed_view,
)

# T5's buckets
from posenc.nn.t5 import T5RelativeBias as T5RelativeBias

# Swin's windows
from posenc.nn.swin import (
    SwinContinuousBias as SwinContinuousBias,
    SwinRelativeBias as SwinRelativeBias,
)

# Linear biases
from posenc.nn.alibi import ALiBi as ALiBi

# Powers and logarithms
from posenc.nn.kerple import KerpleBias as KerpleBias

# Products of sinusoids
from posenc.nn.sandwich import SandwichBias as SandwichBias

# By content
from posenc.nn.cope import CoPE as CoPE
from posenc.nn.forgetting import ForgettingBias as ForgettingBias
from posenc.nn.path import PaTH as PaTH
from posenc.nn.dape import DAPEBias as DAPEBias

# Content and distance as separate terms
from posenc.nn.deberta import DisentangledBias as DisentangledBias
from posenc.nn.transformer_xl import TransformerXLBias as TransformerXLBias
from posenc.nn.tupe import TUPEBias as TUPEBias

# Learned curves
from posenc.nn.fire import FIREBias as FIREBias

# All together

# Attention
from posenc.nn.attention import attention as attention

# A small GPT
from posenc.nn.gpt import (
    Cache as Cache,
    GPTModel as GPTModel,
    create_model_config as create_model_config,
)

# Text to ids and back
from posenc.nn.tokenizer import (
    ByteTokenizer as ByteTokenizer,
    WordTokenizer as WordTokenizer,
    create_tokenizer as create_tokenizer,
)

# What is wrong with a model

from posenc.diagnose import (
    colliding_positions as colliding_positions,
    diagnose as diagnose,
    drowned_tokens as drowned_tokens,
    longest_input as longest_input,
    relative_scores as relative_scores,
    rope_layout as rope_layout,
    sees_order as sees_order,
    trained_layout as trained_layout,
    unseen_positions as unseen_positions,
)

__all__ = [name for name, value in sorted(globals().items()) if callable(value)]
