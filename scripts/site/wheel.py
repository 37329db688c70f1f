"""Build docs/assets/built/wheel/: the wheel of the package that the site offers for installation.

Unlike the one that runs in pages, it has the test vectors.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from scripts import ROOT
from scripts.pyodide import runtime

SOURCES = (*runtime.PROJECT, "posenc_pytest.py", "setup.py", "docs/vectors")


def build(folder: Path) -> None:
    """Build the folder, unless it is up to date."""
    stamp, current = folder / "stamp", runtime.fingerprint(files())
    if stamp.is_file() and stamp.read_text() == current:
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    runtime.posenc(folder, SOURCES)
    stamp.write_text(current)


def files() -> Iterator[Path]:
    """Yield the files from which the wheel is built."""
    for name in SOURCES:
        path = ROOT / name
        inside = [file for kind in ("*.py", "*.json") for file in path.rglob(kind)]
        yield from sorted(inside) if path.is_dir() else [path]
