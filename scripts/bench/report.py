"""The results and the versions used, in docs/data/bench.json, and the tables of the page."""

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
NOISY = 0.1  # the largest `floor_spread` of a quiet machine


@dataclass(frozen=True)
class Report:
    """All results, with the date, the machine and the versions."""

    date: str
    machine: str
    gpu: str
    threads: str
    versions: dict[str, str]
    results: tuple[Result, ...]

    def __getitem__(self, name: str) -> Result:
        """Return a result by its group and name, as in `bench["rotary: into"]`."""
        group, _, case = name.partition(": ")
        return next(r for r in self.results if (r.group, r.name) == (group, case))

    def measured(self, group: str) -> list[Result]:
        """Return the results of a group, except skipped ones."""
        return [r for r in self.results if r.group == group and not r.skipped]

    def table(self, group: str, *, error: bool = False) -> list[dict[str, Any]]:
        """Return the rows of a group: case, median ratio, quartiles and, on request, error."""
        return [
            {"what": r.what, "against": r.against, "ratio": r.ratio, "from": r.low, "to": r.high}
            | ({"error": r.error} if error else {})
            for r in self.measured(group)
        ]

    def targets(self) -> list[dict[str, Any]]:
        """Return the rows of the cases with a target: case, target and ratio."""
        return [
            {"what": r.what, "against": r.against, "target": r.target, "ratio": r.ratio}
            for r in self.with_target()
        ]

    def with_target(self) -> list[Result]:
        """Return the results that have a target, except skipped ones."""
        return [r for r in self.results if r.target is not None and not r.skipped]

    def missed_targets(self) -> list[str]:
        """Return the cases above their target."""
        return [r.what for r in self.with_target() if r.target is not None and r.ratio > r.target]

    def skipped(self) -> list[str]:
        """Return the skipped cases, each with the reason."""
        return [f"{r.what}: {r.skipped}" for r in self.results if r.skipped]

    def undecided_targets(self) -> list[str]:
        """Return the cases with their target between the quartiles, which another run may flip."""
        return [r.what for r in self.with_target() if r.target and r.low <= r.target <= r.high]

    def spreads(self) -> dict[str, float]:
        """Return the largest `floor_spread` in each group."""
        found: dict[str, float] = {}
        for r in self.results:
            if not r.skipped:
                found[r.group] = max(found.get(r.group, 0.0), r.floor_spread)
        return found

    def noise(self) -> str:
        """Return the spreads as percentages, in words."""
        return "; ".join(
            f"{group} {100 * spread:.0f}%" + (", noisy" if spread > NOISY else "")
            for group, spread in self.spreads().items()
        )


def report(results: Iterable[Result], *, threads: str, gpu: str) -> Report:
    """Return a report with today's date, this machine and its versions."""
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name).partition("+")[0]
        except importlib.metadata.PackageNotFoundError:
            continue
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return Report(today, machine(), gpu, threads, versions, tuple(results))


def write(found: Report, path: Path = RESULTS) -> None:
    """Write a report as JSON."""
    path.write_text(json.dumps(asdict(found), indent=1) + "\n", encoding="utf-8")


def read(path: Path = RESULTS) -> Report:
    """Return the report from a file."""
    content = json.loads(path.read_text(encoding="utf-8"))
    content["results"] = tuple(Result(**result) for result in content["results"])
    return Report(**content)


# Tables


def markdown(found: Report, group: str, *, error: bool = False) -> str:
    """Return a group as a table in Markdown, as the page has it."""
    lines = ["| what | against | ratio | from | to |" + (" error |" if error else "")]
    lines.append("|---|---|--:|--:|--:|" + ("--:|" if error else ""))
    for r in found.measured(group):
        cells = [r.what, r.against, *map(significant_digits, (r.ratio, r.low, r.high))]
        lines.append(f"| {' | '.join(cells + [scientific(r.error or 0.0)] * error)} |")
    return "\n".join(lines)


def targets(found: Report) -> str:
    """Return the cases with a target as a table in Markdown."""
    lines = ["| what | against | target | ratio |", "|---|---|--:|--:|"]
    for r in found.with_target():
        lines.append(f"| {r.what} | {r.against} | {r.target} | {significant_digits(r.ratio)} |")
    return "\n".join(lines)


def significant_digits(ratio: float) -> str:
    """Return a ratio with its significant digits."""
    return f"{ratio:.{1 if ratio >= 10 else 2 if ratio >= 0.1 else 5}f}"


def scientific(error: float) -> str:
    """Return an error with one digit after the point."""
    return re.sub(r"e([-+])0*(\d)", lambda e: "e" + e[1].strip("+") + e[2], f"{error:.1e}")


def page_with_results(page: str, found: Report) -> str:
    """Return a page with its bound tables replaced by those of a report."""
    for comment in re.finditer(r"^<!-- table: bench\.(.+?) -->\n(?:\|.*\n)*", page, re.M):
        call = re.fullmatch(r'table\("(\w+)"(, error=True)?\)', comment[1])
        table = markdown(found, call[1], error=bool(call[2])) if call else targets(found)
        page = page.replace(comment[0], f"<!-- table: bench.{comment[1]} -->\n{table}\n")
    return page
