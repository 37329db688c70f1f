"""A rotary model trained further on longer texts: each rule gets as many tokens as every other.

Training is that of `language` or `retrieval`, as in `again`. Then a rule sets the frequencies for
a longer text, and the model is trained on texts of that length, for a tenth of the steps before,
at a quarter of the rate. A step reads as many tokens as before, so in fewer texts; a text with more
tokens than that is a step of its own, and there are fewer steps.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from torch import Tensor, nn

from posenc.nn import GPTModel
from scripts.measure import language
from scripts.measure.corpus import Corpus
from scripts.measure.language import evaluate
from scripts.measure.methods import (
    Variant,
    as_trained,
    rope_interpolated,
    rope_larger_base,
    rope_llama3,
    rope_ntk,
    rope_yarn_released,
    without_rope,
)
from scripts.measure.training import Settings, train

METHODS = ("rope",)
RULES: dict[str, Variant] = {
    "rope": as_trained,
    "rope, interpolated": rope_interpolated,
    "rope, NTK-aware": rope_ntk,
    "rope, larger base": rope_larger_base,
    "rope, Llama 3's rule": rope_llama3,
    "rope, YaRN as released": rope_yarn_released,
    "rope, dropped": without_rope,
}
FEWER_STEPS = 10
LOWER_RATE = 4

# Returns the loss of one step, given the model, the settings and the step.
LossWith: TypeAlias = Callable[[nn.Module, Settings, int], Tensor]


def further(settings: Settings, length: int) -> Settings:
    """Return the settings of a further training on texts of a length."""
    tokens = settings.batch * settings.length  # of a step
    texts = max(1, tokens // length)
    return replace(
        settings,
        length=length,
        batch=texts,
        steps=settings.steps // FEWER_STEPS * tokens // (texts * length),
        warm_up=settings.warm_up // FEWER_STEPS,
        rate=settings.rate / LOWER_RATE,
    )


def trained_further(
    model: GPTModel,
    trained: int,
    length: int,
    *,
    rule: Variant,
    settings: Settings,
    loss: LossWith,
) -> GPTModel:
    """Return a copy under a rule, trained on texts of this length if it is longer than before.

    `trained` and `length` count the tokens that a model reads, so a question mark too; the lengths
    of settings do not.
    """
    changed = copy.deepcopy(rule(model, trained, length))
    if length <= trained:
        return changed
    longer = further(settings, settings.length + length - trained)
    train(changed, lambda model, step: loss(model, longer, settings.steps + step), longer)
    return changed


def variants(
    settings: Settings, loss: LossWith, rules: Mapping[str, Variant] = RULES
) -> dict[str, Variant]:
    """Return each rule alone, and with further training, by name."""
    return dict(rules) | {
        further_name(name): partial(trained_further, rule=rule, settings=settings, loss=loss)
        for name, rule in rules.items()
    }


def further_name(name: str) -> str:
    """Return the name of a rule's result after further training."""
    return f"{name}, further"


def evaluate_all(
    model: GPTModel,
    method: str,
    text: Corpus,
    trained: int,
    lengths: Sequence[int],
    seed: int,
    rounds: int = Settings.steps // FEWER_STEPS,
) -> dict[str, dict[str, Any]]:
    """Return what `language.evaluate` returns for each variant, trained further for some steps."""
    device = next(model.parameters()).device

    def loss(model: nn.Module, settings: Settings, step: int) -> Tensor:
        return language.loss(model, language.batch(text.training, settings, seed, step).to(device))

    settings = Settings(length=trained, steps=rounds * FEWER_STEPS)
    return {
        name: evaluate(model, variant, text, trained, lengths)
        for name, variant in variants(settings, loss).items()
    }
