"""Predicting the next byte again: the models of `language`, read through a window or rescaled.

A window is the plain way to read a long text with a model of short ones. There are two: the
attention of every layer is cut off after as many keys as a training text had (with three layers,
what a byte is predicted from reaches three times as far back); or the model reads as many bytes as
a training text had, anew for each byte that it predicts. The second asks nothing of the scheme.

Of RoPE, YaRN is read with other limits and temperatures. Training is that of `language`, so what a
model gives as trained is there too, and must be equal.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import partial
from typing import Any

from torch import Tensor

from posenc.nn import GPTModel
from posenc.nn.gpt import Places
from scripts.measure.corpus import Corpus
from scripts.measure.language import evaluate, surprise, windows
from scripts.measure.methods import Variant, as_trained, rope_yarn

METHODS = ("rope",)
# YaRN's limits by the paper's formula, in turns: α, then β.
SLOW, FAST = (0.5, 1.0, 2.0), (4.0, 8.0, 16.0, 32.0)
# YaRN's temperature is 0.1 · mscale · ln(factor) + 1, with an `mscale` of 1 in the paper.
TEMPERATURES = (0.0, 2.0)


class Windowed(GPTModel):
    """The same model, in which a token attends to itself and the `window` - 1 tokens before it."""

    window: int
    sinks: int = 0  # how many of the first tokens it attends to as well

    def _places(
        self, past: int, length: int, padding: Tensor | None, documents: Tensor | None
    ) -> Places:
        """Return places with a mask that hides the other tokens."""
        places = super()._places(past, length, padding, documents)
        seen = (places.relative > -self.window) | (places.positions < self.sinks)
        return places._replace(mask=places.mask & seen)


def with_trained_window(model: GPTModel, trained: int, length: int, sinks: int = 0) -> GPTModel:
    """Return a copy in which no layer attends to more keys than in training, sinks among them."""
    changed = copy.deepcopy(model)
    changed.__class__ = Windowed  # which has the same parameters
    assert isinstance(changed, Windowed)
    changed.window, changed.sinks = trained - sinks, sinks
    return changed


def limited_yarn_name(slow: float, fast: float, mscale: float = 1.0) -> str:
    """Return the name of YaRN with these limits, such as "rope, YaRN 1 to 32, mscale 0"."""
    return f"rope, YaRN {slow:g} to {fast:g}{'' if mscale == 1 else f', mscale {mscale:g}'}"


def released_yarn_name(mscale: float) -> str:
    """Return the name of YaRN as released with another temperature."""
    return f"rope, YaRN as released, mscale {mscale:g}"


def variants(method: str) -> dict[str, Variant]:
    """Return how the model of a method is read, by name; a sliding window comes beside these."""
    found: dict[str, Variant] = {method: as_trained}
    found[f"{method}, window"] = with_trained_window
    if method == "rope":
        found |= {
            limited_yarn_name(slow, fast): partial(rope_yarn, slow=slow, fast=fast)
            for slow in SLOW
            for fast in FAST
        }
        found |= {
            limited_yarn_name(1, fast, 0): partial(rope_yarn, fast=fast, mscale=0) for fast in FAST
        }
        found |= {
            released_yarn_name(mscale): partial(rope_yarn, ramp="pairs", mscale=mscale)
            for mscale in TEMPERATURES
        }
    return found


def evaluate_all(
    model: GPTModel,
    method: str,
    text: Corpus,
    trained: int,
    lengths: Sequence[int],
    seed: int,
    rounds: int = 0,
) -> dict[str, dict[str, Any]]:
    """Return what `language.evaluate` returns for each variant, then the loss when sliding."""
    found = {
        name: evaluate(model, variant, text, trained, lengths)
        for name, variant in variants(method).items()
    }
    found[f"{method}, sliding"] = sliding_loss(model, text, trained, max(lengths))
    return found


def sliding_loss(model: GPTModel, text: Corpus, trained: int, longest: int) -> dict[str, Any]:
    """Return the loss over the last bytes if each is predicted from the `trained` bytes before it.

    What lies further back is not read, so the loss at twice the length is that at any longer one.
    """
    read = windows(text.held_out, 2 * trained, longest)
    each = read[:, 1:].unfold(1, trained + 1, 1).flatten(0, 1)  # one per byte to predict
    device = next(model.parameters()).device
    return {"by_length": {str(2 * trained): surprise(model, each.to(device))[-1].item()}}
