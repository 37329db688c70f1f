"""What the checker said last: docs/data/proofs.json, which pages show and every run compares.

checked_with    the checker and its version
seconds         how long checking all files and changed statements took
files           the digest of each file that was checked
axioms          each axiom that a theorem assumes, as the checker prints it
theorems        for each theorem of the book its axioms, and how many changes were refused
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from scripts import DATA
from scripts.proofs import checker, source
from scripts.proofs.checker import BUILD
from scripts.proofs.source import FOLDER, ProofsError, place_of

FILE = DATA / "proofs.json"
AGAIN = "run `make prove RECORD=1`, and read what changed in docs/data/proofs.json"


@dataclass(frozen=True)
class Recorded:
    """What the record says of a theorem."""

    axioms: tuple[str, ...]
    refused: int

    @property
    def classical(self) -> tuple[str, ...]:
        """Return the axioms of the real numbers and of logic."""
        return tuple(name for name in self.axioms if not checker.is_machine(name))

    @property
    def machine(self) -> int:
        """Return the number of axioms about the processor's integers and floats."""
        return len(self.axioms) - len(self.classical)


def load(path: Path = FILE) -> dict[str, Any]:
    """Return the record as it is in its file."""
    return _load(path, path.stat().st_mtime_ns)


@cache
def _load(path: Path, changed: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def recorded_entry(name: str, path: Path = FILE) -> Recorded:
    """Return what the record says of a theorem.

    Raises:
        ProofsError: It does not list the theorem.
    """
    entry = load(path)["theorems"].get(name)
    if entry is None:
        raise ProofsError(f"docs/data/proofs.json does not list {name}: {AGAIN}")
    return Recorded(tuple(entry["assumes"]), entry["refused"])


def digest(path: Path) -> str:
    """Return the digest of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def new_record_of_proofs(
    seconds: float, assumed: Mapping[str, Mapping[str, str]], refused: Mapping[str, int]
) -> dict[str, Any]:
    """Return a new record."""
    axioms = {name: words for several in assumed.values() for name, words in several.items()}
    return {
        "checked_with": checker.version(),
        "seconds": round(seconds),
        "files": {path.name: digest(path) for path in source.files()},
        "axioms": dict(sorted(axioms.items())),
        "theorems": {
            name: {"assumes": sorted(several), "refused": refused[name]}
            for name, several in sorted(assumed.items())
        },
    }


def write(found: dict[str, Any], path: Path = FILE) -> None:
    """Write a record."""
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def unacceptable(found: dict[str, Any]) -> list[str]:
    """Return a message for each axiom of a new record that no proof may rest on."""
    return [
        f"{name} rests on {axiom}, which is not an axiom we accept"
        for name, entry in found["theorems"].items()
        for axiom in entry["assumes"]
        if not checker.is_allowed(axiom)
    ]


def changed_files(path: Path = FILE, folder: Path = FOLDER) -> list[str]:
    """Return a message for each file that is not the one that was checked last."""
    known = load(path)["files"]
    there = {file.name: digest(file) for file in source.files(folder)}
    gone = [
        f"docs/proofs/{name} is recorded and does not exist" for name in known if name not in there
    ]
    return gone + [
        f"docs/proofs/{name} is not the file that was checked last: {AGAIN}"
        for name, found in there.items()
        if known.get(name) != found
    ]


def differences(
    assumed: Mapping[str, Mapping[str, str]],
    path: Path = FILE,
    folder: Path = FOLDER,
) -> list[str]:
    """Return a message for each theorem that assumes what it may not, or other than recorded.

    The processor's integers and floats have other axioms in other versions of the checker, so of
    these only whether there are any is compared.
    """
    known, messages = load(path)["theorems"], []
    for name, axioms in assumed.items():
        item = source.theorem(name, folder)
        about = f"{place_of(item.file)}, line {item.line}: {name}"
        if wrong := [axiom for axiom in axioms if not checker.is_allowed(axiom)]:
            messages.append(f"{about} rests on {', '.join(wrong)}, which is not an axiom we accept")
        elif kinds(axioms) != kinds(known[name]["assumes"]):
            here = ", ".join(sorted(kinds(axioms))) or "nothing"
            there = ", ".join(sorted(kinds(known[name]["assumes"]))) or "nothing"
            messages.append(f"{about} assumes {here}; the record says {there}: {AGAIN}")
    return messages


def record_differences(names: Iterable[str], path: Path = FILE) -> list[str]:
    """Return a message for each theorem that is recorded and not among these, or the reverse."""
    names, known = set(names), set(load(path)["theorems"])
    return [
        *(f"docs/data/proofs.json does not list {name}: {AGAIN}" for name in sorted(names - known)),
        *(
            f"docs/data/proofs.json lists {name}, which proves nothing in theorems.toml: {AGAIN}"
            for name in sorted(known - names)
        ),
    ]


def groups(path: Path = FILE) -> list[list[str]]:
    """Return the recorded theorems, those that assume the same in one group."""
    found: dict[tuple[str, ...], list[str]] = {}
    for name, entry in load(path)["theorems"].items():
        found.setdefault(tuple(sorted(kinds(entry["assumes"]))), []).append(name)
    return list(found.values())


def group_differences(path: Path = FILE, folder: Path = FOLDER, to: Path = BUILD) -> list[str]:
    """Return a message for each theorem that assumes other than the record says, quickly.

    Theorems are asked one by one only if their group assumes something else.
    """
    found = groups(path)
    answers = checker.shared_assumptions(found, folder, to)
    doubtful = [
        name
        for names, axioms in zip(found, answers, strict=True)
        if kinds(axioms) != kinds(load(path)["theorems"][names[0]]["assumes"])
        or not all(map(checker.is_allowed, axioms))
        for name in names
    ]
    assumptions = checker.assumptions(doubtful, folder, to) if doubtful else {}
    return differences(assumptions, path, folder)


def kinds(axioms: Any) -> set[str]:
    """Return axioms with those of the processor's integers and floats as one."""
    return {"the processor's numbers" if checker.is_machine(name) else name for name in axioms}
