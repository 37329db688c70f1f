"""A decoder that takes the position of each token, and its logits if the positions are wrong.

Each of `padding`, `packing`, `steps` and `drafts` reads one sequence in a batch, in a packed row,
in pieces or behind a rejected draft, and returns how far its logits are from those of the sequence
alone, read in one call. The causal mask is right in all of them unless a name says otherwise.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor, nn

from posenc.nn import (
    ALiBi,
    LearnedPositionalEmbedding,
    RotaryEmbedding,
    T5RelativeBias,
    attention,
    relative_positions,
)

SCHEMES = ("learned", "rope", "alibi", "t5")
HEADS, D, VOCABULARY, SLOTS = 4, 16, 50, 24
TEXT = torch.tensor([[7, 21, 3, 44, 9, 30, 12, 5]])
PROMPT = 5  # how many of its tokens are read in one call, before the others come one by one
WAYS = {
    "padding": ("counted", "edge", "counted, then slot", "edge, then counted", "padding seen"),
    "packing": ("restart", "run on", "documents seen"),
    "steps": ("on", "from 0", "one too high", "slots", "empty slots seen"),
    "drafts": (
        *("rolled back", "rejected hidden", "cache kept", "position kept", "both kept"),
        "draft one too high",
    ),
}
LONGER = torch.tensor([[40, 2, 33, 18, 6, 27, 49, 11, 25]])  # another text, to share a batch with


class Buffer(NamedTuple):
    """A static cache: keys and values in slots that are allocated once, and their positions."""

    k: Tensor  # (batch, heads, slots, d)
    v: Tensor  # (batch, heads, slots, d)
    positions: Tensor  # (batch, slots)


class Decoder(nn.Module):
    """One layer of causal attention; positions, slots and mask are up to the caller."""

    def __init__(self, scheme: str) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, HEADS * D)
        self.rows = LearnedPositionalEmbedding(64, HEADS * D) if scheme == "learned" else None
        self.project = nn.Linear(HEADS * D, 3 * HEADS * D)
        self.rotary = RotaryEmbedding(D) if scheme == "rope" else None
        self.alibi = ALiBi(HEADS, causal=False) if scheme == "alibi" else None
        self.t5 = T5RelativeBias(HEADS, bidirectional=False) if scheme == "t5" else None

    def forward(
        self, ids: Tensor, positions: Tensor, slot: int, mask: Tensor, buffer: Buffer
    ) -> Tensor:
        """Write the tokens into the buffer from a slot on, and return their logits.

        ids and positions are (batch, length), the mask is (batch, length, slots).
        """
        x = self.tokens(ids)
        if self.rows is not None:
            x = x + self.rows(positions)
        q, k, v = self.project(x).view(*ids.shape, 3, HEADS, D).permute(2, 0, 3, 1, 4)
        if self.rotary is not None:
            q, k = self.rotary(q, positions=positions), self.rotary(k, positions=positions)
        written = slice(slot, slot + ids.shape[1])
        buffer.k[:, :, written], buffer.v[:, :, written] = k, v
        buffer.positions[:, written] = positions
        relative = relative_positions(positions, buffer.positions)
        bias = None
        if self.alibi is not None:
            bias = self.alibi(relative, dtype=torch.float64)
        if self.t5 is not None:
            bias = self.t5(relative)
        attended, _ = attention(q, buffer.k, buffer.v, bias=bias, mask=mask[:, None])
        logits: Tensor = (x + attended.transpose(1, 2).flatten(2)) @ self.tokens.weight.T
        return logits


@cache
def decoder(scheme: str) -> Decoder:
    """Return the decoder of a scheme, in float64, with weights drawn from a seed."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = Decoder(scheme).double()
        for parameter in model.parameters():
            nn.init.normal_(parameter, std=1.0 if parameter.shape[0] < 100 else 0.25)
    return model


def empty(batch: int = 1) -> Buffer:
    """Return a buffer with no token in it."""
    k = torch.zeros(batch, HEADS, SLOTS, D, dtype=torch.float64)
    return Buffer(k, k.clone(), torch.zeros(batch, SLOTS, dtype=torch.int64))


def causal(slot: int, length: int) -> Tensor:
    """Return which slots tokens may see that are written from a slot on: (1, length, slots)."""
    return (torch.arange(SLOTS) <= torch.arange(slot, slot + length)[:, None])[None]


@torch.no_grad()
def unbatched_logits(scheme: str, ids: Tensor = TEXT) -> Tensor:
    """Return the logits of a sequence that is read by itself, in one call."""
    length = ids.shape[1]
    positions = torch.arange(length)[None]
    found: Tensor = decoder(scheme)(ids, positions, 0, causal(0, length), empty())
    return found


def check_way(case: str, way: str) -> None:
    """Raise unless a case knows this way; taken for the right one, a misspelt way has no error."""
    if way not in WAYS[case]:
        raise ValueError(f"way must be one of {', '.join(map(repr, WAYS[case]))}; got {way!r}")


def error(found: Tensor, right: Tensor) -> float:
    """Return the norm of the difference over the norm of what is right."""
    return float((found - right).norm() / right.norm())


@torch.no_grad()
def padding(scheme: str, way: str) -> float:
    """Return the error of a text that is padded on the left for a batch, and then continued."""
    check_way("padding", way)
    gap = LONGER.shape[1] - PROMPT
    real = torch.ones(2, LONGER.shape[1], dtype=torch.bool)
    real[1, :gap] = False
    prompt = torch.cat((LONGER, nn.functional.pad(TEXT[:, :PROMPT], (gap, 0))))
    counted = (real.cumsum(1) - 1).clamp(min=0)
    edge = torch.arange(LONGER.shape[1]).expand(2, -1)
    positions = {"counted": counted, "edge": edge, "edge, then counted": edge}.get(way, counted)
    step = gap if way in ("edge", "counted, then slot") else 0

    live = torch.cat((real, torch.ones(2, SLOTS - real.shape[1], dtype=torch.bool)), 1)[:, None]
    if way == "padding seen":
        live = torch.ones_like(live)
    buffer = empty(2)
    mask = causal(0, prompt.shape[1])
    own = torch.eye(prompt.shape[1], SLOTS, dtype=torch.bool)  # padding may see itself
    parts = [decoder(scheme)(prompt, positions, 0, mask & live | own, buffer)[1:, gap:]]
    for n in range(PROMPT, TEXT.shape[1]):
        at = torch.tensor([[gap + n], [n + step]])
        slot = gap + n
        new = TEXT[:, n : n + 1].expand(2, 1)
        parts.append(decoder(scheme)(new, at, slot, causal(slot, 1) & live, buffer)[1:])
    return error(torch.cat(parts, 1), unbatched_logits(scheme))


@torch.no_grad()
def packing(scheme: str, way: str) -> float:
    """Return the error of the second of two documents in one row."""
    check_way("packing", way)
    first, second = LONGER.shape[1], TEXT.shape[1]
    restart = torch.cat((torch.arange(first), torch.arange(second)))[None]
    positions = torch.arange(first + second)[None] if way == "run on" else restart
    mask = causal(0, first + second)
    if way != "documents seen":
        mask[:, first:, :first] = False
    found = decoder(scheme)(torch.cat((LONGER, TEXT), 1), positions, 0, mask, empty())
    return error(found[:, first:], unbatched_logits(scheme))


@torch.no_grad()
def steps(scheme: str, way: str) -> float:
    """Return the error of a text whose last tokens come one by one, with a static cache."""
    check_way("steps", way)
    buffer, whole = empty(), torch.ones(1, 1, SLOTS, dtype=torch.bool)
    prompt = torch.arange(PROMPT)[None]
    parts = [decoder(scheme)(TEXT[:, :PROMPT], prompt, 0, causal(0, PROMPT), buffer)]
    for n in range(PROMPT, TEXT.shape[1]):
        place = {"from 0": 0, "one too high": n + 1, "slots": SLOTS + n - PROMPT}.get(way, n)
        mask = whole if way == "empty slots seen" else causal(n, 1)
        new = TEXT[:, n : n + 1]
        parts.append(decoder(scheme)(new, torch.tensor([[place]]), n, mask, buffer))
    return error(torch.cat(parts, 1), unbatched_logits(scheme))


@torch.no_grad()
def drafts(scheme: str, way: str) -> float:
    """Return the error after a draft of four tokens was verified and its last two were rejected."""
    check_way("drafts", way)
    buffer, kept = empty(), PROMPT + 2
    draft = torch.cat((TEXT[:, PROMPT:kept], torch.tensor([[1, 48]])), 1)
    model, prompt = decoder(scheme), torch.arange(PROMPT)[None]
    high = int(way == "draft one too high")
    parts = [model(TEXT[:, :PROMPT], prompt, 0, causal(0, PROMPT), buffer)]
    at = torch.arange(PROMPT, PROMPT + 4)[None] + high
    parts.append(model(draft, at, PROMPT, causal(PROMPT, 4), buffer)[:, :2])

    left = way in ("cache kept", "both kept", "rejected hidden")  # the rejected keys stay
    slot = kept + 2 * left
    place = kept + 2 * (way in ("position kept", "both kept"))
    mask = causal(slot, 1)
    if way == "rejected hidden":
        mask[..., kept:slot] = False
    parts.append(model(TEXT[:, kept:], torch.tensor([[place]]), slot, mask, buffer))
    return error(torch.cat(parts, 1), unbatched_logits(scheme))
