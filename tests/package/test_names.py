"""Every name of the five texts stands beside its counterpart, and every public name has a page."""

import importlib
import operator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from scripts import DOCS
from scripts.book import evidence, names_page
from scripts.book.citations import references

NAMES = names_page.names()
ROWS = [row for rows in NAMES.values() for row in rows]

# How many functions, methods and models the five texts name.
COUNTS = {"functions": 33, "methods": 11, "models": 13}


def object_named(name: str) -> Any:
    """Return the object that a dotted name refers to."""
    module = next(m for m in ("posenc.nn", "posenc.__main__", "posenc") if name.startswith(f"{m}."))
    return operator.attrgetter(name.removeprefix(f"{module}."))(importlib.import_module(module))


@cache
def names_of_tests() -> list[str]:
    """Return the names of all tests."""
    return evidence.tests()


def test_the_data_have_a_row_for_every_name() -> None:
    assert {kind: len(rows) for kind, rows in NAMES.items()} == COUNTS


@pytest.mark.parametrize("row", ROWS)
def test_a_row_names_what_exists(row: dict[str, Any]) -> None:
    assert set(row) <= {"texts", "theirs", "ours", "differs", "test"}
    assert all(callable(object_named(name)) for name in row["ours"])
    assert names_of_tests().count(row.get("test", "")) == ("test" in row)


@pytest.mark.parametrize("name", sorted({name for row in ROWS for name in row["ours"]}))
def test_a_name_is_linked_to_what_it_stands_for(name: str) -> None:
    """The page is made without importing it."""
    thing = object_named(name)
    assert names_page.home(name) == f"{thing.__module__}.{thing.__qualname__}"


@pytest.mark.parametrize(
    ("says", "instead", "complaint"),
    [
        ("  - texts: S0\n", "  - texts: S5\n", "functions/0/texts: 'S5' does not match"),
        ("    ours:", "    hers:", "functions/0: .*'hers' was unexpected"),
        ("    test: test_", "    test: tests_", "functions/0/test: 'tests_.* does not match"),
    ],
)
def test_a_planted_fault_is_refused(
    says: str, instead: str, complaint: str, tmp_path: Path
) -> None:
    text, file = names_page.FILE.read_text("utf-8"), tmp_path / "names.yml"
    file.write_text(text.replace(says, instead, 1), "utf-8")
    with pytest.raises(ValueError, match=complaint):
        names_page.names(file)


def test_every_model_is_cited() -> None:
    for row in NAMES["models"]:
        assert any(f"[^{key}]" in row["differs"] for key in references()), row["theirs"]


@pytest.mark.parametrize("package", ["posenc", "posenc.nn"])
def test_the_reference_maps_every_public_name(package: str) -> None:
    text = (DOCS / "reference" / "index.md").read_text("utf-8")
    for name in importlib.import_module(package).__all__:
        thing = object_named(f"{package}.{name}")
        assert f"[`{name}`][{thing.__module__}.{thing.__qualname__}]" in text, name
