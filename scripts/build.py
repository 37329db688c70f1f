"""Build the site whole: `python -m scripts.build --site-dir site`, which is `make site`.

The pages (mkdocs, strict), one style sheet for them (scripts/site/minify.py), their copies as
Markdown (scripts/copies.py), and the header for a strict host (scripts/policy.py). What came out is
read once more (scripts/audit.py).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from click import Abort, ClickException
from mkdocs.__main__ import cli

from scripts import audit, copies, policy
from scripts.book import ROOT
from scripts.site.minify import minify


def build(folder: Path) -> None:
    """Build the site into a folder; a warning of the builder stops it."""
    options = ["--strict", "--config-file", str(ROOT / "mkdocs.yml"), "--site-dir"]
    try:
        cli.main(["build", *options, str(folder.resolve())], standalone_mode=False)
    except ClickException as refused:
        refused.show()
        sys.exit(refused.exit_code)
    except Abort:  # Control-C
        sys.exit(130)
    finish(folder)


def finish(folder: Path) -> None:
    """Do what is left to do in the folder of a builder, whichever that was."""
    minify(folder)
    copies.write(folder)
    if found := audit.wrong(folder):
        sys.exit("\n".join(["The site is built, and wrong:", *found]))
    print(f"{policy.write(folder)}\n(in {folder / policy.HEADERS} too)")


def main() -> None:
    """Build where the command line says."""
    parser = argparse.ArgumentParser(prog="python -m scripts.build", description=__doc__)
    parser.add_argument("--site-dir", default=ROOT / "site", type=Path)
    build(parser.parse_args().site_dir)


if __name__ == "__main__":
    main()
