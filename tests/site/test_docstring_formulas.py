"""Formulas of docstrings: all of them are set as mathematics on reference pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import griffe
import pytest

from scripts import ROOT
from scripts.book.mathematics import render
from scripts.site.docstring_formulas import DISPLAYED, IN_SENTENCES, with_mathematics

PLAIN = re.compile(r"[√ωΣγλᵀ^]|\w_[ij]\b")
SET_OR_CODE = re.compile(r"\$\$.*?\$\$|\$[^$]*\$|`[^`]*`|^ *(?:>>>|\.\.\.) .*$", re.M | re.S)


def public(parent: griffe.Object | griffe.Alias) -> Iterator[griffe.Object]:
    """Yield the functions and classes in a package that have a place in the reference."""
    for member in parent.members.values():
        if isinstance(member, griffe.Object) and not member.name.startswith("_"):
            if member.kind is not griffe.Kind.MODULE:
                yield member
            yield from public(member)


@cache
def docstrings() -> dict[str, str]:
    package = griffe.load("posenc", search_paths=[str(ROOT)])
    assert isinstance(package, griffe.Module)
    return {found.path: found.docstring.value for found in public(package) if found.docstring}


@pytest.mark.parametrize("formula", [*IN_SENTENCES, *DISPLAYED])
def test_a_formula_is_in_a_docstring_and_becomes_mathematics(formula: str) -> None:
    tex = (IN_SENTENCES | DISPLAYED)[formula]
    assert render(tex, display=formula in DISPLAYED)
    pages = map(with_mathematics, docstrings().values())
    assert any(f"${tex}$" in page or f"$$\n{tex}\n$$" in page for page in pages)


def test_no_formula_of_a_docstring_stays_plain() -> None:
    left = {
        path: SET_OR_CODE.sub("", with_mathematics(text)) for path, text in docstrings().items()
    }
    assert {path: PLAIN.findall(text) for path, text in left.items() if PLAIN.search(text)} == {}


def test_code_in_a_docstring_stays() -> None:
    text = "`√d` and `ω_i`\n\n>>> x = '√d'\n... # ω_i\n"
    assert with_mathematics(text) == text
