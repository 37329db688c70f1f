"""Reads the book's data, docs/data/, and front matter, and rejects what it does not know.

What pages are made from has a JSON Schema in the `schemas/` of its room.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator

from scripts import ROOT
from scripts.book.text import FRONT

SCHEMAS = {path.stem: path for path in ROOT.glob("scripts/*/schemas/*.json")}

# The loader written in C, if available, is ten times faster.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Once(_Loader):  # type: ignore[misc]
    """A loader that rejects duplicate keys; plain YAML keeps the last value."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:
        """Return a mapping, after checking that its keys are unique."""
        keys = Counter(self.construct_object(key, deep=True) for key, _ in node.value)
        twice = [key for key, times in keys.items() if times > 1]
        if twice:
            line = node.start_mark.line + 1
            raise ValueError(f"the mapping at line {line} has the key {twice[0]!r} more than once")
        return super().construct_mapping(node, deep=deep)


def load(path: Path, schema: str = "") -> Any:
    """Return the content of a data file, after comparing it with a schema, if one is named."""
    try:
        found = yaml.load(path.read_text("utf-8"), Loader=_Once)
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from error
    if schema:
        validate(found, schema, path.name)
    return found


def validate(found: Any, schema: str, name: str) -> None:
    """Raise an error that names each place of some data where they are not as their schema says."""
    errors = sorted(validator(schema).iter_errors(found), key=lambda error: [*map(str, error.path)])
    if errors:
        messages = (f"{'/'.join(map(str, error.path))}: {error.message}" for error in errors)
        raise ValueError(f"{name}: {'; '.join(messages)}")


@cache
def validator(schema: str) -> Draft202012Validator:
    """Return what compares data with a schema."""
    return Draft202012Validator(json.loads(SCHEMAS[schema].read_text("utf-8")))


def front_matter(text: str) -> dict[str, Any]:
    """Return the front matter of a page: title, audience, time and so on."""
    front = FRONT.match(text)
    matter: dict[str, Any] = (yaml.load(front["matter"], Loader=_Once) if front else None) or {}
    if "settings" in matter:
        raise ValueError("settings belong in docs/data/settings/, where `make update` lists them")
    return matter


def compose(text: str) -> yaml.Node | None:
    """Return YAML as nodes, which know their positions in the text."""
    node: yaml.Node | None = yaml.compose(text, Loader=_Loader)
    return node


def check_fields(
    where: str, entry: dict[str, Any], required: Collection[str], optional: Collection[str] = ()
) -> None:
    """Raise an error if an entry lacks a field or has an unknown one."""
    for field in required:
        if field not in entry:
            raise ValueError(f"{where} has no field {field!r}")
    for field in entry:
        if field not in {*required, *optional}:
            raise ValueError(f"{where} has an unknown field {field!r}")
