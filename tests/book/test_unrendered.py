"""Unknown page language stops the build instead of being shown as written."""

import pytest

from scripts.book.render import render
from scripts.book.unrendered import LeftoverError


@pytest.mark.parametrize(
    "text",
    [
        "--src-- posenc.embeddings.sinusoidal.gone  nodoc",
        "- --src-- posenc.embeddings.sinusoidal.shift_matrix",
        "An unclosed $\\sqrt{d} is no formula.",
        "Text.\n\n/// figure-captoin\nText.\n///",
        "Words { .lead }",
        "{{ 1 }}",
        "A list without an empty line before it:\n- one\n- two",
    ],
)
def test_unknown_page_language_stops_the_build(text: str) -> None:
    with pytest.raises(LeftoverError, match="would be shown as written"):
        render(text)


@pytest.mark.parametrize(
    "text",
    [
        "`--src-- x` and `{{ 1 }}`",
        "```text\n{{ 1 }} $\n```",
        "$x$ and [text] {x}",
        "A list:\n\n- one\n- two\n    - three",
        "<pre>/// a drawing of letters: {.</pre>",
    ],
)
def test_code_and_literal_brackets_are_allowed(text: str) -> None:
    assert render(text)
