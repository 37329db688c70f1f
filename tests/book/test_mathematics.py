"""Formulas are typeset when the site is built, as HTML and as MathML for screen readers."""

import re

import pytest

from scripts.book.mathematics import BASE, BadTeXError, render
from scripts.book.render import render as render_page


@pytest.mark.parametrize("display", [True, False])
def test_a_formula_has_html_and_mathml(display: bool) -> None:
    html = render(r"\omega_i = 10000^{-2i/d}", display=display)
    assert 'class="katex-html" aria-hidden="true"' in html
    assert "<math " in html
    assert ("katex-display" in html) == display


@pytest.mark.parametrize("text", ["Inline $x < y$ and\n\n$$\na \\lt b\n$$\n", "From $a$–$b$."])
def test_every_formula_of_a_page_is_typeset(text: str) -> None:
    html = render_page(text)
    assert html.count('class="katex"') == 2
    assert not re.search(r"\\[(\[]", html)


@pytest.mark.parametrize("tex", [r"\frac{1", r"\nosuchcommand", r"x_1_2", r"\left( x"])
def test_bad_tex_is_an_error_that_shows_it(tex: str) -> None:
    with pytest.raises(BadTeXError) as error:
        render(tex)
    assert repr(tex) in str(error.value)


def test_punctuation_around_a_formula_stays_with_it() -> None:
    html = render_page("Of (pair $i$), $n$-fold, and $x$ alone; “$y$”.")
    assert html.count('class="formula-end"') == 3
    assert "</span>),</span>" in html
    assert "</span>-fold,</span>" in html
    assert '<span class="formula-end">“<' in html
    assert "</span>”.</span>" in html


def test_a_long_formula_breaks_only_between_katex_parts() -> None:
    html = render_page(r"See ($f(x_1, x_2) = g(x_1) + g(x_2) = 3$), and $x = y$.")
    long, short = html.split("and <")
    assert long.count(BASE) == 4
    assert long.count(f"<wbr></span>{BASE}") == 3  # but not before the first, after the bracket
    assert (short.count(BASE), short.count("<wbr>")) == (2, 0)
    nothing = render_page(r"See ($\def\abcdefg{1234567890123456}$), and no more.")
    assert BASE not in nothing


@pytest.mark.parametrize(
    ("tex", "short"),
    [
        ("d = 8", True),
        (r"i = 0, 1, 2, 3", True),
        (r"\sqrt{d_{\text{model}}}", True),
        (r"\lambda_i = 2\pi/\omega_i = 2\pi \cdot 10000^{2i/d}", False),
        (r"\sin(p + k) = \sin p\cos k + \cos p\sin k", False),
    ],
)
def test_a_short_formula_stays_on_one_line(tex: str, short: bool) -> None:
    assert ('class="arithmatex short"' in render_page(f"Here is ${tex}$ in a line.")) is short


def test_a_formula_of_one_part_stays_with_its_full_stop() -> None:
    braced = render_page("As ${10000^{2j/d} = (10^8)^{j/d}}$.\n")
    assert '<span class="formula-end"><span class="arithmatex short">' in braced
    assert "arithmatex short" not in render_page("As $10000^{2j/d} = (10^8)^{j/d}$.\n")
