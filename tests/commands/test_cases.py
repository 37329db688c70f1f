"""A test of many cases: it runs all of them, and names the one that fails."""

from __future__ import annotations

import pytest

from tests.cases import each


def test_every_case_is_run_with_every_other() -> None:
    met: list[tuple[int, str]] = []

    @each("n", [1, 2])
    @each("word", ["a", "b"])
    def meet(n: int, word: str) -> None:
        met.append((n, word))

    meet()
    assert met == [(1, "a"), (1, "b"), (2, "a"), (2, "b")]


def test_the_case_that_fails_is_named() -> None:
    @each(("n", "most"), [(1, 2), (3, 2)])
    def small(n: int, most: int) -> None:
        assert n <= most

    with pytest.raises(AssertionError) as failed:
        small()
    assert failed.value.__notes__ == ["The case is {'n': 3, 'most': 2}."]


def test_a_case_cannot_skip_those_after_it() -> None:
    @each("n", [1, 2])
    def skipping(n: int) -> None:
        pytest.skip("no reason")

    with pytest.raises(AssertionError, match="skip all after it"):
        skipping()


def test_no_case_and_an_argument_that_is_none_are_refused() -> None:
    with pytest.raises(AssertionError, match="no case"):
        each("n", [])
    with pytest.raises(AssertionError, match="takes no"):
        each("m", [1])(lambda n: None)
