"""Figures as PNG for notebooks, since not every notebook viewer shows SVG.

Drawing those of a chapter takes a fifth of a build. So each is cached under a name that contains a
digest of its sources, and drawn again when they change. They are drawn in a separate process,
`python -m scripts.site.notebook_pictures FOLDER waves …`, because a server that has run for hours
would draw with outdated code.
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

CACHE = ROOT / ".pictures_cache"


PNG = ("scripts.site.notebook_pictures", ".png")


def pictures(stems: Iterable[str], module: str = PNG[0], suffix: str = PNG[1]) -> dict[str, bytes]:
    """Return figures by name: on light paper as PNG, or what another module makes of them."""
    files = {stem: cache_file(stem, module, suffix) for stem in stems}
    cached = {stem: file.read_bytes() for stem, file in files.items() if file.is_file()}
    missing = [stem for stem in files if stem not in cached]
    drawn = draw_in_process(missing, module, suffix) if missing else {}
    for stem in missing:
        write_cache(files[stem], drawn[stem])
    return cached | drawn


def cache_file(stem: str, module: str = PNG[0], suffix: str = PNG[1]) -> Path:
    """Return the path of a figure's cached picture, which changes when the picture may.

    That depends on the code that draws it, and on its data, for which the committed SVG stands.
    """
    others = {path for path in scripts() if path.stem != stem}
    code = [ROOT / f"{module.replace('.', '/')}.py", *sorted(set(SCRIPTS.glob("*.py")) - others)]
    made_of = sha256(version("matplotlib").encode())
    for file in [picture_file(stem, "light"), *code]:
        made_of.update(file.read_bytes())
    return CACHE / f"{stem}-{made_of.hexdigest()[:16]}{suffix}"


def write_cache(file: Path, picture: bytes) -> None:
    """Cache a picture, and delete older ones of the same figure.

    If the cache cannot be written, the picture is drawn again next time.
    """
    with suppress(OSError):
        file.parent.mkdir(exist_ok=True)
        begun = file.with_suffix(f".{os.getpid()}")  # renamed below, so no partial file is read
        begun.write_bytes(picture)
        begun.replace(file)
        for old in set(file.parent.glob(f"{file.stem.rpartition('-')[0]}-*{file.suffix}")) - {file}:
            old.unlink(missing_ok=True)


def draw_in_process(stems: list[str], module: str, suffix: str) -> dict[str, bytes]:
    """Return figures drawn by a module in a new process."""
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", module, folder, *stems]
        subprocess.run(command, cwd=ROOT, check=True)
        return {stem: Path(folder, f"{stem}{suffix}").read_bytes() for stem in stems}


def draw(folder: Path, stem: str) -> None:
    """Draw a figure as PNG into a folder."""
    from scripts.figures._render import (  # slow to import, and rarely needed
        drawn_variant,
        load,
        png,
    )

    with drawn_variant(load(SCRIPTS / f"{stem}.py"), "light") as figure:
        (folder / f"{stem}.png").write_bytes(png(figure, LIGHT))


if __name__ == "__main__":
    for name in sys.argv[2:]:
        draw(Path(sys.argv[1]), name)
