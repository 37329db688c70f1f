"""The result files: one a run, each with all that is needed to trust it."""

from __future__ import annotations

import ast
import datetime
import hashlib
import importlib.metadata
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from scripts.bench.report import machine
from scripts.book import DATA, ROOT

RESULTS = DATA / "measure"
FORMAT = 1
KEYS = {
    "format", "task", "method", "seed", "settings", "lengths", "found", "losses", "parameters",
    "corpus", "code", "package", "versions", "machine", "date", "seconds",
}  # fmt: skip
# What a result depends on: all of this, but for what takes no part in training and reading.
CODE = ("posenc/**/*.py", "scripts/measure/*.py")
WITHOUT = {
    "scripts/measure/__main__.py", "scripts/measure/report.py", "scripts/measure/results.py",
    "posenc/__main__.py", "posenc/attention.py", "posenc/baselines.py", "posenc/combine.py",
    "posenc/swin.py", "posenc/nn/swin.py", "posenc/nn/tokenizer.py",
    "posenc/nn/diagnose.py", "posenc/nn/_observe.py", "posenc/nn/_parts.py", "posenc/nn/_trial.py",
}  # fmt: skip


class UnreadableError(Exception):
    """A result file that cannot be used; the message says which, why, and what to do."""


def name(task: str, method: str, seed: int) -> str:
    """Return the name of a run: language-rope-0."""
    return f"{task}-{method.replace(', ', '_')}-{seed}"


@cache
def code(root: Path = ROOT) -> str:
    """Return a digest of the code behind a result: of what it does, not of how it is described."""
    digest = hashlib.sha256()
    for path in files(root):
        digest.update(path.encode())
        digest.update(_meaning((root / path).read_text(encoding="utf-8")).encode())
    return digest.hexdigest()[:16]


def files(root: Path = ROOT) -> list[str]:
    """Return the files of which the digest is taken, from the root on."""
    found = (path.relative_to(root).as_posix() for pattern in CODE for path in root.glob(pattern))
    return sorted(set(found) - WITHOUT)


def versions() -> dict[str, str]:
    """Return the versions of what computes."""
    return {p: importlib.metadata.version(p).partition("+")[0] for p in ("numpy", "torch")}


def stamped(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result with what it was made with."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    package = importlib.metadata.version("posenc")
    made = {"code": code(), "package": package, "versions": versions(), "machine": machine()}
    return {"format": FORMAT, **result, **made, "date": today}


def write(path: Path, result: dict[str, Any]) -> None:
    """Write a result whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".new")
    try:
        beside.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


def read(path: Path) -> dict[str, Any]:
    """Return a result, or say what is wrong with its file."""
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise UnreadableError(f"{path} is torn; delete it, and it is made again") from None
    if not isinstance(result, dict) or result.get("format") != FORMAT:
        found = result.get("format") if isinstance(result, dict) else None
        raise UnreadableError(
            f"{path} is of format {found}, and this is {FORMAT}; delete it, and it is made again"
        )
    if missing := sorted(KEYS - set(result)):
        raise UnreadableError(f"{path} lacks {', '.join(missing)}; delete it, and it is made again")
    return result


def read_all(folder: Path = RESULTS) -> list[dict[str, Any]]:
    """Return all results of a folder."""
    return [read(path) for path in sorted(folder.glob("*.json"))]


def outdated(results: Iterable[dict[str, Any]]) -> list[str]:
    """Return the names of the runs whose code has changed since."""
    return sorted(name(r["task"], r["method"], r["seed"]) for r in results if r["code"] != code())


def _meaning(source: str) -> str:
    """Return a module's code without its documentation and comments, the same from every Python."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node, clean=False
        ):
            node.body[0] = ast.Pass()
        elif isinstance(node, ast.JoinedStr):  # 3.12 ends some of them with an empty string
            node.values = [part for part in node.values if getattr(part, "value", None) != ""]
    return _spelled(tree)


def _spelled(part: object) -> str:
    """Return a part of a syntax tree as text, without empty fields.

    `ast.dump` shows the empty fields up to Python 3.12, and not from 3.13 on.
    """
    if isinstance(part, list):
        return f"[{', '.join(map(_spelled, part))}]"
    if not isinstance(part, ast.AST):
        return ascii(part)
    fields = (
        f"{name}={_spelled(value)}"
        for name, value in ast.iter_fields(part)
        if value is not None and value != []
    )
    return f"{type(part).__name__}({', '.join(fields)})"
