"""Small models to diagnose, each healthy or ill in exactly one way."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from posenc import nn as pnn
from posenc.diagnose.answers import UNDETERMINED
from posenc.nn.sinusoidal import sinusoidal_rows

Model = nn.Module
Maker = Callable[[], Model]

VOCAB = 40


class AttentionLayer(nn.Module):
    """One layer of attention, with what may be done to queries and keys, or to the scores."""

    def __init__(self, d_model: int, heads: int, rotary: nn.Module | None, causal: bool) -> None:
        super().__init__()
        self.heads, self.rotary, self.causal = heads, rotary, causal
        self.q_proj, self.k_proj, self.v_proj, self.out = (
            nn.Linear(d_model, d_model) for _ in range(4)
        )

    def forward(self, x: Tensor, bias: Tensor | None = None) -> Tensor:
        heads = (*x.shape[:2], self.heads, -1)
        q, k, v = (
            p(x).view(heads).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj)
        )
        if self.rotary is not None:
            q, k = self.rotary(q), self.rotary(k)
        mask = torch.ones(x.shape[1], x.shape[1], device=x.device).tril() > 0
        attended, _ = pnn.attention(q, k, v, bias=bias, mask=mask if self.causal else None)
        mixed: Tensor = self.out(attended.transpose(1, 2).flatten(2))
        return mixed


class Reader(nn.Module):
    """Tokens, a way to put positions among them, and layers; `pool` leaves one row a text."""

    def __init__(
        self,
        rows: Callable[[Tensor], Tensor] | None = None,
        *,
        d_model: int = 16,
        heads: int = 2,
        layers: int = 2,
        causal: bool = False,
        rotary: Callable[[], nn.Module] | None = None,
        pool: str | None = None,
        deviation: float = 1.0,
    ) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCAB, d_model)
        nn.init.normal_(self.tokens.weight, std=deviation)
        self.rows = rows
        self.layers = nn.ModuleList(
            AttentionLayer(d_model, heads, rotary() if rotary else None, causal)
            for _ in range(layers)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(layers))
        self.pool = pool

    def forward(self, ids: Tensor) -> Tensor:
        x: Tensor = self.tokens(ids)
        if self.rows is not None:
            x = x + self.rows(torch.arange(ids.shape[1], device=ids.device)).to(x.dtype)
        for layer, norm in zip(self.layers, self.norms, strict=True):
            x = x + layer(norm(x))
        if self.pool is None:
            return x
        return x.mean(dim=1) if self.pool == "mean" else x[:, 0 if self.pool == "first" else -1]


class Table(nn.Module):
    """A learned row for each position, or, where it wraps, for each position modulo its rows."""

    def __init__(self, rows: int, d_model: int, wraps: bool = False) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(rows, d_model))
        self.wraps = wraps

    def forward(self, positions: Tensor) -> Tensor:
        return self.table[positions % len(self.table) if self.wraps else positions]


def sines(d_model: int, dtype: torch.dtype = torch.float64) -> Callable[[Tensor], Tensor]:
    """Return sinusoidal rows, whose positions are rounded to a type before anything else."""
    omega = tuple((10000 ** -(torch.arange(0, d_model, 2) / d_model)).tolist())
    return lambda positions: sinusoidal_rows(positions.to(dtype).double(), omega)


class Rotary(nn.Module):
    """RoPE as many write it: angles in a type that may be too narrow."""

    def __init__(self, d: int, dtype: torch.dtype, layout: str = "half") -> None:
        super().__init__()
        self.d, self.dtype, self.layout = d, dtype, layout

    def forward(self, x: Tensor) -> Tensor:
        omega = (10000 ** -(torch.arange(0, self.d, 2) / self.d)).to(self.dtype)
        angles = torch.arange(x.shape[2]).to(self.dtype)[:, None] * omega
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        if self.layout == "half":
            cos, sin = cos.repeat(1, 2), sin.repeat(1, 2)
            first, second = x.chunk(2, dim=-1)
            return x * cos + torch.cat([-second, first], dim=-1) * sin
        pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        rotated = pairs * torch.complex(cos.float(), sin.float())
        return torch.view_as_real(rotated).flatten(-2).to(x.dtype)


class TorchEncoder(nn.Module):
    """PyTorch's own encoder, with its fused path, and learned positions or none."""

    def __init__(self, positions: bool, *, causal: bool = False, layers: int = 2) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCAB, 16)
        self.places = nn.Embedding(64, 16) if positions else None
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.causal = causal

    def forward(self, ids: Tensor) -> Tensor:
        x = self.tokens(ids) * math.sqrt(16)
        if self.places is not None:
            x = x + self.places(torch.arange(ids.shape[1], device=ids.device))
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1], dtype=x.dtype)
        output: Tensor = self.encoder(x, mask=mask.to(x.device) if self.causal else None)
        return output


class Composed(nn.Module):
    """A model, or token ids where it is the identity, and what a function makes of its output."""

    def __init__(self, inner: Model, function: Callable[[Any], Any]) -> None:
        super().__init__()
        self.inner, self.function = inner, function

    def forward(self, ids: Tensor) -> Any:
        return self.function(self.inner(ids))


def from_ids(function: Callable[[Tensor], Any]) -> Model:
    """Return a model without weights."""
    return Composed(nn.Identity(), function)


def from_tokens(function: Callable[[Tensor], Any], d_model: int = 16) -> Model:
    """Return a model that applies a function to the rows of its tokens, (batch, length, d)."""
    return Composed(nn.Embedding(VOCAB, d_model), function)


def with_constant_column(constant: float) -> Callable[[Tensor], Tensor]:
    """Return what adds a column that never changes."""
    return lambda x: torch.cat([x, torch.full_like(x[..., :1], constant)], dim=-1)


def reason_undetermined(report: Any) -> str:
    """Return why no question could be answered, the same for each."""
    assert report.status == UNDETERMINED
    assert not report.ill
    assert {diagnosis.status for diagnosis in report.diagnoses} == {UNDETERMINED}
    reasons = {str(diagnosis.why) for diagnosis in report.diagnoses}
    assert len(reasons) == 1
    return reasons.pop()


class RelativeKeys(nn.Module):
    """Attention whose queries meet a table of relative positions, as in XLNet and DeBERTa."""

    def __init__(self, kinds: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.table, self.kinds = nn.Embedding(VOCAB, 16), kinds
        self.relative = nn.Parameter(torch.randn(16, 1200))

    def forward(self, ids: Tensor) -> Tensor:
        x, n = self.table(ids), ids.shape[1]
        places = torch.arange(n)
        kinds = self.kinds(places[:, None] - places).expand(len(ids), n, n)
        scores = x @ x.mT + (x @ self.relative).gather(-1, kinds)
        out: Tensor = x + torch.softmax(scores, dim=-1) @ x
        return out


class StepByStep(nn.Module):
    """A model that decodes inside its forward, token by token, and may lose its offset."""

    def __init__(self, *, lost: bool, added: bool) -> None:
        super().__init__()
        self.table, self.lost, self.added = nn.Embedding(VOCAB, 16), lost, added
        self.rows = nn.Embedding(64, 16)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.table(ids)
        for _ in range(2):
            tokens: list[Tensor] = []
            out = []
            for step in range(ids.shape[1]):
                place, token = 0 if self.lost else step, x[:, step : step + 1]
                row = self.rows.weight[place]
                token = token + row if self.added else self.rotated(token, place)
                tokens.append(token)
                past = torch.cat(tokens, dim=1)
                out.append(token + torch.softmax(token @ past.mT / 4, dim=-1) @ past)
            x = torch.cat(out, dim=1)
        output: Tensor = x
        return output

    def rotated(self, x: Tensor, place: int) -> Tensor:
        angles = place / 10.0 ** torch.arange(8, dtype=torch.float64)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        first, second = x.chunk(2, dim=-1)
        return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)
