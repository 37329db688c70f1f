"""A rotary model that reads a long text without training it further, with its far keys nearer.

    rope, self-extend        far keys in groups of as many positions as the length asks for
    rope, ReRoPE             far keys all at the same distance
    rope, leaky ReRoPE       far keys at distances that grow slowly
    rope, log n              all distances as they are, and queries scaled by log n
    rope, ReRoPE and log n   both, as in the code of ReRoPE
    rope, sinks              a window and the first few keys, which follow each other without a gap

Training is that of `language`, as in `again`. Near keys, less than half of the trained length back,
keep their distance in the first three and the fifth. Only log n alone meets a longer distance than
training had; leaky ReRoPE meets fractions. A layer rotates queries and keys once for keys that are
near and once for keys that are far; that the distances are those of `posenc` is tested.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from posenc import log_scale
from posenc.nn import GPTModel
from posenc.nn.gpt import Places, SelfAttention
from scripts.measure.corpus import Corpus
from scripts.measure.language import evaluate
from scripts.measure.methods import Variant, as_trained
from scripts.measure.reevaluate import with_trained_window
from scripts.measure.schemes import Inside, Layer

METHODS = ("rope",)
SINKS = 4  # as in the paper


@dataclass(frozen=True)
class Far:
    """From which distance on keys are far, and the positions that rotate queries and far keys."""

    window: int
    queries: Callable[[Tensor], Tensor]
    keys: Callable[[Tensor], Tensor]


class RenumberedLayer(Layer):
    """A layer of the model with RoPE that rotates twice, and may scale its queries."""

    far: Far | None
    trained: int | None  # the length beyond which queries are multiplied by log n, if any

    def inside(self, x: Tensor, q: Tensor, k: Tensor, places: Places) -> Inside:
        """Return queries and keys for near keys, and by how much the scores of far ones differ."""
        assert self.rope is not None
        at = places.positions
        if self.trained is not None:
            q = q * torch.from_numpy(log_scale(at.cpu().numpy(), self.trained)).to(q)[:, None]
        near_q, near_k = self.rope(q, positions=at), self.rope(k, positions=at)
        if self.far is None:
            return near_q, near_k, None
        far_q = self.rope(q, positions=self.far.queries(at))
        far_k = self.rope(k, positions=self.far.keys(at))
        differ = (far_q @ far_k.mT - near_q @ near_k.mT) / math.sqrt(self.d)
        return near_q, near_k, differ * (places.relative <= -self.far.window)


def with_sinks_and_window(model: GPTModel, trained: int, length: int) -> GPTModel:
    """Return a copy that sees the first keys and a window, together as many keys as in training.

    Positions are those within what it sees, as in the authors' code.
    """
    far = Far(trained - SINKS, lambda at: at.clamp(max=trained - 1), lambda at: at)
    return with_trained_window(with_positions(model, far), trained, length, SINKS)


def self_extended(model: GPTModel, trained: int, length: int) -> GPTModel:
    """Return a model that counts far keys in groups; up to the trained length the model itself."""
    if length <= trained:
        return model
    window, group = trained // 2, _group(trained, length)
    moved = window - window // group
    return with_positions(
        model, Far(window, lambda at: at // group + moved, lambda at: at // group)
    )


def rerope(
    model: GPTModel, trained: int, length: int, leaky: bool = False, scaled: bool = False
) -> GPTModel:
    """Return a model in which far distances stop growing, or grow slowly if `leaky`, likewise."""
    if length <= trained:
        return model
    window, step = trained // 2, 1 / _group(trained, length) if leaky else 0.0
    far = Far(window, lambda at: step * at + (1 - step) * window, lambda at: step * at)
    return with_positions(model, far, trained if scaled else None)


def with_log_scaling(model: GPTModel, trained: int, length: int) -> GPTModel:
    """Return a copy whose queries are multiplied by log n beyond the trained length."""
    return with_positions(model, None, trained)


READINGS: dict[str, Variant] = {
    "rope, self-extend": self_extended,
    "rope, ReRoPE": rerope,
    "rope, leaky ReRoPE": partial(rerope, leaky=True),
    "rope, log n": with_log_scaling,
    "rope, ReRoPE and log n": partial(rerope, scaled=True),
    "rope, sinks": with_sinks_and_window,
}


def evaluate_all(
    model: GPTModel,
    method: str,
    text: Corpus,
    trained: int,
    lengths: Sequence[int],
    seed: int,
    rounds: int = 0,
) -> dict[str, dict[str, Any]]:
    """Return what `language.evaluate` returns, as trained and in each of these ways."""
    return {
        name: evaluate(model, variant, text, trained, lengths)
        for name, variant in ({method: as_trained} | READINGS).items()
    }


def with_positions(model: GPTModel, far: Far | None, trained: int | None = None) -> GPTModel:
    """Return a copy whose layers rotate by these positions and scale queries beyond `trained`."""
    changed = copy.deepcopy(model)
    for part in changed.modules():
        if isinstance(part, SelfAttention):
            part.__class__ = RenumberedLayer  # which has the same parameters
            assert isinstance(part, RenumberedLayer)
            part.far, part.trained = far, trained
    return changed


def _group(trained: int, length: int) -> int:
    """Return how many positions make a group, so that no distance is too long.

    A little more than the least would be, so that twice, four and eight times the trained length
    have groups that divide the window.
    """
    return 2 * math.ceil(length / trained)
