"""The training loop of every model here, with checkpoints."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

SAVE_EVERY = 100  # steps, less than a minute of work

# Returns the loss of one step, given the model and the step.
Loss = Callable[[nn.Module, int], Tensor]


@dataclass(frozen=True)
class Settings:
    """The size of a model and how it is trained; the same for every method."""

    width: int = 128
    heads: int = 4
    layers: int = 3
    length: int = 64  # of a training text
    batch: int = 32
    steps: int = 1600
    warm_up: int = 100
    rate: float = 2e-3  # the peak learning rate, followed by a cosine decay to zero


def train(
    model: nn.Module,
    loss: Loss,
    settings: Settings,
    checkpoint: Path | None = None,
    stamp: object = None,
) -> list[float]:
    """Train the model in place, and return the loss of each step.

    The state is saved to `checkpoint`, if given, every `SAVE_EVERY` steps, and training resumes
    from it. The `stamp` identifies the run; a checkpoint with another stamp is ignored.
    """
    optimizer = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rate(settings, step))
    state = {"model": model, "optimizer": optimizer, "schedule": schedule}
    losses = _load(checkpoint, stamp, state) if checkpoint else []
    model.train()
    for step in range(len(losses), settings.steps):
        value = loss(model, step)
        optimizer.zero_grad()
        torch.autograd.backward(value)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(value.item())
        if checkpoint and (step + 1) % SAVE_EVERY == 0:
            _save(checkpoint, stamp, state, losses)
    model.eval()
    return losses


def rate(settings: Settings, step: int) -> float:
    """Return the learning rate of a step."""
    if step < settings.warm_up:
        return settings.rate * (step + 1) / settings.warm_up
    done = (step - settings.warm_up) / max(1, settings.steps - settings.warm_up)
    return settings.rate * (1 + math.cos(math.pi * done)) / 2


def generator(seed: int, step: int) -> torch.Generator:
    """Return the random number generator of one step, the same for every method."""
    return torch.Generator().manual_seed(seed * 1_000_003 + step)


def stamp(settings: Settings, code: str, **other: Any) -> dict[str, Any]:
    """Return the stamp that identifies a run in its checkpoint."""
    return {**asdict(settings), "code": code, **other}


def _load(path: Path, stamp: object, state: dict[str, Any]) -> list[float]:
    """Load the checkpoint of this run, if there is one, and return its losses."""
    try:
        found = torch.load(path, weights_only=True)
    except (OSError, RuntimeError, ValueError, EOFError):  # missing or damaged
        return []
    if found.get("stamp") != stamp:
        return []
    for name, part in state.items():
        part.load_state_dict(found[name])
    losses: list[float] = found["losses"]
    return losses


def _save(path: Path, stamp: object, state: dict[str, Any], losses: list[float]) -> None:
    """Write a checkpoint atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {name: part.state_dict() for name, part in state.items()}
    beside = path.with_suffix(".new")
    torch.save({"stamp": stamp, "losses": losses, **content}, beside)
    beside.replace(path)
