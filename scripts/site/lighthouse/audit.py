"""Runs Lighthouse, which emulates a phone on a slow connection."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts import ROOT
from scripts.setup import browser
from scripts.setup.node import node

CLI = ROOT / "node_modules" / "lighthouse" / "cli" / "bin.js"
# Exit at once: a timer that Lighthouse leaves behind would keep node running for four seconds.
BEGIN = f"const {{begin}} = await import({CLI.as_uri()!r}); await begin(); process.exit();"
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")


@dataclass(frozen=True)
class Score:
    """The scores of a page, 0 to 100, and two of the metrics behind the performance score."""

    path: str
    performance: int
    accessibility: int
    best_practices: int
    seo: int
    shift: float  # cumulative layout shift while it loaded
    paint: float  # seconds until its largest element was painted
    runs: int
    faults: tuple[str, ...] = ()

    @property
    def numbers(self) -> tuple[float, ...]:
        """Return the numbers of a table row."""
        scores = (self.performance, self.accessibility, self.best_practices, self.seo)
        return (*scores, self.shift, self.paint)


def score(url: str, path: str, *, runs: int) -> Score:
    """Return the median performance of several runs, and the worst value in other categories."""
    found = [audit(url + path) for _ in range(runs)]
    worst = {name: min(grades(one).get(name, 0) for one in found) for name in CATEGORIES}
    return Score(
        path,
        round(statistics.median(grades(one)["performance"] for one in found)),
        worst["accessibility"],
        worst["best-practices"],
        worst["seo"],
        max(number(one, "cumulative-layout-shift") for one in found),
        statistics.median(number(one, "largest-contentful-paint") for one in found) / 1000,
        runs,
        tuple(sorted({fault for one in found for fault in faults(one)})),
    )


def audit(url: str, categories: Iterable[str] = CATEGORIES) -> dict[str, Any]:
    """Return Lighthouse's JSON report on a page."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "report.json")
        options = [
            "--output=json",
            f"--output-path={output}",
            "--quiet",
            "--no-enable-error-reporting",
            "--disable-full-page-screenshot",
        ]
        options += [f"--only-categories={','.join(categories)}"]
        options += [f"--chrome-flags=--headless=new {' '.join(browser.FLAGS)}"]
        script = ["--input-type=module", "--eval", BEGIN, "lighthouse"]  # the script's name
        command = node(*script, url, *options)
        environment = os.environ | {"CHROME_PATH": browser.find() or ""}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"Lighthouse failed on {url}:\n{done.stderr[-2000:]}")
        found: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))
    return found


def grades(found: dict[str, Any]) -> dict[str, int]:
    """Return the scores in a report by category, 0 to 100."""
    return {name: round(100 * (c["score"] or 0)) for name, c in found["categories"].items()}


def number(found: dict[str, Any], name: str) -> float:
    """Return a metric from a report by its name."""
    return float(found["audits"][name]["numericValue"])


def faults(found: dict[str, Any]) -> list[str]:
    """Return the audits that lower a score other than performance."""
    references = [
        reference
        for name, category in found["categories"].items()
        for reference in category["auditRefs"]
        if name != "performance" and reference["weight"]
    ]
    scores = {r["id"]: found["audits"][r["id"]]["score"] for r in references}
    return [name for name, score in scores.items() if score is not None and score < 1]
