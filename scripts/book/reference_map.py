"""The public names that each page documents, for the tables of reference/index.md."""

from __future__ import annotations

import re

import posenc
from scripts import DOCS
from scripts.book.names_page import home


def documented_names(pages: str) -> dict[str, list[str]]:
    """Return the columns of a table with a row for each page: its names in numpy, and in torch.

    Args:
        pages: the files, from docs/reference/, with spaces between them.
    """
    from posenc import nn  # the site is built without torch; only checks evaluate the tables

    modules = [
        re.findall(r"^::: (\S+)$", (DOCS / "reference" / page).read_text("utf-8"), re.M)
        for page in pages.split()
    ]
    columns = {}
    for column, package in (("numpy", posenc), ("torch", nn)):
        homes = {name: home(f"{package.__name__}.{name}") for name in package.__all__}
        columns[column] = ["<br>".join(_links(homes, documented)) for documented in modules]
    return columns


def _links(homes: dict[str, str], modules: list[str]) -> list[str]:
    """Return a link to each name that is, or is defined in, one of the modules."""
    return [
        f"[`{name}`][{home}]"
        for module in modules
        for name, home in homes.items()
        if f"{home}.".startswith(f"{module}.")
    ]
