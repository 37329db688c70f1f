"""`make lighthouse`: scores five kinds of page with Lighthouse, as a phone on a slow connection.

python -m scripts.site.lighthouse              build the site, score it, and write the results
python -m scripts.site.lighthouse --site DIR   score a site that is built
python -m scripts.site.lighthouse PATH…        score these pages and only print the results

The results go to docs/data/lighthouse.json and docs/trust/how-built.md. The exit status is 1 if a
score is below its floor. Run it on a quiet machine, on which the performance score depends.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from scripts import DATA, DOCS, ROOT
from scripts.pyodide import runtime
from scripts.setup import browser
from scripts.setup.machine import machine
from scripts.setup.node import node
from scripts.site.host import serve_folder

CLI = ROOT / "node_modules" / "lighthouse" / "cli" / "index.js"
RESULTS = DATA / "lighthouse.json"
PAGE = DOCS / "trust" / "how-built.md"
PAGES = {
    "": "home",
    "chapters/by-hand/": "chapter 1",
    "explore/heatmap/": "an explorer",
    "reference/rotary/": "a reference",
    "how-to/padding-and-caches/": "a how-to",
}
RUNS = 3  # of each page; the one with the median performance counts
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
GOALS = dict(zip(CATEGORIES, (95, 100, 100, 100), strict=True))
FLOORS = dict(zip(CATEGORIES, (80, 95, 95, 95), strict=True))  # also on a busy machine
CHAPTER_LIMIT = 250_000  # bytes of an opened chapter
# Lighthouse slows a processor down four times, which makes a phone of the middle range of a fast
# desktop: one with a `benchmarkIndex` of 1500 to 2000 (docs/throttling.md of Lighthouse). On a
# slower machine, four times would emulate a slower phone.
SLOWDOWN, DESKTOP = 4.0, 1750

Row = dict[str, Any]  # of the table: its cells by their headings


def audit(url: str, categories: Sequence[str] = CATEGORIES, slowdown: float = SLOWDOWN) -> Row:
    """Return Lighthouse's JSON report on a page."""
    flags = f"--chrome-flags=--headless=new {' '.join(browser.FLAGS)}"
    options = ["--output=json", "--quiet", "--no-enable-error-reporting", flags]
    options += [f"--throttling.cpuSlowdownMultiplier={slowdown}"]
    options += ["--disable-full-page-screenshot", f"--only-categories={','.join(categories)}"]
    environment = os.environ | {"CHROME_PATH": browser.find() or sys.exit(browser.MISSING)}
    command = node(str(CLI), url, *options)
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    report: Row = json.loads(done.stdout)
    return report


def scores(report: Row) -> dict[str, int]:
    """Return the scores in a report by category, 0 to 100."""
    return {name: round(100 * (c["score"] or 0)) for name, c in report["categories"].items()}


def calibrated_slowdown(url: str) -> float:
    """Return how many times slower than this machine the emulated phone is."""
    reports = [audit(url, ("seo",)) for _ in range(RUNS)]
    index: float = median(report["environment"]["benchmarkIndex"] for report in reports)
    return max(1.0, round(SLOWDOWN * index / DESKTOP, 1))


def median_report(url: str, runs: int, slowdown: float) -> Row:
    """Return the report of the run with the median performance."""
    reports = [audit(url, slowdown=slowdown) for _ in range(runs)]
    return sorted(reports, key=lambda report: scores(report)["performance"])[runs // 2]


def row(path: str, report: Row) -> Row:
    """Return a row of the table: the scores, and the metrics that readers feel."""
    metric = {name: audit.get("numericValue", 0) for name, audit in report["audits"].items()}
    return {
        "page": PAGES.get(path, path),
        **scores(report),
        "shift": round(metric["cumulative-layout-shift"], 3),
        "largest part, s": round(metric["largest-contentful-paint"] / 1000, 1),
        "KB": round(metric["total-byte-weight"] / 1000),
    }


def below(rows: Sequence[Row], least: Mapping[str, int]) -> list[str]:
    """Return a line for each score that is lower than it should be."""
    return [
        f"{row['page']}: {name} {row[name]}, not {bound}"
        for row in rows
        for name, bound in least.items()
        if row[name] < bound
    ]


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a table in Markdown."""
    lines = [[*rows[0]], ["---", *["--:"] * (len(rows[0]) - 1)], *([*row.values()] for row in rows)]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def folder_sizes(site: Path) -> Row:
    """Return the files and bytes of a built site, and the bytes that the first Run fetches."""
    sizes = [path.stat().st_size for path in site.rglob("*") if path.is_file()]
    python = sum(runtime.sizes(site / "assets" / "built" / "python").values())
    return {"files": len(sizes), "bytes": sum(sizes), "python": python}


def write(results: Row) -> None:
    """Write the results as data and into their page."""
    from scripts.book.update import update

    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    line = '<!-- table: site["pages"] -->\n'
    page = PAGE.read_text(encoding="utf-8")
    new = re.sub(rf"{re.escape(line)}(\|.*\n)+", line + table(results["pages"]), page)
    PAGE.write_text(new, encoding="utf-8")
    update(PAGE)


def main() -> int:
    """Score the pages, print the table, and return 1 if a score is below its floor."""
    parser = argparse.ArgumentParser(prog="python -m scripts.site.lighthouse", description=__doc__)
    parser.add_argument("--site", type=Path, help="score this built site")
    parser.add_argument("paths", nargs="*", help="score only these pages, and write nothing")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        site = options.site or Path(temporary)
        with serve_folder(site) as host:
            if not options.site:
                build = [sys.executable, "-m", "scripts.site.build", "--site-dir", str(site)]
                subprocess.run(build, cwd=ROOT, env=os.environ | {"SITE_URL": host.url}, check=True)
            runs = 1 if options.paths else RUNS
            slowdown = calibrated_slowdown(host.url)
            reports = {
                path: median_report(host.url + path, runs, slowdown)
                for path in options.paths or PAGES
            }
        rows = [row(path, report) for path, report in reports.items()]
        print(f"Slowdown: {slowdown}", table(rows), *below(rows, FLOORS), sep="\n")
        if not options.paths:
            any_report = next(iter(reports.values()))
            write(
                {
                    "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
                    "machine": machine(),
                    "slowdown": slowdown,
                    "lighthouse": any_report["lighthouseVersion"],
                    "browser": any_report["environment"]["hostUserAgent"].split()[-2],
                    "pages": rows,
                    "site": folder_sizes(site),
                }
            )
    return int(bool(below(rows, FLOORS)))


if __name__ == "__main__":
    sys.exit(main())
