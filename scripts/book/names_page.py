"""The page of the texts' names and ours, reference/names.md, made from `docs/data/names.yml`."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

from scripts import DATA, ROOT
from scripts.book.data import load
from scripts.book.evaluate import corrected_page
from scripts.book.template import filled

FILE = DATA / "names.yml"
LONG = re.compile(r"`(\w{27,})`")


def names(path: Path = FILE) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each table."""
    found: dict[str, list[dict[str, Any]]] = load(path, "names")
    return found


def page(path: str) -> str:
    """Return the whole page as Markdown, with its bound numbers computed."""
    return corrected_page(filled("names", names=names(), line=line))


def line(row: dict[str, Any]) -> str:
    """Return a row as a line of its table; the longest of the texts' names could widen it."""
    source_name = LONG.sub(lambda name: f"<code>{breakable(name[1])}</code>", row["theirs"])
    ours = "<br>".join(map(linked_name, row["ours"])) or "none"
    cells = [row["texts"], source_name, ours, row["differs"], breakable(row.get("test", ""))]
    return f"| {' | '.join(cells)} |"


def breakable(name: str) -> str:
    """Return a name that may break after each underscore."""
    return name.replace("_", "_<wbr>")


def linked_name(name: str) -> str:
    """Return a public name, linked to its documentation if it has any."""
    return f"`{name}`" if "__" in name else f"[`{name.removeprefix('posenc.')}`][{home(name)}]"


def home(name: str) -> str:
    """Return the name of what a public name stands for, in the module that defines it.

    The modules are read, not imported, since some import torch.

    Examples:
        >>> home("posenc.nn.ALiBi")
        'posenc.nn.alibi.ALiBi'
    """
    module, _, word = name.rpartition(".")
    folder = ROOT.joinpath(*module.split("."))
    file = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    imports = (
        node for node in ast.parse(file.read_text("utf-8")).body if isinstance(node, ast.ImportFrom)
    )
    return next(
        (home(f"{node.module}.{word}") for node in imports if word in {a.name for a in node.names}),
        name,
    )
