"""The data of the book, docs/data/: read so that nothing in a file is lost or ignored unsaid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any

import yaml

from scripts.book.text import FRONT

# The one written in C, where there is one: it is ten times as fast.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Once(_Loader):  # type: ignore[misc]
    """A loader that refuses a key said twice, of which YAML itself keeps the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:
        """Return what a mapping says, if it says each thing once."""
        keys = Counter(self.construct_object(key, deep=True) for key, _ in node.value)
        twice = [key for key, times in keys.items() if times > 1]
        if twice:
            line = node.start_mark.line + 1
            raise ValueError(f"the mapping from line {line} on has {twice[0]!r} more than once")
        return super().construct_mapping(node, deep=deep)


def load(path: Path) -> Any:
    """Return what a file of data says."""
    try:
        return yaml.load(path.read_text("utf-8"), Loader=_Once)
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from error


def front_matter(text: str) -> dict[str, Any]:
    """Return what is said of a page above it: title, audience, settings."""
    front = FRONT.match(text)
    matter: dict[str, Any] | None = yaml.load(front["matter"], Loader=_Once) if front else {}
    return matter or {}


def compose(text: str) -> yaml.Node | None:
    """Return a text of data as nodes, which know where they stand."""
    node: yaml.Node | None = yaml.compose(text, Loader=_Loader)
    return node


def demand_fields(
    where: str, entry: dict[str, Any], needed: Collection[str], optional: Collection[str] = ()
) -> None:
    """Stop at an entry that lacks a field, or has one that nothing reads."""
    for field in needed:
        if field not in entry:
            raise ValueError(f"{where} has no field {field!r}")
    for field in entry:
        if field not in {*needed, *optional}:
            raise ValueError(f"{where} has a field {field!r}, which nothing reads")
