"""The line under everything that is proved: a paragraph with `{.checked}` that names a test.

The test that it names must exist, once, under `tests/`: a page cannot cite a proof that is gone.
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
# Formatted code begins so; to parse all tests would take the builder longer than many a page.
DEFINED = re.compile(r"^def (test_\w+)\(", re.M)


def tests(root: Path = ROOT) -> list[str]:
    """Return the names of all test functions."""
    files = sorted((root / "tests").rglob("test_*.py"))
    return [name for path in files for name in _tests_in(path, path.stat().st_mtime_ns)]


@cache
def _tests_in(path: Path, changed: int) -> list[str]:
    """Return the names of the test functions of a file, read again once it has changed."""
    return DEFINED.findall(path.read_text(encoding="utf-8"))


class _Evidence(Treeprocessor):
    def run(self, root: ElementTree.Element) -> None:
        cited: list[str] = []
        for line in root.iter("p"):
            said = "".join(line.itertext())
            if "checked" in (line.get("class") or "").split():
                cited += _named(said)
                for code in line.iter("code"):
                    _let_wrap(code)
            elif said.startswith("Checked by"):
                raise ValueError(f"{said!r} wants {{ .checked }} under it")
        if cited:
            _demand_tests(cited)


def _named(said: str) -> list[str]:
    """Return the tests that a line names; one that says it is checked names some."""
    named = TEST.findall(said)
    if said.startswith("Checked by") != bool(named):
        raise ValueError(f"{said!r} says that something checks, and not which test")
    return named


def _demand_tests(cited: list[str]) -> None:
    """Stop unless every test that a page names stands in `tests/`, once."""
    times = Counter(tests())
    for name in cited:
        if times[name] != 1:
            raise LookupError(f"a page cites {name}, which stands {times[name]} times in tests/")


def _let_wrap(code: ElementTree.Element) -> None:
    """Let a long name break after its underscores."""
    first, *others = (code.text or "").split("_")
    if others:
        code.text = first + "_"
        for n, part in enumerate(others):
            ElementTree.SubElement(code, "wbr").tail = part + ("_" if n < len(others) - 1 else "")


class EvidenceExtension(Extension):
    """Check and show the lines of evidence."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Run when attribute lists are read and tables have their lines."""
        md.treeprocessors.register(_Evidence(md), "book-evidence", 6)


makeExtension = EvidenceExtension  # the name that Python-Markdown looks for
