"""Pages are tests: pytest hands every Markdown page to the book's checker."""

from __future__ import annotations

import gc
from collections.abc import Generator

import pytest

from scripts.book.check import sybil

pytest_collect_file = sybil().pytest()


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
