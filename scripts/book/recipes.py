"""The page of what models did to become long, long-context/recipes.md, from `recipes.yml`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scripts import DATA
from scripts.book.citations import references
from scripts.book.data import load
from scripts.book.evaluate import corrected_page
from scripts.book.models import sources
from scripts.book.template import filled

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


def page(path: str) -> str:
    """Return the whole page as Markdown, with its bound numbers computed."""
    return corrected_page(filled("recipes", rows=rows))


def recipes(path: Path = FILE) -> dict[str, dict[str, Any]]:
    """Return the recipe of each model by its key: its name, and the parts of each cell."""
    found: dict[str, dict[str, Any]] = load(path, "recipes")
    return found


def rows(*columns: str) -> list[dict[str, str]]:
    """Return some columns of all recipes by their headings, a row for each model."""
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
