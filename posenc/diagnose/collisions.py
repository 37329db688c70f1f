"""Do positions collide? `colliding_positions` compares them where they meet the tokens."""

from __future__ import annotations

from functools import partial
from itertools import accumulate, groupby
from typing import Any

from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from posenc._arguments import as_integer
from posenc.diagnose.answers import ABSENT, HEALTHY, ILL, CannotTellError, Diagnosis, answer
from posenc.diagnose.ask import ask
from posenc.diagnose.indirect import find_scores, has_window, uses_steps
from posenc.diagnose.labels import combined_labels
from posenc.diagnose.length import longest_read
from posenc.diagnose.meetings import meetings
from posenc.diagnose.operations import LOOKUPS, Watcher, name_of, tensors_in
from posenc.diagnose.order import SEEING, judge_order
from posenc.diagnose.trial import Example, Trial

WIDER = (
    "compute positions and angles in float32 or wider, and cast what comes out; a table that"
    " repeats its rows has to be longer."
)


PADDING = "count positions from {first}, the row after the padding row."


def colliding_positions(
    model: nn.Module, example: Example = None, *, length: int = 512, axis: int | None = None
) -> Diagnosis:
    """Return which positions the model cannot tell apart in its own dtype.

    A sequence of one token repeated is run, and every operation is watched in which something that
    depends on positions alone meets something that depends on tokens: the rows added to tokens
    (their sum is what counts, after rounding), the cosines and sines that rotate queries, the
    biases of the last token's scores. Two positions collide if they are equal in all of them, to
    the last bit. Where there is no such operation, the scores are compared, in which positions may
    be mingled with the tokens, except for their last digits; where that shows nothing, order is
    seen, and neither a mask nor a recurrence explains it, the answer is undetermined.
    A table of positions that keeps a row for padding, its `padding_idx`, never trains that row:
    real tokens must not read it, though it differs from all others.
    Distances that a scheme puts together on purpose, as T5's buckets do, are no collision: the
    nearest are not shared, the farther the more, and in float64 too. Buckets written by mistake go
    unnoticed.

    Args:
        model: see `diagnose`.
        example: see `diagnose`.
        length: how many positions to compare; if the model reads fewer, as many as it does, and
            one fewer where that is the size of something else, which would be taken for rows.
        axis: see `diagnose`.

    Returns:
        A `Diagnosis`. Verdicts: "all positions differ"; "positions collide" and "a token reads the
        padding row", ill; "far positions share a bias, in float64 too"; "no positions reach the
        model", absent. Measured: `length`, `colliding`, how many positions equal an earlier one,
        and `first` and `second`, a pair; or `padding`, the row of padding.

    Raises:
        TypeError: see `diagnose`; `length` is not an integer.
        ValueError: see `diagnose`; `length` is below 2.

    Source:
        In bfloat16, with 8 bits, 256 and 257 are one number: see the page *Rotary positions*.

    Examples:
        >>> import torch
        >>> from posenc import nn
        >>> layer = nn.PositionalEmbedding(1000, 2048, 32, pos_type="counting")
        >>> found = nn.colliding_positions(layer.to(torch.bfloat16))
        >>> found.verdict, found.measured["first"], found.measured["second"]
        ('positions collide', 256, 257)
    """
    length = as_integer("length", length, least=2)
    judge = partial(_judge_collisions, length=length)
    return ask("Do positions collide?", judge, model, example, exact=False, axis=axis)


def _judge_collisions(trial: Trial, *, length: int) -> Diagnosis:
    trial.demand_three_tokens()
    length = comparable_length(trial, length)
    met = meetings(trial, length)
    if not met:
        return _judge_without_meetings(trial, length)
    padding = _padding_read(trial)
    if padding is not None:
        return padding
    labels = combined_labels([meeting.labels for meeting in met])
    where = ", ".join(dict.fromkeys(meeting.where for meeting in met))
    found = _collisions(labels, length, where)
    if found.ill and all(meeting.axes == 2 for meeting in met) and _look_like_buckets(labels):
        if not trial.widen():
            raise CannotTellError(
                "far positions share a bias, and the model does not compute in float64, which would"
                " tell rounding from purpose"
            )
        exact = combined_labels([meeting.labels for meeting in meetings(trial, length)])
        if int(exact.max()) == int(labels.max()):
            return _bucketed_answer(found)
    return found


def _padding_read(trial: Trial) -> Diagnosis | None:
    """Return the answer if some token reads the row that a table of positions has for padding."""
    tokens = trial.tokens(1, trial.length)
    with PaddedReads(tokens) as first:
        trial.call(tokens)
    with PaddedReads(tokens) as second:
        trial.call(trial.other(tokens))
    both = zip(first.found, second.found, strict=False)
    kept = [one for one, other in both if one == other]  # what tokens read differs
    for address, padding, rows in kept[:1]:
        named = trial.model.named_parameters()
        table = next((name for name, x in named if x.data_ptr() == address), "a table")
        why = (
            f"Token {rows.index(padding)} reads row {padding} of {table}, which its padding_idx"
            " keeps out of training."
        )
        numbers: dict[str, float] = {"length": trial.length, "padding": padding}
        helps = PADDING.format(first=padding + 1)
        return answer(ILL, "a token reads the padding row", why, numbers, helps)
    return None


class PaddedReads(Watcher, TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes each table of which the row of padding is read, by one index for each token.

    Args:
        tokens: what the model reads, (1, length).
    """

    def __init__(self, tokens: Tensor) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.tokens = tokens
        self.found: list[tuple[int, int, list[int]]] = []  # a table, its padding, the rows read

    def see(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Note the table, and run the operation."""
        if name_of(func) == "embedding" and len(args) > 2 and args[2] >= 0:
            table, padding, rows = args[0], args[2], args[1].flatten().tolist()
            if padding in rows and len(rows) == len({*rows}) == self.tokens.shape[1]:
                self.found.append((table.data_ptr(), padding, rows))
        return func(*args, **kwargs)


def comparable_length(trial: Trial, length: int) -> int:
    """Return the longest length up to this one that the model reads and that no size equals.

    Otherwise an axis of that size, as of a weight, would be taken for one of positions.
    """
    longest, _ = longest_read(trial, length)
    taken = _sizes_met(trial) if longest in trial.sizes else set()
    return next(n for n in range(longest, 0, -1) if n not in taken or n <= trial.length)


def _sizes_met(trial: Trial) -> set[int]:
    """Return every size of a tensor in a run."""
    with Sizes() as sizes:
        trial.call(trial.tokens(1, trial.length))
    seen: set[int] = sizes.seen
    return seen


class Sizes(Watcher, TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes the sizes of all arguments of operations, except tables that rows are taken from."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen: set[int] = set()

    def see(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Note the sizes, then run the operation."""
        given = args[1:] if name_of(func) in (*LOOKUPS, "slice") else args
        self.seen.update(size for x in tensors_in(given, kwargs) for size in x.shape)
        return func(*args, **kwargs)


def _collisions(
    labels: Tensor, length: int, where: str, *, equal: str = "to the last bit"
) -> Diagnosis:
    """Return the answer, given a label for each position, the same where positions are equal."""
    seen: dict[int, int] = {}
    pairs = [
        (seen[label], place)
        for place, label in enumerate(labels.tolist())
        if seen.setdefault(label, place) != place
    ]
    numbers: dict[str, float] = {"length": length, "colliding": len(pairs)}
    if not pairs:
        why = f"{length} positions, {where}, are all different."
        return answer(HEALTHY, "all positions differ", why, numbers)
    numbers |= {"first": pairs[0][0], "second": pairs[0][1]}
    why = (
        f"Of {length} positions, {where}, {len(pairs)} equal an earlier one {equal}; the"
        f" first are {pairs[0][0]} and {pairs[0][1]}."
    )
    return answer(ILL, "positions collide", why, numbers, WIDER)


def _look_like_buckets(labels: Tensor) -> bool:
    """Say whether positions are shared as in buckets: the nearest not, the farther the more.

    Going backwards, the last position stands alone, equal positions are neighbours, and each
    bucket is at least as large as all before it. It may be smaller by one, since sizes are
    rounded; and the farthest bucket may be cut off.
    """
    runs = [(kind, len([*run])) for kind, run in groupby(labels.flip(0).tolist())]
    sizes = [size for _, size in runs]
    shrinks = any(
        size < most - 1 for size, most in zip(sizes[:-1], accumulate(sizes, max), strict=False)
    )
    return len({kind for kind, _ in runs}) == len(runs) and sizes[0] == 1 and not shrinks


def _bucketed_answer(found: Diagnosis) -> Diagnosis:
    """Return the answer for positions that share a bias on purpose, as in buckets."""
    verdict = "far positions share a bias, in float64 too"
    why = f"{found.why} In float64 they do, too, as positions in one bucket are meant to."
    return answer(HEALTHY, verdict, why, found.measured)


def _judge_without_meetings(trial: Trial, length: int) -> Diagnosis:
    """Return the answer where nothing that depends on positions alone meets the tokens."""
    found = find_scores(trial, trial.length)
    sees = _sees_order(trial) if found.scores or not found.rows else None
    if found.scores and sees:
        return _judge_scores(trial, length, find_scores(trial, length).scores)
    if found.scores and sees is None:
        raise CannotTellError(
            "positions are mingled with tokens in the scores, and it cannot be told whether their"
            " order reaches the outputs"
        )
    if uses_steps(trial) if found.rows else sees and not has_window(trial):
        raise CannotTellError(
            "order reaches the model, but not where positions meet all tokens at once, and neither"
            " a mask nor a recurrence explains it"
        )
    why = f"At {length} positions, nothing that depends on them alone meets the tokens."
    return answer(ABSENT, "no positions reach the model", why, {"length": length})


def _sees_order(trial: Trial) -> bool | None:
    """Return whether the model sees order, other than by a causal mask; None if it is unclear."""
    try:
        return judge_order(trial).verdict in SEEING
    except CannotTellError:
        return None


def _judge_scores(trial: Trial, length: int, scores: list[Tensor]) -> Diagnosis:
    """Return the answer from scores in which positions are mingled with tokens."""
    labels = combined_labels(scores)
    where = "in scores, mingled with the tokens"
    found = _collisions(labels, length, where, equal="but for its last digits")
    if not found.ill:
        return found
    if _look_like_buckets(labels) and trial.widen():
        exact = combined_labels(find_scores(trial, length).scores)
        if int(exact.max()) == int(labels.max()):
            return _bucketed_answer(found)
    raise CannotTellError(
        "positions and tokens are mingled in the scores before they meet anything else, so that"
        " positions that look equal may differ"
    )
