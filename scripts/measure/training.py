"""The one way in which every model here is trained, and gone on with where it was stopped."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

SAVE_EVERY = 100  # steps: a minute's work at most is done twice

# The loss of one step: the model, the step.
Loss = Callable[[nn.Module, int], Tensor]


@dataclass(frozen=True)
class Settings:
    """The size of a model and how it is trained; the same for every method."""

    width: int = 128
    heads: int = 4
    layers: int = 3
    length: int = 64  # of a text in training
    batch: int = 32
    steps: int = 1600
    warm_up: int = 100
    rate: float = 2e-3  # the highest, from which it falls to nothing along half a cosine


def train(
    model: nn.Module, loss: Loss, settings: Settings, checkpoint: Path, stamp: object
) -> list[float]:
    """Train the model in place, and return the loss of each step.

    What has been done is kept in `checkpoint` from time to time, under a `stamp` that says what
    it is of, and taken up from there.
    """
    optimizer = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rate(settings, step))
    kept = {"model": model, "optimizer": optimizer, "schedule": schedule}
    losses = _take_up(checkpoint, stamp, kept)
    model.train()
    for step in range(len(losses), settings.steps):
        value = loss(model, step)
        optimizer.zero_grad()
        torch.autograd.backward(value)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(value.item())
        if (step + 1) % SAVE_EVERY == 0:
            _keep(checkpoint, stamp, kept, losses)
    model.eval()
    return losses


def rate(settings: Settings, step: int) -> float:
    """Return how far a step goes."""
    if step < settings.warm_up:
        return settings.rate * (step + 1) / settings.warm_up
    done = (step - settings.warm_up) / max(1, settings.steps - settings.warm_up)
    return settings.rate * (1 + math.cos(math.pi * done)) / 2


def generator(seed: int, step: int) -> torch.Generator:
    """Return the chance of one step, which is the same for every method."""
    return torch.Generator().manual_seed(seed * 1_000_003 + step)


def stamp(settings: Settings, code: str, **other: Any) -> dict[str, Any]:
    """Return what a checkpoint says it is of."""
    return {**asdict(settings), "code": code, **other}


def _take_up(path: Path, stamp: object, kept: dict[str, Any]) -> list[float]:
    """Load what was done before of this very run, and return its losses."""
    try:
        found = torch.load(path, weights_only=True)
    except (OSError, RuntimeError, ValueError, EOFError):  # none, or one that was torn
        return []
    if found.get("stamp") != stamp:
        return []
    for name, part in kept.items():
        part.load_state_dict(found[name])
    losses: list[float] = found["losses"]
    return losses


def _keep(path: Path, stamp: object, kept: dict[str, Any], losses: list[float]) -> None:
    """Write what was done, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    state = {name: part.state_dict() for name, part in kept.items()}
    beside = path.with_suffix(".new")
    torch.save({"stamp": stamp, "losses": losses, **state}, beside)
    beside.replace(path)
