"""A page cites only tests that exist."""

import ast
from typing import TypeGuard

import pytest
from playwright.sync_api import Page, expect

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


THREE = [
    "test_a_cited_test_exists_and_may_wrap",
    "test_citing_a_missing_test_is_an_error",
    "test_evidence_that_names_no_test_is_an_error",
]


def names(count: int) -> str:
    return ", ".join(f"`{name}`" for name in THREE[:count])


@pytest.mark.parametrize(
    ("line", "counted"),
    [
        (f"Checked by {names(3)}\n{{ .checked }}", "3 tests"),
        (f"Checked by {names(2)}\n{{ .checked .folded }}", "2 tests"),
        (f"Checked by {names(1)}\n{{ .checked .folded }}", "1 test"),
        (f"Checked by {names(2)}\n{{ .checked }}", ""),
    ],
)
def test_more_than_two_names_are_folded_under_their_number(line: str, counted: str) -> None:
    html = render(line)
    plain = html.replace("<wbr />", "")
    assert all(name in plain for name in THREE[: line.count("`") // 2])
    assert ("<details" in html) == bool(counted)
    assert (f"<summary>Checked by {counted}</summary>" in html) == bool(counted)
    assert html.endswith("</details>" if counted else "</p>")


@pytest.mark.parametrize("more", [", and by hand", " and more", "."])
def test_folded_evidence_that_says_more_is_an_error(more: str) -> None:
    with pytest.raises(ValueError, match="must name tests, with commas, and no more"):
        render(f"Checked by {names(3)}{more}\n{{ .checked }}\n")


def test_folded_names_are_not_printed(page: Page) -> None:
    page.goto("chapters/at-the-board/why/")
    fold = page.locator("details.checked").first
    expect(fold.locator(".names")).to_be_hidden()
    fold.locator("summary").click()
    expect(fold.locator(".names")).to_be_visible()
    page.emulate_media(media="print")
    expect(fold.locator(".names")).to_be_hidden()
    expect(fold.locator("summary")).to_be_visible()


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
