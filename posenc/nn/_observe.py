"""What can be seen while a model runs: every operation, and what each part is called with."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from posenc.nn._trial import Trial, first_floats, hooked, name_of, suppressed

Called: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]

# Operations one of whose arguments is a weight, which has no position even where a size coincides.
WEIGHING = {"mm", "addmm", "linear", "native_layer_norm", "embedding", "convolution"}


class Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Keeps, of every operation, its name and the arguments with an axis as long as the text.

    Args:
        length: how many tokens the text has.
    """

    def __init__(self, length: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.length = length
        self.calls: list[tuple[str, list[Tensor]]] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        given = [x for x in tree_leaves((args, kwargs)) if has_rows(x, self.length)]
        return self.visit(name_of(func), given, lambda: func(*args, **(kwargs or {})))

    def visit(self, name: str, given: list[Tensor], run: Callable[[], Any]) -> Any:
        """Keep what is given, as it is before the operation, which may write into it; run it."""
        self.calls.append((name, [x.clone() for x in given]))
        return run()


def has_rows(x: object, length: int) -> bool:
    """Say whether this is a tensor of numbers, not counts, with an axis of the text's length."""
    if not isinstance(x, Tensor) or x.is_nested or x.layout is not torch.strided:
        return False
    if not (x.is_floating_point() or x.is_complex()):
        return False
    return length in x.shape and x.numel() > 0


def recorded(trial: Trial, tokens: Tensor) -> list[tuple[str, list[Tensor]]]:
    """Return every operation that the model does on these tokens, and what it was given."""
    recorder = Recorder(tokens.shape[1])
    with recorder:
        trial.call(tokens)
    return recorder.calls


class Meeting(NamedTuple):
    """An operation in which positions alone meet tokens: where, and a number a position."""

    where: str
    axes: int  # 1 where a position has a row, 2 where a query and a key have a bias
    labels: Tensor  # (length,), equal where the positions are


class Meetings(Recorder):  # type: ignore[no-untyped-call]
    """Compares every operation with those of a run on other tokens, and keeps the meetings."""

    def __init__(self, length: int, before: Sequence[list[bytes]] = ()) -> None:
        super().__init__(length)
        self.prints: list[list[bytes]] = []
        self.before = before
        self.found: list[Meeting] = []

    def visit(self, name: str, given: list[Tensor], run: Callable[[], Any]) -> Any:
        """Keep a print of each argument; where some are as before and some are not, the meeting."""
        prints = [_print(x) for x in given]
        self.prints.append(prints)
        number = len(self.prints) - 1
        before = self.before[number] if number < len(self.before) else prints
        same = [old == new for old, new in zip(before, prints, strict=False)]
        if all(same) or not any(same) or name in WEIGHING:
            return run()
        labels = [self._labels(x) for x, as_before in zip(given, same, strict=False) if as_before]
        result = run()
        rows = isinstance(result, Tensor) and result.shape.count(self.length) == 1
        for axes, label in labels:
            kept = self._labels(result)[1] if name == "add" and rows else label  # after rounding
            if int(label.max()) > 0:
                self.found.append(Meeting(_where(name, rows and axes == 1), axes, kept))
        return result

    def _labels(self, x: Tensor) -> tuple[int, Tensor]:
        """Return how many axes count positions, and a number for each, equal where rows are."""
        axes = [axis for axis, size in enumerate(x.shape) if size == self.length]
        if len(axes) == 2:  # queries and keys: what the last query sees
            x = x.select(axes[0], self.length - 1)
            return 2, _numbered(x.movedim(axes[1] - 1, 0))
        return len(axes), _numbered(x.movedim(axes[0], 0))


BIAS = "as biases of scores"
WORDS = {
    "add": "as rows added to tokens",
    "cat": "as rows beside tokens",
    "mul": "as factors of queries and keys",
}


def _where(name: str, rows: bool) -> str:
    """Return in words where positions enter; what has no rows but scores is a bias."""
    return WORDS.get(name, f"in {name}") if rows else BIAS


def _numbered(rows: Tensor) -> Tensor:
    """Return a number for each row, equal where rows are equal to the last bit."""
    real = torch.view_as_real(rows) if rows.is_complex() else rows
    flat = real.detach().cpu().double().reshape(len(rows), -1)
    return _inverse(flat)


def _inverse(rows: Tensor) -> Tensor:
    """Return for each row the number of its kind, from 0."""
    kinds: Tensor = torch.unique(rows, dim=0, return_inverse=True)[1]
    return kinds


def _print(x: Tensor) -> bytes:
    """Return some four thousand of the entries, which tell tensors of other tokens apart."""
    real = torch.view_as_real(x) if x.is_complex() else x
    flat = real.reshape(-1)
    return flat[:: flat.numel() // 4096 | 1].cpu().double().numpy().tobytes()


def meetings(trial: Trial, length: int) -> list[Meeting]:
    """Return where positions meet tokens, in a text of one token repeated.

    An argument is of positions alone if it is the same in a text of other tokens.
    """
    text, same = trial.tokens(1, length), repeated(trial, length)
    first = Meetings(length)
    with first:
        trial.call(text)
    second = Meetings(length, first.prints)
    with second:
        trial.call(same)
    return second.found


def together(labels: list[Tensor]) -> Tensor:
    """Return a number for each position, equal where all of these numbers are."""
    return _inverse(torch.stack(labels, dim=1))


def repeated(trial: Trial, length: int) -> Tensor:
    """Return a text of one token, drawn at random, all through."""
    return trial.tokens(1, 1).repeat_interleave(length, dim=1)


def twice(
    trial: Trial, first: Tensor, second: Tensor
) -> Iterator[tuple[str, list[Tensor], list[Tensor]]]:
    """Yield each operation of a run on the first text, with what it is given on either."""
    for (name, given), (_, other) in zip(
        recorded(trial, first), recorded(trial, second), strict=False
    ):
        if name not in WEIGHING and [x.shape for x in given] == [x.shape for x in other]:
            yield name, given, other


def by_position(x: Tensor, length: int) -> Tensor:
    """Return a tensor as (length, everything else)."""
    real = torch.view_as_real(x) if x.is_complex() else x
    return real.movedim(real.shape.index(length), 0).reshape(length, -1).cpu().double()


def varies(rows: Tensor) -> bool:
    """Say whether not all rows are the same."""
    return bool((rows != rows[:1]).any())


class Part:
    """A part of a model, and what it was called with on two texts of equal shape."""

    def __init__(self, module: nn.Module, given: Called, other: Called, shape: torch.Size) -> None:
        self.module, self.given, self.other, self.shape = module, given, other, shape
        pairs = zip(_arguments(given), _arguments(other), strict=False)
        self.keys = [key for (key, x), (_, y) in pairs if self._depends(x, y)]

    def mixes(self) -> bool:
        """Say whether its last output depends on the first token."""
        changed = self._called(
            lambda key, x: torch.cat([_argument(self.other, key)[:, :1], x[:, 1:]], dim=1)
        )
        return changed is not None and self._moved(changed) > 0

    def minds(self, order: Tensor, relative: float) -> bool:
        """Say whether its last output changes with the order of all before."""
        changed = self._called(lambda key, x: x[:, order.to(x.device)])
        return changed is not None and self._moved(changed) > relative

    def _depends(self, x: Any, y: Any) -> bool:
        if not isinstance(x, Tensor) or not isinstance(y, Tensor) or not x.is_floating_point():
            return False
        return (
            x.ndim >= 3
            and x.shape == y.shape
            and x.shape[:2] == self.shape
            and bool((x != y).any())
        )

    def _moved(self, changed: Tensor) -> float:
        """Return how far the last output moved, beside its size."""
        output = self._called(lambda key, x: x)
        assert output is not None
        return float((changed - output)[:, -1].abs().max() / output.abs().max().clamp(min=1e-300))

    def _called(self, change: Callable[[Any, Tensor], Tensor]) -> Tensor | None:
        """Return what the part makes of changed tokens; None if not a row for each of them."""
        args, kwargs = copy.deepcopy(self.given)  # it may write into them, a cache above all
        args = tuple(change(i, x) if i in self.keys else x for i, x in enumerate(args))
        kwargs = {key: change(key, x) if key in self.keys else x for key, x in kwargs.items()}
        try:
            result = first_floats(self.module(*args, **kwargs))
        except Exception:
            return None
        return result if result is not None and result.shape[:2] == self.shape else None


def mixing_parts(trial: Trial, tokens: Tensor) -> list[Part]:
    """Return the smallest parts of a model in which tokens see one another."""
    given, other = (called_with(trial, x) for x in (tokens, trial.other(tokens)))
    parts = {
        name: part
        for name, module in trial.model.named_modules()
        if name in given and name in other
        if (part := Part(module, given[name], other[name], tokens.shape[:2])).keys and part.mixes()
    }
    return [
        part
        for name, part in parts.items()
        if not any(
            inner != name and f".{inner}.".startswith(f".{name}.".replace("..", "."))
            for inner in parts
        )
    ]


def called_with(trial: Trial, tokens: Tensor) -> dict[str, Called]:
    """Return what each part of the model is first called with on these tokens."""
    seen: dict[str, Called] = {}

    def keep(name: str, part: nn.Module, args: Any, kwargs: Any) -> None:
        with suppressed():
            seen.setdefault(name, copy.deepcopy((args, kwargs)))

    with hooked(
        part.register_forward_pre_hook(partial(keep, name), with_kwargs=True)
        for name, part in trial.model.named_modules()
    ):
        trial.call(tokens)
    return seen


def weighted(trial: Trial, tokens: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Return every matrix of weights that a part has, (out, in), and its first output, (out,)."""
    seen: list[tuple[Tensor, Tensor]] = []

    def keep(part: nn.Module, given: Any, output: Any) -> None:
        weight = getattr(part, "weight", None)
        if not isinstance(weight, Tensor) or not isinstance(output, Tensor):
            return
        if weight.ndim == 2 and output.ndim == 3 and output.shape[2] == len(weight):
            seen.append((weight, output[0, 0].cpu().double()))

    with hooked(part.register_forward_hook(keep) for part in trial.model.modules()):
        trial.call(tokens)
    return seen


def _arguments(called: Called) -> list[tuple[Any, Any]]:
    """Return the arguments of a call, by place and by keyword."""
    args, kwargs = called
    return [*enumerate(args), *kwargs.items()]


def _argument(called: Called, key: Any) -> Any:
    return called[0][key] if isinstance(key, int) else called[1][key]
