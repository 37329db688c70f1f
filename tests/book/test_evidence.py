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


THREE = [
    "test_a_cited_test_exists_and_may_wrap",
    "test_evidence_in_another_form_is_an_error",
    "test_folded_names_are_not_printed",
]


def names(count: int) -> str:
    return ", ".join(f"`{name}`" for name in THREE[:count])


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("Checked by `test_of_time`\n{ .checked }", "names test_of_time"),
        ("Checked by `test_of_time`\n{ .checked .wide }", "names test_of_time"),
        (f"Checked by {names(1)}", "on the next line"),
        (f"Checked by {names(1)}\n{{ .cheked }}", "on the next line"),
        ("Checked by everybody\n{ .checked }", "and name a test, or do neither"),
        (f"Checked by {names(3)}, and by hand\n{{ .checked }}", "must name tests, with commas"),
        (f"Checked by {names(3)} and more\n{{ .checked }}", "must name tests, with commas"),
        (f"Checked by {names(3)}.\n{{ .checked }}", "must name tests, with commas"),
    ],
)
def test_evidence_in_another_form_is_an_error(line: str, complaint: str) -> None:
    with pytest.raises((LookupError, ValueError), match=complaint):
        render(f"{line}\n")


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
