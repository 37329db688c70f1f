"""Plants the faults of tests/*faults.toml, one at a time, and sees that the tests notice each.

    python -m tests.plant              every fault
    python -m tests.plant WORD…        those whose file or description has one of these words
    python -m tests.plant --sample N   so many, which the last commit chooses

No file is changed: a process of its own compiles the module with the fault in it, and runs the
tests of the entry up to the first that fails.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import random
import sys
import tomllib
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from multiprocessing import get_context
from types import CodeType

import pytest

from scripts import ROOT
from tests.mutations import last_commit

FAULTS = [ROOT / "tests" / name for name in ("faults.toml", "config_faults.toml")]
# Imported once, in the process that the others are forked from. The package itself is not among
# them, or a fault would come too late.
SHARED = [
    "jinja2",
    "jsonschema",
    "markdown",
    "mkdocs",
    "playwright.sync_api",
    "pytest",
    "sybil",
    "torch",
]


@dataclass(frozen=True)
class Fault:
    """A fault: what is wrong, in which file, and the tests of which one must fail."""

    file: str
    wrong: str
    right: str  # occurs once in the file
    planted: str
    tests: str

    @property
    def name(self) -> str:
        """The file and what is wrong in it."""
        return f"{self.file}: {self.wrong}"

    def source(self) -> str:
        """Return the file with the fault in it."""
        text = (ROOT / self.file).read_text("utf-8")
        if text.count(self.right) != 1:
            raise ValueError(f"{self.name}: found {text.count(self.right)} times, not once")
        return text.replace(self.right, self.planted)


def faults() -> list[Fault]:
    """Return all faults. An entry may name other tests than those of its file."""
    listed = [tomllib.loads(path.read_text("utf-8")) for path in FAULTS]
    return [
        Fault(file, wrong, right, planted, *(tests or [entries["tests"]]))
        for file, entries in (one for each in listed for one in each.items())
        for wrong, (right, planted, *tests) in entries.items()
        if wrong != "tests"
    ]


def noticed(fault: Fault) -> bool:
    """Return whether a test fails with this fault. Run once in a process."""
    path, get_code = str(ROOT / fault.file), SourceFileLoader.get_code
    source = fault.source()

    def with_fault(self: SourceFileLoader, name: str) -> CodeType | None:
        return compile(source, path, "exec") if self.path == path else get_code(self, name)

    SourceFileLoader.get_code = with_fault  # type: ignore[assignment, method-assign]
    # pytest would load the package by its own hook, to explain asserts, since it has a plugin.
    options = ["--assert=plain", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--no-header"]
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        status = pytest.main([*options, *fault.tests.split()])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise RuntimeError(f"{fault.name}: the tests do not run: {output.getvalue()[-2000:]}")
    return status == pytest.ExitCode.TESTS_FAILED


def survivors(planted: Iterable[Fault]) -> list[Fault]:
    """Return the faults that no test notices; print a dot for each of the others."""
    context = get_context("forkserver")
    context.set_forkserver_preload(SHARED)
    found = []
    with ProcessPoolExecutor(os.cpu_count(), context, max_tasks_per_child=1) as pool:
        tried = list(planted)
        for fault, seen in zip(tried, pool.map(noticed, tried), strict=True):
            print("." if seen else f"\nsurvives: {fault.name}\n", end="", flush=True)
            found += [] if seen else [fault]
    print()
    return found


def main() -> int:
    """Plant the faults that are asked for; return 1 if one survives."""
    parser = argparse.ArgumentParser(description="Plant faults, and see them noticed.")
    parser.add_argument("words", nargs="*", metavar="WORD")
    parser.add_argument("--sample", type=int, metavar="N")
    options = parser.parse_args()
    chosen = [
        fault
        for fault in faults()
        if not options.words or any(word in fault.name for word in options.words)
    ]
    if options.sample is not None:
        chosen = random.Random(last_commit()).sample(chosen, min(options.sample, len(chosen)))
    left = survivors(chosen)
    print(f"{len(chosen) - len(left)} of {len(chosen)} faults were noticed")
    return int(bool(left))


if __name__ == "__main__":
    sys.exit(main())
