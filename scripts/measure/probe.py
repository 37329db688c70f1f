"""Checks whether today's code still computes what the code behind a result did.

Comparing the source would not do: renaming a variable changes it, but not the results. So each
result file holds the losses of a probe, a tiny model on a made-up text, and today's code must
reproduce them. Processors round differently, and training amplifies that, in float32 beyond what an
error of one per cent changes. So the probe is computed in float64.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import Tensor, nn

from scripts.measure import language
from scripts.measure.corpus import split
from scripts.measure.kinds import ASKED, READ
from scripts.measure.schemes import FURTHER
from scripts.measure.training import Settings, generator, train

SETTINGS = Settings(width=32, heads=2, layers=2, length=16, batch=8, steps=4, warm_up=2)
LENGTHS = (16, 32)
SHARPER = 4.0  # scales the initial weights, which attend to all positions almost equally
ROUNDS = 1  # of LongRoPE's search: after many, rounding would decide which divisors are found
# With other vector instructions, losses differ by at most 5e-11. Changing what a scheme computes by
# one percent changes them by at least 6e-5.
TOLERANCE = 1e-8
DIGITS = 10  # after the point


@contextmanager
def in_float64() -> Iterator[None]:
    """Make new tensors float64."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@cache
@in_float64()
def probe(task: str, method: str) -> tuple[float, ...]:
    """Return the losses of the probe during training, then those of its variants afterwards."""
    asked = ASKED.get(task)  # or None for a task of reading
    made = asked.model if asked else language.model
    model = made(SETTINGS, method, max(LENGTHS), 0)
    with torch.no_grad():
        for weights in model.parameters():
            weights.mul_(SHARPER)
            if method in FURTHER:  # some of theirs are near zero at first, and would not show
                weights.add_(0.3 * torch.randn(weights.shape, generator=generator(0, 0)))
    text = split(" ".join(map(str, range(1000))).encode())  # the same in every Python

    def loss(model: nn.Module, step: int) -> Tensor:
        if not asked:
            return language.loss(model, language.batch(text.training, SETTINGS, 0, step))
        found: Tensor = asked.loss(model, *asked.batch(SETTINGS, 0, step))
        return found

    with TemporaryDirectory() as folder:
        losses = train(model, loss, SETTINGS, Path(folder, "probe.pt"), None)
    if asked:
        texts = (asked.texts(SETTINGS.batch, length, generator(0, 0)) for length in LENGTHS)
        losses += (asked.loss(model, *some).item() for some in texts)
    else:
        given = (model, method, text, SETTINGS.length, LENGTHS)
        found = READ[task](*given, seed=0, rounds=ROUNDS)
        losses += (loss for each in found.values() for loss in each["by_length"].values())
    return tuple(round(value, DIGITS) for value in losses)


def agrees_with(recorded: Sequence[float], computed: Sequence[float]) -> bool:
    """Return whether two probes agree up to rounding."""
    return len(recorded) == len(computed) and all(
        math.isclose(a, b, rel_tol=TOLERANCE) for a, b in zip(recorded, computed, strict=True)
    )
