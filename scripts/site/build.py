"""Build the site whole: `python -m scripts.site.build --site-dir site`, which is `make site`.

mkdocs builds the pages, strictly. Then they get one style sheet (minify.py), their copies in
Markdown (markdown_copies.py) and the header for a strict host (security_policy.py), and the whole
site is checked (check.py).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from click import Abort, ClickException
from mkdocs.__main__ import cli

from scripts import ROOT
from scripts.site import check, markdown_copies, security_policy
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
    markdown_copies.write(folder)
    if found := check.wrong(folder):
        sys.exit("\n".join(["The site is built, and wrong:", *found]))
    print(f"{security_policy.write(folder)}\n(in {folder / security_policy.HEADERS} too)")


def main() -> None:
    """Build where the command line says."""
    parser = argparse.ArgumentParser(prog="python -m scripts.site.build", description=__doc__)
    parser.add_argument("--site-dir", default=ROOT / "site", type=Path)
    build(parser.parse_args().site_dir)


if __name__ == "__main__":
    main()
