"""The result files: one per run, with the code, versions and machine that produced it."""

from __future__ import annotations

import datetime
import hashlib
import importlib.metadata
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from scripts import DATA, ROOT
from scripts.setup.machine import machine

RESULTS = DATA / "measure"
FORMAT = 1
DIGITS = 5  # after the point
REMEDY = "delete it and run the command again"
KEYS = {
    "format", "task", "method", "seed", "settings", "lengths", "found", "losses", "parameters",
    "probe", "corpus", "code", "package", "versions", "machine", "date", "seconds",
}  # fmt: skip
CODE = ("posenc/**/*.py", "scripts/measure/*.py")


class UnreadableError(Exception):
    """A result file cannot be used; the message names it and says why and what to do."""


def name(task: str, method: str, seed: int) -> str:
    """Return the name of a run, such as language-rope-0."""
    return f"{task}-{method.replace(', ', '_')}-{seed}"


@cache
def code(root: Path = ROOT) -> str:
    """Return a digest of the source that produces results, recorded as their provenance."""
    digest = hashlib.sha256()
    for path in sorted(path for pattern in CODE for path in root.glob(pattern)):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def rounded_numbers(found: Any) -> Any:
    """Return the same with every number rounded, in lists and dictionaries too."""
    if isinstance(found, dict):
        return {name: rounded_numbers(value) for name, value in found.items()}
    if isinstance(found, list):
        return [rounded_numbers(value) for value in found]
    return round(found, DIGITS)


def versions() -> dict[str, str]:
    """Return the versions of numpy and torch."""
    return {p: importlib.metadata.version(p).partition("+")[0] for p in ("numpy", "torch")}


def with_provenance(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result with its provenance: code, versions, machine and date."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    package = importlib.metadata.version("posenc")
    provenance = {"code": code(), "package": package, "versions": versions(), "machine": machine()}
    return {"format": FORMAT, **result, **provenance, "date": today}


def write(path: Path, result: dict[str, Any]) -> None:
    """Write a result atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".new")
    try:
        beside.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


def read(path: Path) -> dict[str, Any]:
    """Return a result.

    Raises:
        UnreadableError: The file is damaged, has another format, or lacks keys.
    """
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise UnreadableError(f"{path} is damaged; {REMEDY}") from None
    if not isinstance(result, dict) or result.get("format") != FORMAT:
        found = result.get("format") if isinstance(result, dict) else None
        raise UnreadableError(f"{path} has format {found}, not {FORMAT}; {REMEDY}")
    if missing := sorted(KEYS - set(result)):
        raise UnreadableError(f"{path} lacks {', '.join(missing)}; {REMEDY}")
    return result


def read_all(folder: Path = RESULTS) -> list[dict[str, Any]]:
    """Return all results in a folder."""
    return [read(path) for path in sorted(folder.glob("*.json"))]


def irreproducible_runs(results: Iterable[dict[str, Any]]) -> list[str]:
    """Return the names of runs whose probe today's code does not reproduce."""
    from scripts.measure.probe import (  # needs torch, which reading pages does not
        agrees_with,
        probe,
    )

    return sorted(
        name(r["task"], r["method"], r["seed"])
        for r in results
        if not agrees_with(r["probe"], probe(r["task"], r["method"]))
    )
