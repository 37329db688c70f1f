"""Asks a library in its environment the test vectors, and runs its smallest programs."""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from posenc.vectors import Report
from posenc.vectors import run as ask
from posenc.vectors.report import joined_report
from scripts.matrix.adapters.lines import BROKEN
from scripts.matrix.counts import suites_of
from scripts.matrix.environments import InstallError, anonymous, environment
from scripts.matrix.record import Library, digest, normal, result
from scripts.setup.machine import machine

SECONDS = 120.0  # for an answer; the first waits for the library to be imported
MEGABYTES = 6000  # of data; the libraries themselves take one or two thousand
OF_PROGRAM = 300  # seconds for a smallest program
WORDS = 2000  # characters of what it prints
QUIET = {
    "HF_HUB_OFFLINE": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONNOUSERSITE": "1",
    "PYTHONWARNINGS": "ignore",
    "TRANSFORMERS_VERBOSITY": "error",
}
FOREIGN = ("PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV")
VERSIONS = """\
import importlib.metadata, json
found = {one.metadata["Name"]: one.version for one in importlib.metadata.distributions()}
print(json.dumps(found))
"""
# Of the packages in an environment, those beside the library whose version may matter.
BESIDE = {
    "einops", "jax", "jaxlib", "keras", "mlx", "mlx-cpu", "numpy", "onnx", "onnxruntime", "torch",
    "transformers",
}  # fmt: skip

Telling = Callable[[str], None]


class AdapterError(Exception):
    """An adapter or a program has a mistake, so that nothing can be said about its library."""


def library_result(
    library: Library, place: Path, tell: Telling, *, keep: bool = False, seconds: float = SECONDS
) -> dict[str, Any]:
    """Return the result of a library, with its provenance.

    Args:
        library: what is asked.
        place: the folder of its environment.
        tell: is told what is being done.
        keep: whether the environment stays.
        seconds: how long an answer may take.

    Raises:
        AdapterError: the adapter or a program has a mistake.
    """
    tell("installing")
    digests, before = library.digests(), last_result(library)
    try:
        with environment(library, place, keep=keep) as python, isolated_environment():
            found = _installed_answers(library, python, tell, seconds, before)
    except InstallError as error:
        found = {"failed": {"step": "install", "said": str(error)}}
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    circumstances = {"python": platform.python_version(), "machine": machine(), "date": today}
    return {"library": library.name, **circumstances, "digests": digests, **found}


@contextmanager
def isolated_environment() -> Iterator[None]:
    """Keep what this Python is told by its environment from the libraries."""
    before = dict(os.environ)
    os.environ.update(QUIET)
    for name in FOREIGN:
        os.environ.pop(name, None)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def last_result(library: Library) -> dict[str, Any] | None:
    """Return the last result if it differs from one of today in the test vectors alone."""
    try:
        found = result(library)
    except (FileNotFoundError, ValueError):
        return None
    others = [{**digests, "vectors": {}} for digests in (found["digests"], library.digests())]
    return found if others[0] == others[1] and "ways" in found else None


def changed_suites(library: Library, before: dict[str, Any]) -> list[str]:
    """Return the suites whose cases are others than those of a result."""
    known = before["digests"]["vectors"]
    return [suite for suite, one in library.digests()["vectors"].items() if known.get(suite) != one]


def _installed_answers(
    library: Library,
    python: Path,
    tell: Telling,
    seconds: float,
    before: dict[str, Any] | None,
) -> dict[str, Any]:
    """Return how a library that is installed answers.

    Of a result `before`, what the same versions answered to the same cases is kept.
    """
    found: dict[str, Any] = {"versions": versions(library, python)}
    kept = before if before and before["versions"] == found["versions"] else None
    again: list[str | None] = list(changed_suites(library, kept)) if kept else []
    suites = again or [None]  # None for all
    ways = {}
    for way in library.ways:
        tell(f"asking {way}".strip())
        command = [str(python), "-P", str(library.adapter), *(["--way", way] if way else [])]
        try:
            report = joined_report(
                ask(command, suite=suite, seconds=seconds, megabytes=MEGABYTES) for suite in suites
            )
        except OSError as error:
            if f"status {BROKEN}" in str(error):
                raise AdapterError(str(error)) from None
            message = anonymous(str(error).partition(": ")[2])
            return found | {"failed": {"step": "start", "said": message}}
        _check(report)
        offered = {
            suite: counted for suite, counted in suites_of(report).items() if suite in library.asked
        }
        if kept:
            offered = kept["ways"][way]["suites"] | offered
        ways[way] = {"contract": report.contract, "suites": offered}
    tell("running its programs")
    programs = {path.name: program(path, python) for path in library.programs}
    return found | {"ways": ways, "programs": programs}


def versions(library: Library, python: Path) -> dict[str, str]:
    """Return the versions of a library and of what it computes with, the library's first."""
    done = subprocess.run([python, "-c", VERSIONS], capture_output=True, check=True, text=True)
    found = {normal(name): one for name, one in json.loads(done.stdout).items()}
    found |= {name: one for pin in library.npm for name, _, one in [pin.rpartition("@")]}
    first = normal(library.version)
    kept = {name: found[name] for name in sorted(found) if name in BESIDE}
    return {first: found[first], **kept}


def _check(report: Report) -> None:
    """Raise an error if an adapter, and not its library, has ended."""
    for one in report.outcomes:
        if one.status == "crashed" and f"status {BROKEN}" in one.said:
            raise AdapterError(f"{one.case.id}: {one.said}")


def program(path: Path, python: Path) -> dict[str, str]:
    """Return what a program prints.

    Raises:
        AdapterError: it ends with an error, or not at all.
    """
    try:
        done = subprocess.run(
            [python, "-P", path],
            capture_output=True,
            text=True,
            timeout=OF_PROGRAM,
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        raise AdapterError(f"{path.name} does not end within {OF_PROGRAM} s") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [""])[-1]
        raise AdapterError(f"{path.name} ended with status {done.returncode}: {last}")
    return {"digest": digest(path.read_bytes()), "output": done.stdout[:WORDS].rstrip()}
