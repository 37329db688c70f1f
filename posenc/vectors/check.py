"""Test a Python function against a suite."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from posenc._arguments import as_choice
from posenc.vectors.compare import CONTRACTS, SINGLE, judge_answer
from posenc.vectors.report import Outcome, Report
from posenc.vectors.suite import Case, Suite, load, suites

REFUSING = (ValueError, TypeError)
OBJECTS = "sequences"  # the suite that takes a factory


class UnsupportedError(Exception):
    """To be raised by a function that does not offer what a case asks for."""


def check(
    function: Callable[..., Any],
    suite: str,
    *,
    contract: str = SINGLE,
    folder: str | Path | None = None,
    **choice: Any,
) -> Report:
    """Return how a function answers the cases of a suite.

    The function gets the input of a case as keyword arguments and returns the answer: numbers,
    lists, arrays of any library that have `tolist`, or a mapping where the suite has one. It
    refuses an input by raising ValueError or TypeError, and says that it does not offer something
    by raising `UnsupportedError` or NotImplementedError. Any other exception counts as a crash in
    that case, and the next case is run.

    For the suite "sequences", pass a factory: called with the settings of an object as
    keyword arguments, it returns an object with methods named like the calls.

    Args:
        function: what is tested.
        suite: a name that `suites` returns.
        contract: how exact answers must be: "float64", "float32 angle" or "bfloat16 result".
        folder: where the files are; None for those of this package.
        **choice: only cases with these inputs are run, as in `layout="half"`.

    Returns:
        A `Report`; `print` it.

    Raises:
        TypeError: `contract` is not a string.
        ValueError: the suite or the contract is unknown, or no case has the inputs chosen.

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
    found = load(suite, folder=folder)
    chosen = [case for case in found.cases if _matches_choice(case, choice)]
    if not chosen:
        raise ValueError(f"suite {suite} must have cases with {choice}; it has none")
    ask = answers_of if suite == OBJECTS else asked
    outcomes = tuple(outcome(case, function, ask, contract) for case in chosen)
    return Report(outcomes, contract, describe_suite(found))


def describe_suite(suite: Suite) -> dict[str, str]:
    """Return what the bugs and conventions of a suite are."""
    return {**suite.conventions, **suite.bugs}


def cases(*names: str, folder: str | Path | None = None) -> Iterator[Case]:
    """Yield the cases of these suites, or of all, to parametrise a test.

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
        yield from load(name, folder=folder).cases


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
        return Outcome(case, "crashed", f"{type(error).__name__}: {error_line(error)}")
    return Outcome(case, **vars(verdict))


def refusal(case: Case, why: str) -> Outcome:
    """Return what a refusal of a case is: right, if no answer is expected."""
    return Outcome(case, "passed" if case.expected is None else "refused", why)


def error_line(error: BaseException) -> str:
    """Return what an error says, in one line."""
    return " ".join(str(error).split()) or type(error).__name__


def asked(function: Callable[..., Any], given: dict[str, Any]) -> Any:
    """Return the answer of a function."""
    return function(**given)


def answers_of(factory: Callable[..., Any], given: dict[str, Any]) -> list[Any]:
    """Return the answers of objects that a factory makes, in order."""
    made: dict[int, Any] = {}
    answers = []
    for call in given["calls"]:
        number, name = call.pop("object"), call.pop("do")
        if number not in made:
            made[number] = factory(**given["objects"][number])
        method = getattr(made[number], name, None)
        if method is None:
            raise UnsupportedError(f"{name} is not offered")
        answers.append(method(**call))
    return answers
