"""The parts of a model, each run on its own: which mix tokens, and whether those know positions."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection
from functools import cached_property, partial
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from posenc.diagnose.isolation import uncompiled_run
from posenc.diagnose.operations import registered_hooks, suppressed
from posenc.diagnose.outputs import first_floats
from posenc.diagnose.trial import Trial

# PyTorch's modules that compute each row, along the last axis, from that row alone. They are not
# tried, which saves time.
ROW_BY_ROW = {nn.Linear, nn.LayerNorm, nn.RMSNorm, nn.Dropout, nn.Identity}
ROW_BY_ROW |= {nn.GELU, nn.ReLU, nn.SiLU, nn.Tanh, nn.Sigmoid}

Arguments: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]  # by place, and by keyword


class Part:
    """A part of a model, and its arguments in three runs on sequences of equal shape.

    Args:
        module: the part.
        given: its arguments for the tokens that are changed here.
        other: for other tokens.
        same: for one token repeated.
        shape: (batch, length).
    """

    def __init__(
        self,
        module: nn.Module,
        given: Arguments,
        other: Arguments,
        same: Arguments,
        shape: torch.Size,
    ) -> None:
        self.module, self.given, self.other, self.shape = module, given, other, shape
        self.same = same
        pairs = zip(_keyed_arguments(given), _keyed_arguments(other), strict=False)
        self.keys = [key for (key, x), (_, y) in pairs if self._depends(x, y)]

    @cached_property
    def mixes(self) -> float:
        """How far its last output moves with the tokens before it, relative to its size."""
        changed = self._output_for(
            lambda key, x: torch.cat([_argument(self.other, key)[:, :-1], x[:, -1:]], dim=1)
        )
        return 0.0 if changed is None else self._output_changes(changed)[-1]

    def is_causal(self, tolerance: float) -> bool:
        """Say whether no output but the last depends on the last token."""
        changed = self._output_for(
            lambda key, x: torch.cat([x[:, :-1], _argument(self.other, key)[:, -1:]], dim=1)
        )
        return changed is not None and max(self._output_changes(changed)[:-1]) <= tolerance

    def receives_positions(self, tolerance: float) -> bool:
        """Say whether its input for one token repeated differs from place to place."""
        given = (_argument(self.same, key) for key in self.keys)
        return any(
            float((x - x[:, :1]).abs().max()) > tolerance * float(x.abs().max()) for x in given
        )

    def sees(self, order: Tensor, tolerance: float) -> bool:
        """Say whether its last output changes if its input is put in this order."""
        changed = self._output_for(lambda key, x: x[:, order.to(x.device)])
        return changed is not None and self._output_changes(changed)[-1] > tolerance

    def _depends(self, x: Any, y: Any) -> bool:
        """Say whether an argument has a row for each token, and changes with the tokens."""
        if not _has_tokens(x, self.shape) or not isinstance(y, Tensor):
            return False
        return x.shape == y.shape and bool((x != y).any())

    def _output_changes(self, changed: Tensor) -> list[float]:
        """Return how far the output moved at each place, relative to its size."""
        output = self._output
        assert output is not None
        moved = (changed - output).transpose(0, 1).flatten(1).abs().amax(dim=1)
        moved /= output.abs().max().clamp(min=torch.finfo(output.dtype).tiny)
        found: list[float] = moved.tolist()
        return found

    @cached_property
    def _output(self) -> Tensor | None:
        return self._run(*_copied_arguments(self.given))

    def _output_for(self, change: Callable[[Any, Tensor], Tensor]) -> Tensor | None:
        """Return the output for changed tokens, and other arguments as they were."""
        given = dict(_keyed_arguments(self.given))
        rest = {key: x for key, x in given.items() if key not in self.keys}
        new = {key: change(key, given[key]) for key in self.keys} | copy.deepcopy(rest)
        args, kwargs = self.given
        return self._run(tuple(new[i] for i in range(len(args))), {key: new[key] for key in kwargs})

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor | None:
        """Return the output for these arguments, or None if it has no row for each token.

        The arguments must be copies: the part may write into them, into a cache above all.
        """
        try:
            with uncompiled_run():
                result = first_floats(self.module(*args, **kwargs))
        except Exception:
            return None
        return result if result is not None and result.shape[:2] == self.shape else None


def mixing_parts(trial: Trial, tokens: Tensor, equal: dict[str, Arguments]) -> list[Part]:
    """Return the smallest parts of a model in which tokens see one another.

    `equal` has the arguments of parts for one token repeated, by name.
    """
    given, _ = first_call_arguments(trial, tokens, equal)
    given = {name: called for name, called in given.items() if _has_rows(called, tokens.shape[:2])}
    other, _ = first_call_arguments(trial, trial.other(tokens), given)
    parts: dict[str, Part] = {}
    for name, module in reversed([*trial.model.named_modules()]):  # inner parts first
        if name not in other:
            continue
        if any(_contains(name, inner) for inner in parts):  # so it is not the smallest
            continue
        part = Part(module, given[name], other[name], equal[name], tokens.shape[:2])
        if part.keys and part.mixes:
            parts[name] = part
    return [*parts.values()]


def _contains(outer: str, inner: str) -> bool:
    """Say whether one module is inside another, by their names."""
    return f".{inner}.".startswith(f".{outer}.".replace("..", "."))


def first_call_arguments(
    trial: Trial, tokens: Tensor, parts: Collection[str]
) -> tuple[dict[str, Arguments], Any]:
    """Return the arguments of each part's first call for these tokens, and the model's output."""
    first: dict[str, Arguments] = {}

    def keep(name: str, part: nn.Module, args: Any, kwargs: Any) -> None:
        if name not in first:
            with suppressed():
                first[name] = _copied_arguments((args, kwargs))

    with registered_hooks(
        part.register_forward_pre_hook(partial(keep, name), with_kwargs=True)
        for name, part in trial.model.named_modules()
        if name in parts
    ):
        output = trial.call(tokens)
    return first, output


def may_mix(model: nn.Module) -> list[str]:
    """Return the names of all parts of a model except those that work row by row."""
    return [name for name, part in model.named_modules() if not _row_by_row(part)]


def _row_by_row(part: nn.Module) -> bool:
    """Say whether a part is one of PyTorch's, unchanged, that computes each row from that row."""
    if part._forward_hooks or part._forward_pre_hooks or "forward" in vars(part):
        return False
    if type(part) is nn.Sequential:
        return all(map(_row_by_row, part))
    if isinstance(part, nn.LayerNorm | nn.RMSNorm) and len(part.normalized_shape) > 1:
        return False
    return type(part) in ROW_BY_ROW


def _copied_arguments(arguments: Arguments) -> Arguments:
    """Return a deep copy. Plain tensors are cloned, which is faster."""
    plain = (x for _, x in _keyed_arguments(arguments) if type(x) is Tensor and not x.requires_grad)
    return copy.deepcopy(arguments, {id(x): x.clone() for x in plain})


def _has_rows(arguments: Arguments, shape: torch.Size) -> bool:
    """Say whether one of the arguments has a row for each token."""
    return any(_has_tokens(x, shape) for _, x in _keyed_arguments(arguments))


def _has_tokens(x: Any, shape: torch.Size) -> bool:
    """Say whether an argument is a tensor of reals, (batch, length, …)."""
    return isinstance(x, Tensor) and x.is_floating_point() and x.ndim >= 3 and x.shape[:2] == shape


def _keyed_arguments(arguments: Arguments) -> list[tuple[Any, Any]]:
    """Return each argument with its place or its keyword."""
    args, kwargs = arguments
    return [*enumerate(args), *kwargs.items()]


def _argument(arguments: Arguments, key: Any) -> Any:
    args, kwargs = arguments
    return args[key] if isinstance(key, int) else kwargs[key]
