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


def test_a_placeholder_cell_is_filled_in() -> None:
    [message] = corrections(TABLE.replace("0.540", "…"))
    assert "says '…'\n  the package says '0.540'" in message


UNLABELLED = TABLE.replace("np.c_[0:2, sinusoidal_encoding(2, 2)]", "sinusoidal_encoding(2, 2)")


def test_row_labels_are_not_compared() -> None:
    assert corrections(UNLABELLED.replace("| 0 |", "| zero |").replace("| 1 |", "| one |")) == []


ROW = "| 1 | 0.841 | 0.540 |\n"
CELLS, SHAPE = r"different numbers of cells|needs an empty line", "rows of 3 cells"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (UNLABELLED, "0 is a number in a column without an expression"),
        (TABLE.replace("0.540", "about a half"), "'about a half' is not a number"),
        (TABLE.replace(ROW, "| 1 | 9.999 | 0.841 | 0.540 |\n"), CELLS),
        (TABLE.replace(ROW, "| 1 | 0.841 |\n"), CELLS),
        (TABLE.replace(ROW, "| 1 | 0.841 \\| | 0.540 | 7 |\n"), CELLS),
        (TABLE.replace(ROW, f"{ROW}2 | 0.1 | 0.2\n"), CELLS),
        (TABLE.replace(ROW, ""), SHAPE),
        (TABLE.replace(ROW, f"{ROW}| 2 | 0 | 0 |\n"), SHAPE),
        ("<!-- table: np.eye(2) -->\n\nNo table here.\n", "no table"),
    ],
    ids=[
        *("uncomputed column", "words", "four cells", "two cells", "escaped bar", "outer bars"),
        *("one row", "three rows", "no table"),
    ],
)
def test_a_malformed_table_is_an_error(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        corrections(text)


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
    found = [c for t in bound_tables(swapped) for c in t.corrections(swapped, names())]
    assert apply_corrections(swapped, found) == WAVES


def test_a_dict_of_columns_reads_as_a_list_of_rows() -> None:
    columns = '{"width": [4, 8], "shortest": [6.28, 6.28], "longest": [628.3, 6283.2]}'
    assert corrections(re.sub("table: .* -->", f"table: {columns} -->", WAVES)) == []


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


# How tables are shown


def many_numbers(name: str, heading: str, number: str, columns: int) -> str:
    """Return a bound table of one row, whose columns but the first share a heading and a number."""
    rows = [
        ["what", *[heading] * columns],
        ["---", *["--:"] * columns],
        [name, *[number] * columns],
    ]
    return "<!-- table: [] -->\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows)


PLAIN = "| name | share |\n|------|------:|\n| a    | small |\n"
SPANS = "<!-- table: [[1], [2], [3]] -->\n| x | y |\n|--|--|\n| a | 1 |\n|  | 2 |\n| b | 3 |\n"
WORDY = "| a | $b$ | c |\n|---|---|---|\n| 1 | 2 | x |\n"
CAPTION = "\n/// table-caption\n    attrs: {class: names}\n\nWords.\n///\n"
ONE = "<!-- table: [[1]] -->\n| a | b |\n|---|--:|\n"
SENTENCES = "<!-- table: [[1]] -->\n| a | b | c |\n|---|---|--:|\n"
WIDE = many_numbers("RoPE", "1 / median", "0.12", 8)
FACTS = (
    many_numbers("RoPE", "a", "1,000,000", 8)
    + "| x |"
    + "not said by anyone at all | — |" * 4
    + "\n"
)
QUOTED = '<!-- table: np.array([[len("a")]]) -->\n| x |\n|---|\n| 1 |\n'


@pytest.mark.parametrize(
    ("text", "shown", "times"),
    [
        (TABLE, '<figure class="table" id="table-1-1">', 1),
        (TABLE, '<th class="group" colspan="2" scope="colgroup">pair 0</th>', 1),
        (TABLE, '<td class="num pos" style="--v:0.841">0.841</td>', 1),
        (TABLE, 'scope="row"', 2),
        (TABLE, "compared to the last printed digit", 1),
        (TABLE, "bound-table-", 0),
        (TABLE, '<div class="scroll">', 1),
        (TABLE, "<table", 1),
        (TABLE, "plain", 0),
        (SPANS, '<th class="whole" rowspan="2" scope="row">a</th>', 1),
        (SPANS, '<th class="whole" scope="row">b</th>', 1),
        (SPANS, "<td", 3),
        (PLAIN, '<div class="scroll"><table class="plain">', 1),
        (f"{PLAIN}{CAPTION}", '<figure class="table names"', 1),
        (f"{PLAIN}{CAPTION}", '<div class="scroll">', 1),
        (QUOTED + CAPTION, '<code>np.<wbr />array([[len("a")]])</code>', 1),  # straight quotes
        (f"<!-- table: [[{'+'.join('111')}]] -->\n| x |\n|--|\n| 3 |\n", "<details", 0),
        (
            f"<!-- table: [[{'+'.join('1' * 50)}]] -->\n| x |\n|--|\n| 50 |\n",
            "</code></p></details>",
            1,
        ),
        (WORDY, 'class="plain rows"', 1),
        (WORDY, '<td data-label="b">2</td>\n<td data-label="c">x</td>', 1),
        (WORDY, "data-label", 2),
        (WORDY + CAPTION, 'class="plain rows"', 1),
        (WORDY + CAPTION, "data-label", 0),  # these cells speak for themselves
        (WORDY.replace("|---|---|---|", "|---|--:|---|"), "data-label", 0),
        (WORDY.replace("|---|---|---|", "|---|---|--:|"), 'class="plain"', 1),
        (f"{SENTENCES}| x | {'word ' * 20}| 1 |\n", 'class="worked rows"', 1),
        (f"{SENTENCES}| x | y | 1 |\n", 'class="worked"', 1),
        (WIDE, '<table class="worked over" style="--columns: 8">', 1),  # names above numbers
        (WIDE, "data-label", 0),
        (WIDE, 'style="grid-column: 1 / span 8">1</th>', 1),
        (WIDE, 'style="grid-column: 5">median</th>', 1),
        (WIDE.replace("RoPE", "7"), '<th class="whole" data-label="what" scope="row">7</th>', 1),
        (FACTS, '<table class="worked rows facts">', 1),  # too long for a line each
        (FACTS, 'data-label="a"', 16),
        (FACTS, '<td data-label="a" style="text-align: right;">—</td>', 4),  # keeps its place
        (FACTS.replace("| a", "| what is reported"), 'class="long num"', 8),  # with its label
        (FACTS, 'class="long"', 4),
        (FACTS, 'class="long num"', 4),
        (FACTS, 'class="num"', 4),
        (many_numbers("RoPE", "a", "0.1", 8), '<table class="worked">', 1),  # fits a phone
        (many_numbers("words", "a", "0.123456", 4), '<table class="worked">', 1),
        (many_numbers("three short words", "a", "0.123", 7), '<table class="worked over"', 1),
        (many_numbers("two words", "a", "0.123", 7), '<table class="worked">', 1),
        (f"{ONE}| `x_y` | 1 |\n", "x_<wbr />y", 1),
        (f"{ONE}| CachedYarnRotaryEmbedding | 1 |\n", ">CachedYarn<wbr />RotaryEmbedding</th>", 1),
        (f"{ONE}| apply_rotary_pos_emb_with | 1 |\n", ">apply_<wbr />rotary_<wbr />pos_", 1),
        (f"{ONE}| RotaryEmbedding | 1 |\n", ">RotaryEmbedding</th>", 1),
    ],
)
def test_a_table_is_shown_with(text: str, shown: str, times: int) -> None:
    assert render(text).count(shown) == times
