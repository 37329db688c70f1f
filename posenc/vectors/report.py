"""What came out of a run: as text, as JSON, and as JUnit."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

from posenc._console import printable
from posenc.vectors.suite import Case

STATUSES = ("passed", "acceptable", "failed", "refused", "unsupported", "crashed")
WRONG = ("failed", "refused", "crashed")
FINE, FAILED, NOT_RUN = range(3)  # exit statuses
ABSENT = "the suite is not offered"
SHOWN = 5  # wrong cases of a suite that the text shows
LONGEST = 100  # characters of a line


@dataclass(frozen=True)
class Outcome:
    """What came of one case.

    Attributes:
        case: the case.
        status: "passed", "acceptable", "failed", "refused" (a valid input), "unsupported" or
            "crashed".
        said: what was wrong, or why, in words.
        error: the largest error of an answer.
        place: where the largest error is.
        like: the convention or the bugs that the answer looks like, the likeliest first.
    """

    case: Case
    status: str
    said: str = ""
    error: float = 0.0
    place: str = ""
    like: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """The outcomes of a run.

    Attributes:
        outcomes: one for each case, in order.
        contract: how exact answers had to be.
        described: known bugs and conventions, described by name.
        remarks: what the program did besides answering.
        torn: suites that could not be run, with what is wrong with their files.
    """

    outcomes: tuple[Outcome, ...]
    contract: str
    described: dict[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    torn: tuple[str, ...] = ()

    def _outcomes_with(self, status: str) -> tuple[Outcome, ...]:
        return tuple(one for one in self.outcomes if one.status == status)

    @property
    def passed(self) -> tuple[Outcome, ...]:
        """The cases that were answered, or refused, as they should be."""
        return self._outcomes_with("passed")

    @property
    def acceptable(self) -> tuple[Outcome, ...]:
        """The cases that were answered by another convention, which `like` names."""
        return self._outcomes_with("acceptable")

    @property
    def failed(self) -> tuple[Outcome, ...]:
        """The cases that were answered wrongly."""
        return self._outcomes_with("failed")

    @property
    def refused(self) -> tuple[Outcome, ...]:
        """The valid cases that were refused."""
        return self._outcomes_with("refused")

    @property
    def unsupported(self) -> tuple[Outcome, ...]:
        """The cases that the program says it cannot answer."""
        return self._outcomes_with("unsupported")

    @property
    def crashed(self) -> tuple[Outcome, ...]:
        """The cases that ended in an error, or without an answer."""
        return self._outcomes_with("crashed")

    @property
    def bugs(self) -> dict[str, int]:
        """How many failed cases look like each known bug, the likeliest bug first.

        The likeliest is the one that most cases look like; of two, the one that would spoil fewer
        other cases.
        """
        counts = Counter(name for one in self.failed for name in one.like)
        spoilt = Counter(name for one in self.outcomes for name in one.case.bugs)
        order = sorted(counts, key=lambda name: (-counts[name], spoilt[name]))
        return {name: counts[name] for name in order}

    @property
    def status(self) -> int:
        """The exit status: 0 if nothing is wrong, 1 if something is, 2 if nothing was tested."""
        if self.torn or any(one.status in WRONG for one in self.outcomes):
            return FAILED
        return FINE if self.passed or self.acceptable else NOT_RUN

    def __str__(self) -> str:
        names = dict.fromkeys(one.case.suite for one in self.outcomes)
        absent = [
            name
            for name in names
            if all(one.said == ABSENT for one in self._outcomes_of_suite(name))
        ]
        parts = [self._suite(name) for name in names if name not in absent]
        if absent:
            parts.append(f"Not offered: {', '.join(absent)}")
        if self.torn:
            parts.append("\n".join(["Not asked:", *(f"  {printable(one)}" for one in self.torn)]))
        found = self.bugs
        if found:
            like = [
                f"  {count:5} {name}: {self.described.get(name, name)}"
                for name, count in found.items()
            ]
            parts.append("\n".join(["It looks like:", *map(shortened, like[:SHOWN])]))
        if self.remarks:
            parts.append(
                "\n".join(["Also printed:", *(f"  {one}" for one in self.remarks[:SHOWN])])
            )
        return "\n\n".join([*parts, self._summary()])

    def _outcomes_of_suite(self, suite: str) -> list[Outcome]:
        """Return the outcomes of a suite."""
        return [one for one in self.outcomes if one.case.suite == suite]

    def _suite(self, name: str) -> str:
        """Return the lines about a suite."""
        own = self._outcomes_of_suite(name)
        lines = [f"{name}: {_status_counts(own)}"]
        by_convention = Counter(one.like[0] for one in own if one.status == "acceptable")
        lines += [f"  acceptable: {count} by {how}" for how, count in by_convention.items()]
        reasons = Counter(one.said for one in own if one.status == "unsupported")
        lines += [f"  unsupported: {count}, {why}" for why, count in reasons.most_common(SHOWN)]
        wrong = [one for one in own if one.status in WRONG]
        off = [one for one in wrong if 0 < one.error < math.inf]
        if off:
            worst = max(off, key=lambda one: one.error)
            at = f" at {worst.place}" if worst.place else ""
            lines.append(f"  largest error: {worst.error:.3g} in {worst.case.id}{at}")
        for one in wrong[:SHOWN]:
            lines.append(f"  {one.status} {one.case.id} {_failure_place(one)}")
            if one.like:
                lines.append(f"    looks like: {', '.join(one.like[:3])}")
        if len(wrong) > SHOWN:
            lines.append(f"  and {len(wrong) - SHOWN} more")
        return "\n".join(map(shortened, lines))

    def _summary(self) -> str:
        return (
            f"{len(self.outcomes)} cases, contract {self.contract}: {_status_counts(self.outcomes)}"
        )

    def as_json(self) -> str:
        """Return the report as JSON: counts, bugs, and every case that did not pass."""
        counts = Counter(one.status for one in self.outcomes)
        told: dict[str, Any] = {
            "contract": self.contract,
            "status": self.status,
            "counts": {status: counts[status] for status in STATUSES},
            "bugs": self.bugs,
            "remarks": list(self.remarks),
            "torn": list(self.torn),
            "cases": [_case_remark(one) for one in self.outcomes if one.status != "passed"],
        }
        return json.dumps(told, indent=1)

    def as_junit(self) -> str:
        """Return the report as JUnit's XML, which continuous integration reads."""
        top = ElementTree.Element("testsuites")
        for name in dict.fromkeys(one.case.suite for one in self.outcomes):
            own = self._outcomes_of_suite(name)
            counts = Counter(one.status for one in own)
            about = {
                "name": name,
                "tests": len(own),
                "failures": counts["failed"] + counts["refused"],
                "errors": counts["crashed"],
                "skipped": counts["unsupported"],
            }
            suite = ElementTree.SubElement(top, "testsuite", {k: str(v) for k, v in about.items()})
            for outcome in own:
                _add_case(suite, outcome)
        if self.torn:
            count = str(len(self.torn))
            named = {"name": "torn", "tests": count, "errors": count}
            suite = ElementTree.SubElement(top, "testsuite", named)
        for one in self.torn:
            case = ElementTree.SubElement(suite, "testcase", {"name": one.partition(":")[0]})
            ElementTree.SubElement(case, "error", {"message": printable(one)})
        ElementTree.indent(top)
        return ElementTree.tostring(top, encoding="unicode") + "\n"


def joined_report(reports: Iterable[Report]) -> Report:
    """Return several reports as one."""
    reports = list(reports)
    outcomes = tuple(one for report in reports for one in report.outcomes)
    # Suites may describe a bug differently, so that of a suite where it was seen counts.
    described = {name: said for report in reports for name, said in report.described.items()}
    described |= {name: report.described[name] for report in reports for name in report.bugs}
    remarks = tuple(remark for report in reports for remark in report.remarks)
    torn = tuple(name for report in reports for name in report.torn)
    return Report(outcomes, reports[0].contract, described, remarks, torn)


def _add_case(suite: ElementTree.Element, one: Outcome) -> None:
    """Add a case to JUnit's XML."""
    about = {"classname": one.case.suite, "name": one.case.id}
    case = ElementTree.SubElement(suite, "testcase", about)
    kinds = {"failed": "failure", "refused": "failure", "crashed": "error"}
    kinds["unsupported"] = "skipped"
    if one.status in kinds:
        like = f"; looks like: {', '.join(one.like)}" if one.like else ""
        said = f"{one.status} {_failure_place(one)}{like}"
        ElementTree.SubElement(case, kinds[one.status], {"message": printable(said)})


def _case_remark(one: Outcome) -> dict[str, Any]:
    """Return what JSON says about a case."""
    told = {"id": one.case.id, "status": one.status, "said": one.said, "place": one.place}
    error = one.error if math.isfinite(one.error) else None
    return told | {"error": error, "like": list(one.like)}


def _failure_place(one: Outcome) -> str:
    """Return what was wrong and where."""
    place = f"at {one.place} " if one.place else ""
    return f"{place}{one.said}"


def _status_counts(outcomes: Iterable[Outcome]) -> str:
    """Return how many cases have each status."""
    counts = Counter(one.status for one in outcomes)
    return ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])


def shortened(line: str) -> str:
    """Return a line that can be printed, cut if it is long."""
    line = printable(line)
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
