"""Marks the sessions that run in the reader's browser: those that need only numpy and posenc.

A `pycon` fence whose statements can all run there gets the class `runs`, and the page's script adds
a *Run* button to it. A statement cannot run if it imports another package, such as torch, or uses a
name that only such a statement defines. A fence with both kinds gets no button; its runnable
statements run silently before the next fence with a button.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from symtable import Symbol, SymbolTable, symtable
from urllib.parse import quote

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

from scripts.book.sessions import FENCE, sessions
from scripts.book.text import spans

THERE = {*sys.stdlib_module_names, "numpy", "posenc"}
HEAD = re.compile(r"[ ]*(?:`{3,}|~{3,})[ ]*pycon(?=[ ]*$)", re.M)


@dataclass(frozen=True)
class Runnable:
    """A session that runs in the browser."""

    start: int  # of its fence
    before: str  # statements to run first, from fences without a button


def runnable(text: str) -> Iterator[Runnable]:
    """Yield the sessions of a page that run in the reader's browser, in order."""
    known = {*dir(builtins), "__name__"}
    before = ""
    for start, statements in _fences(text):
        run = [typed for typed in statements if _runs(typed, known)]
        if run == statements:
            yield Runnable(start, before)
            before = ""
        else:
            before += "".join(run)


def _fences(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the position and the statements of each Python session."""
    for span in spans(text):
        fence = FENCE.match(text, span.start, span.end) if span.kind == "fence" else None
        if fence and fence["language"] == "pycon":
            yield span.start, [typed.source for typed in sessions(text[span.start : span.end])]


def _runs(statement: str, known: set[str]) -> bool:
    """Return whether a statement can run, and update the known names."""
    table = symtable(statement, "<page>", "exec")
    defined = {name.get_name() for name in table.get_symbols() if _is_defined_by(name)}
    runs = all(map(_is_there, _imports(statement))) and _used(table) <= known | defined
    (known.update if runs else known.difference_update)(defined)
    return runs


def _is_defined_by(name: Symbol) -> bool:
    return name.is_assigned() or name.is_imported()


def _used(table: SymbolTable) -> set[str]:
    """Return the global names that a statement, or a function or class in it, uses."""
    top = table.get_type() == "module"
    own = {
        name.get_name()
        for name in table.get_symbols()
        if name.is_referenced() and (top or name.is_global())
    }
    return own.union(*map(_used, table.get_children()))


def _imports(statement: str) -> Iterator[str]:
    """Yield the modules that a statement imports, or refers to as `posenc.…`."""
    for node in ast.walk(ast.parse(statement)):
        match node:
            case ast.Import():
                yield from (alias.name for alias in node.names)
            case ast.ImportFrom():
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
            case ast.Attribute(value=ast.Name(id="posenc")):
                yield f"posenc.{node.attr}"


def _is_there(module: str) -> bool:
    """Return whether the browser's Python has a module; two parts of `posenc` need torch."""
    torch = f"{module}.".startswith(("posenc.diagnose.", "posenc.nn."))
    return module.split(".")[0] in THERE and not torch


class _Run(Preprocessor):
    """Marks the fences that run."""

    def run(self, lines: list[str]) -> list[str]:
        text = "\n".join(lines)
        for found in reversed(list(runnable(text))):
            if head := HEAD.match(text, found.start):
                before = f' data-before="{quote(found.before)}"' if found.before else ""
                text = f"{text[: head.end()]} {{.runs{before}}}{text[head.end() :]}"
        return text.split("\n")


class RunExtension(Extension):
    """Marks the sessions that run in the reader's browser."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Run before fences are parsed, since this adds attributes to them."""
        md.preprocessors.register(_Run(md), "book-run", 32)


makeExtension = RunExtension  # the name that Python-Markdown looks for
