"""Embeds the project's own code in pages: `--src-- posenc.embeddings.sinusoidal.shift_matrix`.

Such a line becomes a listing of that function, class, method or constant, cut from its file while
the site is built. `--src-- … nodoc` omits the docstring, for pages that explain it in prose, and
`--src-- … imports` adds the imports that it uses, for readers who copy it. If the symbol or its
file does not exist, the build stops.

`--src-- docs.proofs.rotary.rope_relative` is a formal theorem with its proof, or a definition, and
`--src-- … noproof` the statement alone.

`--src-- docs.vectors.adapters.rotation.go` is a whole file of a language that is not cut.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

from scripts import ROOT
from scripts.book.text import outside_code
from scripts.proofs.source import read

LINE = re.compile(
    r"^(?P<margin> *)--src-- (?P<symbol>[\w.]+)"
    r"(?P<short> nodoc| noproof)?(?P<imports> imports)?[ ]*$",
    re.M,
)
LANGUAGES = {".py": "python", ".v": "coq"}  # of the files that listings are cut from
WHOLE = {".c": "c", ".cpp": "cpp", ".go": "go", ".mjs": "js", ".rs": "rust", ".swift": "swift"}

Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class SymbolNotFoundError(LookupError):
    """A page embeds a symbol that its file does not define."""


def listing(line: re.Match[str]) -> tuple[Path, str]:
    """Return the file and the text of what a line of a page embeds."""
    return source(line["symbol"], short=bool(line["short"]), imports=bool(line["imports"]))


def source(
    symbol: str, *, short: bool = False, imports: bool = False, root: Path = ROOT
) -> tuple[Path, str]:
    """Return the file, relative to the root, and the text that defines a dotted symbol in it.

    With `short`, the docstring of a function is left out, or the proof of a theorem. With
    `imports`, the imports that a definition uses stand above it.
    """
    *place, suffix = symbol.split(".")
    whole = root.joinpath(*place).with_suffix(f".{suffix}")
    if whole.suffix in WHOLE and whole.is_file():
        return whole.relative_to(root), whole.read_text(encoding="utf-8").rstrip()
    path, names = _module(symbol, root)
    if path.suffix == ".v":
        return path.relative_to(root), _formal(path, names, short)
    text = path.read_text(encoding="utf-8")
    module = body = ast.parse(text).body
    node: ast.stmt | None = None
    for name in names:
        node = next((n for n in body if name in _defined_names(n)), None)
        if node is None:
            raise SymbolNotFoundError(f"{path.relative_to(root)} defines no {'.'.join(names)}")
        body = getattr(node, "body", [])
    assert node is not None
    code = _definition_source(text.splitlines(), node, short)
    above = "".join(f"{line}\n" for line in _imports(module, code)) if imports else ""
    return path.relative_to(root), f"{above}\n\n{code}" if above else code


def _module(symbol: str, root: Path) -> tuple[Path, list[str]]:
    """Return the file of a dotted symbol, and its names within that file."""
    parts = symbol.split(".")
    for end in range(len(parts) - 1, 0, -1):
        for suffix in LANGUAGES:
            place = root.joinpath(*parts[:end])
            for path in (place.with_suffix(suffix), place / f"__init__{suffix}"):
                if path.is_file():
                    return path, parts[end:]
    raise SymbolNotFoundError(f"found no file for {symbol}")


def _formal(path: Path, names: list[str], short: bool) -> str:
    """Return a theorem or definition of a file of proofs."""
    item = next((item for item in read(path) if [item.name] == names), None)
    if item is None:
        raise SymbolNotFoundError(f"{path.parent.name}/{path.name} defines no {'.'.join(names)}")
    return item.statement if short else item.text


def _defined_names(node: ast.stmt) -> set[str]:
    """Return the names that a statement defines."""
    if isinstance(node, Documented):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else []
    targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _imports(module: list[ast.stmt], code: str) -> Iterator[str]:
    """Yield the imports of a module that bind what a part of it uses."""
    used = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    for node in module:
        if isinstance(node, ast.Import | ast.ImportFrom):
            node.names = [a for a in node.names if (a.asname or a.name.split(".")[0]) in used]
            if node.names:
                yield ast.unparse(node)


def _definition_source(lines: list[str], node: ast.stmt, nodoc: bool) -> str:
    """Return the source of a definition with its decorators, with or without its docstring."""
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(d.lineno for d in decorators)]) - 1
    kept = range(first, node.end_lineno or node.lineno)
    dropped = _docstring_lines(lines, node) if nodoc else set()
    return textwrap.dedent("\n".join(lines[n] for n in kept if n not in dropped))


def _docstring_lines(lines: list[str], node: ast.stmt) -> set[int]:
    """Return the line numbers, from 0, of docstrings and of the empty lines after them."""
    found: set[int] = set()
    for inner in ast.walk(node):
        if isinstance(inner, Documented) and ast.get_docstring(inner) and len(inner.body) > 1:
            doc = inner.body[0]
            end = doc.end_lineno or doc.lineno
            while not lines[end].strip():
                end += 1
            found |= set(range(doc.lineno - 1, end))
    return found


def embedded_symbols(text: str) -> list[str]:
    """Return the symbols that a page embeds."""
    return [match["symbol"] for match in _lines(text)]


def _lines(text: str) -> list[re.Match[str]]:
    return [m for start, end, _ in outside_code(text) for m in LINE.finditer(text, start, end)]


class _Embed(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        text = "\n".join(lines)
        for match in reversed(_lines(text)):
            path, code = listing(match)
            fence = f'```{(LANGUAGES | WHOLE)[path.suffix]} title="{path.as_posix()}"\n{code}\n```'
            text = (
                text[: match.start()]
                + textwrap.indent(fence, match["margin"])
                + text[match.end() :]
            )
        return text.split("\n")


class EmbedExtension(Extension):
    """Replaces `--src--` lines by the code they name."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Run before fences are parsed, since this writes fences."""
        md.preprocessors.register(_Embed(md), "book-embed", 32.5)


makeExtension = EmbedExtension  # the name that Python-Markdown looks for
