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


@pytest.mark.parametrize("value", [np.arange(3), "0.5", True, None, 1j])
def test_only_a_number_can_be_bound(value: object) -> None:
    with pytest.raises(TypeError, match="one number"):
        as_printed(value, "1.0")


def test_minus_signs_and_powers_of_ten_are_typeset() -> None:
    assert as_html("-0.416") == "−0.416"
    assert as_html("6.0e-5") == "6.0 × 10<sup>−5</sup>"


def test_a_bound_number_is_shown_with_its_expression_as_title() -> None:
    html = render("It is {{ -0.4 = np.cos([1, 2][1]) }}.")
    assert '<span class="bound" title="' in html
    assert ">−0.4</span>" in html
    assert "&#91;1, 2&#93;" in html


def test_a_binding_in_a_formula_becomes_a_plain_number() -> None:
    html = render("$x = {{ 60,611 = 60611 }}$")
    assert "bound" not in html
    assert "60{,}611" in html  # the TeX that MathML carries along


def test_code_keeps_its_braces() -> None:
    text = "`{{ 1 = 1 }}`\n\n```text\n{{ 2 = 2 }}\n```\n\n<!-- {{ 3 = 3 }} -->\n"
    assert list(bindings(text)) == []
    assert "{{ 1 = 1 }}" in render(text)


@pytest.mark.parametrize("value", [np.nan, np.inf, float("-inf")])
def test_only_a_finite_number_can_be_bound(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        as_printed(value, "1.0")


def test_large_integers_are_exact() -> None:
    assert as_printed(2**53 + 1, "1") == "9007199254740993"
    assert as_printed(2**70, "1,000") == f"{2**70:,}"


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


def test_a_binding_in_alt_text_becomes_a_plain_number() -> None:
    html = render("![it ends at {{ -0.4 = [1, -0.4][1] }}](https://example.org/x.png)")
    assert 'alt="it ends at −0.4"' in html


def test_a_binding_in_a_heading_is_an_error() -> None:
    with pytest.raises(ValueError, match="heading"):
        render("## At {{ 1 = 1 }}\n")


# Units


def test_a_correction_of_another_length_leaves_the_next_in_its_place() -> None:
    text = "{{ 9 = 10 }} and {{ 8 = 7 }}"
    assert apply_corrections(text, corrections(text)) == "{{ 10 = 10 }} and {{ 7 = 7 }}"


def test_a_number_that_differs_in_its_last_digit_is_corrected() -> None:
    [third] = corrections("{{ 0.3334 = 1 / 3 }}")
    assert third.should == "0.3333"


def test_a_value_is_converted_to_the_printed_unit() -> None:
    assert corrections("{{ 57.3 degrees = 1 in radians }}") == []
    assert corrections("{{ 57.3° = 1 in radians }} and {{ 0.16 turns = 1 in radian }}") == []
    assert corrections("{{ 3.6 milliseconds = 0.0036 in seconds }}") == []
    assert corrections("{{ 4.1 KB = 2**12 in bytes }}") == []


def test_a_wrong_unit_is_noticed() -> None:
    [radian] = corrections("{{ 1 degree = frequencies(8)[0] in radians }}")
    assert (radian.says, radian.should) == ("1", "57")
    assert radian.about == "frequencies(8)[0] in radians"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "{{ 1 second = 1 in radians }}",
            "radians is a unit of angle, but second",
        ),
        ("{{ 1 foot = 1 in radians }}", "'foot' is not a known unit"),
        ("{{ 1 radian = 1 }}", "both sides need a unit"),
        ("{{ 1 = 1 in radians }}", "both sides need a unit"),
    ],
)
def test_an_unknown_or_unmatched_unit_is_an_error(text: str, says: str) -> None:
    with pytest.raises(PageError, match=says):
        corrections(text)


def test_a_unit_is_shown_after_its_number() -> None:
    html = render("By {{ 57° = 1 in radians }} or {{ 1 radian = 1 in radians }}.")
    assert 'title="1 in radians">57</span>°' in html
    assert ">1</span> radian." in html
    with pytest.raises(ValueError, match="stays unbound"):
        render("$x = {{ 1 radian = 1 in radian }}$")


@pytest.mark.parametrize("text", ["{{ 57 = 57 }}°", "{{ 1 = 1 }} radian", "{{ 2 = 2 }}\nturns"])
def test_a_unit_outside_its_binding_is_found(text: str) -> None:
    [stray] = strays(text)
    assert "is a unit outside the binding: write {{" in stray.message(text)
