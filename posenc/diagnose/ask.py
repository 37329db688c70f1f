"""How a question is asked: its arguments are checked, and it is put to a copy of the model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn

from posenc._arguments import _shown, as_integer
from posenc._tensor_arguments import ACTIVATIONS, INTEGERS, check_range
from posenc.diagnose.answers import UNDETERMINED, CannotTellError, Diagnosis, answer
from posenc.diagnose.isolation import undisturbed
from posenc.diagnose.trial import Example, Trial


def ask(
    question: str,
    judge: Callable[[Trial], Diagnosis],
    model: object,
    example: object,
    *,
    exact: bool = True,
    cpu: bool = False,
    axis: int | None,
) -> Diagnosis:
    """Return what `judge` answers about a copy of the model, or that it cannot tell, and why.

    Raises:
        TypeError: see `posenc.nn.diagnose`.
        ValueError: see `posenc.nn.diagnose`.
    """
    checked, given = as_model(model), as_example(example)
    axis = as_axis(axis, given)
    try:
        with undisturbed():
            found = judge(Trial(checked, given, exact=exact, cpu=cpu, axis=axis))
    except CannotTellError as error:
        found = answer(UNDETERMINED, "cannot tell", f"Undetermined, because {error}.")
    return replace(found, question=question)


def as_model(model: object) -> nn.Module:
    """Return the model, which must be a module."""
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch.nn.Module; got {_shown(model)}")
    return model


def as_example(example: object) -> Example:
    """Return the example, which must be tokens, or a mapping with tokens in front, or None."""
    if example is None:
        return None
    tokens = next(iter(example.values()), None) if isinstance(example, Mapping) else example
    allowed = "a tensor of integers or reals, (batch, length, …), or a mapping with one in front"
    if not isinstance(tokens, Tensor):
        raise TypeError(f"example must be {allowed}; got {_shown(example)}")
    if tokens.dtype not in INTEGERS + ACTIVATIONS or tokens.layout is not torch.strided:
        raise TypeError(f"example must be {allowed}; got one of {tokens.dtype}")
    if tokens.ndim < 2 or not tokens.numel() or tokens.is_meta:
        got = "one on the meta device" if tokens.is_meta else f"shape {tuple(tokens.shape)}"
        raise ValueError(f"example must be {allowed}, not empty; got {got}")
    check_range("example", tokens.detach(), -math.inf, math.inf, "finite")
    return example if isinstance(example, Mapping) else tokens.detach()


def as_axis(value: object, example: Example) -> int | None:
    """Return the axis that counts tokens, which the example must have, or None."""
    if value is None:
        return None
    axis = as_integer("axis", value, least=1)
    tokens = next(iter(example.values())) if isinstance(example, Mapping) else example
    axes = 2 if tokens is None else tokens.ndim
    if axis >= axes:
        raise ValueError(f"axis must be below {axes}, the axes of the example; got {axis}")
    return axis
