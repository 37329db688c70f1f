"""Cached keys that are moved to other positions, and how far the next logits then are from right.

`shift` drops tokens from a conversation and moves the keys after them, as llama.cpp does when its
window is full; `without` drops them in the same way for every scheme; `reuse` puts a chunk that was
read by itself behind a prefix. Each returns the error of the logits of the tokens that follow,
compared with those of a model that reads what is left afresh. Their weights are random;
`perplexity` moves the keys of a trained model.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from posenc.nn import Cache, GPTModel, RotaryEmbedding, relative_positions
from posenc.nn.gpt import Places
from scripts.measure.weights import TEXT, WEIGHTS, model_from_file

if TYPE_CHECKING:
    from collections.abc import Sequence

Layers = list[tuple[Tensor, Tensor]]  # the keys and values of each layer, (1, H, K, d) each
HEADS, D, VOCABULARY = 2, 16, 50
KEEP, DISCARD, LENGTH, NEW = 4, 8, 24, 4  # tokens kept, dropped, read before, and read after
PREFIX, CHUNK = 8, 12  # tokens before a reused chunk, and in it
FIRST = 4  # how many tokens of a chunk are read again behind the prefix
SHIFTS = (
    *("rotated", "not rotated", "wrong direction", "other layout", "values too"),
    *("short by n_keep", "positions go on", "nothing moved"),
)
WINDOW, AFTER = 64, 150  # the length of training, and how many bytes follow a full window
TRAINED = ("read again", "moved", "not rotated", "nothing dropped")
REUSES = ("moved", "not moved", "first anew", "all anew", "prefix not seen")


@cache
def decoder(layers: int, scheme: str = "rope") -> GPTModel:
    """Return a decoder in float64, with weights from a seed that give uneven attention."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = GPTModel(VOCABULARY, 64, HEADS * D, HEADS, layers, scheme).double()
        for parameter in model.parameters():
            if parameter.ndim == 2:
                nn.init.normal_(parameter, std=0.3)
    return model


def text(length: int, seed: int) -> Tensor:
    """Return random tokens, (1, length)."""
    return torch.randint(VOCABULARY, (1, length), generator=torch.Generator().manual_seed(seed))


def read(
    layers: int, ids: Tensor, first: int = 0, past: Layers | None = None, seen: Tensor | None = None
) -> tuple[Tensor, Layers]:
    """Return the logits of tokens at the positions from `first` on, and all keys and values.

    `seen`, (tokens, keys), says which keys a token may see; by default all up to its own.
    """
    model, held = decoder(layers), past[0][0].shape[2] if past else 0
    key, at = torch.arange(held + ids.shape[1]), torch.arange(first, first + ids.shape[1])
    causal = key <= key[held:, None]
    places = Places(at, relative_positions(at, key), causal if seen is None else causal & seen)
    x, present = model.embedding(ids), []
    for layer, block in enumerate(model.blocks):
        x, _, keys_values = block(x, places, past[layer] if past else None)
        present.append(keys_values)
    logits = nn.functional.linear(model.norm(x), model.embedding.token_embedding.weight)
    return logits, present


def moved(keys: Tensor, by: int, layout: str = "interleaved") -> Tensor:
    """Return rotated keys, (…, K, d), rotated further, as if they were `by` positions later."""
    rope = RotaryEmbedding(keys.shape[-1], layout=layout)
    turned: Tensor = rope(keys, positions=torch.full(keys.shape[-2:-1], by))
    return turned


def dropped(layers: Layers, keep: int, discard: int) -> Layers:
    """Return a cache without the `discard` tokens after the first `keep`; no key is rotated."""
    rest = keep + discard
    return [
        (
            torch.cat((k[:, :, :keep], k[:, :, rest:]), 2),
            torch.cat((v[:, :, :keep], v[:, :, rest:]), 2),
        )
        for k, v in layers
    ]


def context_shift(layers: Layers, keep: int, discard: int) -> Layers:
    """Return a cache without the `discard` tokens after the first `keep`; later keys move back."""
    return [
        (torch.cat((k[:, :, :keep], moved(k[:, :, keep:], -discard)), 2), v)
        for k, v in dropped(layers, keep, discard)
    ]


@torch.no_grad()
def shift(layers: int, way: str, keep: int = KEEP) -> float:
    """Return the error after tokens were dropped and the keys after them moved in some way."""
    check_way(way, SHIFTS)
    ids, new = text(LENGTH, 1), text(NEW, 2)
    left = torch.cat((ids[:, :keep], ids[:, keep + DISCARD :]), 1)
    right = read(layers, torch.cat((left, new), 1))[0][:, -NEW:]

    past = read(layers, ids)[1]
    first = left.shape[1] + DISCARD * (way in ("positions go on", "nothing moved"))
    by = {"wrong direction": DISCARD, "short by n_keep": keep - DISCARD}.get(way, -DISCARD)
    layout = "half" if way == "other layout" else "interleaved"
    held = context_shift(past, keep, DISCARD)
    if way in ("not rotated", "nothing moved"):
        held = dropped(past, keep, DISCARD)
    elif way in ("wrong direction", "short by n_keep", "other layout"):
        held = [
            (torch.cat((k[:, :, :keep], moved(k[:, :, keep:], by, layout)), 2), v)
            for k, v in dropped(past, keep, DISCARD)
        ]
    elif way == "values too":
        held = [(k, torch.cat((v[:, :, :keep], moved(v[:, :, keep:], by)), 2)) for k, v in held]
    return error(read(layers, new, first, held)[0], right)


@torch.no_grad()
def without(scheme: str, layers: int) -> float:
    """Return the error if tokens are dropped from a cache and, with RoPE, later keys are moved."""
    model, held = decoder(layers, scheme), Cache()
    ids, new = text(LENGTH, 1), text(NEW, 2)
    model(ids, cache=held)
    drop = context_shift if scheme == "rope" else dropped
    held.layers = drop(held.layers, KEEP, DISCARD)
    left = torch.cat((ids[:, :KEEP], ids[:, KEEP + DISCARD :]), 1)
    return error(model(new, cache=held), model(torch.cat((left, new), 1))[:, -NEW:])


@torch.no_grad()
def reuse(layers: int, way: str) -> float:
    """Return the error if a chunk that was read by itself is put behind a prefix."""
    check_way(way, REUSES)
    prefix, chunk, new = text(PREFIX, 3), text(CHUNK, 4), text(NEW, 5)
    whole = torch.cat((prefix, chunk, new), 1)
    seen = torch.ones(whole.shape[1], whole.shape[1], dtype=torch.bool)
    if way == "prefix not seen":  # in the model that is right, too
        seen[PREFIX : PREFIX + CHUNK, :PREFIX] = False
    right = read(layers, whole, seen=seen)[0][:, -NEW:]

    again = {"first anew": FIRST, "all anew": CHUNK}.get(way, 0)  # read with the prefix in sight
    before = read(layers, whole[:, : PREFIX + again])[1]
    by = 0 if way == "not moved" else PREFIX
    held = [
        (torch.cat((k, moved(alone[:, :, again:], by)), 2), torch.cat((v, values[:, :, again:]), 2))
        for (k, v), (alone, values) in zip(before, read(layers, chunk)[1], strict=True)
    ]
    return error(read(layers, new, PREFIX + CHUNK, held)[0], right)


@cache
@torch.no_grad()
def perplexity(way: str) -> float:
    """Return the perplexity of a trained model after its window is full, over stretches of text.

    Whenever the window is full, the tokens after the first `KEEP` are dropped, half of them.
    """
    check_way(way, TRAINED)
    model, _ = model_from_file((WEIGHTS / "rope.bin").read_bytes())
    book = torch.frombuffer(bytearray(TEXT.read_bytes()), dtype=torch.uint8).long()
    windows = book.unfold(0, WINDOW + AFTER + 1, 32)
    discard, held, ids = (WINDOW - KEEP) // 2, Cache(), windows[:, :WINDOW]
    model(ids, cache=held)
    found = []
    for at in range(WINDOW, WINDOW + AFTER, discard):
        if way != "nothing dropped":
            ids = torch.cat((ids[:, :KEEP], ids[:, KEEP + discard :]), 1)
            if way == "read again":
                held = Cache()
                model(ids, cache=held)
            else:
                drop = context_shift if way == "moved" else dropped
                held.layers = drop(held.layers, KEEP, discard)
        new = windows[:, at : at + discard]
        ids = torch.cat((ids, new), 1)
        target = windows[:, at + 1 : at + discard + 1]
        found.append(nn.functional.cross_entropy(model(new, cache=held).mT, target))
    return math.exp(torch.stack(found).mean().item())


@cache
def drift(dtype: torch.dtype, distance: int, step: int = 1) -> float:
    """Return the relative error of keys that were moved back by steps and stored after each."""
    some = torch.Generator().manual_seed(0)
    keys = torch.randn(1, 1, 32, 128, generator=some, dtype=torch.float64)
    stored = moved(keys, distance).to(dtype)
    for _ in range(distance // step):
        stored = moved(stored, -step)
    return error(stored.double(), keys)


def error(found: Tensor, right: Tensor) -> float:
    """Return the norm of the difference over the norm of what is right."""
    return float((found - right).norm() / right.norm())


def check_way(way: str, ways: Sequence[str]) -> None:
    """Raise unless a way is known; taken for the right one, a misspelt way has no error."""
    if way not in ways:
        raise ValueError(f"way must be one of {', '.join(map(repr, ways))}; got {way!r}")
