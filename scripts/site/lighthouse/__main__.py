"""Weigh and score the site, and write the results.

python -m scripts.site.lighthouse              measure and write the data file and the page
python -m scripts.site.lighthouse --dry        run once per page and print, without writing
python -m scripts.site.lighthouse --site DIR   use a site that is already built
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from scripts import ROOT
from scripts.pyodide import runtime
from scripts.setup import browser
from scripts.site.host import serve_folder
from scripts.site.lighthouse import report
from scripts.site.lighthouse.audit import score
from scripts.site.lighthouse.first_run import first_result
from scripts.site.lighthouse.weigh import weigh

RUNS = 3  # per page; the median counts


def main() -> None:
    """Print the tables, and write them unless asked not to."""
    parser = argparse.ArgumentParser(prog="python -m scripts.site.lighthouse", description=__doc__)
    parser.add_argument("--dry", action="store_true", help="run once per page and write nothing")
    parser.add_argument("--site", type=Path, help="use this built site instead of building one")
    asked = parser.parse_args()
    if browser.find() is None:
        sys.exit(browser.MISSING)
    with tempfile.TemporaryDirectory() as folder:
        results = measure(
            asked.site or Path(folder), build=not asked.site, runs=1 if asked.dry else RUNS
        )
    show(results)
    if not asked.dry:
        report.write(results)
        write_page(results)


def measure(site: Path, *, build: bool, runs: int) -> report.Report:
    """Return the weights and scores of a site."""
    with serve_folder(site) as host:
        if build:
            command = [sys.executable, "-m", "scripts.site.build", "--site-dir", str(site)]
            subprocess.run(command, cwd=ROOT, env=os.environ | {"SITE_URL": host.url}, check=True)
        scores = [score(host.url, path, runs=runs) for path in report.NAMES]
    python = site / "assets" / "built" / "python"
    return report.report(
        weigh(site, list(report.NAMES)),
        scores,
        parts=report.parts(site),
        run=runtime.sizes(python),
        first=first_result(site, runs=runs),
        chromium=version(),
    )


def version() -> str:
    """Return the version of the browser."""
    done = subprocess.run([browser.find() or "", "--version"], capture_output=True, text=True)
    return next(word for word in done.stdout.split() if word[:1].isdigit())


def show(results: report.Report) -> None:
    """Print the results, and the targets that they miss."""
    print(f"{results.date}; {results.machine}")
    print(", ".join(f"{name} {version}" for name, version in results.versions.items()))
    for name in report.HEADS:
        print(f"\n{report.markdown(results, name)}")
    for one in results.scores:
        for fault in one.faults:
            print(f"\n{report.NAMES[one.path]}: {fault}")
    for line in results.missed_goals():
        print(f"\nmissed target: {line}")


def write_page(results: report.Report) -> None:
    """Write the tables into the page, then update the numbers that depend on them."""
    from scripts.book.update import update

    page = report.PAGE.read_text(encoding="utf-8")
    report.PAGE.write_text(report.page_with_results(page, results), encoding="utf-8")
    for change in update(report.PAGE):
        print(f"\n{change}", file=sys.stderr)


if __name__ == "__main__":
    main()
