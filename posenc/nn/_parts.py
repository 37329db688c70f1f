"""The parts of a model, each run on its own: which mix tokens, and what these know of positions."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection
from functools import cached_property, partial
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from posenc.nn._trial import Trial, first_floats, hooked, suppressed, uncompiled, watched

# PyTorch's parts that know of a row, the last axis, nothing but the row. To try each takes time.
ROW_BY_ROW = {nn.Linear, nn.LayerNorm, nn.RMSNorm, nn.Dropout, nn.Identity}
ROW_BY_ROW |= {nn.GELU, nn.ReLU, nn.SiLU, nn.Tanh, nn.Sigmoid}

Called: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]


class Part:
    """A part of a model, and what it was called with on three texts of equal shape.

    Args:
        module: the part.
        given: what it was called with on the text that is changed here.
        other: on a text of other tokens.
        same: on a text of one token repeated.
        shape: (batch, length).
    """

    def __init__(
        self, module: nn.Module, given: Called, other: Called, same: Called, shape: torch.Size
    ) -> None:
        self.module, self.given, self.other, self.shape = module, given, other, shape
        self.same = same
        pairs = zip(_arguments(given), _arguments(other), strict=False)
        self.keys = [key for (key, x), (_, y) in pairs if self._depends(x, y)]

    @cached_property
    def mixes(self) -> float:
        """How far its last output moves with the tokens before, beside its size."""
        changed = self._called(
            lambda key, x: torch.cat([_argument(self.other, key)[:, :-1], x[:, -1:]], dim=1)
        )
        return 0.0 if changed is None else self._moved(changed)[-1]

    def causal(self, relative: float) -> bool:
        """Say whether no output but the last depends on the last token."""
        changed = self._called(
            lambda key, x: torch.cat([x[:, :-1], _argument(self.other, key)[:, -1:]], dim=1)
        )
        return changed is not None and max(self._moved(changed)[:-1]) <= relative

    def told(self, relative: float) -> bool:
        """Say whether what it is given of one token repeated differs from place to place."""
        given = (_argument(self.same, key) for key in self.keys)
        return any(
            float((x - x[:, :1]).abs().max()) > relative * float(x.abs().max()) for x in given
        )

    def minds(self, order: Tensor, relative: float) -> bool:
        """Say whether its last output changes with the order of all before."""
        changed = self._called(lambda key, x: x[:, order.to(x.device)])
        return changed is not None and self._moved(changed)[-1] > relative

    def _depends(self, x: Any, y: Any) -> bool:
        if not _has_tokens(x, self.shape) or not isinstance(y, Tensor):
            return False
        return x.shape == y.shape and bool((x != y).any())

    def _moved(self, changed: Tensor) -> list[float]:
        """Return how far the output moved at each place, beside its size."""
        output = self._output
        assert output is not None
        moved = (changed - output).transpose(0, 1).flatten(1).abs().amax(dim=1)
        moved /= output.abs().max().clamp(min=torch.finfo(output.dtype).tiny)
        found: list[float] = moved.tolist()
        return found

    @cached_property
    def _output(self) -> Tensor | None:
        return self._run(*_copied(self.given))

    def _called(self, change: Callable[[Any, Tensor], Tensor]) -> Tensor | None:
        """Return what the part makes of tokens that a change has made anew."""
        given = dict(_arguments(self.given))
        rest = {key: x for key, x in given.items() if key not in self.keys}
        new = {key: change(key, given[key]) for key in self.keys} | copy.deepcopy(rest)
        args, kwargs = self.given
        return self._run(tuple(new[i] for i in range(len(args))), {key: new[key] for key in kwargs})

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor | None:
        """Return what the part makes of these copies: it may write into them, a cache above all.

        None if it is not a row for each of the tokens.
        """
        try:
            with uncompiled, watched.by:
                result = first_floats(self.module(*args, **kwargs))
        except Exception:
            return None
        return result if result is not None and result.shape[:2] == self.shape else None


def mixing_parts(trial: Trial, tokens: Tensor, equal: dict[str, Called]) -> list[Part]:
    """Return the smallest parts of a model in which tokens see one another.

    `equal` is what parts are called with on a text of one token repeated.
    """
    given, _ = called_with(trial, tokens, equal)
    given = {name: called for name, called in given.items() if _reads(called, tokens.shape[:2])}
    other, _ = called_with(trial, trial.other(tokens), given)
    parts: dict[str, Part] = {}
    for name, module in reversed([*trial.model.named_modules()]):  # what is inside comes first
        if name not in other:
            continue
        if any(_holds(name, inner) for inner in parts):  # and what holds it need not be run
            continue
        part = Part(module, given[name], other[name], equal[name], tokens.shape[:2])
        if part.keys and part.mixes:
            parts[name] = part
    return [*parts.values()]


def _holds(outer: str, inner: str) -> bool:
    """Say whether one module is inside another, by their names."""
    return f".{inner}.".startswith(f".{outer}.".replace("..", "."))


def called_with(
    trial: Trial, tokens: Tensor, parts: Collection[str]
) -> tuple[dict[str, Called], Any]:
    """Return what these parts are first called with on these tokens, and the model's output."""
    first: dict[str, Called] = {}

    def keep(name: str, part: nn.Module, args: Any, kwargs: Any) -> None:
        if name not in first:
            with suppressed():
                first[name] = _copied((args, kwargs))

    with hooked(
        part.register_forward_pre_hook(partial(keep, name), with_kwargs=True)
        for name, part in trial.model.named_modules()
        if name in parts
    ):
        output = trial.call(tokens)
    return first, output


def may_mix(model: nn.Module) -> list[str]:
    """Return the names of all parts of a model but those that work row by row."""
    return [name for name, part in model.named_modules() if not _row_by_row(part)]


def _row_by_row(part: nn.Module) -> bool:
    """Say whether a part is PyTorch's own, and makes of each row something, whatever the others."""
    if part._forward_hooks or part._forward_pre_hooks or "forward" in vars(part):
        return False
    if type(part) is nn.Sequential:
        return all(map(_row_by_row, part))
    if isinstance(part, nn.LayerNorm | nn.RMSNorm) and len(part.normalized_shape) > 1:
        return False
    return type(part) in ROW_BY_ROW


def _copied(called: Called) -> Called:
    """Return a deep copy, of which plain tensors are made in a faster way."""
    plain = (x for _, x in _arguments(called) if type(x) is Tensor and not x.requires_grad)
    return copy.deepcopy(called, {id(x): x.clone() for x in plain})


def _reads(called: Called, shape: torch.Size) -> bool:
    """Say whether a part was given a row for each token."""
    return any(_has_tokens(x, shape) for _, x in _arguments(called))


def _has_tokens(x: Any, shape: torch.Size) -> bool:
    """Say whether an argument is a tensor of reals, (batch, length, …)."""
    return isinstance(x, Tensor) and x.is_floating_point() and x.ndim >= 3 and x.shape[:2] == shape


def _arguments(called: Called) -> list[tuple[Any, Any]]:
    """Return the arguments of a call, by place and by keyword."""
    args, kwargs = called
    return [*enumerate(args), *kwargs.items()]


def _argument(called: Called, key: Any) -> Any:
    return called[0][key] if isinstance(key, int) else called[1][key]
