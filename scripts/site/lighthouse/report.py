"""The results and the versions used, in docs/data/lighthouse.json, and the tables of the page."""

from __future__ import annotations

import datetime
import json
import platform
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scripts import DATA, DOCS, ROOT
from scripts.site.lighthouse.audit import Score
from scripts.site.lighthouse.weigh import KINDS, Weight

RESULTS = DATA / "lighthouse.json"
PAGE = DOCS / "trust" / "how-built.md"
NAMES = {"": "home", "chapters/by-hand/": "chapter 1", "explore/heatmap/": "an explorer"}
PACKAGES = ("axe-core", "lighthouse", "pyodide")
PARTS = {
    "pages, their copies and the search": "",
    "figures": "figures",
    "theme, style and scripts": "assets",
}
PARTS |= {"Python, for *Run*": "assets/built/python"}
SMALL = 50_000  # bytes; files up to this size are summed as "the rest"
LIMIT = 250_000  # bytes of an opened chapter
LEAST = {"performance": 98, "accessibility": 100, "best practices": 100, "SEO": 100}
MOST_SHIFT = 0.01


@dataclass(frozen=True)
class Part:
    """A part of the built site: the number of files and their bytes on disk."""

    name: str
    files: int
    bytes: int


@dataclass(frozen=True)
class Report:
    """All results, with the date, the machine and the versions."""

    date: str
    machine: str
    versions: dict[str, str]
    weights: tuple[Weight, ...]
    scores: tuple[Score, ...]
    parts: tuple[Part, ...]
    run: dict[str, int]  # bytes over the wire of each file that the first Run fetches
    first: float  # seconds from the first click on Run to its result

    def weight(self, name: str) -> Weight:
        """Return the weight of a page, by its name in the tables."""
        return next(one for one in self.weights if NAMES[one.path] == name)

    def table(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of a table by its name: scores, weights, parts or run."""
        head = HEADS[name].split(" | ")
        return [
            dict(zip(head, (label, *numbers), strict=True)) for label, numbers in rows(self, name)
        ]

    def missed_goals(self) -> list[str]:
        """Return a line for each result that misses its target."""
        missed = [
            f"{NAMES[one.path]}: {what} {number:.0f}, not {least}"
            for one in self.scores
            for (what, least), number in zip(LEAST.items(), one.numbers, strict=False)
            if number < least
        ]
        moved = [one for one in self.scores if one.shift > MOST_SHIFT]
        missed += [f"{NAMES[one.path]}: moves by {one.shift:.3f}" for one in moved]
        heavy = [one for one in self.weights if one.total >= LIMIT]
        return missed + [f"{NAMES[one.path]}: {one.total / 1000:.0f} KB" for one in heavy]


def report(
    weights: Iterable[Weight],
    scores: Iterable[Score],
    *,
    parts: Iterable[Part],
    run: dict[str, int],
    first: float,
    chromium: str,
) -> Report:
    """Return a report with today's date, this machine and its versions."""
    from scripts.setup.machine import machine

    locked = json.loads((ROOT / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    versions = {name: locked[f"node_modules/{name}"]["version"] for name in PACKAGES}
    versions = {"chromium": chromium, **versions, "python": platform.python_version()}
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return Report(
        today, machine(), versions, tuple(weights), tuple(scores), tuple(parts), run, first
    )


def parts(site: Path) -> list[Part]:
    """Return the parts of a built site; each file counts for its deepest listed folder."""
    folders = sorted(PARTS.items(), key=lambda part: -len(part[1]))
    found: dict[str, list[int]] = {name: [] for name in PARTS}
    for file in sorted(path for path in site.rglob("*") if path.is_file()):
        inside = file.relative_to(site).as_posix()
        name = next(name for name, folder in folders if inside.startswith(folder))
        found[name].append(file.stat().st_size)
    return [Part(name, len(sizes), sum(sizes)) for name, sizes in found.items()]


def write(found: Report, path: Path = RESULTS) -> None:
    """Write a report as JSON."""
    path.write_text(json.dumps(asdict(found), indent=1) + "\n", encoding="utf-8")


def read(path: Path = RESULTS) -> Report:
    """Return the report from a file."""
    content = json.loads(path.read_text(encoding="utf-8"))
    content["weights"] = tuple(Weight(**one) for one in content["weights"])
    content["scores"] = tuple(
        Score(**one | {"faults": tuple(one["faults"])}) for one in content["scores"]
    )
    content["parts"] = tuple(Part(**one) for one in content["parts"])
    return Report(**content)


# Tables

Rows = list[tuple[str, tuple[float, ...]]]
HEADS = {
    "scores": "page | performance | accessibility | best practices | SEO | shift | largest part, s",
    "weights": f"page | {' | '.join(KINDS)} | opened | read",
    "parts": "part | files | MB",
    "run": "file | KB",
}
FORMS = {"scores": (0, 0, 0, 0, 3, 1), "weights": (0,) * 8, "parts": (0, 1), "run": (0,)}


def rows(found: Report, name: str) -> Rows:
    """Return the rows of a table with their labels, sizes in KB or MB."""
    if name == "scores":
        return [(NAMES[one.path], one.numbers) for one in found.scores]
    if name == "weights":
        sums = [(NAMES[w.path], (*w.opened.values(), w.total, w.read)) for w in found.weights]
        return [(page, tuple(size / 1e3 for size in sizes)) for page, sizes in sums]
    if name == "parts":
        whole = Part("in all", sum(p.files for p in found.parts), sum(p.bytes for p in found.parts))
        return [(part.name, (part.files, part.bytes / 1e6)) for part in (*found.parts, whole)]
    return [(file, (size / 1e3,)) for file, size in fetched(found.run).items()]


def fetched(run: dict[str, int]) -> dict[str, int]:
    """Return the bytes of the large files that Run fetches, without versions, and the totals."""
    large = {
        f"`{re.sub(r'-[0-9].*(?=[.]whl$)', '-…', file)}`": size
        for file, size in run.items()
        if size > SMALL
    }
    whole = sum(run.values())
    return large | {"the rest": whole - sum(large.values()), "in all": whole}


def markdown(found: Report, name: str) -> str:
    """Return a table in Markdown, as the page has it."""
    forms = FORMS[name]
    lines = [f"| {HEADS[name]} |", f"|---|{'--:|' * len(forms)}"]
    for label, numbers in rows(found, name):
        cells = [f"{n:.{places}f}" for n, places in zip(numbers, forms, strict=True)]
        lines.append(f"| {label} | {' | '.join(cells)} |")
    return "\n".join(lines)


def page_with_results(page: str, found: Report) -> str:
    """Return a page with its bound tables replaced by those of a report."""

    def table(comment: re.Match[str]) -> str:
        return f"{comment['line']}\n{markdown(found, comment['name'])}\n"

    line = r'^(?P<line><!-- table: site\.table\("(?P<name>\w+)"\) -->)\n(?:\|.*\n)*'
    return re.sub(line, table, page, flags=re.M)
