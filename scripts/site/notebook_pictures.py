"""Figures as pictures for notebooks, since not every notebook shows SVG.

To draw those of a chapter takes a fifth of a build. So each is kept, under a name that tells what
it was drawn from, and drawn again when that has changed. Drawing is left to a process of its own,
`python -m scripts.site.notebook_pictures FOLDER waves …`: a book that has been served for hours
would draw with the code that it started with.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from scripts import ROOT
from scripts.figures import SCRIPTS, picture_file, scripts
from scripts.figures.style import LIGHT

KEPT = ROOT / ".pictures_cache"


def pictures(stems: Iterable[str]) -> dict[str, bytes]:
    """Return figures on light paper as PNG, by their names."""
    files = {stem: kept(stem) for stem in stems}
    there = {stem: file.read_bytes() for stem, file in files.items() if file.is_file()}
    missing = [stem for stem in files if stem not in there]
    anew = drawn_anew(missing) if missing else {}
    for stem in missing:
        keep(files[stem], anew[stem])
    return there | anew


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


def keep(file: Path, picture: bytes) -> None:
    """Keep a picture for the next time, and forget those that were kept of the figure before.

    Where nothing can be written, it is drawn again the next time.
    """
    with suppress(OSError):
        file.parent.mkdir(exist_ok=True)
        begun = file.with_suffix(f".{os.getpid()}")  # a picture is there whole, or not yet
        begun.write_bytes(picture)
        begun.replace(file)
        for old in set(file.parent.glob(f"{file.stem.rpartition('-')[0]}-*.png")) - {file}:
            old.unlink(missing_ok=True)


def drawn_anew(stems: list[str]) -> dict[str, bytes]:
    """Return figures as pictures that another process draws."""
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "scripts.site.notebook_pictures", folder, *stems]
        subprocess.run(command, cwd=ROOT, check=True)
        return {stem: Path(folder, f"{stem}.png").read_bytes() for stem in stems}


def draw(folder: Path, stem: str) -> None:
    """Draw a figure as a picture into a folder."""
    from scripts.figures._press import drawn, load, png  # no build waits for matplotlib

    with drawn(load(SCRIPTS / f"{stem}.py"), "light") as figure:
        (folder / f"{stem}.png").write_bytes(png(figure, LIGHT))


if __name__ == "__main__":
    for name in sys.argv[2:]:
        draw(Path(sys.argv[1]), name)
