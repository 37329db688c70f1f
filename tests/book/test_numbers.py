"""Bound numbers keep the format of their page, and are typeset when shown."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.book.evaluate import PageError, corrections
from scripts.book.numbers import as_html, as_printed, bindings
from scripts.book.render import render
from scripts.book.settings import strays
from scripts.book.text import apply_corrections
from scripts.book.unrendered import LeftoverError


@pytest.mark.parametrize(
    ("value", "printed", "expected"),
    [
        (0.8414709848, "0.000", "0.841"),
        (0.9950041653, "0.00", "1.00"),
        (-0.41614683, "0.000", "-0.416"),
        (-0.41614683, "−0.000", "−0.416"),
        (-0.0001, "0.00", "0.00"),
        (60611.477, "0", "60611"),
        (60611.477, "1,000", "60,611"),
        (6.0288706e-5, "1.0e-3", "6.0e-5"),
        (123456.0, "1.00e7", "1.23e5"),
        (0.5, "+0.00", "+0.50"),
        (np.int64(133), "1", "133"),
        (2**53 + 1, "1", "9007199254740993"),
        (2**70, "1,000", f"{2**70:,}"),
        (np.float64(2.5), "1", "2"),  # a tie goes to the even digit, as Python's format has it
    ],
)
def test_a_value_is_formatted_like_the_printed_number(
    value: float, printed: str, expected: str
) -> None:
    assert as_printed(value, printed) == expected


@given(st.floats(-1e6, 1e6), st.integers(0, 9))
def test_formatting_rounds_like_pythons_format(value: float, decimals: int) -> None:
    written = as_printed(value, f"{1:.{decimals}f}")
    assert float(written) == float(f"{value:.{decimals}f}")
    assert as_printed(float(written), written) == written


@pytest.mark.parametrize("value", [np.arange(3), "0.5", True, None, 1j, np.nan, np.inf, -np.inf])
def test_only_a_finite_number_can_be_bound(value: object) -> None:
    with pytest.raises((TypeError, ValueError), match=r"one number|finite"):
        as_printed(value, "1.0")


@pytest.mark.parametrize(
    ("number", "html"), [("-0.416", "−0.416"), ("6.0e-5", "6.0 × 10<sup>−5</sup>")]
)
def test_minus_signs_and_powers_of_ten_are_typeset(number: str, html: str) -> None:
    assert as_html(number) == html


ALT = "![it ends at {{ -0.4 = [1, -0.4][1] }}](https://example.org/x.png)"
UNITS = "By {{ 57° = 1 in radians }} or {{ 1 radian = 1 in radians }}."


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{{ -0.4 = np.cos([1, 2][1]) }}", '<span class="bound" title="'),
        ("{{ -0.4 = np.cos([1, 2][1]) }}", ">−0.4</span>"),
        ("{{ -0.4 = np.cos([1, 2][1]) }}", "&#91;1, 2&#93;"),
        (ALT, 'alt="it ends at −0.4"'),
        (UNITS, 'title="1 in radians">57</span>°'),
        (UNITS, ">1</span> radian."),
        ("$x = {{ 60,611 = 60611 }}$", "60{,}611"),  # the TeX that MathML carries along
    ],
)
def test_a_bound_number_is_shown(text: str, shown: str) -> None:
    assert shown in render(text)


def test_a_binding_in_a_formula_becomes_a_plain_number() -> None:
    assert "bound" not in render("$x = {{ 60,611 = 60611 }}$")


def test_code_keeps_its_braces() -> None:
    text = "`{{ 1 = 1 }}`\n\n```text\n{{ 2 = 2 }}\n```\n\n<!-- {{ 3 = 3 }} -->\n"
    assert list(bindings(text)) == []
    assert "{{ 1 = 1 }}" in render(text)


@pytest.mark.parametrize(
    "text",
    [
        "{{ = 1 }}",
        "{{ 0.841: np.sin(1) }}",
        "{{ x = 1 }}",
        "{{1=np.sin(2)}}",
        "- a ` b {{ 0.842 = np.sin(1) }}\n- c ` d",
        r"A \` tick, {{ 0.842: np.sin(1) }} and another \` ",
    ],
)
def test_a_malformed_binding_stops_the_build(text: str) -> None:
    if list(bindings(text)):  # it is a binding after all, so it is checked
        assert "{{" not in render(text)
        return
    with pytest.raises(LeftoverError, match="would be shown as written"):
        render(text)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("## At {{ 1 = 1 }}\n", "heading"), ("$x = {{ 1 radian = 1 in radian }}$", "stays unbound")],
)
def test_a_binding_in_a_wrong_place_is_an_error(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        render(text)


def test_a_correction_of_another_length_leaves_the_next_in_its_place() -> None:
    text = "{{ 9 = 10 }} and {{ 8 = 7 }}"
    assert apply_corrections(text, corrections(text)) == "{{ 10 = 10 }} and {{ 7 = 7 }}"


@pytest.mark.parametrize(
    ("text", "should"),
    [
        ("{{ 0.3334 = 1 / 3 }}", ["0.3333"]),
        ("{{ 57.3 degrees = 1 in radians }}", []),
        ("{{ 57.3° = 1 in radians }} and {{ 0.16 turns = 1 in radian }}", []),
        ("{{ 3.6 milliseconds = 0.0036 in seconds }}", []),
        ("{{ 4.1 KB = 2**12 in bytes }}", []),
        ("{{ 1 degree = frequencies(8)[0] in radians }}", ["57"]),
    ],
)
def test_a_value_is_compared_in_the_printed_unit(text: str, should: list[str]) -> None:
    assert [correction.should for correction in corrections(text)] == should


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{{ 1 second = 1 in radians }}", "radians is a unit of angle, but second"),
        ("{{ 1 foot = 1 in radians }}", "'foot' is not a known unit"),
        ("{{ 1 radian = 1 }}", "both sides need a unit"),
        ("{{ 1 = 1 in radians }}", "both sides need a unit"),
    ],
)
def test_an_unknown_or_unmatched_unit_is_an_error(text: str, complaint: str) -> None:
    with pytest.raises(PageError, match=complaint):
        corrections(text)


@pytest.mark.parametrize("text", ["{{ 57 = 57 }}°", "{{ 1 = 1 }} radian", "{{ 2 = 2 }}\nturns"])
def test_a_unit_outside_its_binding_is_found(text: str) -> None:
    [stray] = strays(text)
    assert "is a unit outside the binding: write {{" in stray.message(text)
