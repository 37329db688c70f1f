"""Lines of evidence: paragraphs with `{.checked}` that name the tests of a statement.

Each test must be defined exactly once under `tests/`, so a page cannot name a test that is gone.
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

TEST = re.compile(r"\btest_\w+\b")
# Enough for formatted code; parsing all tests would take longer than building most pages.
DEFINED = re.compile(r"^def (test_\w+)\(", re.M)


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
        for line in root.iter("p"):
            words = "".join(line.itertext())
            if "checked" in (line.get("class") or "").split():
                cited += _tests_named(words)
                for code in line.iter("code"):
                    _allow_breaks(code)
            elif words.startswith("Checked by"):
                raise ValueError(f"{words!r} needs {{ .checked }} on the next line")
        if cited:
            _check_that_tests_exist(cited)


def _tests_named(words: str) -> list[str]:
    """Return the tests that a line of evidence names after "Checked by"."""
    named = TEST.findall(words)
    if words.startswith("Checked by") != bool(named):
        raise ValueError(f"{words!r} must begin with 'Checked by' and name a test, or do neither")
    return named


def _check_that_tests_exist(cited: list[str]) -> None:
    """Raise an error unless every test that a page names is defined exactly once."""
    times = Counter(tests())
    for name in cited:
        if times[name] != 1:
            raise LookupError(f"a page names {name}, which tests/ defines {times[name]} times")


def _allow_breaks(code: ElementTree.Element) -> None:
    """Let a long name wrap after its underscores."""
    first, *others = (code.text or "").split("_")
    if others:
        code.text = first + "_"
        for n, part in enumerate(others):
            ElementTree.SubElement(code, "wbr").tail = part + ("_" if n < len(others) - 1 else "")


class EvidenceExtension(Extension):
    """Checks and renders the lines of evidence."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Run after attribute lists are parsed and tables have their lines."""
        md.treeprocessors.register(_Evidence(md), "book-evidence", 6)


makeExtension = EvidenceExtension  # the name that Python-Markdown looks for
