"""No number stands in a page unbound, unless the page lists it, in its place, as a setting."""

import pytest

from scripts.book.settings import sections, settings, strays


def found(text: str) -> list[str]:
    return [text[stray.start : stray.end] for stray in strays(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rises to 0.046.", ["0.046"]),
        ("Some 60,611 positions.", ["60,611"]),
        ("A row begins .76 and .41.", [".76", ".41"]),
        ("$2\\pi\\cdot10000$", ["2", "10000"]),
        ("| 0.5 | x |\n|---|---|\n| 7 | y |", ["0.5", "7"]),
        ("![a curve that ends at 400](x.svg)", ["400"]),
        (
            "---\nsettings: { top: 3 5 8 }\n---\n3 5 8 3e5 3/8 5_8 5% 8²",
            ["3e5", "3/8", "5_8", "5%", "8²"],
        ),
        ("---\nsettings: { top: 3 5 }\n---\n5", ["top"]),  # one that the page does not have
        ("---\nsettings: { top: 3 5 }\n---\n5 3", ["5", "top"]),  # in another order
        ("---\nsettings: { top: 3 }\n---\n3 3", ["3"]),  # one more than listed
        ("---\nsettings: { a: 3, b: 4 }\n---\n# A { #a }\n3\n## B { #b }\n4 3", ["3"]),
        ("---\nsettings: { a: 3, c: 4 }\n---\n# A { #a }\n3\n", ["c"]),
        ("`np.arange(0, 8)`", ["0", "8"]),
        ("See section 3.5, Table 2.1.", ["3.5", "2.1"]),
    ],
)
def test_a_number_that_nothing_checks_is_found(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "{{ 0.046 = 0.046 }} and float64, x_1, T5.",
        "`x[i]`, `test_pair_710` and\n\n```python\n0.5\n```\n",
        "<!-- table: np.eye(1) -->\n| x |\n|---|\n| 1 |\n",
        "[link](page-2.md#step-3) and [^su2021]",
        "/// table-caption | < 1.1 #table-1-1\nText.\n///",
        "---\nsettings: { top: 8 0.5 }\n---\nWidth 8, half is 0.5.",
    ],
)
def test_bound_numbers_code_addresses_and_settings_are_not(text: str) -> None:
    assert found(text) == []


def test_the_message_says_what_to_do() -> None:
    text = "# Wide { #wide }\n\nIt is 0.5.\n"
    [stray] = strays(text)
    assert stray.message(text) == (
        "line 3: 0.5 is not bound: write {{ 0.5 = expression }},"
        " or list it in the settings, `wide: 0.5`"
    )


def test_a_setting_that_the_page_does_not_use_is_reported() -> None:
    text = "---\nsettings:\n  top: 8 9 10\n---\nWidth 8.\n"
    [stray] = strays(text)
    assert stray.message(text) == "line 3: top lists 9 10, where the page has `top: 8`"


def test_a_section_has_its_address_or_else_its_words() -> None:
    text = "above\n# A title\n```pycon\n# a comment\n```\n## B { #b .c }\n"
    assert [section.name for section in sections(text)] == ["top", "A title", "b"]


def test_settings_are_read_as_they_are_printed() -> None:
    assert settings("---\nsettings:\n  a: 7\n  b: 0.50 1\n---\n") == {
        "a": ["7"],
        "b": ["0.50", "1"],
    }
