"""Pages are tests: pytest hands every Markdown page to the book's checker."""

from __future__ import annotations

import gc
from collections.abc import Generator

import pytest

from scripts.book.check import sybil

pytest_collect_file = sybil().pytest()

# What looks at the package from without, and runs again what the tests of its modules run. The
# tracing of lines is left out there: it takes as long as the work.
FROM_WITHOUT = ("docs", "README.md", "tests/claims", "tests/oracles")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let the collector of garbage pass over what is there when the tests are collected.

    The libraries and the tests are some million objects, which stay to the end; going through them
    again and again takes a quarter of the time of all tests.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Ask for the coverage of the package by the tests of its modules alone."""
    without = [config.rootpath / place for place in FROM_WITHOUT]
    for item in items:
        if any(item.path.is_relative_to(place) for place in without):
            item.add_marker(pytest.mark.no_cover)
