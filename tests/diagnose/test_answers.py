"""One answer: what it prints, and when it is ill."""

from __future__ import annotations

from dataclasses import replace

from posenc.diagnose.answers import ABSENT, HEALTHY, ILL, UNDETERMINED, Diagnosis, short

FOUND = Diagnosis("Does it see order?", ILL, "it does not see order", "Nothing changed.")


def test_only_an_ill_answer_is_ill() -> None:
    answers = [replace(FOUND, status=status) for status in (HEALTHY, ILL, UNDETERMINED, ABSENT)]
    assert [found.ill for found in answers] == [False, True, False, False]


def test_answer_prints_its_question_then_verdict_and_remedy_indented() -> None:
    assert str(FOUND).splitlines() == [
        "[ ILL] Does it see order?",
        "       It does not see order. Nothing changed.",
    ]
    assert str(replace(FOUND, remedy="positions.")).endswith("\n       What helps: positions.")
    assert str(replace(FOUND, status=UNDETERMINED)).startswith("[  ? ] ")


def test_error_is_shortened_to_one_line_of_160_characters() -> None:
    assert short(KeyError("two\nlines")) == "KeyError: 'two\\nlines'"
    assert short(ValueError("two\nlines")) == "ValueError: two lines"
    long = short(ValueError("x" * 200))
    assert (len(long), long[-4:]) == (160, "x...")
