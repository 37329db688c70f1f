"""The judge explains answers that no exercise foresees, and keeps some of their output."""

from __future__ import annotations

import json

import pytest

import posenc
from scripts.practise.judge import AGAIN, MOST, as_json, report

EXERCISE = {
    "defines": ["twice"],
    "solution": "def twice(x):\n    return 2 * x\n",
    "checks": [
        ("Three numbers.", "twice(np.array([1.0, 2.0, 4.0]))\n"),
        ("A matrix.", "twice(np.arange(6.0).reshape(2, 3))\n"),
    ],
    "wrong": [("This is the square.", "def twice(x):\n    return x * x\n")],
    "tolerance": 1e-9,
}


def message_for(body: str) -> str:
    """Return the message on the first check of a function with this body."""
    return report(EXERCISE, f"def twice(x):\n    {body}\n").lines[0][1]


def test_wrong_answer_is_recognized_by_what_it_computes() -> None:
    found = report(EXERCISE, "def twice(y):\n    return y ** 2\n")
    assert found.lines == (
        (False, "Three numbers. This is the square."),
        (False, f"A matrix. {AGAIN}"),
    )


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("pass", "Nothing comes back: is there a `return`?"),
        ("return ...", "Nothing comes back"),
        ("return -2 * x", "Every number has the wrong sign."),
        ("return 0 * x", "All numbers are 0."),
        ("return 6 * x", "Every number is 3 times what it should be."),
        ("return 2 * x + 5", "Every number differs by +5 from what it should be."),
        ("return 2 * x[::-1]", "The numbers are right, but in reverse order."),
        ("return 2 * x[[1, 0, 2]]", "The numbers are right, but in another order."),
        ("return 2 * x[:2]", "The shape is (2,), where (3,) is right."),
        (
            "return 2 * x[:, None]",
            "The shape is (3, 1), where (3,) is right; the numbers are right, and",
        ),
        ("return 2.00001 * x", "differs in a late digit"),
        ("return x > 0", "It gives True and False, where numbers are right."),
        ("return x * np.nan", "3 of 3 numbers are not a number (nan)"),
        (
            "return np.array([2.0, 0, 0])",
            "From [1] on all numbers are 0: does a loop end early",
        ),
        ("return (2 * x)[:2], 1", "It gives 2 parts of different shapes, where one array of (3,)"),
        ("return x, x", "where (3,) is right. What comes back is a list or tuple of length 2."),
        ("return 2 * x if x > 0 else x", "and this is an array: try `np.where`"),
        ("return [1, 2] / 2", "`np.asarray` makes an array of it"),
        ("return x ^ 2", "A power is written `**` in Python."),
        ("return x * np.ones(2)", "give one of them a new axis"),
        ("return np.ones((2, 2)) @ x", "is a `.T` missing?"),
        ("return list(x)[0, 1]", "`np.asarray` makes an array of it"),
        ("a = np.arange(3); a[0] = -np.inf", "An array of integers cannot hold infinity"),
        ("return range(len(x) / 2)", "divide with `//`"),
        ("return np.array([2, 5, 8])", "At [1] it gives 5, where 4 is right; 1 of 3 differ."),
        ("return 'two'", "It gives 'two', where ndarray is right."),
        (
            "return 1 / 0",
            "It stops in line 2, `return 1 / 0`: ZeroDivisionError: division by zero.",
        ),
        ("return missing", "NameError: name 'missing' is not defined"),
        ("import torch_not_there", "there is no `torch_not_there` here, only numpy"),
        ("from posenc import rotary", "`posenc` is not available here"),
        ("return np.zeros((10**9, 10**9))", "not enough memory for an array of that size"),
        ("return twice(x)", "a function calls itself without end"),
        ("raise SystemExit", "It stops in line 2, `raise SystemExit`: SystemExit."),
    ],
)
def test_a_fault_is_named_in_words(body: str, words: str) -> None:
    assert words in message_for(body if "np." not in body else f"import numpy as np; {body}")


def test_a_matrix_with_rows_and_columns_exchanged_is_noticed() -> None:
    words = report(EXERCISE, "def twice(x):\n    return 2 * x.T\n").lines[1][1]
    assert words.startswith(
        "A matrix. The shape is (3, 2), where (2, 3) is right: rows and columns"
    )


def message_instead_of(right: str, answer: str, check: str = "f()") -> str:
    """Return the message on the body of a function, where another is right."""
    known = {"defines": ["f"], "checks": [("It.", f"{check}\n")], "wrong": [], "tolerance": 1e-9}
    start = "import numpy as np\ndef f(n=1):\n    "
    return report(known | {"solution": start + right}, start + answer).lines[0][1]


def test_numbers_for_infinity_masks_and_whole_numbers_are_recognized() -> None:
    assert "−∞ is right" in message_instead_of(
        "return np.array([1, -np.inf])", "return np.array([1, -1e9])"
    )
    mask = "return np.array([True, False])"
    assert "It gives 0 and 1, where True" in message_instead_of(mask, "return np.array([1.0, 0.0])")
    assert "True and False are swapped." in message_instead_of(mask, "return np.array([0, 1])")
    assert "It gives numbers, where" in message_instead_of(mask, "return np.array([0, -np.inf])")
    assert "These are integers" in message_instead_of(
        "return np.array([1.5, 2.25])", "return np.array([1, 2])"
    )


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("return 1", "It is accepted."),
        ("return 'no'", "It goes on after that"),
        ("assert not n", "An `assert` stops it"),
        ("raise TypeError", "It stops with TypeError: raise a ValueError."),
    ],
)
def test_what_happens_in_place_of_a_refusal_is_named(answer: str, words: str) -> None:
    assert words in message_instead_of("raise ValueError", answer, "refuses(lambda: f())")


def test_an_error_in_a_helper_is_shown_with_the_call() -> None:
    answer = "def part(x):\n    return x / 0\ndef twice(x):\n    return part(1)\n"
    words = report(EXERCISE, answer).lines
    assert "in line 4, `return part(1)`, and there in line 2, `return x / 0`: Zero" in words[0][1]
    assert words[1][1].endswith(AGAIN)


def test_a_wrong_answer_explains_only_what_it_gets_wrong() -> None:
    """The square of 2 is its double, so that check tells nothing about squares."""
    checks = [("Two.", "twice(np.array([2.0]))\n"), ("Three.", "twice(np.array([3.0]))\n")]
    found = report(EXERCISE | {"checks": checks}, "def twice(x):\n    return x * x\n")
    assert [holds for holds, _ in found.lines] == [True, False]


def test_one_number_that_a_wrong_answer_shares_by_chance_explains_nothing() -> None:
    """Of three checks one gives 4, as the square would: that is no square."""
    checks = [(f"{n}.", f"twice(np.array({n}))\n") for n in (4.0, 3.0, 5.0)]
    answer = "def twice(x):\n    return {4.0: 16.0, 3.0: 7.0, 5.0: 8.0}[float(x)]\n"
    lines = report(EXERCISE | {"checks": checks}, answer).lines
    assert not any("square" in message for _, message in lines)
    assert "That does not hold." in message_instead_of("return True", "return False")


def test_an_answer_that_is_not_python_gets_one_sentence() -> None:
    found = report(EXERCISE, "def twice(x):\n    return (2 * x\n")
    assert found.lines == (
        (False, "Line 2, `return (2 * x`, is not Python: '(' was never closed."),
    )
    assert (
        report(EXERCISE, "import nothing_there")
        .lines[0][1]
        .startswith("It stops in line 1, `import")
    )
    assert report(EXERCISE, "def once(x): pass").lines[0][1].startswith("There is no `twice`")


def test_what_an_answer_prints_is_kept_up_to_a_limit() -> None:
    found = report(EXERCISE, "print('ha' * 99999)\ndef twice(x):\n    print(1)\n    return 2 * x\n")
    assert found.is_solved
    assert found.printed == "ha" * (MOST // 2)


def test_the_package_is_back_after_a_check() -> None:
    report(EXERCISE, "import posenc")
    import posenc as again

    assert again is posenc


def test_the_page_gets_the_same_report_as_tests() -> None:
    answer = "def twice(x):\n    return x * x\n"
    data = json.loads(as_json(json.dumps(EXERCISE), answer))
    assert [tuple(line) for line in data["lines"]] == list(report(EXERCISE, answer).lines)
    assert data["solved"] is False


@pytest.mark.parametrize("value", ["x * 2", "x + x", "list(2 * x)", "tuple((2 * x).tolist())"])
def test_another_way_to_write_it_passes(value: str) -> None:
    assert report(EXERCISE, f"def twice(x):\n    return {value}\n").is_solved


def test_numbers_in_late_digits_are_told_from_equal_ones() -> None:
    assert not report(EXERCISE, "def twice(x):\n    return 2 * x * (1 + 1e-7)\n").is_solved
    assert report(EXERCISE, "def twice(x):\n    return 2 * x * (1 + 1e-12)\n").is_solved
