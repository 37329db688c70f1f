r"""Numbers bound to expressions: `{{ 0.841 = sinusoidal_encoding(4, 8)[1, 0] }}`.

The expression can use the names of `posenc`, `np`, `fact`, `measurement`, and those that sessions
on the page have defined. Its value is formatted like the printed number: the same decimals,
thousands separators and notation. The page shows the number, and the expression on hover. In
mathematics the bare number is passed to KaTeX.

`{{ 57.3 degrees = 1 in radians }}` binds the unit as well: the printed one before the equals sign,
and the one of the expression after `in`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

from scripts.book.text import Correction, outside_code, spans
from scripts.book.units import convert

NUMBER = r"[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?"
PRINTED = rf"\{{\{{\s*(?P<printed>{NUMBER})(?P<unit>°|\s+[A-Za-z]+)?\s+=\s+"
BINDING = re.compile(
    PRINTED + r"(?P<expression>.+?)(?:\s+in\s+(?P<computed>[A-Za-z]+))?\s*\}\}", re.S
)
FORM = re.compile(r"(?P<sign>[-+−]?)(?P<whole>[\d,]+)(?:\.(?P<decimals>\d+))?(?P<exponent>e.+)?")


@dataclass(frozen=True)
class Binding:
    """A printed number, its position, and the expression that computes it."""

    start: int
    end: int
    printed: str
    printed_start: int
    expression: str
    in_mathematics: bool
    unit: str = ""  # as printed, with the space before it
    computed: str = ""

    @property
    def with_unit(self) -> str:
        """Return the expression with its unit."""
        return f"{self.expression} in {self.computed}" if self.computed else self.expression

    def corrections(self, text: str, names: dict[str, Any]) -> list[Correction]:
        """Return the correction of the printed number, in a list that is empty if it is right."""
        value = evaluate(self.expression, names)
        if self.unit or self.computed:
            value = convert(_one_number(value), self.computed, self.unit.strip())
        should = as_printed(value, self.printed)
        return compare(self.printed_start, self.printed, should, self.with_unit)


def bindings(text: str) -> Iterator[Binding]:
    """Yield the bound numbers of a page, in prose and in mathematics."""
    for start, end, in_mathematics in outside_code(text):
        yield from _bindings(text, start, end, in_mathematics)


def example_bindings(text: str) -> Iterator[Binding]:
    """Yield the bound numbers in a page's `markdown` fences, which explain the page language."""
    for span in spans(text):
        if span.kind == "fence" and text[span.start : span.end].lstrip(" `~").startswith(
            "markdown"
        ):
            yield from _bindings(text, span.start, span.end, False)


def _bindings(text: str, start: int, end: int, in_mathematics: bool) -> Iterator[Binding]:
    for match in BINDING.finditer(text, start, end):
        yield binding(match, in_mathematics=in_mathematics)


def binding(match: re.Match[str], *, in_mathematics: bool = False) -> Binding:
    """Return the binding of a match of `BINDING`."""
    return Binding(
        *match.span(),
        match["printed"],
        match.start("printed"),
        " ".join(match["expression"].split()),
        in_mathematics,
        match["unit"] or "",
        match["computed"] or "",
    )


def evaluate(expression: str, names: dict[str, Any]) -> Any:
    """Return the value of an expression in a page."""
    return eval(compile(expression, "<page>", "eval"), names)


def as_printed(value: Any, printed: str) -> str:
    """Return `value` written in the form of `printed`, digit for digit.

    Examples:
        >>> as_printed(6283.185307, "6,283.2")
        '6,283.2'
        >>> as_printed(6.0293e-5, "6.0e-5")
        '6.0e-5'
    """
    form = FORM.fullmatch(printed)
    if form is None:
        raise ValueError(f"{printed!r} is not a number")
    number = _one_number(value)
    sign = "+" if form["sign"] == "+" else ""
    comma = "," if "," in form["whole"] else ""
    kind = f".{len(form['decimals'] or '')}{'e' if form['exponent'] else 'f'}"
    if isinstance(number, int) and kind == ".0f":
        kind = "d"  # exact, where a float would round
    written = format(number, f"{sign}{comma}{kind}")
    written = re.sub(r"e([-+])0*(\d+)", lambda e: "e" + e[1].strip("+") + e[2], written)
    if float(written.replace(",", "")) == 0:  # print no minus zero
        written = written.lstrip("-")
    return written.replace("-", "−", 1) if form["sign"] == "−" else written


def _one_number(value: Any) -> int | float:
    """Return a value as a single finite number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    array = np.asarray(value)
    if array.ndim or array.dtype.kind not in "iuf":
        raise TypeError(f"a bound number needs one number; got {value!r}")
    if not np.isfinite(array):
        raise ValueError(f"a bound number needs a finite number; got {value!r}")
    number: int | float = array.item()
    return number


def compare(start: int, printed: str, should: str, about: str) -> list[Correction]:
    """Return the correction of `printed` at `start`, in a list that is empty if it is right."""
    return (
        []
        if printed == should
        else [Correction(start, start + len(printed), printed, should, about)]
    )


def as_html(printed: str) -> str:
    """Return a printed number as HTML, with a true minus sign and superscript exponents."""
    mantissa, _, exponent = printed.replace("-", "−").partition("e")
    return f"{mantissa} × 10<sup>{exponent}</sup>" if exponent else mantissa


def as_tex(printed: str) -> str:
    """Return a printed number as TeX."""
    mantissa, _, exponent = printed.replace("−", "-").replace(",", "{,}").partition("e")
    return rf"{mantissa} \times 10^{{{exponent}}}" if exponent else mantissa


def replacement(binding: Binding, before: str) -> str:
    """Return the Markdown that replaces a binding, given the text before it."""
    if binding.in_mathematics:
        if binding.unit:
            raise ValueError(
                f"{binding.printed}{binding.unit}: a unit in mathematics stays unbound"
            )
        return as_tex(binding.printed)
    if before.rpartition("\n")[2].startswith("#"):
        raise ValueError(
            f"{binding.printed}: a bound number in a heading would change the heading's address"
        )
    if before.rfind("![") > before.rfind("]("):  # alternative text cannot contain markup
        return binding.printed.replace("-", "−") + binding.unit
    title = html.escape(binding.with_unit)
    # Escape Markdown characters in the attribute.
    title = re.sub(r"[\[\]\\$*_{}|`]", lambda mark: f"&#{ord(mark[0])};", title)
    return f'<span class="bound" title="{title}">{as_html(binding.printed)}</span>{binding.unit}'


class _Numbers(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        text = "\n".join(lines)
        for binding in reversed(list(bindings(text))):
            before = text[: binding.start]
            text = before + replacement(binding, before) + text[binding.end :]
        return text.split("\n")


class NumbersExtension(Extension):
    """Renders bound numbers; a malformed binding stops the build."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Run first, since bindings also occur in tables and mathematics."""
        md.preprocessors.register(_Numbers(md), "book-numbers", 33)


makeExtension = NumbersExtension  # the name that Python-Markdown looks for
