"""`python -m scripts.figures [figure …]`: draw the figures, or with `--check` compare them.

A figure that is not named is drawn only if it differs from its script: on another machine, its
bytes could change without a visible difference.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from scripts.figures import IN_README, SCRIPTS, VARIANTS, data_file, picture_file, scripts
from scripts.figures._check import check, orphans
from scripts.figures._dark import dark
from scripts.figures._plotted import as_text, plotted_data
from scripts.figures._render import drawn_variant, load, svg


def main() -> int:
    """Draw the figures that differ from the committed files, or with `--check` list them."""
    parser = argparse.ArgumentParser(prog="python -m scripts.figures", description=__doc__)
    parser.add_argument("figure", nargs="*", help="a figure's name, such as waves (default: all)")
    parser.add_argument("--check", action="store_true", help="compare with the committed files")
    options = parser.parse_args()
    known = {path.stem: path for path in scripts()}
    unknown = [stem for stem in options.figure if stem not in known]
    if unknown:
        parser.error(f"no {', '.join(unknown)} in {SCRIPTS.name}/; there are {', '.join(known)}")
    paths = [known[stem] for stem in options.figure or known]
    if options.check:
        return _report(paths, whole=not options.figure)
    return _draw(paths, named=bool(options.figure))


def _report(paths: list[Path], *, whole: bool) -> int:
    """Print every difference, and return the exit status."""
    found = [difference for path in paths for difference in check(path)]
    found += orphans() if whole else []
    for difference in found:
        print(difference, file=sys.stderr)
    return 1 if found else 0


def _draw(paths: list[Path], *, named: bool) -> int:
    """Draw the figures that are named or differ from their files, and leave the others."""
    for path in paths:
        if named or check(path):
            print(f"{path.stem}: drawn")
            _write(path)
        else:
            print(f"{path.stem}: up to date")
    return 0


def _write(path: Path) -> None:
    """Write a figure's data and its drawings."""
    script = load(path)
    data_file(path.stem).parent.mkdir(parents=True, exist_ok=True)
    for variant in VARIANTS:
        with drawn_variant(script, variant) as figure:
            data = f"{as_text(plotted_data(figure))}\n"
            data_file(path.stem).write_text(data, encoding="utf-8")
            picture_file(path.stem, variant).write_bytes(svg(figure))
    if path.stem == IN_README:
        light = picture_file(path.stem, "light").read_text(encoding="utf-8")
        picture_file(path.stem, "dark").write_text(dark(light), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
