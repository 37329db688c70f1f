"""The page of other libraries, docs/vectors/who-computes-what.md, from `docs/data/matrix/`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from posenc.vectors import suites
from scripts import DOCS
from scripts.book import matrix
from scripts.book.check import corrections
from scripts.book.matrix import GROUPS, WAYLESS, Answers, Difference, Library
from scripts.book.text import corrected

PAGE = DOCS / "vectors" / "who-computes-what.md"
NONE = "—"
# The classes of the marks before the words of a verdict, as in the ledger.
MARKS = {
    "passes": "true",
    "by convention": "imprecise",
    "limited": "true-if",
    "differs": "false",
    "not offered": "not-checkable",
}
KINDS = {"convention": "Convention", "limit": "Limit", "fault": "Differs"}
DEFINED = {
    "frequencies": "../reference/scaling.md",
    "config": "../reference/config.md",
    "rotation": "../reference/rotary.md",
    "rotation_2d": "../reference/rotary.md",
    "mrope": "../reference/rotary.md",
    "scores": "../chapters/by-hand.md#rope",
    "sinusoidal": "../reference/sinusoidal.md",
    "alibi": "../reference/alibi.md",
    "alibi_bias": "../reference/alibi.md",
    "t5": "../reference/t5.md",
    "swin": "../reference/swin.md",
    "shaw": "../reference/relative.md",
    "resize": "../reference/learned.md",
    "positions": "index.md",
    "sequences": "index.md",
}

HEAD = """\
---
title: Who computes what
description: How {{ 0 = matrix.asked() }} libraries answer the test vectors of positional encoding.
audience: anyone who uses or maintains one of these libraries
time: a minute, to look up a library
needs: nothing; the test vectors, to run it again
---
# Who computes what

{{ 0 = matrix.asked() }} libraries, each in an environment of its own, were asked the same
[test vectors](index.md).
{ .lead }
"""


def page() -> str:
    """Return the whole page as Markdown, with its bound numbers computed."""
    found = matrix.libraries()
    parts = [HEAD, table(), LEGEND, *(part for group in GROUPS for part in of_group(group, found))]
    text = "\n".join(parts)
    return corrected(text, corrections(text))


LEGEND = """
/// table-caption | <
    attrs: {class: matrix}

A row for each library and version, a column for each suite.
///
"""


def table() -> str:
    """Return the table of all libraries, bound to `rows`."""
    return _bound("matrix_table()", rows())


def _bound(expression: str, found: list[dict[str, str]]) -> str:
    """Return a table of these rows, with the expression that it is bound to."""
    lines = [list(found[0]), ["---"] * len(found[0]), *(list(cells.values()) for cells in found)]
    body = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"<!-- table: {expression} -->\n{body}"


def rows() -> list[dict[str, str]]:
    """Return the cells of the table by their headings, one row a library and way."""
    return [row for library in matrix.libraries() for row in rows_of(library)]


def rows_of(library: Library) -> Iterator[dict[str, str]]:
    """Yield the rows of a library in the table."""
    found = matrix.result(library)
    name = f"[{library.title}](#{library.name})"
    if "ways" not in found:
        said = f"could not be {STEPS[found['failed']['step']]}"
        yield {"library": f"{name}, {said}", **dict.fromkeys(suites(), NONE)}
        return
    by = matrix.answers(library)
    version = found["versions"][library.version.lower()]
    for way in library.ways:
        said = f"{name} {version}" + (f", {way}" if way else "")
        cells = {suite: cell(by.get((way, suite)), library) for suite in suites()}
        yield {"library": said, **cells}


STEPS = {"install": "installed", "start": "started"}


def cell(answers: Answers | None, library: Library) -> str:
    """Return a cell of the table: a verdict, which links to the library's section."""
    if answers is None or answers.verdict == "not offered":
        return NONE
    return f"[{answers.verdict}](#{library.name}){{ .verdict .{MARKS[answers.verdict]} }}"


def of_group(group: str, found: Iterable[Library]) -> list[str]:
    """Return the sections of a group of libraries."""
    own = [section(library) for library in found if library.group == group]
    return [f"## {GROUPS[group]}\n", *own] if own else []


def section(library: Library) -> str:
    """Return the section of a library."""
    found = matrix.result(library)
    parts = [f"### {library.title} {{ #{library.name} }}\n", about(library, found)]
    if "ways" in found:
        parts.append(_bound(f'matrix_of("{library.name}")', of(library)))
    if library.without:
        parts.append(f"{library.without.strip()}\n")
    parts += [difference(library, one, found) for one in library.differences]
    return "\n".join(parts)


def about(library: Library, found: dict[str, Any]) -> str:
    """Return how a library was asked."""
    again = f"`python -m scripts.matrix {library.name}` asks it again."
    if "ways" not in found:
        step, said = found["failed"]["step"], found["failed"]["said"]
        return f"[{library.title}]({library.home}) could not be {STEPS[step]}: `{said}`. {again}\n"
    versions = ", ".join(f"`{name} {version}`" for name, version in found["versions"].items())
    return (
        f"[{library.title}]({library.home}): {versions}, asked on `{found['date']}` with"
        f" `Python {found['python']}`. {again}\n"
    )


def of(library: Library) -> list[dict[str, str]]:
    """Return the cells of a library's own table, one row a suite and way."""
    by = matrix.answers(library)
    pairs = [(way, suite) for suite in suites() for way in library.ways if (way, suite) in by]
    return [counted(by[pair]) for pair in pairs]


def of_name(name: str) -> list[dict[str, str]]:
    """Return the cells of the table of the library with this name."""
    return of(matrix.library(name))


def counted(answers: Answers) -> dict[str, str]:
    """Return the row of a suite and way: what was called and what came out."""
    counts, suite = answers.counts, f"[{answers.suite}]({DEFINED[answers.suite]})"
    way = {} if answers.library.ways.keys() == {WAYLESS} else {"way": answers.way}
    return {
        "suite": suite,
        **way,
        "called": answers.called,
        "result": f"[{answers.verdict}]{{ .verdict .{MARKS[answers.verdict]} }}",
        "of the cases asked": said(answers),
        "largest error": error(counts),
    }


def said(answers: Answers) -> str:
    """Return the counts of a suite in words."""
    counts = answers.counts
    parts = [f"{answers.passed} of {counts['asked']} passed"]
    parts += [f"{n} by “{how}”" for how, n in counts.get("acceptable", {}).items()]
    parts += [f"{counts[kind]['count']} {kind}" for kind in matrix.WRONG if kind in counts]
    return ", ".join(parts)


def error(counts: Any) -> str:
    """Return the largest error and the case where it is."""
    failed = counts.get("failed")
    if not failed:
        return NONE
    number = "another shape" if failed["error"] is None else f"{failed['error']:.3g}"
    return f"{number} in `{failed['case']}`"


def difference(library: Library, one: Difference, found: dict[str, Any]) -> str:
    """Return what is said about a difference."""
    lines = [f"**{KINDS[one.kind]}.** {one.what}\n"]
    if one.program:
        path = library.folder / "programs" / one.program
        output = found.get("programs", {}).get(one.program, {}).get("output", "")
        lines.append(f"```python\n{path.read_text('utf-8').strip()}\n```\n")
        lines.append(f"```text\n{output}\n```\n")
    return "\n".join(lines)
