"""Test a Python function against a suite."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from posenc._arguments import as_choice
from posenc.vectors.compare import CONTRACTS, SINGLE, judge_answer
from posenc.vectors.known import (
    Known,
    as_patterns,
    matches,
    read_known,
    unmatched_patterns,
    with_known,
)
from posenc.vectors.report import CRASHED, Outcome, Report
from posenc.vectors.suite import Case, Suite, load, suites

REFUSING = (ValueError, TypeError)
OBJECTS = "sequences"  # the suite that takes a factory


class UnsupportedError(Exception):
    """To be raised by a function that does not offer what a case asks for."""


def check(
    function: Callable[..., Any],
    suite: str | Case,
    *,
    contract: str = SINGLE,
    folder: str | Path | None = None,
    known: Known = None,
    skip: Iterable[str] = (),
    strict: bool = False,
    **choice: Any,
) -> Report:
    """Return how a function answers the cases of a suite.

    The function gets the input of a case as keyword arguments and returns the answer: numbers,
    lists, arrays of any library that have `tolist`, or a mapping where the suite has one. It
    refuses an input by raising ValueError or TypeError, and says that it does not offer something
    by raising `UnsupportedError` or NotImplementedError, or by not taking a keyword. Any other
    exception counts as a crash in that case, and the next case is run.

    A function that answers nonsense, or crashes at it, is *unrefused* there, which fails only if
    `strict`.

    For the suite "sequences", pass a factory: called with the settings of an object as
    keyword arguments, it returns an object with methods named like the calls.

    Args:
        function: what is tested.
        suite: a name that `suites` returns, or a single `Case`.
        contract: how exact answers must be: "float64", "float32 angle" or "bfloat16 result".
        folder: where the files are; None for those of this package.
        known: which cases are known to fail: a mapping from an id or a shell pattern to the reason,
            or a file with a line for each, in which # comes before the reason.
        skip: ids or patterns of cases that are not run.
        strict: whether an answer to nonsense is a failure.
        **choice: only cases with these inputs are run, as in `layout="half"`.

    Returns:
        A `Report`; `print` it.

    Raises:
        TypeError: `contract` is not a string.
        ValueError: the suite or the contract is unknown, no case has the inputs chosen, or a known
            difference has no reason.
        OSError: the file of known differences cannot be read.

    Examples:
        >>> from posenc import alibi_slopes
        >>> report = check(alibi_slopes, "alibi")
        >>> len(report.failed)
        0
        >>> def plain(heads):
        ...     return [2 ** (-8 * (head + 1) / heads) for head in range(heads)]
        >>> next(iter(check(plain, "alibi").bugs))
        'plain geometric'
    """
    contract = as_choice("contract", contract, CONTRACTS)
    reasons, skip = read_known(known), as_patterns(skip)
    asked: tuple[Case, ...]
    unmatched: tuple[str, ...] = ()
    if isinstance(suite, Case):  # no file is read: it may be one of many tests
        name, asked, described = suite.suite, (suite,), {}
    else:
        found = load(suite, folder=folder)
        name, asked, described = suite, found.cases, describe_suite(found)
        unmatched = unmatched_patterns([*reasons, *skip], folder)
    ask = answers_of if name == OBJECTS else called
    chosen = [case for case in asked if _matches_choice(case, choice)]
    if not chosen:
        raise ValueError(f"suite {name} must have cases with {choice}; it has none")
    outcomes = tuple(
        unasked(case, skip) or with_known(outcome(case, function, ask, contract), reasons)
        for case in chosen
    )
    return Report(outcomes, contract, described, strict=strict, unmatched=unmatched)


def unasked(case: Case, skip: Iterable[str]) -> Outcome | None:
    """Return what comes of a case that is not to be asked, or None."""
    if case.withdrawn:
        return Outcome(case, "withdrawn")
    return Outcome(case, "skipped") if matches(case.id, skip) else None


def describe_suite(suite: Suite) -> dict[str, str]:
    """Return what the bugs and conventions of a suite are."""
    return {**suite.conventions, **suite.bugs}


def cases(*names: str, folder: str | Path | None = None) -> Iterator[Case]:
    """Yield the cases of these suites, or of all, to parametrise a test; none that was withdrawn.

    Args:
        *names: names of suites; none for all.
        folder: where the files are; None for those of this package.

    Yields:
        Each `Case`; `case.id` names it.

    Raises:
        ValueError: a suite is unknown.

    Examples:
        `pytest.mark.parametrize` takes them as they are.

        >>> next(cases("swin")).input
        {'window': 1}
    """
    for name in names or suites(folder=folder):
        yield from (case for case in load(name, folder=folder).cases if not case.withdrawn)


def _matches_choice(case: Case, choice: dict[str, Any]) -> bool:
    """Return whether the inputs of a case are those chosen."""
    return all(key in case.input and case.input[key] == value for key, value in choice.items())


def outcome(
    case: Case,
    function: Callable[..., Any],
    ask: Callable[[Callable[..., Any], dict[str, Any]], Any],
    contract: str,
) -> Outcome:
    """Return what comes of a case."""
    try:
        answer = ask(function, copy.deepcopy(dict(case.input)))
        verdict = judge_answer(case, answer, contract)
    except (UnsupportedError, NotImplementedError) as error:
        return Outcome(case, "unsupported", error_line(error))
    except REFUSING as error:
        return refusal(case, error_line(error))
    except Exception as error:
        return crash(case, f"{type(error).__name__}: {error_line(error)}")
    return Outcome(case, **vars(verdict))


def crash(case: Case, said: str) -> Outcome:
    """Return what a crash in a case is: no refusal, if no answer is expected."""
    if case.expected is None:
        return Outcome(case, "unrefused", f"{CRASHED}{said}")
    return Outcome(case, "crashed", said)


def refusal(case: Case, why: str) -> Outcome:
    """Return what a refusal of a case is: right, if no answer is expected."""
    return Outcome(case, "passed" if case.expected is None else "refused", why)


def error_line(error: BaseException) -> str:
    """Return what an error says, in one line."""
    return " ".join(str(error).split()) or type(error).__name__


def called(function: Callable[..., Any], given: dict[str, Any]) -> Any:
    """Return the answer of a function.

    Raises:
        UnsupportedError: its signature has no place for what is given.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # as of some that are written in C
        return function(**given)
    try:
        signature.bind(**given)
    except TypeError as error:
        raise UnsupportedError(str(error)) from None
    return function(**given)


def answers_of(factory: Callable[..., Any], given: dict[str, Any]) -> list[Any]:
    """Return the answers of objects that a factory makes, in order."""
    made: dict[int, Any] = {}
    answers = []
    for call in given["calls"]:
        number, name = call.pop("object"), call.pop("do")
        if number not in made:
            made[number] = called(factory, given["objects"][number])
        method = getattr(made[number], name, None)
        if method is None:
            raise UnsupportedError(f"{name} is not offered")
        answers.append(called(method, call))
    return answers
