"""Lines of evidence: paragraphs with `{.checked}` that name the tests or the proofs of a statement.

Each test must be defined exactly once under `tests/`, so a page cannot name a test that is gone.
More than two names are folded under their count, and fewer are with `{.checked .folded}`.

A line that begins with "Proved by machine:" names theorems of docs/proofs/, and becomes a fold with
what they say and assume (formal.py).
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

from markdown import Markdown
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor

from scripts import ROOT
from scripts.book.formal import PROVED_BY, formal_fold
from scripts.book.pages import page_of

TEST = re.compile(r"\btest_\w+\b")
# Enough for formatted code; parsing all tests would take longer than building most pages.
DEFINED = re.compile(r"^def (test_\w+)\(", re.M)
# Of a long name or path, in which `<` is `&lt;`.
BREAKS = re.compile(r"(?<=_)(?=.)|(?<=\w\.)(?=[A-Za-z_]{4})|(?<=\w/)(?=[\w&])")
CHECKED_BY = "Checked by"
SHOWN = 2  # tests; the names of more are folded


def tests(root: Path = ROOT) -> list[str]:
    """Return the names of all test functions."""
    files = sorted((root / "tests").rglob("test_*.py"))
    return [name for path in files for name in _tests_in(path, path.stat().st_mtime_ns)]


@cache
def _tests_in(path: Path, changed: int) -> list[str]:
    """Return the test functions in a file; `changed` makes the cache read it after a change."""
    return DEFINED.findall(path.read_text(encoding="utf-8"))


class _Evidence(Treeprocessor):
    def run(self, root: ElementTree.Element) -> None:
        cited: list[str] = []
        page = _page(root)
        for line in list(root.iter("p")):
            words = "".join(line.itertext())
            classes = (line.get("class") or "").split()
            if "checked" in classes and words.startswith(PROVED_BY):
                formal_fold(line, page)
                for code in line.iterfind("summary/code"):
                    allow_breaks(code)
            elif "checked" in classes:
                named = _tests_named(words)
                cited += named
                for code in line.iter("code"):
                    allow_breaks(code)
                if len(named) > SHOWN or "folded" in classes:
                    _fold(line, len(named))
            elif words.startswith((CHECKED_BY, PROVED_BY)):
                raise ValueError(f"{words!r} needs {{ .checked }} on the next line")
        if cited:
            _check_that_tests_exist(cited)


def _page(root: ElementTree.Element) -> str:
    """Return the path of the page under docs/, by its title."""
    return page_of(root.find("h1"))


def _tests_named(words: str) -> list[str]:
    """Return the tests that a line of evidence names after "Checked by"."""
    named = TEST.findall(words)
    if words.startswith(CHECKED_BY) != bool(named):
        raise ValueError(f"{words!r} must begin with 'Checked by' and name a test, or do neither")
    return named


def _fold(line: ElementTree.Element, tests: int) -> None:
    """Turn a line of evidence into a fold: the number of tests, which opens to their names."""
    codes = line.findall("code")
    before = [line.text or "", *(code.tail or "" for code in codes)]
    if [part.strip() for part in before] != [CHECKED_BY, *[","] * (tests - 1), ""]:
        words = "".join(line.itertext())
        raise ValueError(f"{words!r} is folded and must name tests, with commas, and no more")
    attributes, tail = dict(line.attrib), line.tail
    line.clear()
    line.tag, line.attrib, line.tail = "details", attributes, tail
    counted = f"{tests} test{'s' if tests > 1 else ''}"
    ElementTree.SubElement(line, "summary").text = f"{CHECKED_BY} {counted}"
    names = ElementTree.SubElement(line, "p", {"class": "names"})
    names.extend(codes)


def _check_that_tests_exist(cited: list[str]) -> None:
    """Raise an error unless every test that a page names is defined exactly once."""
    times = Counter(tests())
    for name in cited:
        if times[name] != 1:
            raise LookupError(f"a page names {name}, which tests/ defines {times[name]} times")


def allow_breaks(element: ElementTree.Element) -> None:
    """Let a long name wrap after its underscores and slashes, and after dots before a word."""
    first, *others = BREAKS.split(element.text or "")
    if others:
        element.text = first
        for place, part in enumerate(others):
            wbr = ElementTree.Element("wbr")
            wbr.tail = part
            element.insert(place, wbr)


class EvidenceExtension(Extension):
    """Checks and renders the lines of evidence."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Run after attribute lists are parsed and tables have their lines."""
        md.treeprocessors.register(_Evidence(md), "book-evidence", 6)


makeExtension = EvidenceExtension  # the name that Python-Markdown looks for
