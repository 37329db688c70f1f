"""A fresh environment made of links to packages that are installed here, in a moment and offline.

Whatever runs in it finds what its requirements bring, and nothing else.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement


def linked_environment(folder: Path, *requirements: str) -> Path:
    """Return the Python of a new environment with these requirements and all that they need."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    for found in closure(*requirements):
        for source in parts(found):
            link = folder / source.relative_to(sys.prefix)
            link.parent.mkdir(parents=True, exist_ok=True)
            if not link.is_symlink():
                link.symlink_to(source)
    return folder / "bin" / "python"


def parts(found: Distribution) -> set[Path]:
    """Return the folders and files of a distribution: modules, metadata and commands."""
    packages = Path(str(found.locate_file("")))
    files = [str(file) for file in found.files or ()]
    outside = {Path(os.path.normpath(packages / file)) for file in files if file.startswith("..")}
    return outside | {packages / file.split("/")[0] for file in files if not file.startswith("..")}


def closure(*requirements: str) -> list[Distribution]:
    """Return the installed distributions that requirements bring."""
    found: dict[str, Distribution] = {}
    waiting = [*requirements]
    while waiting:
        text = waiting.pop()
        if text not in found:
            wanted = Requirement(text)
            found[text] = installed(wanted.name)
            waiting += needs(found[text], wanted.extras)
    return list(found.values())


def installed(name: str) -> Distribution:
    """Return an installed distribution; the checkout may hold older metadata of its own."""
    (found, *_) = distributions(name=name, path=[sysconfig.get_path("purelib")])
    return found


def needs(found: Distribution, extras: set[str]) -> Iterator[str]:
    """Yield what a distribution with these extras requires here."""
    for need in map(Requirement, found.requires or ()):
        environments = [{"extra": extra} for extra in extras or [""]]
        if need.marker is None or any(map(need.marker.evaluate, environments)):
            need.marker = None
            yield str(need)
