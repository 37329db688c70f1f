"""Sessions are run, and their output is compared exactly."""

from html import escape
from typing import Any

import pytest

from scripts.book.evaluate import PageError, corrections
from scripts.book.render import render
from scripts.book.sessions import sessions, without_hidden_sessions
from scripts.book.settings import strays
from scripts.book.text import apply_corrections

PYTHON = """
```pycon
>>> x = 2
>>> x + 2
4
>>> for n in range(2):
...     print(n)
...
0
1

>>> print("a\\n\\nb")
a

b
>>> int("no")
Traceback (most recent call last):
    ...
ValueError: invalid literal for int() with base 10: 'no'
```
"""

SHELL = """
```console
$ python -c "print(6 * 7); print(); print('is the answer')"
42

is the answer

$ python -c "print(1)"  # and one more
1
```
"""


def repaired_page(text: str) -> str:
    return apply_corrections(text, corrections(text))


NO_NEWLINE = '```pycon\n>>> print("a", end="")\na\n```\n'


@pytest.mark.parametrize("text", [PYTHON, SHELL, NO_NEWLINE])
def test_a_correct_session_is_unchanged(text: str) -> None:
    assert repaired_page(text) == text


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        (PYTHON, "\n4\n", "\n5\n"),
        (PYTHON, "\n0\n1\n", "\n"),
        (PYTHON, "a\n\nb\n", "a\nb\n"),
        (PYTHON, "a\n\nb\n", "a\n\nb\n\n0.777 and more\n"),
        (PYTHON, "base 10: 'no'", "base 11: 'no'"),
        (SHELL, "\n42\n", "\n43\n"),
        (SHELL, "42\n\nis the answer\n", ""),
        (NO_NEWLINE, "\na\n", "\nb\n"),
    ],
)
def test_wrong_output_is_corrected_in_one_pass(text: str, right: str, wrong: str) -> None:
    assert text.count(right) == 1
    assert repaired_page(text.replace(right, wrong)) == text


@pytest.mark.parametrize(("fence", "margin"), [("```", "    "), ("~~~", ""), ("````", "  ")])
def test_a_session_in_any_fence_keeps_its_indentation(fence: str, margin: str) -> None:
    lines = [f"{fence}pycon", ">>> print('a\\n\\nb')", "a", "", "b", fence]
    page = "".join(f"{margin}{line}".rstrip() + "\n" for line in lines)
    assert repaired_page(page) == page
    assert repaired_page(page.replace("b\n", "c\n")) == page


@pytest.mark.parametrize(
    ("page", "says"),
    [
        ("```pycon\n>>> 1 / 0\n```\n", "line 2: .*ZeroDivisionError"),
        ("```pycon\n>>> raise SystemExit\n```\n", "SystemExit"),
        ("```pycon\n>>> similarity = max\n```\n", "the page redefines similarity"),
        ("```console\n$ python -c 'raise SystemExit(3)'\n```\n", "status 3"),
        ("```console\n$ python -V | cat\n```\n", "without shell syntax"),
        ("```console\n$ echo 1\n1\n```\n", "only run `python"),
    ],
)
def test_an_unexpected_failure_is_an_error_with_its_line(page: str, says: str) -> None:
    with pytest.raises(PageError, match=says):
        corrections(page)


def test_a_command_may_fail_where_the_page_shows_its_exit_status() -> None:
    page = "```console\n$ python -c 'print(7); raise SystemExit(3)'\n7\n[exit status 3]\n```\n"
    assert repaired_page(page) == page
    assert repaired_page(page.replace("status 3]", "status 0]")) == page
    assert repaired_page(page.replace("7\n[", "8\n[")) == page
    well = page.replace("; raise SystemExit(3)", "")
    assert repaired_page(well) == well.replace("status 3]", "status 0]")


@pytest.mark.parametrize("page", ["```pycon\n1\n```\n", "```console\n1\n$ python -V\n```\n"])
def test_a_session_begins_with_a_prompt(page: str) -> None:
    with pytest.raises(ValueError, match="a session must begin with"):
        list(sessions(page))


@pytest.mark.parametrize(
    "page",
    [
        "```{.pycon}\n>>> 1\n2\n```\n",
        "```python\n>>> 1\n2\n```\n",
        "> ```pycon\n> >>> 1\n> 2\n> ```\n",
        "\t```pycon\n\t>>> 1\n\t2\n\t```\n",
        "  ```pycon\n>>> 1\n2\n```\n",
        "```text\n$ python -V\n```\n",
    ],
)
def test_a_session_that_nothing_runs_is_reported(page: str) -> None:
    run = "```pycon\n>>> 1 + 1\n2\n```\n\n"
    assert any("nothing runs it" in stray.advice for stray in strays(run + page))


def test_a_hidden_session_is_run_and_compared() -> None:
    page = "```pycon hidden\n>>> x = 1\n>>> x\n1\n```\n\n```pycon\n>>> x + 1\n2\n```\n"
    assert repaired_page(page) == page
    assert repaired_page(page.replace("\n1\n", "\n3\n")) == page
    assert ">>> x\n" not in without_hidden_sessions(page)
    assert ">>> x + 1\n2\n" in without_hidden_sessions(page)


def test_all_sessions_of_a_page_share_their_names() -> None:
    names: dict[str, Any] = {}
    for session in sessions(PYTHON):
        session.corrections(PYTHON, names)
    assert names["x"] == 2


def test_one_pages_print_options_do_not_reach_the_next() -> None:
    first = "```pycon\n>>> np.set_printoptions(suppress=True)\n>>> np.array([1e-9, 1])\n"
    assert corrections(first + "array([0., 1.])\n```\n") == []
    assert corrections("```pycon\n>>> np.array([1e-9, 1])\narray([1.e-09, 1.e+00])\n```\n") == []


@pytest.mark.parametrize("line", ["# if in it, else", "% for", "[root@here ~]$ while"])
def test_output_has_no_colours_whatever_it_begins_with(line: str) -> None:
    html = render(f"```console\n$ python -V\n{line}\n```\n")
    assert f'<span class="go">{escape(line)}</span>\n' in html
    assert html.count('class="gp"') == 1
