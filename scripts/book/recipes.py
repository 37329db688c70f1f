"""What ten models did to become long, from `docs/data/recipes.yml`.

A page can bind a table to `recipes.table("context", "base")`. Each part of a cell ends with a link to
its source.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scripts import DATA
from scripts.book.citations import references
from scripts.book.data import load
from scripts.book.models import sources

FILE = DATA / "recipes.yml"
COLUMNS = {
    "context": "context length, by stage",
    "base": "base, by stage",
    "tokens": "tokens, by stage",
    "long": "long texts",
    "rule": "rule",
    "tests": "tests of long context",
}
NOT_STATED = "— not stated"


def recipes(path: Path = FILE) -> dict[str, dict[str, Any]]:
    """Return the recipe of each model by its key: its name, and the parts of each cell."""
    found: dict[str, dict[str, Any]] = load(path, "recipes")
    return found


def table(*columns: str) -> list[dict[str, str]]:
    """Return some columns of all recipes, a row for each model.

    Examples:
        >>> table("base")[0]
        {'model': 'Llama 3.1 405B', 'base, by stage': '500,000 ([section 3.2](https://arxiv.org/abs/2407.21783))'}
    """
    return [
        {"model": recipe["name"]} | {COLUMNS[column]: cell(recipe[column]) for column in columns}
        for recipe in recipes().values()
    ]


def cell(parts: Sequence[Sequence[str | None]]) -> str:
    """Return a cell as Markdown, each part with a link to its source."""
    return "; ".join(
        f"{what or NOT_STATED} ([{where}]({address(str(source))}))" for what, source, where in parts
    )


def address(source: str) -> str:
    """Return the address of a work of the bibliography, or of code that `models.yml` lists."""
    if source in references():
        return str(references()[source]["url"])
    return sources()[source].url
