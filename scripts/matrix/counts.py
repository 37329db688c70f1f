"""What came out of a suite, counted: small enough to keep, with all that the page says."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from posenc.vectors.report import Outcome, Report
from scripts.matrix.environments import anonymous

WRONG = ("failed", "refused", "crashed")
NUMBERED = re.compile(r"(.+)-(\d+)")
KEPT = 4  # reasons of a kind


def suites_of(report: Report) -> dict[str, Any]:
    """Return the counts of each suite."""
    own = defaultdict(list)
    for one in report.outcomes:
        own[one.case.suite].append(one)
    return {suite: counts(outcomes) for suite, outcomes in own.items()}


def counts(outcomes: Iterable[Outcome]) -> dict[str, Any]:
    """Return how a suite was answered; what did not happen is left out.

    asked        how many cases with an answer were not unsupported
    passed       of them
    acceptable   of them, by convention
    failed       of them: count, error, case, place, said; bugs; cases, by group
    refused      of them: count, reasons, cases
    crashed      of them: count, reasons, cases
    unsupported  how many more, by reason
    nonsense     cases that have no answer: how many were refused, answered and crashed, and
                 the cases answered
    """
    outcomes = [one for one in outcomes if one.status != "withdrawn"]
    real = [one for one in outcomes if one.case.expected is not None]
    by = {name: [one for one in real if one.status == name] for name in (*WRONG, "acceptable")}
    found: dict[str, Any] = {
        "asked": sum(one.status != "unsupported" for one in real),
        "passed": sum(one.status == "passed" for one in real),
        "acceptable": dict(Counter(one.like[0] for one in by["acceptable"])),
        "failed": _failed(by["failed"]),
        "refused": _reasons(by["refused"]),
        "crashed": _reasons(by["crashed"]),
        "unsupported": _most_frequent(one.said for one in real if one.status == "unsupported"),
        "nonsense": _nonsense([one for one in outcomes if one.case.expected is None]),
    }
    return {key: value for key, value in found.items() if value or key == "asked"}


def _failed(outcomes: list[Outcome]) -> dict[str, Any]:
    """Return what is kept of wrong answers."""
    if not outcomes:
        return {}
    worst = max(outcomes, key=lambda one: (one.error < math.inf, one.error))
    bugs = Counter(one.like[0] for one in outcomes if one.like)
    return {
        "count": len(outcomes),
        "error": float(f"{worst.error:.3g}") if worst.error < math.inf else None,
        "case": worst.case.id,
        "place": worst.place,
        "said": worst.said,
        "bugs": dict(bugs.most_common()),
        "cases": grouped(one.case.id for one in outcomes),
    }


def _reasons(outcomes: list[Outcome]) -> dict[str, Any]:
    """Return what is kept of cases without an answer."""
    if not outcomes:
        return {}
    return {
        "count": len(outcomes),
        "reasons": _most_frequent(one.said for one in outcomes),
        "cases": grouped(one.case.id for one in outcomes),
    }


def _most_frequent(messages: Iterable[str]) -> dict[str, int]:
    """Return the most frequent reasons."""
    return dict(Counter(map(anonymous, messages)).most_common(KEPT))


def _nonsense(outcomes: list[Outcome]) -> dict[str, Any]:
    """Return how inputs without an answer were treated."""
    answered = [one for one in outcomes if one.status == "unrefused" and not one.crashed]
    found: dict[str, Any] = {
        "refused": sum(one.status == "passed" for one in outcomes),
        "answered": len(answered),
        "crashed": sum(one.crashed for one in outcomes),
        "by convention": sum(one.status == "acceptable" for one in outcomes),
        "cases": grouped(one.case.id for one in answered),
    }
    return {kind: value for kind, value in found.items() if value}


def grouped(cases: Iterable[str]) -> dict[str, str]:
    """Return names of cases by their group, with their numbers as in "1-3, 7".

    >>> grouped(["t5/near-001", "t5/near-002", "t5/near-004", "t5/far-001"])
    {'near': '1-2, 4', 'far': '1'}
    """
    numbers = defaultdict(list)
    for case in cases:
        name = case.partition("/")[2]
        found = NUMBERED.fullmatch(name)
        group, number = (found[1], int(found[2])) if found else (name, 0)
        numbers[group].append(number)
    return {group: ranges(own) for group, own in numbers.items()}


def ranges(numbers: Iterable[int]) -> str:
    """Return numbers with those in a row joined, as in "1-3, 7"."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(f"{first}-{last}" if last > first else str(first) for first, last in runs)
