"""Whether scores depend on key − query alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from posenc import nn
from posenc.diagnose.answers import ABSENT, HEALTHY, ILL, UNDETERMINED
from tests.diagnose.models import VOCAB, Model, Reader, Rotary, Said, Stepping, Table, TorchEncoder
from tests.diagnose.random_models import HUNDRED, Chance, verdicts

RELATIVE = "scores depend on key − query alone"
OURS = {"cache": nn.Cache}

# By how often its position a query is rotated, and a key: the verdict.
TIMES = {
    (1, 1): RELATIVE,
    (0, 1): "keys alone are rotated",
    (1, 0): "queries alone are rotated",
    (1, -1): "queries and keys are rotated in opposite ways",
    (-1, 1): "queries and keys are rotated in opposite ways",
    (2, 1): "queries are rotated twice",
    (1, 2): "keys are rotated twice",
    (2, 2): "queries and keys are rotated twice",
}


def turned(x: Tensor, places: Tensor, times: int, layout: str = "half") -> Tensor:
    """Return heads, (…, length, d), rotated `times` times by their positions."""
    omega = 10000 ** -(torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    angles = places[:, None] * math.copysign(1, times) * omega
    for _ in range(abs(times)):
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        if layout == "half":
            first, second = x.chunk(2, dim=-1)
            x = torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)
        else:
            first, second = x[..., ::2], x[..., 1::2]
            pairs = [first * cos - second * sin, first * sin + second * cos]
            x = torch.stack(pairs, dim=-1).flatten(-2)
    return x


class Decoder(torch.nn.Module):
    """A causal decoder that returns its keys and values, to be given back with the next tokens.

    `times` says how often queries and keys are rotated. `counts` returns the positions of new
    tokens, given how many are cached and how many are new. `rows` are added to tokens. `bias`
    returns that of the scores, (heads, queries, keys), given both kinds of positions.
    """

    def __init__(
        self,
        times: tuple[int, int] = (1, 1),
        *,
        layout: str = "half",
        heads: int = 2,
        fused: bool = False,
        counts: Callable[[int, int], Tensor] = lambda past, new: torch.arange(past, past + new),
        rows: bool = False,
        bias: Callable[[Tensor, Tensor], Tensor] | None = None,
        scale: Callable[[Tensor], Tensor] | None = None,
    ) -> None:
        super().__init__()
        self.times, self.layout, self.heads, self.fused = times, layout, heads, fused
        self.counts, self.bias, self.scale = counts, bias, scale
        self.tokens = torch.nn.Embedding(VOCAB, 16)
        self.rows = torch.nn.Embedding(64, 16) if rows else None
        self.layers = torch.nn.ModuleList(torch.nn.Linear(16, 48) for _ in range(2))

    def forward(self, ids: Tensor, past: Any = None) -> dict[str, Any]:
        x, cached = self.tokens(ids), past[0][0].shape[2] if past else 0
        places = self.counts(cached, ids.shape[1])
        if self.rows is not None:
            x = x + self.rows(places)
        kept = []
        for number, layer in enumerate(self.layers):
            heads = (*x.shape[:2], self.heads, -1)
            q, k, v = (part.view(heads).transpose(1, 2) for part in layer(x).chunk(3, dim=-1))
            q = turned(q, places, self.times[0], self.layout)
            k = turned(k, places, self.times[1], self.layout)
            if past:
                k, v = (torch.cat(pair, dim=2) for pair in zip(past[number], (k, v), strict=True))
            kept.append((k, v))
            x = x + self.attended(q, k, v, places).transpose(1, 2).flatten(2)
        return {"out": x, "past": kept}

    def attended(self, q: Tensor, k: Tensor, v: Tensor, places: Tensor) -> Tensor:
        keys = torch.arange(k.shape[2])
        mask = keys <= keys[k.shape[2] - q.shape[2] :, None]
        if self.scale is not None:
            q = q * self.scale(places)[:, None].to(q.dtype)
        if self.fused and self.bias is None:
            return functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        bias = torch.zeros(mask.shape) if self.bias is None else self.bias(places, keys)
        bias = bias.masked_fill(~mask, -torch.inf).to(q.dtype)
        if self.fused:
            return functional.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        scores = q @ k.mT / math.sqrt(q.shape[-1]) + bias
        return torch.softmax(scores, dim=-1) @ v


@pytest.mark.parametrize("fused", [False, True], ids=["softmax", "fused"])
@pytest.mark.parametrize("times", TIMES, ids=str)
def test_what_is_rotated_is_told_from_the_scores(times: tuple[int, int], fused: bool) -> None:
    found = nn.relative_scores(Decoder(times, fused=fused))
    assert found.verdict == TIMES[times], str(found)
    assert found.status == (HEALTHY if times == (1, 1) else ILL)
    assert found.ill == bool(found.remedy)
    assert found.measured["cached"] == (times[1] != 0)  # all cached keys are alike otherwise


@pytest.mark.parametrize("times", TIMES, ids=str)
def test_the_layout_makes_no_difference(times: tuple[int, int]) -> None:
    found = nn.relative_scores(Decoder(times, layout="interleaved", heads=1))
    # Of one head, rotated queries look like queries that are scaled.
    assert found.verdict == ("cannot tell" if times == (1, 0) else TIMES[times]), str(found)
