"""Figures as pictures for notebooks, since not every notebook shows SVG.

To draw those of a chapter takes a fifth of a build. So each is kept, under a name that tells what
it was drawn from, and drawn again when that has changed. Drawing is left to a process of its own,
`python -m scripts.pictures kept/waves-0123abcd.png …`: a book that has been served for hours would
draw with the code that it started with.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from scripts.figures import ROOT, SCRIPTS, picture_file, scripts
from scripts.figures.style import LIGHT

KEPT = ROOT / ".pictures_cache"


def pictures(stems: Iterable[str]) -> dict[str, bytes]:
    """Return figures on light paper as PNG, by their names."""
    files = {stem: kept(stem) for stem in stems}
    missing = [str(file) for file in files.values() if not file.is_file()]
    if missing:
        subprocess.run([sys.executable, "-m", "scripts.pictures", *missing], cwd=ROOT, check=True)
    return {stem: file.read_bytes() for stem, file in files.items()}


def kept(stem: str) -> Path:
    """Return where a figure's picture is kept: elsewhere as soon as it may look otherwise.

    It may with the code that draws it, or with what the package computes for it; that is in the
    drawing that the pages show.
    """
    others = {path for path in scripts() if path.stem != stem}
    code = [Path(__file__), *sorted(set(SCRIPTS.glob("*.py")) - others)]
    made_of = sha256(version("matplotlib").encode())
    for file in [picture_file(stem, "light"), *code]:
        made_of.update(file.read_bytes())
    return KEPT / f"{stem}-{made_of.hexdigest()[:16]}.png"


def draw(file: Path) -> None:
    """Draw the picture to keep in a file, and forget those that were kept of the figure before."""
    from scripts.figures._press import drawn, load, png  # no build waits for matplotlib

    stem = file.name.rpartition("-")[0]
    with drawn(load(SCRIPTS / f"{stem}.py"), "light") as figure:
        picture = png(figure, LIGHT)
    file.parent.mkdir(exist_ok=True)
    begun = file.with_suffix(f".{os.getpid()}")  # a picture is there whole, or not yet
    begun.write_bytes(picture)
    begun.replace(file)
    for old in set(file.parent.glob(f"{stem}-*.png")) - {file}:
        old.unlink(missing_ok=True)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        draw(Path(name))
