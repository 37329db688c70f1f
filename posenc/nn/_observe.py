"""What can be seen while a model runs: every operation, and what it is given."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from posenc.nn._trial import LOOKUPS, Trial, Watch, hooked, leaves, name_of

# Operations one of whose arguments is a weight, which has no position even where a size coincides.
WEIGHING = {"mm", "addmm", "linear", "native_layer_norm", "embedding", "convolution"}


HIDDEN = -1e8  # a key of such a bias or less is not seen: its weight is 0 in any type


# Which to keep of the arguments of an operation of this name that are as long as the text.
Wanted: TypeAlias = Callable[[str, list[Tensor]], list[Tensor]]


class Recorder(Watch, TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Keeps, of every operation, its name and the arguments with an axis as long as the text.

    Args:
        length: how many tokens the text has.
        wanted: which of these arguments to keep; nothing is kept of an operation with weights.
    """

    def __init__(self, length: int, wanted: Wanted) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.length, self.wanted = length, wanted
        self.calls: list[tuple[str, list[Tensor]]] = []

    def see(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Visit the operation with what it is given that has an axis as long as the text."""
        name = name_of(func)
        met = () if name in WEIGHING else leaves((*args, *kwargs.values()))
        given = [x for x in met if has_rows(x, self.length)]
        return self.visit(name, given, lambda: func(*args, **kwargs))

    def visit(self, name: str, given: list[Tensor], run: Callable[[], Any]) -> Any:
        """Keep what is given, as it is before the operation, which may write into it; run it."""
        self.calls.append((name, [x.clone() for x in self.wanted(name, given)]))
        return run()


def has_rows(x: object, length: int) -> bool:
    """Say whether this is a tensor of numbers, not counts, with an axis of the text's length."""
    if not isinstance(x, Tensor) or x.is_nested or length not in x.shape:
        return False
    if not (x.is_floating_point() or x.is_complex()):
        return False
    return x.layout is torch.strided and x.numel() > 0


def recorded(trial: Trial, tokens: Tensor, wanted: Wanted) -> list[tuple[str, list[Tensor]]]:
    """Return every operation that the model does on these tokens, and what is wanted of it."""
    recorder = Recorder(tokens.shape[1], wanted)
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
        super().__init__(length, lambda name, given: given)
        self.prints: list[list[bytes]] = []
        self.before = before
        self.found: list[Meeting] = []

    def visit(self, name: str, given: list[Tensor], run: Callable[[], Any]) -> Any:
        """Keep a print of each argument; where some are as before and some are not, the meeting."""
        prints = [_print(x) for x in given] if len(given) > 1 else []  # one alone meets nothing
        self.prints.append(prints)
        number = len(self.prints) - 1
        before = self.before[number] if number < len(self.before) else prints
        same = [old == new for old, new in zip(before, prints, strict=False)]
        if all(same) or not any(same):
            return run()
        labels = [
            labelled(x, self.length)
            for x, old in zip(given, same, strict=False)
            if old and not (name == "mul" and _hides(x))
        ]
        result = run()
        rows = isinstance(result, Tensor) and result.shape.count(self.length) == 1
        for axes, label in labels:
            # What counts of rows is their sum with tokens, after rounding.
            kept = labelled(result, self.length)[1] if name == "add" and rows else label
            if int(label.max()) > 0:  # not the same row for every position
                self.found.append(Meeting(_where(name, rows and axes == 1), axes, kept))
        return result


def _hides(x: Tensor) -> bool:
    """Say whether to multiply by this is to keep or to hide, and so tells what meets it no place.

    Funnel hides from its first token where the others stand, of which its scores know.
    """
    return bool(((x == 0) | (x == 1)).all())


def labelled(x: Tensor, length: int) -> tuple[int, Tensor]:
    """Return how many axes count positions, and a number for each, equal where rows are."""
    axes = [axis for axis, size in enumerate(x.shape) if size == length]
    if len(axes) == 2:  # queries and keys
        return 2, _seen(x.movedim(axes, (0, 1)).reshape(length, length, -1))
    return len(axes), _numbered(x.movedim(axes[0], 0))


def _seen(bias: Tensor) -> Tensor:
    """Return numbers for the keys that a query sees, of a bias (query, key, …), equal where it is.

    Keys behind it, or that it does not see, have negative numbers, no two alike.
    """
    judged, row = _judged(bias)
    numbers = -1 - torch.arange(len(bias))
    numbers[judged] = _numbered(row)
    return numbers


def _judged(bias: Tensor) -> tuple[Tensor, Tensor]:
    """Return which keys a query sees up to its own, (key,), and its biases of them, (seen, …).

    The query is the one that sees most keys, and the last of such.
    """
    if _runs_backwards(bias):
        bias = bias.flip(0)
    seen = (bias > max(HIDDEN, torch.finfo(bias.dtype).min / 2)).any(dim=2).cpu()
    keys = torch.arange(len(bias))
    query = int((seen.sum(dim=1) * len(bias) + keys).argmax())
    judged = seen[query] & (keys <= query)
    return judged, bias[query][judged.to(bias.device)]


def _runs_backwards(bias: Tensor) -> bool:
    """Say whether the last query comes first, as in a view of one bias a relative position."""
    along, against = ((bias[1:, 1:], bias[:-1, :-1]), (bias[1:, :-1], bias[:-1, 1:]))
    return not torch.equal(*along) and torch.equal(*against)


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
    return _inverse(real.detach().cpu().double().reshape(len(rows), -1))


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


class Entering(Recorder):  # type: ignore[no-untyped-call]
    """Finds scores that know positions, in a text of one token, though tokens are in them as well.

    Rows that know them end the search: whatever is made of these does, too.

    Args:
        length: how many tokens the text has.
        before: prints of all that a run on other tokens was given, which depends on no token.
    """

    def __init__(self, length: int, before: Collection[int]) -> None:
        super().__init__(length, lambda name, given: given)
        self.before = before
        self.looked: set[tuple[int, bool]] = set()
        self.scores: list[Tensor] = []  # a number a position, equal where the scores of it are
        self.rows = False

    def visit(self, name: str, given: list[Tensor], run: Callable[[], Any]) -> Any:
        """Look at what is given and depends on tokens; run the operation."""
        scores = "softmax" in name or "attention" in name
        for x in given:
            mark = hash((x.shape, _print(x)))
            if not self.rows and mark not in self.before and (mark, scores) not in self.looked:
                self.looked.add((mark, scores))
                self._look(x, scores=scores)
        return run()

    def _look(self, x: Tensor, *, scores: bool) -> None:
        axes = [axis for axis, size in enumerate(x.shape) if size == self.length]
        if len(axes) == 2 and scores:
            judged, row = _judged(x.movedim(axes, (0, 1)).reshape(self.length, self.length, -1))
            kinds = _alike(row)
            if int(kinds.max()) > 0:
                numbers = -1 - torch.arange(self.length)
                numbers[judged] = kinds
                self.scores.append(numbers)
        elif x.ndim == 3 and axes in ([0], [1]) and x.shape[1 - axes[0]] == 1:
            rows = x.movedim(axes[0], 0)
            self.rows = bool((rows - rows[:1]).abs().max() > _digits(rows))


def _alike(rows: Tensor) -> Tensor:
    """Return a number for each row, equal where rows are, but for their last digits."""
    flat = rows.detach().cpu().double().reshape(len(rows), -1)
    first = (torch.cdist(flat, flat, p=math.inf) <= _digits(rows).cpu()).int().argmax(dim=1)
    return _inverse(first[:, None])


def _digits(x: Tensor) -> Tensor:
    """Return a difference that may be rounding, of sums of some numbers of this size."""
    return 64 * torch.finfo(x.dtype).eps * x.abs().max().double()


class Prints(Watch, TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Keeps a print of every tensor of numbers that an operation is given."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen: set[int] = set()

    def see(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Keep the prints; do the operation."""
        self.seen.update(hash((x.shape, _print(x))) for x in _numbers_in(args, kwargs))
        return func(*args, **kwargs)


def _numbers_in(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Tensor]:
    """Return the tensors of numbers, not counts, that an operation is given."""
    given = (x for x in leaves((*args, *kwargs.values())) if isinstance(x, Tensor))
    plain = (x for x in given if not x.is_nested and x.layout is torch.strided)
    return [x for x in plain if x.is_floating_point() and x.numel()]


def _two(trial: Trial, length: int) -> tuple[Tensor, set[int]]:
    """Return a text of one token, and prints of what is given in a text of another one."""
    text = repeated(trial, length)
    with Prints() as prints:
        trial.call(trial.other(text[:, :1]).repeat_interleave(length, dim=1))
    return text, prints.seen


def entered(trial: Trial, length: int) -> Entering:
    """Return what knows positions first in a text of one token: scores, or rows, or nothing."""
    text, known = _two(trial, length)
    found = Entering(length, known)
    with found:
        trial.call(text)
    return found


class Steps(Watch, TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Keeps, for each operation and the shapes it is given, all values that no token changes.

    Args:
        before: prints of all that a run on other tokens was given, which depends on no token.
    """

    def __init__(self, before: Collection[int]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.before = before
        self.values: dict[tuple[Any, ...], set[int]] = {}

    def see(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Keep what meets something that tokens change; do the operation."""
        given = _numbers_in(args, kwargs)
        prints = {hash((x.shape, _print(x))) for x in given} if len(given) > 1 else set()
        alone = {one for one in prints if one in self.before}
        if alone and alone != prints:
            site = (name_of(func), *(x.shape for x in given))
            self.values.setdefault(site, set()).update(alone)
        return func(*args, **kwargs)


def stepwise(trial: Trial) -> bool:
    """Say whether tokens meet something else at each step of a loop over the text.

    What meets them depends on no token, and there is the more of it the longer the text is.
    """

    def most(length: int) -> dict[tuple[Any, ...], int]:
        text, known = _two(trial, length)
        with Steps(known) as steps:
            trial.call(text)
        return {site: len(values) for site, values in steps.values.items()}

    fewer = trial.length // 2
    short, long = most(trial.length - fewer), most(trial.length)
    return any(count - short.get(site, count) >= fewer for site, count in long.items())


class Masks(Watch, TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes whether there is a mask of queries and keys that tells more than which come later.

    Args:
        length: how many tokens the text has.
    """

    def __init__(self, length: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.length, self.found = length, False

    def see(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Look at every mask that is given; do the operation."""
        for x in leaves((*args, *kwargs.values())):
            if isinstance(x, Tensor) and x.shape[-2:] == (self.length, self.length):
                self.found |= _is_window(x.reshape(-1, self.length, self.length)[0])
        return func(*args, **kwargs)


def _is_window(x: Tensor) -> bool:
    """Say whether this is a mask, (query, key), in which not all keys on one side are alike."""
    if x.is_floating_point():
        hidden = x < max(HIDDEN, torch.finfo(x.dtype).min / 2)
    elif x.dtype is torch.bool:
        hidden = x
    else:
        return False
    before = torch.ones(hidden.shape, dtype=torch.bool, device=x.device).tril(-1)
    sides = (hidden[before], hidden[before.mT])
    return any(bool(side.any()) and not bool(side.all()) for side in sides)


def windowed(trial: Trial) -> bool:
    """Say whether a mask, other than a causal one, tells where tokens stand."""
    with Masks(trial.length) as masks:
        trial.call(repeated(trial, trial.length))
    found: bool = masks.found
    return found


class Widths(Watch, TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes every size in a run, but for tables that rows are taken from."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.sizes: set[int] = set()

    def see(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Note the sizes, and do the operation."""
        given = args[1:] if name_of(func) in (*LOOKUPS, "slice") else args
        tensors = (x for x in leaves((given, *kwargs.values())) if isinstance(x, Tensor))
        self.sizes.update(size for x in tensors for size in x.shape)
        return func(*args, **kwargs)


def widths(trial: Trial) -> set[int]:
    """Return every size that is met in a run, and with it all that no length should have."""
    with Widths() as seen:
        trial.call(trial.tokens(1, trial.length))
    sizes: set[int] = seen.sizes
    return sizes


def together(labels: list[Tensor]) -> Tensor:
    """Return a number for each position, equal where all of these numbers are."""
    return _inverse(torch.stack(labels, dim=1))


def repeated(trial: Trial, length: int) -> Tensor:
    """Return a text of one token, drawn at random, all through."""
    return trial.tokens(1, 1).repeat_interleave(length, dim=1)


def twice(
    trial: Trial, first: Tensor, second: Tensor, wanted: Wanted
) -> Iterator[tuple[str, list[Tensor], list[Tensor]]]:
    """Yield each operation of a run on the first text, with what is wanted of it on either."""
    for (name, given), (_, other) in zip(
        recorded(trial, first, wanted), recorded(trial, second, wanted), strict=False
    ):
        if given and [x.shape for x in given] == [x.shape for x in other]:
            yield name, given, other


def by_position(x: Tensor, length: int) -> Tensor:
    """Return a tensor as (length, everything else)."""
    real = torch.view_as_real(x) if x.is_complex() else x
    return real.movedim(real.shape.index(length), 0).reshape(length, -1).cpu().double()


def varies(rows: Tensor) -> bool:
    """Say whether not all rows are the same."""
    return bool((rows != rows[:1]).any())


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
