"""The pages of other libraries, from `docs/data/matrix/`: a table of all, and one for each group.

docs/vectors/who-computes-what.md      the table, and how it came about
docs/vectors/libraries/GROUP.md        what each library of a group was asked, and answered
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from posenc.vectors import suites
from scripts import DOCS
from scripts.book import matrix
from scripts.book.evaluate import corrections
from scripts.book.matrix import GROUPS, WAYLESS, Answers, Difference, Library
from scripts.book.text import corrected

PAGE = DOCS / "vectors" / "who-computes-what.md"
FOLDER = DOCS / "vectors" / "libraries"
NOTHING = "*—*{ .none }"
# The classes of the marks before verdicts, as in the ledger.
MARKS = {
    "passes": "true",
    "by convention": "imprecise",
    "limited": "true-if",
    "differs": "false",
    "not offered": "not-checkable",
}
KINDS = {"convention": "Convention", "limit": "Limit", "fault": "Difference"}
STEPS = {"install": "installed", "start": "started"}
# Where what a suite expects is defined in the book, seen from docs/vectors/, and what it asks.
DEFINED = {
    "frequencies": ("../reference/scaling.md", "the frequency of each pair, by rules of scaling"),
    "config": ("../reference/config.md", "whole configurations of models, in two spellings"),
    "rotation": ("../reference/rotary.md", "rotated vectors, in both layouts"),
    "rotation_2d": ("../axes/rope.md", "patches rotated by row and column"),
    "mrope": ("../axes/mrope.md", "vectors rotated by time, height and width"),
    "scores": ("../chapters/by-hand.md#rope", "scores of rotated queries and keys"),
    "sinusoidal": ("../reference/sinusoidal.md", "rows of sines and cosines, in any order"),
    "alibi": ("../reference/alibi.md", "the slope of each head"),
    "alibi_bias": ("../reference/alibi.md", "the bias of each query and key"),
    "t5": ("../reference/t5.md", "buckets of relative positions"),
    "swin": ("../reference/swin.md", "the index of relative positions in a window"),
    "shaw": ("../reference/relative.md", "clipped relative positions"),
    "resize": ("../axes/resize.md", "a table of learned positions, interpolated"),
    "positions": ("../how-to/diagnose.md", "positions of padded and packed sequences"),
    "sequences": ("../reference/rotary.md", "calls in order: caches, lengths, bases, casts"),
}

HEAD = """\
---
title: Who computes what
description: How well-known libraries answer the test vectors of positional encoding.
audience: anyone who uses or maintains one of these libraries
time: a minute, to look up a library
needs: nothing; the test vectors, to ask a library again
---
# Who computes what

{{ 0 = matrix.asked() }} libraries were asked the same [test vectors](index.md), each at the
version named here, in an environment of its own, through its public functions wherever it can be.
{ .lead }

They were asked {{ 0,000 = matrix.total("asked") }} times, and gave the answer expected
{{ 0,000 = matrix.total("passed") }} times. Of the others, {{ 0,000 = matrix.other("convention") }}
follow a convention that differs without being wrong, {{ 0,000 = matrix.other("limit") }} meet a
limit of the library, {{ 0,000 = matrix.other("fault") }} differ from the definition, and
{{ 0,000 = matrix.other("") }} are not explained yet.

- *passes*{ .verdict .true }: every case that the library offers is answered as expected.
- *by convention*{ .verdict .imprecise }: all other answers follow a convention that is named,
  such as another order of dimensions.
- *limited*{ .verdict .true-if }: some inputs are out of its reach, such as a position beyond a
  table or a result in few bits.
- *differs*{ .verdict .false }: some answers are others than the definition gives, or have not
  been explained yet.
- *—*{ .none } not offered, or not asked for a reason that the library's section states.

A verdict is about the cases that were asked, no more: it does not say that a model works. A
library that passes may still have a fault that no case finds, and one that differs may never run
the code in question. A setting that is taken and has no effect, and a state that is lost without
a word, count as differing; what is refused, or off by the rounding of a result, as limited. Where
two differences meet in a case, each counts it. Each name leads to what was called and what came
out.

"""

CAPTION = """
/// table-caption | <
    attrs: {class: matrix}

A row for each library and version, and for each of its families or functions that answer the same
suite differently; a column for each suite.
///

Checked by `test_the_pages_of_libraries_are_made_from_the_results`,
`test_a_changed_count_is_noticed`, `test_every_result_is_of_today`
{ .checked }

"""

BELOW = """\
## The suites { #suites }

| suite | what is asked |
|---|---|
{suites}

/// table-caption | <
    attrs: {class: asked}

Each suite leads to the place where the book defines what it expects.
///

## How a library is asked { #how }

Each library has an adapter, a short program in `scripts/matrix/adapters/` of [the
source](../reference/index.md#source). It translates a case into calls of the library, and says so
where the library does not offer what is asked. An error that the library raises is a refusal; a
mistake of the adapter ends the run without a result. Answers are compared within the tolerance of
the contract *float32 angle*, which fits angles that are products in float32, unless its section
says otherwise. Inputs without an answer, such as a head of odd width, are counted apart and do not
affect a verdict, since few libraries promise to check them.

```sh
make matrix
python -m scripts.matrix x-transformers
```

The first asks every library whose adapter, version, programs or vectors have changed since its
result, one at a time, and needs a network. The second asks one. `--keep` keeps its environment
under `build/matrix/`. A result is a file of `docs/data/matrix/results/`; delete it to have it
made again.

## If you maintain one of these { #object }

You may know better than this page. If an adapter calls the wrong function or calls it wrongly, if
a difference is meant and documented, or if a newer version answers otherwise, open an issue with
the name of the library and, if you can, the call that you would make: the adapter, its pins and
the words about the difference are one file each, and the table follows from them. Each difference
has the smallest program that shows it, which runs with the library and what it is installed with.
"""


def page() -> str:
    """Return the page with the table, with its bound numbers computed."""
    return _computed(HEAD + table() + CAPTION + BELOW.replace("{suites}", _suites()))


def page_of(group: str) -> str:
    """Return the page of a group of libraries."""
    own = [library for library in matrix.answered() if library.group == group]
    return _computed("\n".join([GROUP_HEAD.replace("{group}", GROUPS[group]), *map(section, own)]))


GROUP_HEAD = """\
---
title: {group}
description: "{group}: how each answers the test vectors, and what it was asked."
audience: anyone who uses or maintains one of these libraries
time: a minute for each library
needs: nothing
---
# {group}

What was called in each library, and what came out. [Who computes what](../who-computes-what.md)
has all libraries in one table, and says [how they were asked](../who-computes-what.md#how).
{ .lead }
"""

# Each page with what makes it.
PAGES: dict[Path, Callable[[], str]] = {PAGE: page} | {
    FOLDER / f"{group}.md": partial(page_of, group) for group in GROUPS
}


def _computed(text: str) -> str:
    """Return a page with its bound numbers computed."""
    return corrected(text, corrections(text))


def _suites() -> str:
    """Return the rows of the table of suites."""
    return "\n".join(
        f"| [{suite}]({place}) | {about} |" for suite, (place, about) in DEFINED.items()
    )


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
    return [row for library in matrix.answered() for row in rows_of(library)]


def rows_of(library: Library) -> Iterator[dict[str, str]]:
    """Yield the rows of a library in the table."""
    found = matrix.result(library)
    name = f"[{library.title}]({address(library)})"
    if "ways" not in found:
        said = f"{name} could not be {STEPS[found['failed']['step']]}"
        yield {"library": said, **dict.fromkeys(suites(), NOTHING)}
        return
    by = matrix.answers(library)
    for way in library.ways:
        said = f"{name} {version(library, found)}" + (f", {way}" if way else "")
        cells = {suite: cell(by.get((way, suite)), library) for suite in suites()}
        yield {"library": said, **cells}


def version(library: Library, found: dict[str, Any]) -> str:
    """Return the version of a library, without what follows a plus."""
    said: str = found["versions"][matrix.normal(library.version)]
    return said.partition("+")[0]


def address(library: Library) -> str:
    """Return where a library's section is, seen from the table."""
    return f"libraries/{library.group}.md#{library.name}"


def cell(answers: Answers | None, library: Library) -> str:
    """Return a cell of the table: a verdict, which links to the library's section."""
    if answers is None or answers.verdict == "not offered":
        return NOTHING
    return f"[{answers.verdict}]({address(library)}){{ .verdict .{MARKS[answers.verdict]} }}"


def section(library: Library) -> str:
    """Return the section of a library."""
    found = matrix.result(library)
    parts = [f"## {library.title} {{ #{library.name} }}\n", about(library, found)]
    if library.without:
        parts.append(f"{library.without.strip()}\n")
    if "ways" in found:
        parts.append(_bound(f'matrix_of("{library.name}")', of(library)))
        parts.append(AROUND)
    by = matrix.answers(library)
    for number, one in enumerate(library.differences):
        if matrix.explained(library.name, number):
            parts.append(difference(library, number, one, found))
    parts += unexplained(library, by.values())
    return "\n".join(parts)


AROUND = """
/// table-caption | <
    attrs: {class: asked}

What was called, and what came out. The error is the largest of all cases, taken where a case
exceeds its tolerance most. Bad input has no answer and should be refused.
///
"""


def about(library: Library, found: dict[str, Any]) -> str:
    """Return how a library was asked."""
    again = f"`python -m scripts.matrix {library.name}` asks it again."
    home = f"[{library.title}]({library.home})"
    if "ways" not in found:
        step, said = found["failed"]["step"], found["failed"]["said"]
        return f"{home} could not be {STEPS[step]}: `{said}` {again}\n"
    first, *others = [f"`{name} {one}`" for name, one in found["versions"].items()]
    beside = f" with {', '.join(others)}" if others else ""
    return (
        f"{home}: {first}{beside}, asked on {found['date']} with Python {found['python']} by"
        f" `scripts/matrix/adapters/{library.name}.py`. {again}{contracts(found)}\n"
    )


def contracts(found: dict[str, Any]) -> str:
    """Return which ways were asked for another contract than the usual one."""
    others = {way: one["contract"] for way, one in found["ways"].items()}
    others = {way: one for way, one in others.items() if one != "float32 angle"}
    said = [
        f"{way}: contract *{one}*" if way else f"Contract *{one}*" for way, one in others.items()
    ]
    return f" {', '.join(said)}." if said else ""


def of(library: Library) -> list[dict[str, str]]:
    """Return the cells of a library's own table, one row a suite and way."""
    by = matrix.answers(library)
    pairs = [(way, suite) for way in library.ways for suite in suites() if (way, suite) in by]
    return [counted(by[pair]) for pair in pairs]


def of_name(name: str) -> list[dict[str, str]]:
    """Return the cells of the table of the library with this name."""
    return of(matrix.library(name))


def counted(answers: Answers) -> dict[str, str]:
    """Return the row of a suite and way: what was called and what came out."""
    has_ways = answers.library.ways.keys() != {WAYLESS}
    place = DEFINED[answers.suite][0].replace("../", "../../", 1)
    called = [answers.library.ways[answers.way], answers.called] if has_ways else [answers.called]
    return {
        **({"way": answers.way} if has_ways else {}),
        "suite": f"[{answers.suite}]({place})",
        "called": ": ".join(filter(None, called)),
        "result": f"*{answers.verdict}*{{ .verdict .{MARKS[answers.verdict]} }}",
        "cases": said(answers),
        "error": error(answers),
        "not offered": not_offered(answers),
        "bad input": bad_input(answers),
    }


def said(answers: Answers) -> str:
    """Return the counts of a suite in words."""
    counts = answers.counts
    parts = [f"{answers.passed} of {counts['asked']} passed"]
    parts += [f"{n} by “{how}”" for how, n in counts.get("acceptable", {}).items()]
    parts += [f"{counts[kind]['count']} {kind}" for kind in matrix.WRONG if kind in counts]
    return ", ".join(parts)


def error(answers: Answers) -> str:
    """Return the largest error and its case, each case where it exceeds its tolerance most."""
    failed = answers.counts.get("failed")
    if not failed:
        return "—"
    number = "another shape" if failed["error"] is None else f"{failed['error']:.3g}"
    return f"{number} in `{failed['case']}`"


def not_offered(answers: Answers) -> str:
    """Return what the library does not offer."""
    return "; ".join(answers.counts.get("unsupported", {})) or "—"


def bad_input(answers: Answers) -> str:
    """Return how many of the inputs without an answer were refused."""
    told = {key: n for key, n in answers.counts.get("nonsense", {}).items() if key != "cases"}
    return f"{told.get('refused', 0)} of {sum(told.values())} refused" if told else "—"


def difference(library: Library, number: int, one: Difference, found: dict[str, Any]) -> str:
    """Return what is said about a difference."""
    bound = f'{{{{ 0 = matrix.explained("{library.name}", {number}) }}}}'
    count = matrix.explained(library.name, number)
    where = " and ".join(f"*{suite}*" for suite in one.suites)
    ways = f" ({', '.join(one.ways)})" if one.ways else ""
    cases = f"{bound} case{'s' * (count != 1)}"
    lines = [f"**{KINDS[one.kind]}** in {where}{ways}, {cases}. {one.what}{links(one)}\n"]
    if one.program:
        path = library.folder / "programs" / one.program
        output = found.get("programs", {}).get(one.program, {}).get("output", "")
        lines.append(f"```python\n{path.read_text('utf-8').strip()}\n```\n")
        lines.append(f"```text\n{output}\n```\n")
    return "\n".join(lines)


def links(one: Difference) -> str:
    """Return where a difference is defined, discussed and mended."""
    parts = []
    if one.definition:
        place = one.definition
        place = f"../{place}" if place.startswith("../") else place
        parts.append(f" [Definition]({place}).")
    words = ["Upstream", *(["and"] * (len(one.threads) - 1))]
    found = [f"{word} [{_thread(at)}]({at})" for word, at in zip(words, one.threads, strict=False)]
    parts += [f" {' '.join(found)}."] if found else []
    parts += [f" Answered as expected since {one.mended}."] if one.mended else []
    return "".join(parts)


def _thread(place: str) -> str:
    """Return the name of a thread, as in huggingface/transformers 27226."""
    parts = place.split("/")
    is_thread = "github.com" in place and parts[-2] in ("issues", "pull")
    return f"{parts[-4]}/{parts[-3]} {parts[-1]}" if is_thread else place


def unexplained(library: Library, found: Iterable[Answers]) -> Iterator[str]:
    """Yield a sentence about the cases of a suite that nothing explains."""
    for one in found:
        if not one.unexplained:
            continue
        key = ", ".join(f'"{part}"' for part in (library.name, one.way, one.suite))
        where = f"*{one.suite}*" + (f" ({one.way})" if one.way else "")
        seen = one.counts.get("failed", {}).get("said") or next(
            iter(one.counts.get("refused", one.counts.get("crashed", {})).get("reasons", {})), ""
        )
        yield (
            f"**Not explained** in {where}: {{{{ 0 = matrix.left({key}) }}}} cases, such as"
            f" `{one.unexplained[0]}`: `{seen}`\n"
        )
