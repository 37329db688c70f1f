"""Where positions meet tokens: operations on something that depends on positions alone and
something that depends on tokens. Rows are added, queries are multiplied, scores get a bias.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from torch import Tensor

from posenc.diagnose.labels import position_labels
from posenc.diagnose.recording import Recorder, fingerprint
from posenc.diagnose.trial import Trial

BIAS = "as biases of scores"
PLACES = {
    "add": "as rows added to tokens",
    "cat": "as rows beside tokens",
    "mul": "as factors of queries and keys",
}


class Meeting(NamedTuple):
    """An operation in which positions meet tokens: where it is, and a label for each position."""

    where: str
    axes: int  # 1 if a position has a row, 2 if a query and a key have a bias
    labels: Tensor  # (length,), the same where positions are


def meetings(trial: Trial, length: int) -> list[Meeting]:
    """Return where positions meet tokens, in a sequence of one token repeated.

    An argument depends on positions alone if it is the same for other tokens.
    """
    tokens, same = trial.tokens(1, length), trial.repeated(length)
    first = _Meetings(length)
    with first:
        trial.call(tokens)
    second = _Meetings(length, first.prints)
    with second:
        trial.call(same)
    return second.found


class _Meetings(Recorder):  # type: ignore[no-untyped-call]
    """Compares every operation with that of a run on other tokens, and keeps the meetings.

    Args:
        length: how many tokens the sequence has.
        before: fingerprints of the arguments in that other run, a list for each operation.
    """

    def __init__(self, length: int, before: Sequence[list[bytes]] = ()) -> None:
        super().__init__(length, lambda name, given: given)
        self.prints: list[list[bytes]] = []
        self.before = before
        self.found: list[Meeting] = []

    def visit(self, name: str, given: list[Tensor], run: Callable[[], Any]) -> Any:
        """Run the operation, and keep it if some arguments are as before and some are not."""
        same = self._compare(given)
        if all(same) or not any(same):
            return run()
        # Labelled first, since the operation may write into its arguments.
        labels = [
            position_labels(x, self.length)
            for x, unchanged in zip(given, same, strict=False)
            if unchanged and not (name == "mul" and _is_mask(x))
        ]
        result = run()
        self._keep(name, labels, result)
        return result

    def _compare(self, given: list[Tensor]) -> list[bool]:
        """Say of each argument of the next operation whether it is the same as before."""
        prints = [fingerprint(x) for x in given] if len(given) > 1 else []  # one meets nothing
        number = len(self.prints)
        self.prints.append(prints)
        before = self.before[number] if number < len(self.before) else prints
        return [old == new for old, new in zip(before, prints, strict=False)]

    def _keep(self, name: str, labels: list[tuple[int, Tensor]], result: Any) -> None:
        """Keep a meeting for each argument of positions whose labels are not all the same."""
        rows = isinstance(result, Tensor) and result.shape.count(self.length) == 1
        for axes, label in labels:
            # Of rows that are added, what counts is the sum with the tokens, after rounding.
            kept = position_labels(result, self.length)[1] if name == "add" and rows else label
            if int(label.max()) > 0:
                where = PLACES.get(name, f"in {name}") if rows and axes == 1 else BIAS
                self.found.append(Meeting(where, axes, kept))


def _is_mask(x: Tensor) -> bool:
    """Say whether multiplying by this keeps or hides entries, and does nothing else.

    Funnel multiplies by such a mask to hide positions from its first token. The mask itself tells
    a token nothing about its position.
    """
    return bool(((x == 0) | (x == 1)).all())
