"""Checks the proofs, one step after another; `make prove` is `python3 -m scripts.proofs`.

problems(…)     everything that is wrong, after checking files, assumptions and changed statements
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.proofs import checker, listed, mutations, record, source
from scripts.proofs.source import FOLDER, ProofsError

FEWEST = 2  # changed statements for each theorem


@dataclass
class Checked:
    """What was found out about the proofs."""

    seconds: dict[str, float] = field(default_factory=dict)  # for each file
    elapsed: float = 0.0
    comparing: float = 0.0  # seconds
    tried: list[mutations.Tried] = field(default_factory=list)
    changing: float = 0.0  # seconds

    def refused_counts(self) -> Counter[str]:
        """Return for each theorem how many of its changed statements were refused."""
        return Counter(one.item.name for one in self.tried if one.refused)


def readable(folder: Path = FOLDER) -> list[str]:
    """Return what can be seen to be wrong without a checker.

    That is a torn file, a word that is not allowed, and a name that nothing has.
    """
    try:
        checker.project(folder)
        found = source.library(folder)
        names, changes = listed.formal_theorems_of(folder), listed.mutations(folder)
        messages = [fault for path in source.files(folder) for fault in source.faults(path)]
        for one in changes:
            if one.theorem in found:
                one.changed(found[one.theorem].statement)
    except ProofsError as error:
        return [str(error)]
    known = {name for name, item in found.items() if item.is_stated}
    messages += [f"theorems.toml names {n}, which no file states" for n in names if n not in known]
    by_theorem = Counter(one.theorem for one in changes)
    messages += [
        f"mutations.toml names {n}, which no file states" for n in by_theorem if n not in known
    ]
    return messages + [
        f"mutations.toml changes {name} {by_theorem[name]} times; each needs {FEWEST} changes"
        for name in names
        if name in known and by_theorem[name] < FEWEST
    ]


def check(folder: Path = FOLDER, to: Path = checker.BUILD) -> Checked:
    """Check the files.

    Raises:
        CheckError: The checker refuses one.
    """
    start = time.monotonic()
    seconds = checker.compile_folder(folder, to)
    return Checked(seconds, time.monotonic() - start)


def compare(found: Checked, folder: Path = FOLDER, to: Path = checker.BUILD) -> list[str]:
    """Compare what the theorems assume with the record; return a message for each difference."""
    start = time.monotonic()
    names = listed.formal_theorems_of(folder)
    messages = record.record_differences(names)
    messages += [] if messages else record.group_differences(folder=folder, to=to)
    found.comparing = time.monotonic() - start
    return messages


def change(found: Checked, folder: Path = FOLDER, to: Path = checker.BUILD) -> list[str]:
    """Try the changed statements, and return a message for each that is not refused."""
    start = time.monotonic()
    found.tried = mutations.try_mutations(listed.mutations(folder), folder, to)
    found.changing = time.monotonic() - start
    return [one.message() for one in found.tried if one.problem]


def new_record(found: Checked) -> dict[str, Any]:
    """Return the record of what was found; asks each theorem by itself what it assumes."""
    assumed = checker.assumptions(listed.formal_theorems_of())
    return record.new_record_of_proofs(
        found.elapsed + found.changing, assumed, found.refused_counts()
    )
