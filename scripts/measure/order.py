"""Which of two letters came first: a task that depends on order alone.

A text has n letters, among them one A and one B, and then a question mark. The answer is Yes if A
comes before B. A model that does not see order can only guess.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from posenc.nn import GPTModel
from posenc.nn.gpt import Places
from scripts.measure import schemes
from scripts.measure.training import Settings, generator

A, B, QUESTION, YES, NO, FIRST = range(6)
LETTERS = 32  # other letters, with ids from FIRST on
SHORTEST = 4
TEXTS = 1000  # evaluated at each length
NEVER_TRAINED = 900_000  # more than any training step, so that the random seeds differ

# Without a causal mask, as in BERT.
ENCODER = "none, encoder"


class Encoder(GPTModel):
    """The same model without a causal mask: each token attends to all, without positions."""

    def _places(
        self, past: int, length: int, padding: Tensor | None, documents: Tensor | None
    ) -> Places:
        """Return places with a mask that lets every token attend to every other."""
        places = super()._places(past, length, padding, documents)
        return places._replace(mask=torch.ones_like(places.mask))


def model(settings: Settings, method: str, longest: int, seed: int) -> GPTModel:
    """Return an untrained model."""
    torch.manual_seed(seed)
    longest += 1  # with the question mark
    if method == ENCODER:
        return Encoder(
            *(FIRST + LETTERS, longest, settings.width, settings.heads, settings.layers), "none"
        )
    return schemes.untrained_model(
        method,
        vocab=FIRST + LETTERS,
        width=settings.width,
        heads=settings.heads,
        layers=settings.layers,
        trained=settings.length + 1,
        longest=longest,
    )


def texts(count: int, length: int, chance: torch.Generator) -> tuple[Tensor, Tensor]:
    """Return texts with their question, (count, length + 1), and their answers, (count,)."""
    ids = torch.randint(FIRST, FIRST + LETTERS, (count, length + 1), generator=chance)
    places = torch.rand(count, length, generator=chance).argsort(dim=1)[
        :, :2
    ]  # two different places
    ids.scatter_(1, places, torch.tensor([A, B]).expand(count, 2))
    ids[:, -1] = QUESTION
    return ids, torch.where(places[:, 0] < places[:, 1], YES, NO)


def batch(settings: Settings, seed: int, step: int) -> tuple[Tensor, Tensor]:
    """Return the texts and answers of one step, all of one length, at most the trained length."""
    chance = generator(seed, step)
    length = int(torch.randint(SHORTEST, settings.length + 1, (), generator=chance))
    return texts(settings.batch, length, chance)


def loss(model: nn.Module, ids: Tensor, answers: Tensor) -> Tensor:
    """Return the mean cross-entropy of the answer, in nats."""
    return cross_entropy(model(ids)[:, -1], answers)


@torch.inference_mode()
def evaluate(model: GPTModel, lengths: Sequence[int], seed: int) -> dict[str, object]:
    """Return the accuracy by length; the texts are the same for every method."""
    device, shares = next(model.parameters()).device, {}
    for length in lengths:
        ids, answers = texts(TEXTS, length, generator(seed, NEVER_TRAINED + length))
        right = 0
        for some, answer in zip(torch.split(ids, 100), torch.split(answers, 100), strict=True):
            logits = model(some.to(device))[:, -1].cpu()
            right += int(((logits[:, YES] > logits[:, NO]) == (answer == YES)).sum())
        shares[str(length)] = right / TEXTS
    return {"by_length": shares}
