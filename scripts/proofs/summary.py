"""Counts of what is proved, for pages: `proofs.proved()` and so on."""

from __future__ import annotations

from scripts.proofs import checker, listed, record, source


def theorem_count() -> int:
    """Return the number of theorems of chapter 4."""
    return len(listed.numbered_theorems())


def proved_count() -> int:
    """Return how many of them are proved by machine as a whole."""
    return sum(bool(one.proved) and not one.part for one in listed.numbered_theorems())


def partly_proved_count() -> int:
    """Return of how many of them only a part is proved by machine."""
    return sum(one.part for one in listed.numbered_theorems())


def bounds() -> int:
    """Return the number of inequalities and bounds that are proved."""
    return len(listed.bounds())


def formal() -> int:
    """Return the number of formal theorems behind them."""
    return len(listed.formal_theorems_of())


def steps() -> int:
    """Return the number of lemmas and theorems in all files."""
    return sum(item.is_stated for item in source.library().values())


def lines() -> int:
    """Return the number of lines of all files."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in source.files())


def changes() -> int:
    """Return the number of changed statements, all of which are refused."""
    return len(listed.mutations())


def seconds() -> int:
    """Return how many seconds the recorded check took, changed statements included."""
    found: int = record.load()["seconds"]
    return found


def version() -> float:
    """Return the version of the checker of the record, to its first point."""
    name: str = record.load()["checked_with"]
    return float(".".join(name.split()[1].split(".")[:2]))


def machine() -> int:
    """Return the number of axioms about the processor's integers and floats, over all theorems."""
    return sum(checker.is_machine(name) for name in record.load()["axioms"])
