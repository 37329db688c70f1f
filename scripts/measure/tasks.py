"""Trains and evaluates one run of a task, and returns its result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from posenc.nn import GPTModel
from scripts.measure import far, further, language, renumbered, result_files
from scripts.measure.corpus import BOOK, corpus
from scripts.measure.kinds import ASKED, READ
from scripts.measure.methods import VARIANTS, Variant, as_trained
from scripts.measure.order import ENCODER
from scripts.measure.probe import probe
from scripts.measure.schemes import WINDOWED
from scripts.measure.training import Settings, stamp, train

# How a model that answers one question is read, by the names of the results: as it was trained, and
# with windows also as for predicting text.
ASKED_VARIANTS: dict[str, dict[str, Variant]] = {
    method: {method: as_trained} for method in (*VARIANTS, ENCODER)
}
ASKED_VARIANTS |= {method: VARIANTS[method] for method in WINDOWED}


def result(
    task: str,
    method: str,
    seed: int,
    settings: Settings,
    lengths: Sequence[int],
    device: str,
    checkpoint: Path,
    text: str = BOOK,
) -> dict[str, Any]:
    """Return the result of one run, trained on the text of this name, with its settings."""
    mark = stamp(settings, result_files.code(), task=task, method=method, seed=seed, text=text)
    run = _read if task in READ else _task_result
    given = (task, method, seed, settings, lengths, device, checkpoint, mark, text)
    model, losses, found, facts = run(*given)
    return {
        "task": task,
        "method": method,
        "seed": seed,
        "settings": asdict(settings),
        "lengths": list(lengths),
        "found": result_files.rounded_numbers(found),
        "losses": [round(loss, 4) for loss in losses[:: max(1, len(losses) // 50)]],
        "parameters": sum(weights.numel() for weights in model.parameters()),
        "probe": list(probe(task, method)),
        "corpus": facts,
    }


def _read(
    task: str,
    method: str,
    seed: int,
    settings: Settings,
    lengths: Sequence[int],
    device: str,
    checkpoint: Path,
    mark: object,
    name: str,
) -> tuple[GPTModel, list[float], dict[str, Any], dict[str, Any]]:
    text = corpus(name)
    model = language.model(settings, method, max(lengths), seed).to(device)

    def loss(model: nn.Module, step: int) -> Tensor:
        windows = language.batch(text.training, settings, seed, step)
        return language.loss(model, windows.to(device))

    losses = train(model, loss, settings, checkpoint, mark)
    found = READ[task](model, method, text, settings.length, lengths, seed)
    return model, losses, found, text.facts()


def _task_result(
    task: str,
    method: str,
    seed: int,
    settings: Settings,
    lengths: Sequence[int],
    device: str,
    checkpoint: Path,
    mark: object,
    name: str,
) -> tuple[GPTModel, list[float], dict[str, Any], dict[str, Any]]:
    asked = ASKED[task]
    model: GPTModel = asked.model(settings, method, max(lengths), seed).to(device)

    def loss(model: nn.Module, settings: Settings, step: int) -> Tensor:
        ids, answers = asked.batch(settings, seed, step)
        found: Tensor = asked.loss(model, ids.to(device), answers.to(device))
        return found

    losses = train(
        model, lambda model, step: loss(model, settings, step), settings, checkpoint, mark
    )
    if task == "further_retrieval":
        variants = further.variants(settings, loss) | renumbered.READINGS
    elif (task, method) == ("far", "rope"):
        variants = further.variants(settings, loss, far.RULES) | far.READINGS
    else:
        variants = ASKED_VARIANTS[method]
    rows = settings.length + 1  # with the question mark
    found = {
        name: merged(
            asked.evaluate(variant(model, rows, length + 1), [length], seed) for length in lengths
        )
        for name, variant in variants.items()
    }
    return model, losses, found, {"text": "made up"}


def merged(parts: Iterable[Mapping[str, Mapping[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Return the results at several lengths as one, from those at each length."""
    found: dict[str, dict[str, Any]] = {}
    for part in parts:
        for key, by_length in part.items():
            found.setdefault(key, {}).update(by_length)
    return found
