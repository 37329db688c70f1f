"""Sessions are run, and their output compared to the letter."""

import pytest

from scripts.book.sessions import Command, Statement, commands, statements
from scripts.book.text import corrected

PAGE = """
```pycon
>>> x = 2
>>> x + 2
4
>>> for n in range(2):
...     print(n)
...
0
1
>>> int("no")
Traceback (most recent call last):
    ...
ValueError: invalid literal for int() with base 10: 'no'
```
"""

SHELL = """
```console
$ python -c "print(6 * 7); print('is the answer')"
42
is the answer
```
"""


def mended(text: str) -> str:
    names: dict[str, object] = {}
    items: list[Statement | Command] = [*statements(text), *commands(text)]
    return corrected(text, [c for item in items for c in item.corrections(text, names)])


@pytest.mark.parametrize("text", [PAGE, SHELL])
def test_a_right_session_stays_as_it_is(text: str) -> None:
    assert mended(text) == text


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        (PAGE, "\n4\n", "\n5\n"),
        (PAGE, "\n0\n1\n", "\n"),
        (PAGE, "base 10: 'no'", "base 11: 'no'"),
        (SHELL, "42\n", "43\n"),
        (SHELL, "42\nis the answer\n", ""),
    ],
)
def test_a_wrong_output_is_put_right(text: str, right: str, wrong: str) -> None:
    assert text.count(right) == 1
    assert mended(text.replace(right, wrong)) == text


def test_a_session_inside_a_note_keeps_its_margin() -> None:
    note = "??? solution\n\n    ```pycon\n    >>> print('a'); print('b')\n    a\n    c\n    ```\n"
    assert mended(note) == note.replace("    c\n", "    b\n")


def test_a_statement_that_fails_unannounced_is_an_error() -> None:
    text = "```pycon\n>>> 1 / 0\n```\n"
    with pytest.raises(ZeroDivisionError):
        mended(text)


def test_all_sessions_of_a_page_share_their_names() -> None:
    names: dict[str, object] = {}
    for statement in statements(PAGE):
        statement.corrections(PAGE, names)
    assert names["x"] == 2
