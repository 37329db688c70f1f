"""How order can reach a model though positions never meet its tokens on their own.

Positions may be mingled with tokens before they enter the scores (`find_scores`), a loop may use
them step by step (`uses_steps`), or a mask may hide distant keys (`has_window`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from posenc.diagnose.labels import (
    hidden_below,
    labels_of_all_keys,
    rounded_labels,
    rounding,
    visible_keys,
)
from posenc.diagnose.operations import Watcher, name_of, tensors_in
from posenc.diagnose.recording import Recorder, digest
from posenc.diagnose.trial import Trial


def find_scores(trial: Trial, length: int) -> ScoreSearch:
    """Return whether scores, or rows, are the first to differ along one token repeated."""
    tokens, known = one_token(trial, length)
    found = ScoreSearch(length, known)
    with found:
        trial.call(tokens)
    return found


class ScoreSearch(Recorder):  # type: ignore[no-untyped-call]
    """Finds scores that depend on positions and tokens, in a sequence of one token repeated.

    Rows that differ from place to place end the search, since everything made of them does, too.

    Args:
        length: how many tokens the sequence has.
        known: digests of all arguments in a run on another token; these depend on no token.
    """

    def __init__(self, length: int, known: Collection[int]) -> None:
        super().__init__(length, lambda name, given: given)
        self.known = known
        self.done: set[tuple[int, bool]] = set()
        self.scores: list[Tensor] = []  # of each: a label for each position
        self.rows = False  # whether rows differ

    def visit(self, name: str, given: list[Tensor], run: Callable[[], Any]) -> Any:
        """Look at each argument that depends on tokens, then run the operation."""
        scores = "softmax" in name or "attention" in name
        for x in given:
            number = digest(x)
            if not self.rows and number not in self.known and (number, scores) not in self.done:
                self.done.add((number, scores))
                self._look(x, scores=scores)
        return run()

    def _look(self, x: Tensor, *, scores: bool) -> None:
        axes = [axis for axis, size in enumerate(x.shape) if size == self.length]
        if len(axes) == 2 and scores:
            square = x.movedim(axes, (0, 1)).reshape(self.length, self.length, -1)
            seen, visible = visible_keys(square)
            labels = rounded_labels(visible)
            if int(labels.max()) > 0:
                self.scores.append(labels_of_all_keys(seen, labels))
        elif x.ndim == 3 and axes in ([0], [1]) and x.shape[1 - axes[0]] == 1:
            rows = x.movedim(axes[0], 0)
            self.rows = bool((rows - rows[:1]).abs().max() > rounding(rows))


def uses_steps(trial: Trial) -> bool:
    """Say whether tokens meet a new value at each step of a loop over the sequence.

    Such a value depends on no token, and a longer sequence has more of them.
    """
    fewer = trial.length // 2
    short, long = _values_met(trial, trial.length - fewer), _values_met(trial, trial.length)
    return any(count - short.get(site, count) >= fewer for site, count in long.items())


def _values_met(trial: Trial, length: int) -> dict[tuple[Any, ...], int]:
    """Return how many values that depend on no token meet tokens in each kind of operation."""
    tokens, known = one_token(trial, length)
    with _TokenFreeValues(known) as values:
        trial.call(tokens)
    return {site: len(found) for site, found in values.found.items()}


class _TokenFreeValues(Watcher, TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Keeps digests of arguments that depend on no token, in operations that also use tokens.

    They are kept by the operation's name and its arguments' shapes.

    Args:
        known: digests of all arguments in a run on another token; these depend on no token.
    """

    def __init__(self, known: Collection[int]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.known = known
        self.found: dict[tuple[Any, ...], set[int]] = {}

    def see(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Keep the digests, then run the operation."""
        given = _float_tensors(args, kwargs)
        digests = {digest(x) for x in given} if len(given) > 1 else set()
        token_free = {one for one in digests if one in self.known}
        if token_free and token_free != digests:
            site = (name_of(func), *(x.shape for x in given))
            self.found.setdefault(site, set()).update(token_free)
        return func(*args, **kwargs)


def one_token(trial: Trial, length: int) -> tuple[Tensor, set[int]]:
    """Return one token repeated, and digests of all arguments in a run on another one repeated."""
    tokens = trial.repeated(length)
    return tokens, known_without_token(trial, tokens)


def known_without_token(trial: Trial, tokens: Tensor) -> set[int]:
    """Return digests of all arguments in a run on another token than this one repeated."""
    with Digests() as digests:
        trial.call(trial.other(tokens[:, :1]).repeat_interleave(tokens.shape[1], dim=1))
    seen: set[int] = digests.seen
    return seen


class Digests(Watcher, TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Keeps a digest of every floating tensor that an operation is given."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen: set[int] = set()

    def see(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Keep the digests, then run the operation."""
        self.seen.update(digest(x) for x in _float_tensors(args, kwargs))
        return func(*args, **kwargs)


def _float_tensors(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Tensor]:
    """Return the dense floating tensors, not empty, among the arguments of an operation."""
    dense = (x for x in tensors_in(args, kwargs) if not x.is_nested and x.layout is torch.strided)
    return [x for x in dense if x.is_floating_point() and x.numel()]


def has_window(trial: Trial) -> bool:
    """Say whether a mask, other than a causal one, tells tokens where they stand."""
    with _WindowMasks(trial.length) as masks:
        trial.call(trial.repeated(trial.length))
    found: bool = masks.found
    return found


class _WindowMasks(Watcher, TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes whether there is a mask that hides some of the keys before, or after, a query.

    Args:
        length: how many tokens the sequence has.
    """

    def __init__(self, length: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.length, self.found = length, False

    def see(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Look at every argument that may be a mask, then run the operation."""
        for x in tensors_in(args, kwargs):
            if x.shape[-2:] == (self.length, self.length):
                self.found |= _is_window(x.reshape(-1, self.length, self.length)[0])
        return func(*args, **kwargs)


def _is_window(x: Tensor) -> bool:
    """Say whether this is a mask, (query, key), that treats keys on one side differently."""
    if x.is_floating_point():
        hidden = x < hidden_below(x.dtype)
    elif x.dtype is torch.bool:
        hidden = x
    else:
        return False
    before = torch.ones(hidden.shape, dtype=torch.bool, device=x.device).tril(-1)
    sides = (hidden[before], hidden[before.mT])
    return any(bool(side.any()) and not bool(side.all()) for side in sides)
