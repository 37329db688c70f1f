"""Bound tables are compared cell by cell, and formatted."""

import re

import numpy as np
import pytest

from posenc import sinusoidal_encoding
from scripts.book.evaluate import names
from scripts.book.render import render
from scripts.book.tables import bound_tables, dim_columns, named_columns, pair_columns
from scripts.book.text import apply_corrections

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


def test_row_labels_are_not_compared() -> None:
    text = TABLE.replace("np.c_[0:2, sinusoidal_encoding(2, 2)]", "sinusoidal_encoding(2, 2)")
    assert corrections(text.replace("| 0 |", "| zero |").replace("| 1 |", "| one |")) == []


def test_a_number_in_a_column_that_nothing_computes_is_an_error() -> None:
    text = TABLE.replace("np.c_[0:2, sinusoidal_encoding(2, 2)]", "sinusoidal_encoding(2, 2)")
    with pytest.raises(ValueError, match="0 is a number in a column without an expression"):
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
def test_a_row_that_markdown_would_misread_is_an_error(row: str) -> None:
    with pytest.raises(ValueError, match=r"different numbers of cells|needs an empty line"):
        corrections(TABLE.replace("| 1 | 0.841 | 0.540 |", row))


def test_a_cell_that_is_not_a_number_is_an_error() -> None:
    with pytest.raises(ValueError, match="'about a half' is not a number"):
        corrections(TABLE.replace("0.540", "about a half"))


def test_a_placeholder_cell_is_filled_in() -> None:
    [message] = corrections(TABLE.replace("0.540", "…"))
    assert "says '…'\n  the package says '0.540'" in message


@pytest.mark.parametrize(
    "rows", ["", "| 0 | 0.000 | 1.000 |\n| 1 | 0.841 | 0.540 |\n| 2 | 0 | 0 |\n"]
)
def test_a_table_of_the_wrong_shape_is_an_error(rows: str) -> None:
    body = "| 0 | 0.000 | 1.000 |\n| 1 | 0.841 | 0.540 |\n"
    text = TABLE.replace(body, rows or body.splitlines(keepends=True)[0])
    with pytest.raises(ValueError, match="rows of 3 cells"):
        corrections(text)


def test_a_comment_without_a_table_is_an_error() -> None:
    with pytest.raises(ValueError, match="no table"):
        list(bound_tables("<!-- table: np.eye(2) -->\n\nNo table here.\n"))


WAVES = """
<!-- table: [{"width": d, "shortest": 2 * np.pi, "longest": wavelengths(d)[-1]} for d in (4, 8)] -->
| width | shortest | longest |
|--:|--:|--:|
| 4 | 6.3 | 628.3 |
| 8 | 6.3 | 6283.2 |
"""


def test_a_named_column_must_match_its_heading() -> None:
    assert corrections(WAVES) == []
    swapped = WAVES.replace("| shortest | longest |", "| longest | shortest |")
    first, second = corrections(swapped)
    assert first.startswith("line 3: the page says 'longest'\n  the package says 'shortest'\n")
    assert "says 'shortest'\n  the package says 'longest'\n" in second


def test_a_dict_of_columns_reads_as_a_list_of_rows() -> None:
    columns = '{"width": [4, 8], "shortest": [6.28, 6.28], "longest": [628.3, 6283.2]}'
    assert corrections(re.sub("table: .* -->", f"table: {columns} -->", WAVES)) == []


def test_an_update_corrects_a_heading() -> None:
    swapped = WAVES.replace("| shortest | longest |", "| longest | shortest |")
    found = [c for t in bound_tables(swapped) for c in t.corrections(swapped, names())]
    assert apply_corrections(swapped, found) == WAVES


def test_a_column_of_words_is_compared_word_for_word() -> None:
    text = '<!-- table: {"who": ["a", "b"], "n": [1, 2]} -->\n| who | n |\n|--|--|\n'
    assert corrections(f"{text}| a | 1 |\n| b | 2 |\n") == []
    [message] = corrections(f"{text}| a | 1 |\n| c | 2 |\n")
    assert "says 'c'\n  the package says 'b'" in message


def test_a_number_bound_in_a_heading_names_its_column() -> None:
    text = "<!-- table: {5: [1]} -->\n| who | {{ 5 = 2 + 3 }} |\n|--|--|\n| a | 1 |\n"
    assert corrections(text) == []
    with pytest.raises(ValueError, match="heading is '5', but the column is named '6'"):
        corrections(text.replace("{5:", "{6:"))


def test_rows_with_different_columns_are_an_error() -> None:
    with pytest.raises(ValueError, match="the first"):
        named_columns([{"a": 1, "b": 2}, {"b": 2, "a": 1}])


def test_columns_of_a_sinusoidal_table_are_named_by_pair_and_by_dimension() -> None:
    rows = sinusoidal_encoding(3, 8)
    assert [*pair_columns(rows, 3)] == ["pair 3 / sin", "pair 3 / cos"]
    np.testing.assert_array_equal(pair_columns(rows)["pair 1 / cos"], np.cos(np.arange(3) / 10))
    np.testing.assert_array_equal(dim_columns(rows, 5, group="a")["a / dim 5"], rows[:, 5])


def test_a_table_shows_groups_tints_and_its_expression() -> None:
    html = render(TABLE)
    assert '<figure class="table" id="table-1-1">' in html
    assert '<th class="group" colspan="2" scope="colgroup">pair 0</th>' in html
    assert '<td class="num pos" style="--v:0.841">0.841</td>' in html
    assert html.count('scope="row"') == 2
    assert "compared to the last printed digit" in html
    assert "bound-table-" not in html


def test_a_row_heading_spans_the_empty_cells_below_it() -> None:
    html = render(
        "<!-- table: [[1], [2], [3]] -->\n| x | y |\n|--|--|\n| a | 1 |\n|  | 2 |\n| b | 3 |\n"
    )
    assert '<th class="whole" rowspan="2" scope="row">a</th>' in html
    assert '<th class="whole" scope="row">b</th>' in html
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


def test_a_plain_table_keeps_the_class_of_its_figure() -> None:
    table = "| x |\n|---|\n| a |\n\n/// table-caption\n    attrs: {class: names}\nWords.\n///\n"
    assert '<figure class="table names"' in render(table)


def test_a_long_expression_is_folded() -> None:
    short, long = ("+".join(["1"] * count) for count in (3, 50))
    table = "| x |\n|--|\n| 1 |\n"
    html = render(f"<!-- table: [[{short}]] -->\n{table}".replace("1 |", "3 |"))
    assert "<details" not in html
    html = render(f"<!-- table: [[{long}]] -->\n{table}".replace("1 |", "50 |"))
    assert f'<p class="names"><code>[[{long}]]</code></p></details>' in html


WORDY = "| a | $b$ | c |\n|---|---|---|\n| 1 | 2 | x |\n"


def test_cells_of_a_table_of_words_have_their_headings() -> None:
    html = render(WORDY)
    assert 'class="plain rows"' in html
    assert html.count("data-label") == 2
    assert '<td data-label="b">2</td><td data-label="c">x</td>' in html.replace("\n", "")


@pytest.mark.parametrize("align", ["|---|--:|---|", "|---|---|--:|"])
def test_a_table_of_numbers_keeps_its_columns(align: str) -> None:
    html = render(WORDY.replace("|---|---|---|", align))
    assert 'class="plain"' in html
    assert "data-label" not in html


def test_a_bound_table_with_sentences_has_labels_too() -> None:
    said = "word " * 20
    table = f"| a | b | c |\n|---|---|--:|\n| x | {said}| 1 |\n"
    assert 'class="worked rows"' in render(f"<!-- table: [[1]] -->\n{table}")
    assert 'class="worked"' in render(f"<!-- table: [[1]] -->\n{table.replace(said, 'y')}")


def test_cells_that_speak_for_themselves_have_no_labels() -> None:
    caption = "\n/// table-caption\n    attrs: {class: names}\n\nWords.\n///\n"
    html = render(WORDY + caption)
    assert 'class="plain rows"' in html
    assert "data-label" not in html


def many_numbers(name: str, heading: str, number: str, columns: int) -> str:
    """Return a table of one row, whose columns but the first have this heading and number."""
    rows = [
        ["what", *[heading] * columns],
        ["---", *["--:"] * columns],
        [name, *[number] * columns],
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def test_in_a_wide_table_of_numbers_names_go_above_them() -> None:
    html = render("<!-- table: [] -->\n" + many_numbers("RoPE", "1 / median", "0.12", 8))
    assert '<table class="worked over" style="--columns: 8">' in html
    assert "data-label" not in html
    assert 'style="grid-column: 1 / span 8">1</th>' in html
    assert html.count('style="grid-column: 5">median</th>') == 1


def test_a_name_that_is_a_number_has_its_heading() -> None:
    html = render("<!-- table: [] -->\n" + many_numbers("7", "median", "0.123", 8))
    assert '<th class="whole" data-label="what" scope="row">7</th>' in html


def test_rows_of_many_long_numbers_become_blocks_of_facts() -> None:
    row = "| x |" + "not said by anyone | — |" * 4 + "\n"
    html = render("<!-- table: [] -->\n" + many_numbers("RoPE", "a", "1,000,000", 8) + row)
    assert '<table class="worked rows facts">' in html
    assert html.count('data-label="a"') == 16
    assert html.count('class="nothing"') == 4
    assert html.count('class="long"') == 4
    assert html.count('class="long num"') == 4
    assert html.count('class="num"') == 4


@pytest.mark.parametrize(
    ("name", "number", "columns"), [("RoPE", "0.1", 8), ("words", "0.123456", 4)]
)
def test_a_table_that_fits_a_phone_is_left_as_it_is(name: str, number: str, columns: int) -> None:
    html = render("<!-- table: [] -->\n" + many_numbers(name, "a", number, columns))
    assert '<table class="worked">' in html


def test_code_in_a_row_heading_may_break_after_underscores() -> None:
    html = render("<!-- table: [[1]] -->\n| a | b |\n|---|--:|\n| `x_y` | 1 |\n")
    assert "x_<wbr />y" in html


def test_a_long_name_of_a_row_may_break_between_its_words() -> None:
    table = "<!-- table: [[1]] -->\n| a | b |\n|---|--:|\n| name | 1 |\n"
    html = render(table.replace("name", "CachedYarnRotaryEmbedding"))
    assert ">CachedYarn<wbr />RotaryEmbedding</th>" in html
    html = render(table.replace("name", "apply_rotary_pos_emb_with_cos"))
    assert ">apply_<wbr />rotary_<wbr />pos_" in html
    assert ">RotaryEmbedding</th>" in render(table.replace("name", "RotaryEmbedding"))
