"""A hundred models of a kind, drawn with a hundred seeds: random widths, heads, layers and forms.

The kinds are written in the tests of the question they are about, in as many ways as people write
such models. Their tests are not traced for coverage, since all of them run the same lines.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch

from posenc import nn
from posenc.diagnose.answers import Diagnosis
from tests.diagnose.models import VOCAB, Maker, Model, Reader

HUNDRED = range(100)


class Chance(random.Random):
    """Draws a model's form; its weights come from torch's own generator, with the same seed."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        torch.default_generator.manual_seed(seed)  # and not those of GPUs, which takes longer

    def one(self, *makers: Maker) -> Model:
        return self.choice(makers)()

    def form(self, *layers: int) -> dict[str, Any]:
        sizes = {"d_model": self.choice([8, 16, 32]), "heads": self.choice([1, 2])}
        return sizes | {"layers": self.choice(layers or (1, 2))}

    def gpt(self, *schemes: str, layers: tuple[int, ...] = (1, 2), rows: int = 64) -> Model:
        return nn.GPTModel(VOCAB, rows, **self.form(*layers), pos_type=self.choice(schemes))

    def rotary(self, layout: str | None = None, rotary_d: int | None = None) -> Model:
        form = self.form()
        d = form["d_model"] // form["heads"]
        layout = layout or self.choice(["half", "interleaved"])
        return Reader(
            **form, rotary=lambda: nn.RotaryEmbedding(d, layout=layout, rotary_d=rotary_d)
        )


def verdicts(make: Callable[[Chance], Model], ask: Callable[[Model], Diagnosis]) -> set[str]:
    """Return the verdicts on a hundred models of a kind."""
    return {ask(make(Chance(seed))).verdict for seed in HUNDRED}


def statuses(make: Callable[[Chance], Model], ask: Callable[[Model], Diagnosis]) -> set[str]:
    return {ask(make(Chance(seed))).status for seed in HUNDRED}
