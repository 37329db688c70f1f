"""Python and shell sessions in pages, run in order, with their output compared exactly.

A `pycon` fence contains a Python session; all sessions on a page share one namespace. A `console`
fence contains `$ python …` or `$ posenc …` and its output. Every line in such a fence is input,
after a prompt, or output; empty lines before a prompt or the end of the fence are neither. A
command that is meant to fail shows `[exit status 1]` as the last line of its output. `pycon hidden`
begins a session that the page needs and the reader does not see.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pygments.lexers.shell import BashSessionLexer

from scripts import ROOT
from scripts.book.text import Correction, Span, line_of, spans

FENCE = re.compile(
    r"(?P<margin>[ ]*)(?P<ticks>`{3,}|~{3,})[ ]*(?P<language>[\w-]*)[^\n]*\n(?P<body>.*)^",
    re.M | re.S,
)
PROMPTS = {"pycon": (">>> ", "... "), "console": ("$ ", "> ")}
# Pygments takes output that begins with "#" or "%" for a command.
BashSessionLexer._ps1rgx = re.compile(r"(\$ )(.*\n?)")
TRACEBACK = "Traceback (most recent call last):\n"
STATUS = "[exit status "
HIDDEN = re.compile(r"[ ]*(?:`{3,}|~{3,})[ ]*pycon hidden[ ]*\n")


@dataclass(frozen=True)
class Session:
    """The input at one prompt, and the output that the page prints for it."""

    language: str
    start: int
    end: int
    source: str
    printed_start: int
    printed: str  # without the margin of its fence
    margin: str

    def corrections(self, text: str, names: dict[str, Any]) -> list[Correction]:
        """Run it; return the correction of its output, in a list that is empty if it is right."""
        run = _run_python if self.language == "pycon" else _run_command
        output = run(self, names, line_of(text, self.start)).rstrip("\n")
        if output == self.printed.rstrip("\n"):
            return []
        should = "".join(
            self.margin + line if line.strip() else line
            for line in f"{output}\n".splitlines(keepends=True)
            if output
        )
        says = text[self.printed_start : self.end]
        return [Correction(self.printed_start, self.end, says, should, self.source.strip())]


def sessions(text: str) -> Iterator[Session]:
    """Yield the sessions of a page, one for each prompt, in order."""
    for span in spans(text):
        fence = FENCE.match(text, span.start, span.end) if span.kind == "fence" else None
        if fence and fence["language"] in PROMPTS:
            yield from _sessions_of_fence(text, fence)


def is_hidden(text: str, span: Span) -> bool:
    """Return whether a part of a page is a session that readers do not see."""
    return span.kind == "fence" and HIDDEN.match(text, span.start) is not None


def without_hidden_sessions(text: str) -> str:
    """Return a page without the sessions that readers do not see."""
    for span in reversed(spans(text)):
        if is_hidden(text, span):
            text = text[: span.start] + text[span.end :].removeprefix("\n")
    return text


def _sessions_of_fence(text: str, fence: re.Match[str]) -> Iterator[Session]:
    """Yield the sessions of one fence."""
    first, further = PROMPTS[fence["language"]]
    margin, start = fence["margin"], fence.start("body")
    lines = fence["body"].splitlines(keepends=True)
    bare = [line.removeprefix(margin) for line in lines]
    places = [start + sum(map(len, lines[:n])) for n in range(len(lines) + 1)]
    prompts = [n for n, line in enumerate(bare) if line.startswith(first)]
    if not prompts or any(line.strip() for line in bare[: prompts[0]]):
        raise ValueError(f"line {line_of(text, start)}: a session must begin with {first!r}")
    for n, after in zip(prompts, [*prompts[1:], len(lines)], strict=True):
        end = n + 1
        while end < after and bare[end].startswith((further, further.strip() + "\n")):
            end += 1
        last = after
        while last > end and not bare[last - 1].strip():
            last -= 1
        source = "".join(line[len(first) :] if line.strip() else line for line in bare[n:end])
        source = re.sub(rf"^{re.escape(further.strip())}$", "", source, flags=re.M)
        yield Session(
            fence["language"],
            places[n],
            places[last],
            source,
            places[end],
            "".join(bare[end:last]),
            margin,
        )


def _run_python(session: Session, names: dict[str, Any], line: int) -> str:
    """Return the output of a statement in an interactive session."""
    written = io.StringIO()
    try:
        with contextlib.redirect_stdout(written):
            exec(compile(session.source, f"<page, line {line}>", "single"), names)
    except (Exception, SystemExit) as error:
        if TRACEBACK not in session.printed:
            raise RuntimeError(f"{type(error).__name__}: {error}") from error
        message = "".join(traceback.format_exception_only(error))
        return f"{written.getvalue()}{TRACEBACK}    ...\n{message}"
    return written.getvalue()


def _run_command(session: Session, names: dict[str, Any], line: int) -> str:
    """Return the output of a command: `python …` or `posenc …`, without shell syntax.

    A nonzero exit status is an error unless the page shows an exit status, which is then part of
    the output.
    """
    words = shlex.split(session.source, comments=True)
    command = {"python": [], "posenc": ["-m", "posenc"]}.get(words[0])
    if command is None or set("|&;<>") & set(words):
        raise ValueError(
            "a console session can only run `python …` or `posenc …`, without shell syntax"
        )
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        [sys.executable, *command, *words[1:]],
        cwd=ROOT,
        capture_output=True,
        env=os.environ | {"PATH": path},  # so that `python` in a command is this one
        text=True,
        timeout=60,
    )
    printed = done.stdout + done.stderr
    if STATUS in session.printed:
        return f"{printed}{STATUS}{done.returncode}]\n"
    if done.returncode:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr[-500:]}")
    return printed
