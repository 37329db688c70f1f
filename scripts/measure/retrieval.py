"""A key far back: one letter of a text is a key, and the answer is the letter after it.

A text has n letters, one of them the key, and then a question mark. The answer is the letter that
stood after the key. Nothing else in the text tells it: every other letter is drawn at random. At
the trained length every distance between key and question mark is trained, beyond it none, so a
model answers only if what it learned about near keys holds for far ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from posenc.nn import GPTModel
from scripts.measure import schemes
from scripts.measure.training import Settings, generator

KEY, QUESTION, FIRST = range(3)
LETTERS = 16  # other letters, with ids from FIRST on
SHORTEST = 4
TEXTS = 250  # evaluated at each length and distance
NEVER_TRAINED = 900_000  # more than any training step, so that the random seeds differ
NEAREST = 4  # the first distance evaluated; then twice that, and so on


def model(settings: Settings, method: str, longest: int, seed: int) -> GPTModel:
    """Return an untrained model."""
    torch.manual_seed(seed)
    return schemes.untrained_model(
        method,
        vocab=FIRST + LETTERS,
        width=settings.width,
        heads=settings.heads,
        layers=settings.layers,
        trained=settings.length + 1,  # with the question mark, as below
        longest=longest + 1,
    )


def texts(
    count: int, length: int, chance: torch.Generator, distance: int | None = None
) -> tuple[Tensor, Tensor]:
    """Return texts with their question, (count, length + 1), and their answers, (count,).

    The key is `distance` letters before the question mark, or anywhere if that is None.
    """
    ids = torch.randint(FIRST, FIRST + LETTERS, (count, length + 1), generator=chance)
    places = torch.randint(length - 1, (count, 1), generator=chance)
    if distance is not None:
        places = torch.full_like(places, length - distance)
    answers = ids.gather(1, places + 1)[:, 0]
    ids.scatter_(1, places, KEY)
    ids[:, -1] = QUESTION
    return ids, answers


def batch(settings: Settings, seed: int, step: int) -> tuple[Tensor, Tensor]:
    """Return the texts and answers of one step, all of one length, at most the trained length."""
    chance = generator(seed, step)
    length = int(torch.randint(SHORTEST, settings.length + 1, (), generator=chance))
    return texts(settings.batch, length, chance)


def loss(model: nn.Module, ids: Tensor, answers: Tensor) -> Tensor:
    """Return the mean cross-entropy of the answer, in nats."""
    return cross_entropy(model(ids)[:, -1], answers)


def distances(length: int) -> list[int]:
    """Return the distances evaluated at a length: 4, 8, 16 and so on, up to the length."""
    found = [NEAREST]
    while 2 * found[-1] <= length:
        found.append(2 * found[-1])
    return found


def evaluate(model: GPTModel, lengths: Sequence[int], seed: int) -> dict[str, Any]:
    """Return the accuracy by length, with keys anywhere, and by distance.

    All methods get the same texts.
    """
    anywhere = {str(length): accuracy(model, length, None, seed) for length in lengths}
    apart = {
        str(length): {str(far): accuracy(model, length, far, seed) for far in distances(length)}
        for length in lengths
    }
    return {"by_length": anywhere, "by_distance": apart}


@torch.inference_mode()
def accuracy(model: GPTModel, length: int, distance: int | None, seed: int) -> float:
    """Return the share of texts in which the answer is the likeliest letter."""
    chance = generator(seed, NEVER_TRAINED + 1000 * length + (distance or 0))
    ids, answers = texts(TEXTS, length, chance, distance)
    device, count = next(model.parameters()).device, 0
    for some, answer in zip(torch.split(ids, 50), torch.split(answers, 50), strict=True):
        count += int((model(some.to(device))[:, -1].cpu().argmax(dim=1) == answer).sum())
    return count / TEXTS
