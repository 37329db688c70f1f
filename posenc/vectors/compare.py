"""Whether an answer is the one expected, and where it is furthest off."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

from posenc.vectors.suite import Case

CONTRACTS = ("float64", "float32 angle", "bfloat16 result")
SINGLE = "float32 angle"
HIDDEN = "-Infinity"
ENOUGH = -1e4  # a bias as low as this hides a key, too
BY_NUMBER = "hidden by a large number"  # a convention that every suite with hidden keys describes
NEARER = 4  # an answer looks like a bug if it is so many times nearer to that than to the truth


@dataclass(frozen=True)
class Verdict:
    """What an answer is.

    Attributes:
        status: "passed", "acceptable", "failed", "unrefused" if there is no right answer, or
            "unsupported" if a contract cannot test it.
        error: the largest distance to a number expected; infinite for an answer of another shape.
        place: where it is, as in "frequencies[3]"; empty if the answer is one number.
        said: the error in words.
        like: the convention that an acceptable answer follows, or the bugs that a failed one looks
            like, the likeliest first.
    """

    status: str
    error: float = 0.0
    place: str = ""
    said: str = ""
    like: tuple[str, ...] = ()


class Misfit(NamedTuple):
    """Where two answers are furthest apart."""

    over: float  # error divided by tolerance
    error: float
    place: str
    problem: str = ""
    numbers: tuple[float, float] = (0.0, 0.0)  # expected and got, where there is no other problem

    @property
    def said(self) -> str:
        """The error in words, composed only for the worst of thousands of numbers."""
        return self.problem or _two_numbers(*self.numbers)


NONE = Misfit(0.0, 0.0, "")
NONSENSE = "answered what must be refused"
OPEN = Misfit(
    math.inf, math.inf, "", "must be refused, or answered according to an accepted convention"
)


def judge_answer(case: Case, answer: Any, contract: str) -> Verdict:
    """Return what an answer to a case is under a contract."""
    answer = plain(answer)
    if case.result == "invalid":
        return Verdict("unrefused", said=NONSENSE)
    if contract not in case.tolerance:
        return Verdict("unsupported", said=f"{contract} is too loose to test this case")
    tolerance = case.tolerance[contract]
    worst = misfit(case.expected, answer, tolerance) if case.expected is not None else OPEN
    if worst.over <= 1 and _hides_by_number(case.expected, answer):
        return Verdict("acceptable", worst.error, worst.place, like=(BY_NUMBER,))
    if worst.over <= 1:
        return Verdict("passed", worst.error, worst.place)
    for name, other in case.acceptable.items():
        if misfit(other, answer, tolerance).over <= 1:
            return Verdict("acceptable", worst.error, worst.place, worst.said, (name,))
    if worst is OPEN:
        return Verdict("unrefused", said=OPEN.said)
    return Verdict(
        "failed", worst.error, worst.place, worst.said, _candidate_bugs(case, answer, contract)
    )


def _candidate_bugs(case: Case, answer: Any, contract: str) -> tuple[str, ...]:
    """Return the bugs whose answer this may be, the nearest first."""
    loosened = contract == "float64" and SINGLE in case.tolerance
    tolerance = case.tolerance[SINGLE if loosened else contract]
    loose = {"absolute": tolerance["absolute"], "relative": max(tolerance["relative"], 2e-6)}
    if not tolerance["absolute"] and not tolerance["relative"]:
        loose = dict(tolerance)  # integers
    off = misfit(case.expected, answer, loose).over
    near = {name: misfit(bug, answer, loose).over for name, bug in case.bugs.items()}
    alike = [name for name, over in near.items() if over <= 1 and NEARER * over <= off]
    return tuple(sorted(alike, key=lambda name: near[name]))


def would_fail(case: Case, bug: str, contract: str) -> bool:
    """Return whether a bug would fail a case."""
    if bug not in case.bugs:
        return False
    return misfit(case.expected, case.bugs[bug], case.tolerance[contract]).over > 1


def _hides_by_number(expected: Any, answer: Any) -> bool:
    """Return whether an answer of the shape expected hides a key by a finite number."""
    if isinstance(expected, list):
        return any(map(_hides_by_number, expected, answer))
    return expected == HIDDEN and math.isfinite(float(answer))


def misfit(expected: Any, answer: Any, tolerance: Mapping[str, float]) -> Misfit:
    """Return where an answer is furthest from the one expected, in units of the tolerance."""
    return max(_misfits(expected, answer, tolerance, ""), key=attrgetter("over"), default=NONE)


def _misfits(
    expected: Any, answer: Any, tolerance: Mapping[str, float], place: str
) -> Iterator[Misfit]:
    """Yield how far each number is off; another shape ends the comparison at its place."""
    if expected is None:
        return
    if isinstance(expected, Mapping):
        if not isinstance(answer, Mapping) or set(expected) - set(answer):
            yield _structural_misfit(
                place, f"must have {' and '.join(expected)}; got {_value_summary(answer)}"
            )
            return
        for key, inner in expected.items():
            yield from _misfits(inner, answer[key], tolerance, f"{place}.{key}".lstrip("."))
    elif isinstance(expected, list):
        if not isinstance(answer, list) or len(answer) != len(expected):
            yield _structural_misfit(
                place, f"must have {len(expected)} entries; got {_value_summary(answer)}"
            )
            return
        for n, (inner, other) in enumerate(zip(expected, answer, strict=True)):
            if isinstance(inner, float):  # most are: one generator less for each
                yield _number(inner, other, tolerance, f"{place}[{n}]")
            else:
                yield from _misfits(inner, other, tolerance, f"{place}[{n}]")
    else:
        yield _number(expected, answer, tolerance, place)


def _number(expected: Any, answer: Any, tolerance: Mapping[str, float], place: str) -> Misfit:
    """Return how far a number is off."""
    if answer in (HIDDEN, "Infinity", "NaN"):
        answer = float(answer)
    if isinstance(answer, bool) or not isinstance(answer, int | float) or math.isnan(answer):
        return _structural_misfit(place, f"must be a number; got {_value_summary(answer)}")
    if expected == HIDDEN:
        return (
            NONE
            if answer <= ENOUGH
            else _structural_misfit(place, f"must be hidden; got {answer:.7g}")
        )
    error = abs(answer - expected)
    allowed = tolerance["absolute"] + tolerance["relative"] * abs(expected)
    over = error / allowed if allowed else math.inf if error else 0.0
    return Misfit(over, error, place, numbers=(expected, answer))


def _two_numbers(expected: float, answer: float) -> str:
    """Return what a number must be and what it is, in enough digits to tell the two apart."""
    must, got = f"{expected:.7g}", f"{answer:.7g}"
    if must == got:
        must, got = repr(expected), repr(answer)
    return f"must be {must}; got {got}"


def _structural_misfit(place: str, said: str) -> Misfit:
    return Misfit(math.inf, math.inf, place, said)


def _value_summary(value: Any) -> str:
    """Return what a value is, in a few words."""
    if isinstance(value, list):
        return f"{len(value)} entries"
    if isinstance(value, Mapping):
        return f"an object with {', '.join(map(str, value)) or 'nothing'}"
    shown = repr(value)
    return shown if len(shown) <= 40 else f"{shown[:37]}..."


def plain(value: Any) -> Any:
    """Return arrays, tuples and numbers of other libraries as lists and numbers of Python."""
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value
