"""Marks the sessions that run in the reader's browser: those that need only numpy and posenc.

A `pycon` fence whose statements can all run there gets the class `runs`, and the page's script adds
a *Run* button to it. A statement cannot run if it imports another package, such as torch, or uses a
name that only such a statement defines. A fence with both kinds gets no button; its runnable
statements run silently before the next fence with a button. So do those of a fence that readers do
not see, `pycon hidden`, which is removed here. On a page with buttons, a fence without
one says what it needs.
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

from scripts.book.sessions import FENCE, is_hidden, sessions, without_hidden_sessions
from scripts.book.text import Span, spans

THERE = {*sys.stdlib_module_names, "numpy", "posenc"}
HEAD = re.compile(r"[ ]*(?:`{3,}|~{3,})[ ]*pycon(?=[ ]*$)", re.M)


@dataclass(frozen=True)
class Session:
    """A session of a page."""

    start: int  # of its fence
    before: str  # statements to run first, from fences without a button
    needs: str  # a module that the browser lacks, or a name from nowhere; empty if it runs there
    is_hidden: bool

    @property
    def attributes(self) -> str:
        """Return what its fence is marked with."""
        if self.needs:
            return f'data-needs="{needed_package(self.needs)}"'
        return f'.runs data-before="{quote(self.before)}"' if self.before else ".runs"


def needed_package(module: str) -> str:
    """Return what a reader has to install to have a module that the browser lacks."""
    torch = module.split(".")[0] in {"torch", "posenc"} and module != "posenc.vectors"
    return "PyTorch" if torch else "a checkout of the book"


def examined_sessions(text: str) -> Iterator[Session]:
    """Yield the sessions of a page, in order."""
    known = dict.fromkeys([*dir(builtins), "__name__"], "")
    before = ""
    for span, statements in _fences(text):
        lacking = [_missing_import(typed, known) for typed in statements]
        needs = next(filter(None, lacking), "")
        hidden = is_hidden(text, span)
        yield Session(span.start, before, needs, hidden)
        run = [typed for typed, lacks in zip(statements, lacking, strict=True) if not lacks]
        before = before + "".join(run) if needs or hidden else ""


def runnable_sessions(text: str) -> Iterator[Session]:
    """Yield the sessions of a page that run in the reader's browser, in order."""
    found = examined_sessions(text)
    return (session for session in found if not (session.needs or session.is_hidden))


def _fences(text: str) -> Iterator[tuple[Span, list[str]]]:
    """Yield the place and the statements of each Python session."""
    for span in spans(text):
        fence = FENCE.match(text, span.start, span.end) if span.kind == "fence" else None
        if fence and fence["language"] == "pycon":
            yield span, [typed.source for typed in sessions(text[span.start : span.end])]


def _missing_import(statement: str, known: dict[str, str]) -> str:
    """Return a module or name that a statement lacks, and update what is known of the names."""
    table = symtable(statement, "<page>", "exec")
    defined = {name.get_name() for name in table.get_symbols() if _is_defined_by(name)}
    modules = (module for module in _imports(statement) if not _is_available(module))
    names = (known.get(name, name) for name in sorted(_used(table) - defined))
    lacking = next(filter(None, [*modules, *names]), "")
    known.update(dict.fromkeys(defined, lacking))
    return lacking


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


def _is_available(module: str) -> bool:
    """Return whether the browser's Python has a module; parts of `posenc` need torch or files."""
    absent = f"{module}.".startswith(("posenc.diagnose.", "posenc.nn.", "posenc.vectors."))
    return module.split(".")[0] in THERE and not absent


class _Run(Preprocessor):
    """Marks the fences that run, and removes those that readers do not see."""

    def run(self, lines: list[str]) -> list[str]:
        text = "\n".join(lines)
        found = list(examined_sessions(text))
        if not all(session.needs or session.is_hidden for session in found):
            for session in reversed(found):
                if head := HEAD.match(text, session.start):
                    text = f"{text[: head.end()]} {{{session.attributes}}}{text[head.end() :]}"
        return without_hidden_sessions(text).split("\n")


class RunExtension(Extension):
    """Marks the sessions that run in the reader's browser."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Run before fences are parsed, since this adds attributes to them."""
        md.preprocessors.register(_Run(md), "book-run", 32)


makeExtension = RunExtension  # the name that Python-Markdown looks for
