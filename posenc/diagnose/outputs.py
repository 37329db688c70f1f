"""How the output of a model is read: the tensors inside, and one row for each sequence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from posenc.diagnose.answers import CannotTellError

COLUMNS = 512  # how many logits of a large vocabulary are compared


def output_tensors(output: Any) -> list[Tensor]:
    """Return every tensor in an output, also inside a mapping, a dataclass or a plain object."""
    if isinstance(output, Mapping):
        output = list(output.values())
    elif hasattr(output, "__dict__") and not isinstance(output, Tensor):
        output = list(vars(output).values())
    return [x for x in tree_leaves(output) if isinstance(x, Tensor)]


def first_floats(output: Any) -> Tensor | None:
    """Return the first floating tensor in an output that has axes, as a loss has not."""
    found = (x for x in output_tensors(output) if x.is_floating_point() and x.ndim and x.numel())
    return next(found, None)


def sequence_rows(tokens: Tensor, output: Any) -> Tensor:
    """Return the first floating tensor in an output with one row for each sequence of tokens.

    Raises:
        CannotTellError: there is none.
    """
    result = first_floats(output)
    if result is None:
        raise CannotTellError(
            "its output holds no floating-point tensor with a row for each sequence"
        )
    if result.is_meta:
        raise CannotTellError("it computes on the meta device, where tensors have no values")
    if len(result) == tokens.shape[0] * tokens.shape[1]:  # the tokens of all sequences in one axis
        result = result.reshape(*tokens.shape[:2], *result.shape[1:])
    if len(result) != len(tokens):
        raise CannotTellError(
            f"its output, of shape {tuple(result.shape)}, has no row for each of"
            f" {len(tokens)} sequences"
        )
    return result


def comparable(tokens: Tensor, output: Any) -> Tensor:
    """Return the rows of an output as float64 on the CPU, at most `COLUMNS` logits of each.

    Raises:
        CannotTellError: there are none, or they are not finite.
    """
    result = sequence_rows(tokens, output)
    if result.shape[-1] > COLUMNS and result.shape[-1] != tokens.shape[1]:
        result = result[..., spread(result.shape[-1], COLUMNS).to(result.device)]
    if not result.isfinite().all():
        raise CannotTellError("its outputs are not all finite numbers")
    return result.cpu().double()  # moved first: not every device has float64


def spread(count: int, most: int) -> Tensor:
    """Return the indices of `count` entries, or of `most` of them at equal distances."""
    return torch.linspace(0, count - 1, min(count, most)).round().long()


def real_tensors(output: Any) -> list[Tensor]:
    """Return copies of all tensors of real numbers in an output, in float64 on the CPU."""
    found = (x for x in output_tensors(output) if not x.is_meta and not x.is_complex())
    return [x.cpu().double().nan_to_num() for x in found]


def differ(first: list[Tensor], second: list[Tensor], tolerance: float) -> bool:
    """Say whether two lists of tensors differ by more than rounding.

    `tolerance` is relative to the largest entry that differs at all.
    """
    return len(first) != len(second) or any(
        _tensors_differ(x, y, tolerance) for x, y in zip(first, second, strict=True)
    )


def _tensors_differ(x: Tensor, y: Tensor, tolerance: float) -> bool:
    if x.shape != y.shape:
        return True
    moved = x != y
    gaps, sizes = (x - y)[moved].abs(), x[moved].abs()
    return bool(moved.any()) and float(gaps.max()) > tolerance * float(sizes.max())
