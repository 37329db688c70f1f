"""Python and shell sessions in pages, run in the page's order, their output compared exactly.

A `pycon` fence holds a Python session; all of a page's sessions share one namespace. A `console`
fence holds `$ python …` and what it prints.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sybil.parsers.abstract.doctest import DocTestStringParser

from scripts.book import ROOT
from scripts.book.text import Correction, line_of, spans

FENCE = re.compile(
    r"[ ]*(?P<ticks>`{3,}|~{3,})[ ]*(?P<language>[\w-]*)[^\n]*\n(?P<body>.*)^", re.M | re.S
)
COMMAND = re.compile(
    r"^(?P<margin> *)\$ (?P<command>python .+)\n(?P<output>(?:(?! *\$ ).*\n)*)", re.M
)
TRACEBACK = "Traceback (most recent call last):\n    ...\n"


@dataclass(frozen=True)
class Statement:
    """A statement of a Python session and the output that the page prints under it."""

    start: int
    end: int
    source: str
    printed: str
    indent: int

    def corrections(self, text: str, names: dict[str, Any]) -> list[Correction]:
        """Run the statement; return nothing, or the correction of its output."""
        failing = self.printed.startswith("Traceback")
        output = _run(self.source, names, failing=failing, line=line_of(text, self.start))
        return _output_correction(text, self.end, self.printed, output, self.indent, self.source)


@dataclass(frozen=True)
class Command:
    """A command of a shell session and the output that the page prints under it."""

    start: int
    end: int
    source: str
    printed: str
    indent: int

    def corrections(self, text: str, names: dict[str, Any]) -> list[Correction]:
        """Run the command; return nothing, or the correction of its output."""
        words = [sys.executable, *shlex.split(self.source)[1:]]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60)
        output = done.stdout + done.stderr
        return _output_correction(text, self.end, self.printed, output, self.indent, self.source)


def statements(text: str) -> Iterator[Statement]:
    """Yield the statements of a page's Python sessions."""
    for start, body in _fences(text, "pycon"):
        for region in DocTestStringParser()(body, "page"):
            example = region.parsed
            place, end = start + region.start, start + region.end
            yield Statement(place, end, example.source, example.want, example.indent)


def commands(text: str) -> Iterator[Command]:
    """Yield the commands of a page's shell sessions."""
    for start, body in _fences(text, "console"):
        for match in COMMAND.finditer(body):
            indent = len(match["margin"])
            output = "".join(line[indent:] for line in match["output"].splitlines(keepends=True))
            yield Command(
                start + match.start(), start + match.end(), match["command"], output, indent
            )


def _fences(text: str, language: str) -> Iterator[tuple[int, str]]:
    for span in spans(text):
        fence = FENCE.match(text, span.start, span.end) if span.kind == "fence" else None
        if fence and fence["language"] == language:
            yield fence.start("body"), fence["body"]


def _run(source: str, names: dict[str, Any], *, failing: bool, line: int) -> str:
    """Return what a statement prints, as an interactive session prints it."""
    written = io.StringIO()
    try:
        with contextlib.redirect_stdout(written):
            exec(compile(source, f"<page, line {line}>", "single"), names)
    except Exception as error:
        if not failing:
            raise
        return TRACEBACK + traceback.format_exception_only(error)[-1]
    return written.getvalue()


def _output_correction(
    text: str, end: int, printed: str, output: str, indent: int, about: str
) -> list[Correction]:
    """Return the correction of a printed output that ends at `end`, if it needs one."""
    if printed == output:
        return []
    lines = output.splitlines(keepends=True)
    should = "".join(" " * indent + line if line.strip() else line for line in lines)
    start = end - len(printed) - indent * printed.count("\n")
    return [Correction(start, end, text[start:end], should, about.strip())]
