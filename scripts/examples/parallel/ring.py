"""Ring attention in plain torch: keys and values go round the ranks, with their positions.

Liu, Zaharia and Abbeel, "Ring Attention with Blockwise Transformers for Near-Infinite Context"
(2023). Nothing here is fast; every line is there to be read.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn

from posenc.nn import (
    ALiBi,
    RotaryEmbedding,
    SinusoidalPositionalEncoding,
    T5RelativeBias,
    relative_positions,
)

SCHEMES = ("sinusoidal", "rope", "alibi", "t5")
HEADS, D = 4, 16


class Keys(NamedTuple):
    """The keys of one rank, as they travel."""

    k: Tensor  # (heads, key, d)
    v: Tensor  # (heads, key, d)
    places: Tensor  # (key,), where they stand in the sequence, for the mask
    positions: Tensor  # (key,), where the scheme is told that they stand


class Layer(nn.Module):
    """Causal attention of a sequence that is spread over the ranks."""

    def __init__(self, scheme: str) -> None:
        super().__init__()
        self.project = nn.Linear(HEADS * D, 3 * HEADS * D)
        self.added = SinusoidalPositionalEncoding(HEADS * D) if scheme == "sinusoidal" else None
        self.rotary = RotaryEmbedding(D) if scheme == "rope" else None
        self.alibi = ALiBi(HEADS, causal=False) if scheme == "alibi" else None
        self.t5 = T5RelativeBias(HEADS, bidirectional=False) if scheme == "t5" else None

    def forward(
        self, x: Tensor, places: Tensor, positions: Tensor, *, local_bias: bool = False
    ) -> Tensor:
        """Return the output for this rank's tokens, (length, d_model).

        With `local_bias`, keys that arrive are taken for this rank's own, a mistake to be shown.
        """
        if self.added is not None:
            x = self.added(x[None], positions=positions)[0]
        q, k, v = self.project(x).view(len(x), 3, HEADS, D).permute(1, 2, 0, 3)
        if self.rotary is not None:  # before keys leave, at the positions of this rank
            q, k = (self.rotary(t[None], positions=positions)[0] for t in (q, k))

        keys = Keys(k, v, places, positions)
        parts = []
        for step in range(dist.get_world_size()):
            keys = Keys(*map(ring_shift, keys)) if step else keys
            there = positions if local_bias else keys.positions
            scores = q @ keys.k.mT / math.sqrt(D) + self.bias(relative_positions(positions, there))
            hidden = relative_positions(places, keys.places) > 0
            parts.append((scores.masked_fill(hidden, -math.inf), keys.v))
        return combined_attention(parts).transpose(0, 1).reshape(x.shape)

    def bias(self, relative: Tensor) -> Tensor | float:
        """Return what the scheme adds to scores, from key − query, (heads, query, key)."""
        bias: Tensor | float = 0.0
        if self.alibi is not None:
            bias = self.alibi(relative, dtype=torch.float64)
        if self.t5 is not None:
            bias = self.t5(relative)
        return bias


def ring_shift(x: Tensor) -> Tensor:
    """Send a tensor to the next rank of the ring and return that of the one before."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    received = torch.empty_like(x, memory_format=torch.contiguous_format)
    sending = dist.isend(x.contiguous(), (rank + 1) % ranks)
    dist.recv(received, (rank - 1) % ranks)
    if sending is not None:
        sending.wait()
    return received


def combined_attention(parts: list[tuple[Tensor, Tensor]]) -> Tensor:
    """Return the attention over all keys from the scores and values of each part of them.

    In the first part each query must see a key. What is kept is a sum over keys, so each part may
    be dropped once it is added, and the order of the others does not matter.
    """
    highest = torch.tensor(-math.inf, dtype=torch.float64)
    weight, total = torch.tensor(0.0), torch.tensor(0.0)
    for scores, v in parts:
        most = torch.maximum(highest, scores.amax(-1, keepdim=True))
        shrunk, weights = (highest - most).exp(), (scores - most).exp()
        highest = most
        weight = weight * shrunk + weights.sum(-1, keepdim=True)
        total = total * shrunk + weights @ v
    return total / weight
