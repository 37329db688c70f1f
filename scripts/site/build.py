"""Build the whole site: `python -m scripts.site.build --site-dir site`, which is `make site`.

mkdocs builds the pages in strict mode. Then the style sheets are joined and all is minified
(minify.py), the explorers to embed (framed_explorers.py) and the Markdown copies
(markdown_copies.py) are written, the site is checked (check.py), and the security headers are
written (security_policy.py).
"""

from __future__ import annotations

import argparse
import gc
import sys
from pathlib import Path

from click import Abort, ClickException
from mkdocs.__main__ import cli

from scripts import ROOT
from scripts.site import check, framed_explorers, markdown_copies, security_policy
from scripts.site.minify import minify


def build(folder: Path) -> None:
    """Build the site into a folder; a warning from mkdocs stops the build."""
    gc.set_threshold(200_000, 50, 100)  # a build keeps what it makes: there is little garbage
    options = ["--strict", "--config-file", str(ROOT / "mkdocs.yml"), "--site-dir"]
    try:
        cli.main(["build", *options, str(folder.resolve())], standalone_mode=False)
    except ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except Abort:  # Control-C
        sys.exit(130)
    finish(folder)


def finish(folder: Path) -> None:
    """Complete and check a site that mkdocs has built."""
    minify(folder)
    framed_explorers.write(folder)
    markdown_copies.write(folder)
    if found := check.problems(folder):
        sys.exit("\n".join(["The site was built, but has errors:", *found]))
    print(f"{security_policy.write(folder)}\n(in {folder / security_policy.HEADERS} too)")


def main() -> None:
    """Build the site into the folder given on the command line."""
    parser = argparse.ArgumentParser(prog="python -m scripts.site.build", description=__doc__)
    parser.add_argument("--site-dir", default=ROOT / "site", type=Path)
    build(parser.parse_args().site_dir)


if __name__ == "__main__":
    main()
