"""Predicting the next byte of a text: trained on short windows, evaluated on long ones.

At every length the same bytes are predicted: the last ones of a window, as many as a training
window has. Only the length of the context before them differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from posenc.nn import GPTModel
from scripts.measure import longrope, schemes
from scripts.measure.corpus import BYTES, Corpus
from scripts.measure.methods import LONGROPE, VARIANTS, Variant, rope_longrope
from scripts.measure.training import Settings, generator

AT_ONCE = 2**13  # tokens per forward pass
STRETCH = 16  # positions averaged into one number of `by_position`
APART = 256  # bytes between the ends of neighbouring windows
SEARCHED = 32  # windows of the training text that decide a search


def model(settings: Settings, method: str, longest: int, seed: int) -> GPTModel:
    """Return an untrained model; a learned table has rows for the longest window."""
    torch.manual_seed(seed)
    return schemes.untrained_model(
        method,
        vocab=BYTES,
        width=settings.width,
        heads=settings.heads,
        layers=settings.layers,
        trained=settings.length,
        longest=longest,
    )


def batch(text: Tensor, settings: Settings, seed: int, step: int) -> Tensor:
    """Return windows of the training text, (batch, length + 1)."""
    last = len(text) - settings.length
    chance = generator(seed, step)
    starts = torch.randint(last, (settings.batch,), generator=chance)
    return text[starts[:, None] + torch.arange(settings.length + 1)]


def loss(model: nn.Module, windows: Tensor) -> Tensor:
    """Return the mean cross-entropy of the next byte, in nats."""
    return cross_entropy(model(windows[:, :-1]).flatten(0, 1), windows[:, 1:].flatten())


def windows(text: Tensor, length: int, longest: int) -> Tensor:
    """Return windows of a length, (windows, length + 1), ending where the longest ones end."""
    ends = torch.arange(longest + 1, len(text) + 1, APART)
    return text[ends[:, None] - torch.arange(length, -1, -1) - 1]


@torch.inference_mode()
def surprise(model: GPTModel, windows: Tensor) -> Tensor:
    """Return the mean cross-entropy at each position of the windows, (length,) float64."""
    length = windows.shape[1] - 1
    total = torch.zeros(length, dtype=torch.float64)
    for some in torch.split(windows, max(1, AT_ONCE // length)):
        logits = model(some[:, :-1])
        found = cross_entropy(logits.mT, some[:, 1:], reduction="none")  # (windows, length)
        total += found.double().sum(dim=0).cpu()
    return total / len(windows)


def evaluate(
    model: GPTModel, variant: Variant, text: Corpus, trained: int, lengths: Sequence[int]
) -> dict[str, Any]:
    """Return the loss over the last positions by length, and by position in the longest window."""
    longest, device = max(lengths), next(model.parameters()).device
    by_length, at = {}, torch.empty(0)
    for length in lengths:
        read = windows(text.held_out, length, longest).to(device)
        at = surprise(variant(model, trained, length), read)
        by_length[str(length)] = at[-trained:].mean().item()
    return {"by_length": by_length, "by_position": at.view(-1, STRETCH).mean(dim=1).tolist()}


def evaluate_all(
    model: GPTModel,
    method: str,
    text: Corpus,
    trained: int,
    lengths: Sequence[int],
    seed: int,
    rounds: int = longrope.ROUNDS,
) -> dict[str, dict[str, Any]]:
    """Return what `evaluate` returns for each variant; for LongRoPE also the divisors found."""
    found = {
        name: evaluate(model, variant, text, trained, lengths)
        for name, variant in VARIANTS[method].items()
    }
    if method == "rope":
        divisors = longrope_divisors(model, text.training, trained, lengths, seed, rounds)
        variant = partial(rope_longrope, divisors=divisors)
        found[LONGROPE] = evaluate(model, variant, text, trained, lengths)
        found[LONGROPE]["divisors"] = {str(n): list(some) for n, some in divisors.items()}
    return found


def longrope_divisors(
    model: GPTModel, text: Tensor, trained: int, lengths: Sequence[int], seed: int, rounds: int
) -> Mapping[int, longrope.Divisors]:
    """Return LongRoPE's divisors for each length beyond the trained one.

    The loss that the search reduces is that of the last positions, as in `evaluate`, but in a few
    windows of the training text, so nothing that is evaluated decides.
    """
    d, device = model.d_model // model.heads, next(model.parameters()).device

    def searched_loss(length: int) -> longrope.Divisors:
        settings = Settings(length=length, batch=SEARCHED)
        read = batch(text, settings, seed, length).to(device)

        def loss(divisors: longrope.Divisors) -> float:
            made = rope_longrope(model, trained, length, {length: divisors})
            return surprise(made, read)[-trained:].mean().item()

        factor = length / trained
        return longrope.search(
            loss,
            longrope.starts(d, factor, trained),
            longrope.MOST * factor,
            np.random.default_rng((seed, length)),
            rounds,
        )

    return {length: searched_loss(length) for length in lengths if length > trained}
