"""What models did to become long: every cell has its sources, which the page lists."""

import re
from pathlib import Path

import pytest

from scripts.book import pages, recipes
from scripts.book.citations import references
from scripts.book.models import sources

PAGE = "long-context/recipes.md"
PARTS = [
    (key, column, source, where)
    for key, recipe in recipes.recipes().items()
    for column in recipes.COLUMNS
    for _, source, where in recipe[column]
]


def test_every_cell_of_the_recipes_has_its_sources() -> None:
    known = references().keys() | sources().keys()
    assert {source for _, _, source, _ in PARTS} <= known
    page = pages.text(PAGE)
    for key, column, source, where in PARTS:
        assert f"[{where}]({recipes.address(source)})" in page, (key, column)


def test_the_page_of_recipes_lists_its_sources() -> None:
    listed = set(re.findall(r"^\d+\. \[@(\w+)\]$", pages.text(PAGE), re.M))
    assert listed == {source for _, _, source, _ in PARTS if source in references()}


def test_the_page_has_every_column_of_ten_models() -> None:
    page = pages.text(PAGE)
    for heading in recipes.COLUMNS.values():
        assert f" {heading} |" in page
    assert len(recipes.recipes()) == 10
    assert all(page.count(f"\n| {recipe['name']} |") == 2 for recipe in recipes.recipes().values())


def test_what_a_source_does_not_state_is_a_dash_with_the_place_that_was_read() -> None:
    [row] = (row for row in recipes.rows("tests") if row["model"] == "GLM-4.5")
    assert row["tests of long context"].startswith("— not stated ([section 4](https://")


ENTRY = """
one:
  name: One
  context: [[4K, su2021, section 1]]
  base: [["10,000", su2021, section 1]]
  tokens: [[null, su2021, section 1]]
  long: [[null, su2021, section 1]]
  rule: [[YaRN, su2021, section 1]]
  tests: [[RULER, su2021, section 1]]
"""


@pytest.mark.parametrize(
    ("says", "instead", "complaint"),
    [
        ("[[4K, su2021, section 1]]", "[[4K, su2021]]", r"one/context/0: .* is too short"),
        ("[[4K, su2021, section 1]]", "[]", r"one/context: \[\] should be non-empty"),
        ("[[4K, su2021, section 1]]", "4K", "one/context: '4K' is not of type 'array'"),
        ("YaRN, su2021, section 1", "YaRN, su2021, ' '", "one/rule/0/2: ' ' does not match"),
        ("YaRN, su2021", "'', su2021", "one/rule/0/0: '' does not match"),
        ("YaRN, su2021", "YaRN, null", "one/rule/0/1: None is not of type 'string'"),
        ("  long: [[null, su2021, section 1]]\n", "", "one: 'long' is a required property"),
        ("  long:", "  width:", "one: .*'width' was unexpected"),
    ],
)
def test_a_cell_without_its_source_is_refused(
    says: str, instead: str, complaint: str, tmp_path: Path
) -> None:
    file = tmp_path / "recipes.yml"
    file.write_text(ENTRY, "utf-8")
    assert [*recipes.recipes(file)] == ["one"]
    assert says in ENTRY
    file.write_text(ENTRY.replace(says, instead, 1), "utf-8")
    with pytest.raises(ValueError, match=complaint):
        recipes.recipes(file)


def test_an_unknown_source_of_a_recipe_is_an_error() -> None:
    with pytest.raises(KeyError, match="nobody1999"):
        recipes.cell([["4K", "nobody1999", "section 1"]])
