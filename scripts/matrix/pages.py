"""The pages of other libraries, from `docs/data/matrix/`: a table of all, and one for each group.

vectors/who-computes-what.md      the table, and how it came about
vectors/libraries/GROUP.md        what each library of a group was asked, and answered
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from posenc.vectors import suites
from scripts.book.evaluate import corrected_page
from scripts.book.template import filled
from scripts.matrix import record
from scripts.matrix.record import GROUPS, WAYLESS, Answers, Difference, Library

PAGE = "vectors/who-computes-what.md"
# The classes of the marks before verdicts, as in the ledger.
MARKS = {
    "passes": "true",
    "passes in part": "true .part",
    "by convention": "imprecise",
    "limited": "true-if",
    "differs": "false",
    "not offered": "not-checkable",
}
KINDS = {"convention": "Convention", "limit": "Limit", "fault": "Difference"}
NO_PARAMETER = re.compile(r"^got an unexpected keyword argument '(\w+)'$")
STEPS = {"install": "installed", "start": "started"}
# Where what a suite expects is defined in the book, seen from docs/vectors/, and what it asks.
DEFINED = {
    "frequencies": ("../reference/scaling.md", "the frequency of each pair, by each scaling rule"),
    "config": ("../reference/config.md", "whole configurations, in the old and the new spelling"),
    "rotation": ("../reference/rotary.md", "rotated vectors, in both layouts"),
    "rotation_2d": ("../axes/rope.md", "patches rotated by row and column"),
    "mrope": ("../axes/mrope.md", "vectors rotated by time, height and width"),
    "scores": ("../chapters/by-hand/alternatives.md#rope", "scores of rotated queries and keys"),
    "sinusoidal": ("../reference/sinusoidal.md", "rows of sines and cosines, in each usual order"),
    "alibi": ("../reference/alibi.md", "the slope of each head"),
    "alibi_bias": ("../reference/alibi.md", "the bias of each query and key"),
    "t5": ("../reference/t5.md", "buckets of relative positions"),
    "swin": ("../reference/swin.md", "the index of relative positions in a window"),
    "shaw": ("../reference/relative.md", "clipped relative positions"),
    "resize": ("../axes/resize.md", "a table of learned positions, interpolated"),
    "positions": ("../how-to/diagnose/rotations.md", "positions of padded and packed sequences"),
    "sequences": ("../reference/rotary.md", "calls in order: caches, lengths, bases, casts"),
    "swin_rectangle": ("../reference/swin.md", "the same index in a window that is not square"),
    "deberta": ("../schemes/terms.md", "rows and buckets of relative positions"),
    "mrope_positions": ("../axes/mrope.md", "positions of text, images and videos"),
    "resize_grid": ("../axes/resize.md", "a grid of learned positions, at other sizes"),
}


def page(path: str) -> str:
    """Return the page with the table, or that of a group, with its bound numbers computed."""
    if path == PAGE:
        return corrected_page(filled("who-computes-what", rows=rows(), defined=DEFINED))
    group = Path(path).stem
    own = [library for library in record.answered_libraries() if library.group == group]
    return corrected_page(filled("libraries", group=GROUPS[group], libraries=own, **WORDS))


def rows() -> list[dict[str, str]]:
    """Return the cells of the table by their headings, of the suites that some library offers."""
    found = [row_of(library) for library in record.answered_libraries()]
    offered = [heading for heading in found[0] if any(row[heading] for row in found)]
    return [{heading: row[heading] for heading in offered} for row in found]


def row_of(library: Library) -> dict[str, str]:
    """Return the row of a library in the table."""
    found = record.result(library)
    name = f"[{library.title}]({address(library)})"
    if "ways" not in found:
        heading = f"{name} could not be {STEPS[found['failed']['step']]}"
        return {"library": heading, "cases": "", **dict.fromkeys(suites(), "")}
    cells = {suite: cell(library, suite) for suite in suites()}
    return {"library": f"{name} {version(library, found)}", "cases": asked_cases(library), **cells}


def asked_cases(library: Library) -> str:
    """Return how many cases a library was asked, of how many there are now if these are more."""
    then, now = record.case_counts(library)
    return f"{now}" if then == now else f"{then} of {now}"


def version(library: Library, found: dict[str, Any]) -> str:
    """Return the version of a library, without what follows a plus."""
    printed: str = found["versions"][record.normal(library.version)]
    return printed.partition("+")[0]


def address(library: Library) -> str:
    """Return where a library's section is, seen from the table."""
    return f"libraries/{library.group}.md#{library.name}"


def cell(library: Library, suite: str) -> str:
    """Return a cell of the table: each verdict of the library's ways, linked to its section."""
    by = record.answers(library)
    asked = [(way, by[way, suite].verdict) for way in library.ways if (way, suite) in by]
    return " ".join(
        f"[{verdict}]({address(library)} "
        f'"{suite}: {verdict}{in_brackets([way for way, one in asked if way and one == verdict])}")'
        f"{{ .verdict .{mark} }}"
        for verdict, mark in MARKS.items()
        if verdict != "not offered" and verdict in {one for _, one in asked}
    )


def in_brackets(ways: list[str]) -> str:
    """Return the names of ways as they follow a verdict."""
    return f" ({', '.join(ways)})" if ways else ""


def section(library: Library) -> str:
    """Return the section of a library."""
    return filled("library", library=library, **WORDS)


def packages(found: dict[str, Any]) -> str:
    """Return which packages were asked, each with its version."""
    first, *others = [f"`{name} {one}`" for name, one in found["versions"].items()]
    return " with ".join(filter(None, [first, ", ".join(others)]))


def contracts(found: dict[str, Any]) -> str:
    """Return which ways were asked for another contract than the usual one."""
    others = {way: one["contract"] for way, one in found["ways"].items()}
    others = {way: one for way, one in others.items() if one != "float32 angle"}
    lines = [
        f"{way}: contract *{one}*" if way else f"Contract *{one}*" for way, one in others.items()
    ]
    return f" {', '.join(lines)}." if lines else ""


def library_rows(library: Library) -> list[dict[str, str]]:
    """Return the cells of a library's own table, one row a suite and way."""
    by = record.answers(library)
    pairs = [(way, suite) for way in library.ways for suite in suites() if (way, suite) in by]
    return [suite_row(by[pair]) for pair in pairs]


def named_library_rows(name: str) -> list[dict[str, str]]:
    """Return the cells of the table of the library with this name."""
    return library_rows(record.library(name))


def suite_row(answers: Answers) -> dict[str, str]:
    """Return the row of a suite and way: what was called and what came out."""
    has_ways = answers.library.ways.keys() != {WAYLESS}
    place = DEFINED[answers.suite][0].replace("../", "../../", 1)
    called = [answers.library.ways[answers.way], answers.called] if has_ways else [answers.called]
    return {
        **({"way": answers.way} if has_ways else {}),
        "suite": f"[{answers.suite}]({place})",
        "called": ": ".join(filter(None, called)),
        "result": f"*{answers.verdict}*{{ .verdict .{MARKS[answers.verdict]} }}",
        "cases": counts_in_words(answers),
        "error": error(answers),
        "not offered": missing_suites(answers),
        "bad input": bad_input(answers),
    }


def counts_in_words(answers: Answers) -> str:
    """Return the counts of a suite in words."""
    counts = answers.counts
    parts = [f"{answers.passed} of {counts['asked']} passed"]
    parts += [f"{n} by “{outcome}”" for outcome, n in counts.get("acceptable", {}).items()]
    parts += [f"{counts[kind]['count']} {kind}" for kind in record.WRONG if kind in counts]
    return ", ".join(parts)


def error(answers: Answers) -> str:
    """Return the largest error and its case, each case where it exceeds its tolerance most."""
    failed = answers.counts.get("failed")
    if not failed:
        return "—"
    number = "another shape" if failed["error"] is None else f"{failed['error']:.3g}"
    return f"{number} in `{failed['case']}`"


def missing_suites(answers: Answers) -> str:
    """Return what the library does not offer."""
    reasons = [
        NO_PARAMETER.sub(r"input `\1`", one) for one in answers.counts.get("unsupported", {})
    ]
    return "; ".join(reasons) or "—"


def bad_input(answers: Answers) -> str:
    """Return how many of the inputs without an answer were refused."""
    counts = {key: n for key, n in answers.counts.get("nonsense", {}).items() if key != "cases"}
    return f"{counts.get('refused', 0)} of {sum(counts.values())} refused" if counts else "—"


def counted_differences(library: Library) -> list[tuple[int, int, Difference]]:
    """Return the differences that explain an answer: number, how many it explains, and itself."""
    counted = [
        (number, record.explained_count(library.name, number), one)
        for number, one in enumerate(library.differences)
    ]
    return [found for found in counted if found[1]]


def links(one: Difference) -> str:
    """Return where a difference is defined and discussed, and what to do until it is mended."""
    parts = []
    if one.definition:
        place = one.definition
        place = f"../{place}" if place.startswith("../") else place
        parts.append(f" [Definition]({place}).")
    found = [f"[{_thread(at)}]({at}) is {role}" for at, role in one.threads]
    parts += [f" Upstream: {'; '.join(found)}."] if found else []
    parts += [" No thread upstream was found."] if one.report and not found else []
    parts += [f" Until it is mended: {one.until}"] if one.until else []
    parts += [f" Answered as expected since {one.mended}."] if one.mended else []
    return "".join(parts)


def _thread(place: str) -> str:
    """Return the name of a thread, as in huggingface/transformers 27226."""
    parts = place.split("/")
    is_thread = "github.com" in place and parts[-2] in ("issues", "pull")
    return f"{parts[-4]}/{parts[-3]} {parts[-1]}" if is_thread else place


def first_said(answers: Answers) -> str:
    """Return what is known of the first wrong answer."""
    counts = answers.counts
    reasons = counts.get("refused", counts.get("crashed", {})).get("reasons", {})
    return counts.get("failed", {}).get("said") or next(iter(reasons), "")


# What the templates of a group and of a library use.
WORDS: dict[str, Any] = {
    "asked_cases": asked_cases,
    "contracts": contracts,
    "first_said": first_said,
    "kinds": KINDS,
    "links": links,
    "matrix": record,
    "of": library_rows,
    "packages": packages,
    "seen": counted_differences,
    "steps": STEPS,
}
