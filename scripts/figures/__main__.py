"""`python -m scripts.figures [figure …]`: draw the figures, or with `--check` compare them.

A figure that is what its script draws is not drawn again: on a machine that is not like the pinned
one its bytes would change, and nothing that anybody sees.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from scripts.figures import SCRIPTS, VARIANTS, data_file, picture_file, scripts
from scripts.figures._check import check, orphans, unlike_pinned
from scripts.figures._plotted import as_text, plotted
from scripts.figures._press import drawn, load, svg


def main() -> int:
    """Draw what differs from the committed files, or with `--check` say what does."""
    parser = argparse.ArgumentParser(prog="python -m scripts.figures", description=__doc__)
    parser.add_argument("figure", nargs="*", help="a figure's name, such as waves; all unless said")
    parser.add_argument("--check", action="store_true", help="compare with the committed files")
    asked = parser.parse_args()
    known = {path.stem: path for path in scripts()}
    unknown = [stem for stem in asked.figure if stem not in known]
    if unknown:
        parser.error(f"no {', '.join(unknown)} in {SCRIPTS.name}/; there are {', '.join(known)}")
    paths = [known[stem] for stem in asked.figure or known]
    for reason in unlike_pinned():
        print(f"only data are compared, not bytes: {reason}")
    return _report(paths, whole=not asked.figure) if asked.check else _draw(paths)


def _report(paths: list[Path], *, whole: bool) -> int:
    """Print every difference; return what the shell is to think of them."""
    faults = [fault for path in paths for fault in check(path)] + (orphans() if whole else [])
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


def _draw(paths: list[Path]) -> int:
    """Draw the figures that differ from their files, and leave the others untouched."""
    for path in paths:
        if check(path):
            print(f"{path.stem}: drawn")
            _write(path)
        else:
            print(f"{path.stem}: up to date")
    return 0


def _write(path: Path) -> None:
    """Write a figure's data and its four drawings."""
    script = load(path)
    data_file(path.stem).parent.mkdir(parents=True, exist_ok=True)
    for variant in VARIANTS:
        with drawn(script, variant) as figure:
            data = f"{as_text(plotted(figure))}\n"
            data_file(path.stem).write_text(data, encoding="utf-8")
            picture_file(path.stem, variant).write_bytes(svg(figure))


if __name__ == "__main__":
    sys.exit(main())
