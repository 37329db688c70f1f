"""What came out, with what it was measured: docs/data/bench.json, and the tables of the page."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import platform
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scripts import DATA, DOCS
from scripts.bench.measure import Result
from scripts.setup.machine import machine

RESULTS = DATA / "bench.json"
PAGE = DOCS / "how-to" / "how-fast.md"
PACKAGES = ("numpy", "torch", "transformers", "x-transformers")
NOISY = 0.1  # how far apart, of its median, the quartiles of a quiet machine's floor may be


@dataclass(frozen=True)
class Report:
    """All results, and what they were measured with."""

    date: str
    machine: str
    gpu: str
    threads: str
    versions: dict[str, str]
    results: tuple[Result, ...]

    def __getitem__(self, name: str) -> Result:
        """Return a result by its group and name, `bench["rotary: into"]`."""
        group, _, case = name.partition(": ")
        return next(r for r in self.results if (r.group, r.name) == (group, case))

    def measured(self, group: str) -> list[Result]:
        """Return what was measured of a group, without what was skipped."""
        return [r for r in self.results if r.group == group and not r.skipped]

    def table(self, group: str, *, error: bool = False) -> list[dict[str, Any]]:
        """Return case, median ratio, quartiles and, on request, error of a group, row by row."""
        return [
            {"what": r.what, "against": r.against, "ratio": r.ratio, "from": r.low, "to": r.high}
            | ({"error": r.error} if error else {})
            for r in self.measured(group)
        ]

    def targets(self) -> list[dict[str, Any]]:
        """Return case, target and ratio of all that has a target, row by row."""
        return [
            {"what": r.what, "against": r.against, "target": r.target, "ratio": r.ratio}
            for r in self.aimed()
        ]

    def aimed(self) -> list[Result]:
        """Return what has a target and was measured."""
        return [r for r in self.results if r.target is not None and not r.skipped]

    def missed(self) -> list[str]:
        """Return what has a target and is above it."""
        return [r.what for r in self.aimed() if r.target is not None and r.ratio > r.target]

    def skipped(self) -> list[str]:
        """Return what was left out, and why."""
        return [f"{r.what}: {r.skipped}" for r in self.results if r.skipped]

    def undecided(self) -> list[str]:
        """Return what has a target between its quartiles: another run may say otherwise."""
        return [r.what for r in self.aimed() if r.target and r.low <= r.target <= r.high]

    def spreads(self) -> dict[str, float]:
        """Return how far apart the quartiles of a floor were, of its median, at most, by group."""
        found: dict[str, float] = {}
        for r in self.results:
            if not r.skipped:
                found[r.group] = max(found.get(r.group, 0.0), r.floor_spread)
        return found

    def noise(self) -> str:
        """Say in words how far the worst floor's times spread in each group."""
        return "; ".join(
            f"{group} {100 * spread:.0f}%" + (", noisy" if spread > NOISY else "")
            for group, spread in self.spreads().items()
        )


def report(results: Iterable[Result], *, threads: str, gpu: str) -> Report:
    """Return the report of today, of this machine."""
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name).partition("+")[0]
        except importlib.metadata.PackageNotFoundError:
            continue
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return Report(today, machine(), gpu, threads, versions, tuple(results))


def write(found: Report, path: Path = RESULTS) -> None:
    """Write a report."""
    path.write_text(json.dumps(asdict(found), indent=1) + "\n", encoding="utf-8")


def read(path: Path = RESULTS) -> Report:
    """Return the report that was written last."""
    content = json.loads(path.read_text(encoding="utf-8"))
    content["results"] = tuple(Result(**result) for result in content["results"])
    return Report(**content)


# Tables


def markdown(found: Report, group: str, *, error: bool = False) -> str:
    """Return a group as a table in Markdown, as it stands in the page."""
    lines = ["| what | against | ratio | from | to |" + (" error |" if error else "")]
    lines.append("|---|---|--:|--:|--:|" + ("--:|" if error else ""))
    for r in found.measured(group):
        cells = [r.what, r.against, *map(printed, (r.ratio, r.low, r.high))]
        lines.append(f"| {' | '.join(cells + [scientific(r.error or 0.0)] * error)} |")
    return "\n".join(lines)


def targets(found: Report) -> str:
    """Return what has a target as a table in Markdown."""
    lines = ["| what | against | target | ratio |", "|---|---|--:|--:|"]
    for r in found.aimed():
        lines.append(f"| {r.what} | {r.against} | {r.target} | {printed(r.ratio)} |")
    return "\n".join(lines)


def printed(ratio: float) -> str:
    """Return a ratio with the digits that mean something."""
    return f"{ratio:.{1 if ratio >= 10 else 2 if ratio >= 0.1 else 5}f}"


def scientific(error: float) -> str:
    """Return an error with one digit after the point."""
    return re.sub(r"e([-+])0*(\d)", lambda e: "e" + e[1].strip("+") + e[2], f"{error:.1e}")


def rewritten(page: str, found: Report) -> str:
    """Return a page with the rows of its bound tables those that were measured."""
    for comment in re.finditer(r"^<!-- table: bench\.(.+?) -->\n(?:\|.*\n)*", page, re.M):
        call = re.fullmatch(r'table\("(\w+)"(, error=True)?\)', comment[1])
        table = markdown(found, call[1], error=bool(call[2])) if call else targets(found)
        page = page.replace(comment[0], f"<!-- table: bench.{comment[1]} -->\n{table}\n")
    return page
