"""Records of the operations that a model runs, with the arguments that have rows of positions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from posenc.diagnose.operations import Watcher, flat_arguments, name_of
from posenc.diagnose.trial import Trial

# Operations with a weight among their arguments. An axis of a weight is not one of positions, even
# if its size is the length of the sequence.
WEIGHTED = {"mm", "addmm", "linear", "native_layer_norm", "embedding", "convolution"}

# Operations that return memory as it is, which may hold rows of something else. Zeros do not.
UNWRITTEN = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"}

# Selects which arguments of an operation to keep, given its name and those that have rows.
Select: TypeAlias = Callable[[str, list[Tensor]], list[Tensor]]


class Recorder(Watcher, TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Keeps the name of every operation, and arguments that have an axis as long as the sequence.

    Args:
        length: how many tokens the sequence has.
        select: which of these arguments to keep. Of operations with weights none are.
    """

    def __init__(self, length: int, select: Select) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.length, self.select = length, select
        self.calls: list[tuple[str, list[Tensor]]] = []

    def see(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Visit the operation with those of its arguments that have rows."""
        name = name_of(func)
        arguments = () if name in WEIGHTED else flat_arguments((*args, *kwargs.values()))
        given = [x for x in arguments if _has_rows(x, self.length)]
        if name not in UNWRITTEN:
            return self.visit(name, given, lambda: func(*args, **kwargs))
        self.visit(name, [], lambda: None)
        unwritten: Tensor = func(*args, **kwargs)
        return unwritten.zero_()

    def visit(self, name: str, given: list[Tensor], run: Callable[[], Any]) -> Any:
        """Keep the selected arguments, then run the operation and return its result."""
        # Copied first, since the operation may write into them.
        self.calls.append((name, [x.clone() for x in self.select(name, given)]))
        return run()


def _has_rows(x: object, length: int) -> bool:
    """Say whether this is a dense tensor of reals or complex numbers with an axis of this size."""
    if not isinstance(x, Tensor) or x.is_nested or length not in x.shape:
        return False
    if not (x.is_floating_point() or x.is_complex()):
        return False
    return x.layout is torch.strided and x.numel() > 0


def recorded_operations(
    trial: Trial, tokens: Tensor, select: Select
) -> list[tuple[str, list[Tensor]]]:
    """Return the operations that the model runs on these tokens, with the selected arguments."""
    recorder = Recorder(tokens.shape[1], select)
    with recorder:
        trial.call(tokens)
    return recorder.calls


def paired_operations(
    trial: Trial, first: Tensor, second: Tensor, select: Select
) -> Iterator[tuple[str, list[Tensor], list[Tensor]]]:
    """Yield each operation with its arguments in a run on the first and on the second tokens.

    Operations without selected arguments are left out.
    """
    for (name, given), (_, other) in zip(
        recorded_operations(trial, first, select),
        recorded_operations(trial, second, select),
        strict=False,
    ):
        if given and [x.shape for x in given] == [x.shape for x in other]:
            yield name, given, other


def by_position(x: Tensor, length: int) -> Tensor:
    """Return a tensor with an axis of this length as (length, everything else), in float64."""
    real = torch.view_as_real(x) if x.is_complex() else x
    return real.movedim(real.shape.index(length), 0).reshape(length, -1).cpu().double()


def varies(rows: Tensor) -> bool:
    """Say whether some row differs from the first."""
    return bool((rows != rows[:1]).any())


def fingerprint(x: Tensor) -> bytes:
    """Return about four thousand entries of a tensor: enough to see if other tokens change it."""
    real = torch.view_as_real(x) if x.is_complex() else x
    flat = real.reshape(-1)
    return flat[:: flat.numel() // 4096 | 1].cpu().double().numpy().tobytes()


def digest(x: Tensor) -> int:
    """Return a number that is the same for tensors of one shape and one fingerprint."""
    return hash((x.shape, fingerprint(x)))
