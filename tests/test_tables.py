"""A bound table is compared cell by cell, and dressed."""

import pytest

from scripts.book.check import names
from scripts.book.render import render
from scripts.book.tables import bound_tables

TABLE = """
<!-- tinted table: np.c_[0:2, sinusoidal_encoding(2, 2)] -->
| position | pair 0 / sin | pair 0 / cos |
|--:|--:|--:|
| 0 | 0.000 | 1.000 |
| 1 | 0.841 | 0.540 |

/// table-caption | < 1.1 #table-1-1
Two rows.
///
"""


def corrections(text: str) -> list[str]:
    return [c.message(text) for t in bound_tables(text) for c in t.corrections(text, names())]


def test_a_right_table_needs_no_correction() -> None:
    assert corrections(TABLE) == []


def test_a_wrong_cell_is_named_by_its_line() -> None:
    [message] = corrections(TABLE.replace("0.540", "0.541"))
    assert message.startswith("line 6: the page says '0.541'\n  the package says '0.540'\n")
    assert message.endswith("[1, 2]")


def test_labels_on_the_left_are_left_alone() -> None:
    text = TABLE.replace("np.c_[0:2, sinusoidal_encoding(2, 2)]", "sinusoidal_encoding(2, 2)")
    assert corrections(text.replace("| 0 |", "| zero |").replace("| 1 |", "| one |")) == []


def test_a_number_in_a_column_that_nothing_computes_is_an_error() -> None:
    text = TABLE.replace("np.c_[0:2, sinusoidal_encoding(2, 2)]", "sinusoidal_encoding(2, 2)")
    with pytest.raises(ValueError, match="0 stands in a column that nothing computes"):
        corrections(text)


@pytest.mark.parametrize(
    "row",
    [
        "| 1 | 9.999 | 0.841 | 0.540 |",
        "| 1 | 0.841 |",
        r"| 1 | 0.841 \| | 0.540 | 7 |",
        "| 1 | 0.841 | 0.540 |\n2 | 0.1 | 0.2",
    ],
)
def test_a_row_that_the_reader_would_see_otherwise_is_an_error(row: str) -> None:
    with pytest.raises(ValueError, match=r"differ in how many|leave a line empty"):
        corrections(TABLE.replace("| 1 | 0.841 | 0.540 |", row))


def test_a_cell_that_is_no_number_is_an_error() -> None:
    with pytest.raises(ValueError, match="'about a half' is not a number"):
        corrections(TABLE.replace("0.540", "about a half"))


def test_an_empty_cell_waits_to_be_filled() -> None:
    [message] = corrections(TABLE.replace("0.540", "…"))
    assert "says '…'\n  the package says '0.540'" in message


@pytest.mark.parametrize(
    "rows", ["", "| 0 | 0.000 | 1.000 |\n| 1 | 0.841 | 0.540 |\n| 2 | 0 | 0 |\n"]
)
def test_a_table_of_another_shape_is_an_error(rows: str) -> None:
    body = "| 0 | 0.000 | 1.000 |\n| 1 | 0.841 | 0.540 |\n"
    text = TABLE.replace(body, rows or body.splitlines(keepends=True)[0])
    with pytest.raises(ValueError, match="rows of 3 cells"):
        corrections(text)


def test_a_comment_without_a_table_is_an_error() -> None:
    with pytest.raises(ValueError, match="no table"):
        list(bound_tables("<!-- table: np.eye(2) -->\n\nNo table here.\n"))


def test_the_reader_sees_groups_tints_and_what_it_was_compared_with() -> None:
    html = render(TABLE)
    assert '<figure class="table" id="table-1-1">' in html
    assert '<th class="group" colspan="2" scope="colgroup">pair 0</th>' in html
    assert '<td class="num pos" style="--v:0.841">0.841</td>' in html
    assert html.count('<th scope="row"') == 2
    assert "compared to the last printed digit" in html
    assert "bound-table-" not in html


def test_a_heading_runs_on_over_empty_cells_below_it() -> None:
    html = render(
        "<!-- table: [[1], [2], [3]] -->\n| x | y |\n|--|--|\n| a | 1 |\n|  | 2 |\n| b | 3 |\n"
    )
    assert '<th rowspan="2" scope="row">a</th>' in html
    assert '<th scope="row">b</th>' in html
    assert html.count("<td") == 3


PLAIN = "| name | share |\n|------|------:|\n| a    | small |\n"


def test_a_plain_table_scrolls_in_a_box_of_its_own() -> None:
    assert '<div class="scroll"><table class="plain">' in render(PLAIN)
    html = render(PLAIN + "\n/// table-caption | < 1.2 #table-1-2\nNames.\n///\n")
    assert '<figure class="table" id="table-1-2">' in html
    assert html.count('<div class="scroll">') == 1


def test_a_bound_table_is_in_one_box() -> None:
    html = render(TABLE)
    assert html.count('<div class="scroll">') == html.count("<table") == 1
    assert "plain" not in html


def test_the_quotes_of_an_expression_stay_straight() -> None:
    table = "| x |\n|---|\n| 1 |\n\n/// table-caption\nWords.\n///\n"
    html = render(f'<!-- table: np.array([[len("a")]]) -->\n{table}')
    assert '<code>np.array([[len("a")]])</code>' in html


def test_a_plain_table_keeps_the_class_that_its_figure_has() -> None:
    table = "| x |\n|---|\n| a |\n\n/// table-caption\n    attrs: {class: names}\nWords.\n///\n"
    assert '<figure class="table names"' in render(table)
