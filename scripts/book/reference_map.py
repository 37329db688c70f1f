"""The public names that each page documents, for the tables of reference/index.md."""

from __future__ import annotations

import ast
import re

from scripts import DOCS, ROOT
from scripts.book.names_page import home

PACKAGES = {"numpy": "posenc", "torch": "posenc.nn"}


def documented_names(pages: str) -> dict[str, list[str]]:
    """Return the columns of a table with a row for each page: its names in numpy, and in torch.

    Args:
        pages: the files, from docs/reference/, with spaces between them.
    """

    modules = [
        re.findall(r"^::: (\S+)$", (DOCS / "reference" / page).read_text("utf-8"), re.M)
        for page in pages.split()
    ]
    columns = {}
    for column, package in PACKAGES.items():
        homes = {name: home(f"{package}.{name}") for name in public_names(package)}
        columns[column] = ["<br>".join(_links(homes, documented)) for documented in modules]
    return columns


def public_names(package: str) -> list[str]:
    """Return the names that a package imports to offer them, `import x as x`, in order.

    The package is read, not imported, since the site is also built where torch is missing.

    Examples:
        >>> public_names("posenc.nn")[:2]
        ['ALiBi', 'ByteTokenizer']
    """
    tree = ast.parse(ROOT.joinpath(*package.split("."), "__init__.py").read_text("utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return sorted(one.name for node in imports for one in node.names if one.asname == one.name)


def _links(homes: dict[str, str], modules: list[str]) -> list[str]:
    """Return a link to each name that is, or is defined in, one of the modules."""
    return [
        f"[`{name}`][{home}]"
        for module in modules
        for name, home in homes.items()
        if f"{home}.".startswith(f"{module}.")
    ]
