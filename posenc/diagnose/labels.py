"""Labels for positions: an integer for each, and the same one where two positions are equal."""

from __future__ import annotations

import math

import torch
from torch import Tensor

HIDDEN = -1e8  # a key with such a bias, or a lower one, has weight 0 in any dtype


def position_labels(x: Tensor, length: int) -> tuple[int, Tensor]:
    """Return how many axes of a tensor count positions, and a label for each position, (length,).

    With one axis, positions are equal if their rows are, to the last bit. With two, queries and
    keys, they are equal if one query sees the keys there with the same bias.
    """
    axes = [axis for axis, size in enumerate(x.shape) if size == length]
    if len(axes) == 2:
        seen, biases = visible_keys(x.movedim(axes, (0, 1)).reshape(length, length, -1))
        return 2, labels_of_all_keys(seen, _exact_labels(biases))
    return len(axes), _exact_labels(x.movedim(axes[0], 0))


def combined_labels(labels: list[Tensor]) -> Tensor:
    """Return labels that are the same for two positions where all of these labels are."""
    return _kinds(torch.stack(labels, dim=1))


def labels_of_all_keys(seen: Tensor, labels: Tensor) -> Tensor:
    """Return labels for all keys, given those of the keys that are seen.

    All others get negative labels, no two alike.
    """
    numbers = -1 - torch.arange(len(seen))
    numbers[seen] = labels
    return numbers


def visible_keys(bias: Tensor) -> tuple[Tensor, Tensor]:
    """Return which keys, up to its own, one query sees, (key,), and with which biases, (seen, …).

    The query is the one that sees the most keys, and the last of those. The bias, (query, key, …),
    may run backwards.
    """
    if _runs_backwards(bias):
        bias = bias.flip(0)
    visible = (bias > hidden_below(bias.dtype)).any(dim=2).cpu()
    keys = torch.arange(len(bias))
    query = int((visible.sum(dim=1) * len(bias) + keys).argmax())
    seen = visible[query] & (keys <= query)
    return seen, bias[query][seen.to(bias.device)]


def hidden_below(dtype: torch.dtype) -> float:
    """Return the largest bias in this dtype that hides a key."""
    return max(HIDDEN, torch.finfo(dtype).min / 2)


def _runs_backwards(bias: Tensor) -> bool:
    """Say whether the last query comes first, as in a view of one bias a relative position."""
    along, against = ((bias[1:, 1:], bias[:-1, :-1]), (bias[1:, :-1], bias[:-1, 1:]))
    return not torch.equal(*along) and torch.equal(*against)


def _exact_labels(rows: Tensor) -> Tensor:
    """Return a label for each row, the same where rows are equal to the last bit."""
    real = torch.view_as_real(rows) if rows.is_complex() else rows
    return _kinds(real.detach().cpu().double().reshape(len(rows), -1))


def rounded_labels(rows: Tensor) -> Tensor:
    """Return a label for each row, the same where rows are equal except for their last digits."""
    flat = rows.detach().cpu().double().reshape(len(rows), -1)
    first = (torch.cdist(flat, flat, p=math.inf) <= rounding(rows).cpu()).int().argmax(dim=1)
    return _kinds(first[:, None])


def rounding(x: Tensor) -> Tensor:
    """Return a difference that rounding may make in a sum of some numbers of this size."""
    return 64 * torch.finfo(x.dtype).eps * x.abs().max().double()


def _kinds(rows: Tensor) -> Tensor:
    """Return for each row the number, from 0, of the kind it belongs to."""
    kinds: Tensor = torch.unique(rows, dim=0, return_inverse=True)[1]
    return kinds
