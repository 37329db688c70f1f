"""A key very far back: the texts of `retrieval`, up to 128 times as long as those of training.

A text is read in pieces, with a cache of the pieces before: the answers are the same, and no matrix
of scores has more rows than a piece. Where RoPE's far keys are renumbered, a text is read at once.
PoSE's model is trained with positions up to the longest text. RoPE's is read as it was trained,
under two rules for its frequencies, before and after a further training, and with far keys nearer.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from posenc.nn import Cache, GPTModel
from scripts.measure.further import RULES as ALL_RULES
from scripts.measure.renumbered import READINGS as ALL_READINGS
from scripts.measure.renumbered import RenumberedLayer
from scripts.measure.retrieval import NEVER_TRAINED, batch, loss, model, texts
from scripts.measure.schemes import FITTED, RENUMBERED
from scripts.measure.training import generator

__all__ = ["batch", "evaluate", "loss", "model", "texts"]

METHODS = (
    *("alibi", "kerple", "fire", "rope", "rope_pose", *FITTED),
    *("windows_rope", "windows_none"),
)
RULES = {name: ALL_RULES[name] for name in ("rope", "rope, interpolated", "rope, YaRN as released")}
READINGS = {name: ALL_READINGS[name] for name in ("rope, self-extend", "rope, ReRoPE and log n")}
TEXTS = 25  # evaluated at each length and distance
PIECE = 256  # letters
NEAR = 32  # letters, which is the longest distance of training


def distances(length: int) -> list[int]:
    """Return the distances evaluated at a length: one that training has, and the length itself."""
    return sorted({min(NEAR, length), length})


def evaluate(model: GPTModel, lengths: Sequence[int], seed: int) -> dict[str, Any]:
    """Return the accuracy by length, with keys anywhere, and by distance, as `retrieval` does."""
    anywhere = {str(length): accuracy(model, length, None, seed) for length in lengths}
    apart = {
        str(length): {str(far): accuracy(model, length, far, seed) for far in distances(length)}
        for length in lengths
    }
    return {"by_length": anywhere, "by_distance": apart}


def accuracy(model: GPTModel, length: int, distance: int | None, seed: int) -> float:
    """Return the share of texts in which the answer is the likeliest letter."""
    chance = generator(seed, NEVER_TRAINED + 1000 * length + (distance or 0))
    ids, answers = texts(TEXTS, length, chance, distance)
    count = 0
    for some, answer in zip(torch.split(ids, 5), torch.split(answers, 5), strict=True):
        count += int((last_logits(model, some).cpu().argmax(dim=1) == answer).sum())
    return count / TEXTS


@torch.inference_mode()
def last_logits(model: GPTModel, ids: Tensor) -> Tensor:
    """Return what the model says after the last token, read in pieces, (texts, letters)."""
    if any(isinstance(part, RenumberedLayer) for part in model.modules()):
        return torch.cat([model(text)[:, -1] for text in torch.split(ids, 1)])
    if isinstance(model, tuple(RENUMBERED.values())):  # evaluated with consecutive positions
        model = copy.copy(model)
        model.__class__ = GPTModel
    cache, device = Cache(), next(model.parameters()).device
    for piece in torch.split(ids, PIECE, dim=1):
        logits = model(piece.to(device), cache=cache)
    assert isinstance(logits, Tensor)
    return logits[:, -1]
