"""A page cites only tests that exist."""

import ast
from typing import TypeGuard

import pytest

from scripts import ROOT
from scripts.book import evidence
from scripts.book.render import render


def test_a_cited_test_exists_and_may_wrap() -> None:
    html = render("Checked by `test_a_cited_test_exists_and_may_wrap`\n{ .checked }\n")
    assert "test_<wbr />a_<wbr />cited" in html


def test_citing_a_missing_test_is_an_error() -> None:
    with pytest.raises(LookupError, match="test_of_time"):
        render("Checked by `test_of_time`\n{ .checked }\n")


@pytest.mark.parametrize("classes", ["", "{ .cheked }"])
def test_evidence_without_its_class_is_an_error(classes: str) -> None:
    with pytest.raises(ValueError, match="on the next line"):
        render(f"Checked by `test_a_cited_test_exists_and_may_wrap`\n{classes}\n")


def test_evidence_may_have_another_class_besides() -> None:
    with pytest.raises(LookupError, match="test_of_time"):
        render("Checked by `test_of_time`\n{ .checked .wide }\n")


def test_evidence_that_names_no_test_is_an_error() -> None:
    with pytest.raises(ValueError, match="and name a test, or do neither"):
        render("Checked by everybody\n{ .checked }\n")


def test_no_two_tests_of_a_file_share_a_name_and_the_builder_knows_them_all() -> None:
    """Of two tests with one name, Python would silently drop the first."""
    found = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        names = [node.name for node in ast.parse(path.read_text("utf-8")).body if is_test(node)]
        assert len(names) == len(set(names)), path
        found += names
    assert evidence.tests() == found


def is_test(node: ast.stmt) -> TypeGuard[ast.FunctionDef]:
    return isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
