"""What has been released: cases that may no longer change, in docs/data/vectors_released.json.

    python -m scripts.vectors --release 0.2.0     adds today's cases to them, when a version is made

The file has, for each release, how many cases each suite had and a digest of all their questions,
which tells with which release a library of the matrix was asked; and a digest of the input and of
the expected answer of each case: those of t5/near-001, -002, … under t5/near, as 001=….
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from scripts import DOCS
from scripts.vectors.cases import WITHDRAWN

FILE = DOCS / "data" / "vectors_released.json"
DIGITS = 8


def cases_in(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the cases in a folder of vectors, by their suites."""
    files = json.loads((folder / "index.json").read_text("utf-8"))["suites"]
    return {
        suite: json.loads((folder / one["file"]).read_text("utf-8"))["cases"]
        for suite, one in files.items()
    }


def digest(case: dict[str, Any]) -> str:
    """Return a digest of what a case asks and of what it expects."""
    text = json.dumps([case["input"], case["expected"]], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def questions(cases: list[dict[str, Any]]) -> str:
    """Return a digest of the cases of a suite, as the results of the matrix have it."""
    keys = ("id", "input", "expected", "tolerance", "result")
    told = [[*(case[key] for key in keys), case.get("acceptable", {})] for case in cases]
    text = json.dumps(told, sort_keys=True).encode()
    return hashlib.sha256(hashlib.sha256(text).digest()).hexdigest()[:16]


def release(version: str, folder: Path, file: Path = FILE) -> None:
    """Write that today's cases are those of a version.

    Raises:
        ValueError: the version has been released, or a released case has changed.
    """
    before = released(file)
    if version in before["releases"]:
        raise ValueError(f"version must be new; {version} has been released")
    if wrong := changes(folder, file):
        raise ValueError(f"released cases must stay as they are: {'; '.join(wrong)}")
    found = cases_in(folder)
    counts = {suite: len(cases) for suite, cases in found.items()}
    digests: dict[str, list[str]] = defaultdict(list)
    for case in (case for cases in found.values() for case in cases):
        kind, _, number = case["id"].rpartition("-")
        digests[kind].append(f"{number}={digest(case)}")
    asked = {suite: questions(cases) for suite, cases in found.items()}
    told = {
        "releases": before["releases"] | {version: counts},
        "questions": before["questions"] | {version: asked},
        "cases": {kind: " ".join(one) for kind, one in digests.items()},
    }
    file.write_text(json.dumps(told, indent=1) + "\n", "utf-8")


def released(file: Path = FILE) -> dict[str, Any]:
    """Return what the file has; nothing if there is none."""
    if not file.is_file():
        return {"releases": {}, "questions": {}, "cases": {}}
    found: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return found


def changes(folder: Path, file: Path = FILE) -> list[str]:
    """Return what has changed in released cases: each that is missing, or is another."""
    today = {case["id"]: digest(case) for cases in cases_in(folder).values() for case in cases}
    wrong = []
    for kind, digests in released(file)["cases"].items():
        for number, one in (written.split("=") for written in digests.split()):
            name = f"{kind}-{number}"
            if name not in today:
                wrong.append(f"{name} is missing")
            elif today[name] != one:
                wrong.append(f"{name} has changed")
    return wrong


def counts(folder: Path, file: Path = FILE) -> list[dict[str, Any]]:
    """Return how many cases each release added to each suite, for the table of the page."""
    versions = released(file)["releases"]
    rows = []
    for suite, cases in cases_in(folder).items():
        row: dict[str, Any] = {"suite": suite}
        before = 0
        for version, own in [*versions.items(), ("since", {suite: len(cases)})]:
            row[version] = own.get(suite, 0) - before
            before = own.get(suite, 0)
        row["withdrawn"] = sum(WITHDRAWN in case["flags"] for case in cases)
        rows.append(row)
    return rows
