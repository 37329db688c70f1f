"""Weigh and score the site, and write what came out.

python -m scripts.lighthouse              all, into the data file and the page
python -m scripts.lighthouse --dry        the same with one run a page, printed and not written
python -m scripts.lighthouse --site DIR   of a site that was built before
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from scripts import ROOT
from scripts.lighthouse import report
from scripts.lighthouse.audit import score
from scripts.lighthouse.first import first_result
from scripts.lighthouse.weigh import weigh
from scripts.pyodide import runtime
from scripts.setup import browser
from scripts.site.host import hosted

RUNS = 3  # of each page, whose median counts


def main() -> None:
    """Print the tables, and write them unless asked not to."""
    parser = argparse.ArgumentParser(prog="python -m scripts.lighthouse", description=__doc__)
    parser.add_argument("--dry", action="store_true", help="run once a page, and write nothing")
    parser.add_argument("--site", type=Path, help="a built site; it is built anew unless said")
    asked = parser.parse_args()
    if browser.find() is None:
        sys.exit(browser.MISSING)
    with tempfile.TemporaryDirectory() as folder:
        said = measured(
            asked.site or Path(folder), build=not asked.site, runs=1 if asked.dry else RUNS
        )
    show(said)
    if not asked.dry:
        report.write(said)
        write_page(said)


def measured(site: Path, *, build: bool, runs: int) -> report.Report:
    """Return what a site weighs and how it is scored."""
    with hosted(site) as host:
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
    """Return which browser this is."""
    said = subprocess.run([browser.find() or "", "--version"], capture_output=True, text=True)
    return next(word for word in said.stdout.split() if word[:1].isdigit())


def show(said: report.Report) -> None:
    """Print what came out."""
    print(f"{said.date}; {said.machine}")
    print(", ".join(f"{name} {version}" for name, version in said.versions.items()))
    for name in report.HEADS:
        print(f"\n{report.markdown(said, name)}")
    for one in said.scores:
        for fault in one.faults:
            print(f"\n{report.NAMES[one.path]}: {fault}")
    for line in said.missed():
        print(f"\nshort of what was aimed at: {line}")


def write_page(said: report.Report) -> None:
    """Write the tables into the page, and then all else that the page says of them."""
    from scripts.book.update import update

    page = report.PAGE.read_text(encoding="utf-8")
    report.PAGE.write_text(report.rewritten(page, said), encoding="utf-8")
    for change in update(report.PAGE):
        print(f"\n{change}", file=sys.stderr)


if __name__ == "__main__":
    main()
