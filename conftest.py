"""Pages are tests: pytest hands every Markdown page to the book's checker."""

from __future__ import annotations

import gc
from collections.abc import Generator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from scripts.book import ROOT
from scripts.book.check import sybil

pytest_collect_file = sybil().pytest()

# The tests of the package's own modules: their lines are counted. To trace them takes as long as
# the work itself, and all other tests look at the package from without.
MODULES = [path.stem.strip("_") for path in (ROOT / "posenc").glob("*.py")]
FILES = (ROOT / "tests" / f"test_{name}.py" for name in (*MODULES, "fast"))
COUNTED = [ROOT / "tests" / "nn", *FILES]


def pytest_configure(config: pytest.Config) -> None:
    """End the count that pytest-cov begins in a worker before it knows that it is in one.

    It begins another then, and whoever pauses that one would wake the first.
    """
    coverage = counting(config)
    if coverage and hasattr(config, "workerinput"):
        coverage.pause()


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Let the collector of garbage pass over what is there when the tests are collected.

    The libraries and the tests are some million objects, which stay to the end; going through them
    again and again takes a quarter of the time of all tests.
    """
    gc.disable()
    coverage = counting(session.config)
    if coverage:
        import_module("posenc.nn")  # the lines of the modules themselves count
        coverage.pause()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Count the lines that a test of the package runs, its fixtures' included."""
    coverage = counting(item.config)
    if not coverage or not is_counted(item.path):
        return (yield)
    coverage.resume()
    try:
        return (yield)
    finally:
        coverage.pause()


@cache
def is_counted(path: Path) -> bool:
    """Return whether the lines count that the tests of a file run."""
    return any(path.is_relative_to(place) for place in COUNTED)


def counting(config: pytest.Config) -> Any:
    """Return what counts the lines that run, or None where nobody asked for it.

    Who has others run the tests only adds up what they count, and is left alone.
    """
    plugin = config.pluginmanager.getplugin("_cov")
    leads = config.getoption("dist", "no") != "no"
    return plugin.cov_controller if plugin and not leads else None
