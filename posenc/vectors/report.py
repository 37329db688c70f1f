"""What came out of a run: as text, as JSON, and as JUnit."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

from posenc._console import REPORT, printable
from posenc.vectors.compare import NONSENSE, would_fail
from posenc.vectors.suite import Case

FINE_STATUSES = ("passed", "acceptable")
WRONG = ("failed", "refused", "crashed", "fixed")
UNASKED = ("unsupported", "skipped", "withdrawn")
STATUSES = (*FINE_STATUSES, "known", "unrefused", *WRONG, *UNASKED)
CRASHED = "crashed: "  # at nonsense
SHOW_CASE = "posenc vectors show"
FINE, FAILED, NOT_RUN = range(3)  # exit statuses
ABSENT = "the suite is not offered"
SHOWN = 5  # wrong cases of a suite that the text shows
LONGEST = 100  # characters of a line


@dataclass(frozen=True)
class Outcome:
    """What came of one case.

    Attributes:
        case: the case.
        status: "passed"; "acceptable"; "failed"; "refused", a valid input; "crashed"; "unrefused",
            an input without a right answer; "known", a failure that is known; "fixed", a known one
            that passes; "unsupported"; "skipped"; or "withdrawn".
        said: what was wrong, or why, in words.
        error: the largest error of an answer.
        place: where the largest error is.
        like: the convention or the bugs that the answer looks like, the likeliest first.
        reason: why a failure is known.
    """

    case: Case
    status: str
    said: str = ""
    error: float = 0.0
    place: str = ""
    like: tuple[str, ...] = ()
    reason: str = ""

    @property
    def crashed(self) -> bool:
        """Whether the case ended in an error, or without an answer."""
        return self.status == "crashed" or self.said.startswith(CRASHED)


@dataclass(frozen=True)
class Report:
    """The outcomes of a run.

    Attributes:
        outcomes: one for each case, in order.
        contract: how exact answers had to be.
        described: known bugs and conventions, described by name.
        remarks: what the program did besides answering.
        torn: suites that could not be run, with what is wrong with their files.
        strict: whether an unrefused case is a failure.
        unmatched: lines of known differences, and patterns to skip, that match no case.
    """

    outcomes: tuple[Outcome, ...]
    contract: str
    described: dict[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    torn: tuple[str, ...] = ()
    strict: bool = False
    unmatched: tuple[str, ...] = ()

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
    def unrefused(self) -> tuple[Outcome, ...]:
        """The cases that must be refused and were not; `case.why` says why."""
        return self._outcomes_with("unrefused")

    @property
    def known(self) -> tuple[Outcome, ...]:
        """The cases that failed and are known to; `reason` says why."""
        return self._outcomes_with("known")

    @property
    def fixed(self) -> tuple[Outcome, ...]:
        """The cases that are known to fail and did not."""
        return self._outcomes_with("fixed")

    @property
    def wrong(self) -> tuple[Outcome, ...]:
        """The cases that make the status 1."""
        wrong = (*WRONG, "unrefused") if self.strict else WRONG
        return tuple(one for one in self.outcomes if one.status in wrong)

    @property
    def bugs(self) -> dict[str, int]:
        """How many failed cases look like each bug that is named, the likeliest bug first.

        A bug is named if it explains more than half of the failures of a suite. One that explains
        only cases that another explains as well, and fewer, is an effect and is not named. Of
        several that explain the same cases, those are named that fewest passed cases speak
        against. The likeliest is the one that explains most cases; of two, the one that would spoil
        fewer other cases.
        """
        counts: Counter[str] = Counter()
        for explained in self._named_by_suite().values():
            counts.update({name: len(cases) for name, cases in explained.items()})
        spoilt = Counter(name for one in self.outcomes for name in one.case.bugs)
        rank = {name: number for number, name in enumerate(self.described)}
        order = sorted(counts, key=lambda name: (-counts[name], spoilt[name], rank.get(name, 0)))
        return {name: counts[name] for name in order}

    @property
    def explained(self) -> int:
        """How many failures the named bugs explain."""
        return sum(
            len(set().union(*explained.values())) for explained in self._named_by_suite().values()
        )

    def _named_by_suite(self) -> dict[str, dict[str, set[str]]]:
        """Return which failed cases each named bug explains, by suite."""
        failed: dict[str, list[Outcome]] = defaultdict(list)
        for one in self.failed:
            failed[one.case.suite].append(one)
        passed: dict[str, list[Case]] = defaultdict(list)
        for one in self.passed:
            passed[one.case.suite].append(one.case)
        return {
            suite: _likeliest(_named_bugs(own), passed[suite], self.contract)
            for suite, own in failed.items()
        }

    @property
    def status(self) -> int:
        """The exit status: 0 if nothing is wrong, 1 if something is, 2 if nothing was tested."""
        if self.torn or self.wrong:
            return FAILED
        # A refusal of nonsense shows nothing about a function that answers no valid case.
        valid = [one for one in self.outcomes if one.case.expected is not None] or self.outcomes
        return FINE if any(one.status not in UNASKED for one in valid) else NOT_RUN

    def __str__(self) -> str:
        return self.as_text()

    def as_text(self, shown: int | None = SHOWN) -> str:
        """Return the report as text, with so many wrong cases of each suite, or all for None."""
        names = dict.fromkeys(one.case.suite for one in self.outcomes)
        absent = [
            name
            for name in names
            if all(one.said == ABSENT for one in self._outcomes_of_suite(name))
        ]
        parts = [self._suite(name, shown) for name in names if name not in absent]
        if absent:
            parts.append(f"Not offered: {', '.join(absent)}")
        if self.torn:
            parts.append("\n".join(["Not run:", *(f"  {printable(one)}" for one in self.torn)]))
        parts += self._likely_bugs()
        if self.remarks:
            parts.append(
                "\n".join(["Also printed:", *(f"  {one}" for one in self.remarks[:SHOWN])])
            )
        if self.unmatched:
            lines = [f"  {one}" for one in map(printable, self.unmatched)]
            parts.append(
                "\n".join(["Patterns that match no case (known or to be skipped):", *lines])
            )
        return "\n\n".join([*parts, self._summary()])

    def _likely_bugs(self) -> list[str]:
        """Return what the failures look like, if there are any."""
        if not self.failed:
            return []
        like = [
            f"  {count:5} {': '.join(filter(None, (name, self.described.get(name))))}"
            for name, count in self.bugs.items()
        ]
        if not like:
            return ["It looks like no known bug."]
        share = f"  explains {self.explained} of {len(self.failed)} failures"
        return ["\n".join(["It looks like:", *map(shortened, like[:SHOWN]), share])]

    def _outcomes_of_suite(self, suite: str) -> list[Outcome]:
        """Return the outcomes of a suite."""
        return [one for one in self.outcomes if one.case.suite == suite]

    def _suite(self, name: str, shown: int | None) -> str:
        """Return the lines about a suite."""
        own, named = self._outcomes_of_suite(name), self.bugs
        lines = [f"{name}: {_status_counts(own)}"]
        by_convention = Counter(one.like[0] for one in own if one.status == "acceptable")
        lines += [f"  acceptable: {count} by {how}" for how, count in by_convention.items()]
        for status in ("known", "unsupported"):
            reasons = Counter(one.reason or one.said for one in own if one.status == status)
            lines += [f"  {status}: {count}, {why}" for why, count in reasons.most_common(SHOWN)]
        wrong = [one for one in own if one.status in WRONG]
        off = [one for one in wrong if 0 < one.error < math.inf]
        if off:
            worst = max(off, key=lambda one: one.error)
            at = f" at {worst.place}" if worst.place else ""
            lines.append(f"  largest error: {worst.error:.3g} in {worst.case.id}{at}")
        for kind in (wrong, [one for one in own if one.status == "unrefused"]):
            lines += [line for one in kind[:shown] for line in _case_lines(one, named)]
            if left := kind[len(kind[:shown]) :]:
                lines.append(f"  and {len(left)} more{' unrefused' * (kind is not wrong)}")
        return "\n".join(map(shortened, lines))

    def _summary(self) -> str:
        """Return the last lines: the counts, and how more is seen."""
        count = (
            f"{len(self.outcomes)} case{'s' * (len(self.outcomes) != 1)}, contract {self.contract}"
        )
        lines = [f"{count}: {_status_counts(self.outcomes)}"]
        if self.unrefused and not self.strict:
            lines.append("Unrefused cases fail with --strict only.")
        if told := self.wrong or self.unrefused:
            lines.append(f"All failures: --all. One case: {SHOW_CASE} {told[0].case.id}")
        return "\n".join(lines)

    def as_json(self) -> str:
        """Return the report as JSON: counts, bugs, and every case that did not pass."""
        counts, named = Counter(one.status for one in self.outcomes), self.bugs
        told: dict[str, Any] = {
            "contract": self.contract,
            "status": self.status,
            "counts": {status: counts[status] for status in STATUSES},
            "bugs": self.bugs,
            "explained": self.explained,
            "remarks": list(self.remarks),
            "torn": list(self.torn),
            "strict": self.strict,
            "unmatched": list(self.unmatched),
            "cases": [_case_remark(one, named) for one in self.outcomes if one.status != "passed"],
            "report": REPORT,
        }
        return json.dumps(told, indent=1)

    def as_badge(self) -> str:
        """Return a badge as JSON, in the form of an endpoint of shields.io."""
        colour = {FINE: "brightgreen", FAILED: "red", NOT_RUN: "lightgrey"}[self.status]
        told = [f"{len(self.passed) + len(self.acceptable)} passed"]
        told += [f"{len(self.known)} known"] * bool(self.known)
        told += [f"{len(self.wrong)} wrong"] * bool(self.wrong)
        message = "not run" if self.status == NOT_RUN else ", ".join(told)
        badge = {"label": "posenc vectors", "message": message, "color": colour}
        return json.dumps({"schemaVersion": 1, **badge}) + "\n"

    def as_junit(self) -> str:
        """Return the report as JUnit's XML, which continuous integration reads."""
        top, named = ElementTree.Element("testsuites"), self.bugs
        tags = dict.fromkeys(WRONG, "failure") | {"crashed": "error"}
        tags |= dict.fromkeys(("known", *UNASKED), "skipped")
        tags["unrefused"] = "failure" if self.strict else "skipped"
        for name in dict.fromkeys(one.case.suite for one in self.outcomes):
            own = self._outcomes_of_suite(name)
            counts = Counter(one.status for one in own)
            about = {
                "name": name,
                "tests": len(own),
                "failures": sum(counts[kind] for kind, tag in tags.items() if tag == "failure"),
                "errors": counts["crashed"],
                "skipped": sum(counts[kind] for kind, tag in tags.items() if tag == "skipped"),
            }
            suite = ElementTree.SubElement(top, "testsuite", {k: str(v) for k, v in about.items()})
            for outcome in own:
                _add_case(suite, outcome, tags.get(outcome.status, ""), named)
        if self.torn:
            count = str(len(self.torn))
            torn = {"name": "torn", "tests": count, "errors": count}
            suite = ElementTree.SubElement(top, "testsuite", torn)
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
    strict = any(report.strict for report in reports)
    unmatched = tuple(line for report in reports for line in report.unmatched)
    return Report(outcomes, reports[0].contract, described, remarks, torn, strict, unmatched)


def _add_case(suite: ElementTree.Element, one: Outcome, tag: str, named: Container[str]) -> None:
    """Add a case to JUnit's XML, with what did not pass in an element of its own."""
    about = {"classname": one.case.suite, "name": one.case.id}
    case = ElementTree.SubElement(suite, "testcase", about)
    if tag:
        told = _named_of(one, named)
        like = f"; looks like: {', '.join(told)}" if told else ""
        said = f"{one.status} {failure_text(one)}{like}"
        ElementTree.SubElement(case, tag, {"message": printable(said)})


def _named_bugs(failed: Sequence[Outcome]) -> dict[str, set[str]]:
    """Return which of the failed cases of a suite each bug explains that is to be named."""
    explained: dict[str, set[str]] = defaultdict(set)
    for one in failed:
        for name in one.like:
            explained[name].add(one.case.id)
    most = {name: own for name, own in explained.items() if 2 * len(own) > len(failed)}
    return {name: own for name, own in most.items() if not any(own < one for one in most.values())}


def _likeliest(
    named: dict[str, set[str]], passed: Sequence[Case], contract: str
) -> dict[str, set[str]]:
    """Return bugs without those that more passed cases speak against than against their equals."""
    against = {}
    for name, own in named.items():
        if list(named.values()).count(own) > 1:
            against[name] = sum(would_fail(case, name, contract) for case in passed)
    return {
        name: own
        for name, own in named.items()
        if all(against[name] <= against[other] for other in against if named[other] == own)
    }


def _named_of(one: Outcome, named: Container[str]) -> list[str]:
    """Return what a case looks like: a convention, or bugs that the report names."""
    return [name for name in one.like if one.status != "failed" or name in named]


def _case_remark(one: Outcome, named: Container[str]) -> dict[str, Any]:
    """Return what JSON says about a case."""
    told: dict[str, Any] = {"id": one.case.id, "status": one.status}
    told |= {"said": one.said, "place": one.place}
    error = one.error if math.isfinite(one.error) else None
    told |= {"error": error, "like": _named_of(one, named)}
    if one.status == "unrefused":
        told |= {"why": one.case.why, "input": one.case.input}
    return told | ({"reason": one.reason} if one.reason else {})


def _case_lines(one: Outcome, named: Container[str]) -> list[str]:
    """Return the lines about a case that did not pass."""
    if one.status == "unrefused":
        asked = json.dumps(one.case.input, ensure_ascii=False)
        crashed = [f"    {one.said}"] * (one.said != NONSENSE)
        return [f"  unrefused {one.case.id}: {one.case.why}", f"    {asked}", *crashed]
    told = _named_of(one, named)
    like = [f"    looks like: {', '.join(told[:3])}"] if told else []
    return [f"  {one.status} {one.case.id} {failure_text(one)}", *like]


def failure_text(one: Outcome) -> str:
    """Return what was wrong and where, or what was thought to be."""
    if one.status == "fixed":
        return f"passes and is known to fail: {one.reason}"
    place = f"at {one.place} " if one.place else ""
    known = f" (known: {one.reason})" if one.reason else ""
    return f"{place}{one.said}{known}".strip()


def _status_counts(outcomes: Iterable[Outcome]) -> str:
    """Return how many cases have each status."""
    counts = Counter(one.status for one in outcomes)
    return ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])


def shortened(line: str) -> str:
    """Return a line that can be printed, cut if it is long."""
    line = printable(line)
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
