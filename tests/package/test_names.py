"""Every name of the five texts stands beside its counterpart, and every public name has a page."""

import importlib
import operator
import re
from functools import cache
from typing import Any

import pytest
import yaml

from scripts import DATA, DOCS
from scripts.book import evidence
from scripts.book.citations import references

NAMES: dict[str, list[dict[str, Any]]] = yaml.safe_load((DATA / "names.yml").read_text("utf-8"))
ROWS = [row for rows in NAMES.values() for row in rows]
PAGE = DOCS / "reference" / "names.md"

# How many functions, methods and models the five texts name.
COUNTS = {"functions": 33, "methods": 11, "models": 13}


def found(name: str) -> Any:
    """Return the object that a dotted name refers to."""
    module = next(m for m in ("posenc.nn", "posenc.__main__", "posenc") if name.startswith(f"{m}."))
    return operator.attrgetter(name.removeprefix(f"{module}."))(importlib.import_module(module))


@cache
def written() -> list[str]:
    """Return the names of all tests."""
    return evidence.tests()


def linked(name: str) -> str:
    """Return a name as a page writes it, linked to its documentation if it has any."""
    thing = found(name)
    place = f"{thing.__module__}.{thing.__qualname__}"
    return f"`{name}`" if "__" in name else f"[`{name.removeprefix('posenc.')}`][{place}]"


def breakable(words: str) -> str:
    """Return the texts' names with break points in the longest, which would widen the table."""
    return re.sub(r"`(\w{27,})`", lambda name: f"<code>{_by_parts(name[1])}</code>", words)


def _by_parts(name: str) -> str:
    return name.replace("_", "_<wbr>")


def as_line(row: dict[str, Any]) -> str:
    """Return a row of the data as the line that the page's table has for it."""
    ours = "<br>".join(map(linked, row["ours"])) or "none"
    test = _by_parts(row.get("test", ""))
    return f"| {row['texts']} | {breakable(row['theirs'])} | {ours} | {row['differs']} | {test} |"


def test_the_data_have_a_row_for_every_name() -> None:
    assert {kind: len(rows) for kind, rows in NAMES.items()} == COUNTS


@pytest.mark.parametrize("row", ROWS)
def test_a_row_names_what_exists(row: dict[str, Any]) -> None:
    assert set(row) <= {"texts", "theirs", "ours", "differs", "test"}
    assert all(callable(found(name)) for name in row["ours"])
    assert written().count(row.get("test", "")) == ("test" in row)


@pytest.mark.parametrize("kind", COUNTS)
def test_the_page_has_the_rows_of_the_data(kind: str) -> None:
    """To fix the page, paste the expected rows."""
    section = PAGE.read_text("utf-8").split(f"{{ #{kind} }}")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    assert lines[1:] == [as_line(row) for row in NAMES[kind]]


def test_every_model_is_cited() -> None:
    for row in NAMES["models"]:
        assert any(f"[^{key}]" in row["differs"] for key in references()), row["theirs"]


@pytest.mark.parametrize("package", ["posenc", "posenc.nn"])
def test_the_reference_maps_every_public_name(package: str) -> None:
    text = (DOCS / "reference" / "index.md").read_text("utf-8")
    for name in importlib.import_module(package).__all__:
        thing = found(f"{package}.{name}")
        assert f"[`{name}`][{thing.__module__}.{thing.__qualname__}]" in text, name
