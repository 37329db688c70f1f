"""Pages are tests: pytest hands every Markdown page to the book's checker."""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator
from importlib import import_module
from typing import Any

import pytest

from scripts.book import ROOT
from scripts.book.check import sybil

pytest_collect_file = sybil().pytest()

# The tests of the package's own modules, their fast paths and what they refuse: their lines are
# counted. To trace them takes as long as the work itself, and all other tests look at the package
# from without.
FILES = [*(ROOT / "posenc").glob("*.py"), *(ROOT / "posenc" / "nn").glob("*.py")]
MODULES = [path.relative_to(ROOT / "posenc") for path in FILES]
TESTS = (ROOT / "tests" / path.with_name(f"test_{path.stem.strip('_')}.py") for path in MODULES)
OTHERS = ("test_fast.py", "nn/test_fast.py", "nn/test_bad_input.py")
COUNTED = {*TESTS, *(ROOT / "tests" / name for name in OTHERS)}


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
    again and again takes a quarter of the time of all tests. And what comes later is gone through
    after each twenty thousand objects, not seven hundred.
    """
    gc.disable()
    coverage = counting(session.config)
    if coverage:
        import_module("posenc.nn")  # the lines of the modules themselves count
        coverage.pause()
        import_module("torch._dynamo")  # or else the first seed loads it while lines are counted
    try:
        return (yield)
    finally:
        if "hypothesis.core" in sys.modules:
            make_hypothesis_draw()
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)
        gc.enable()


def make_hypothesis_draw() -> None:
    """Have hypothesis make its generator of random numbers before objects are passed over.

    As it does, it asks the collector who holds it, and warns where it sees nobody: from Python 3.14
    on, nobody but an object that would be passed over.
    """
    from hypothesis import given, settings
    from hypothesis.strategies import none

    settings(database=None, max_examples=1)(given(none())(lambda nothing: None))()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Count the lines that a test of the package runs, its fixtures' included."""
    coverage = counting(item.config)
    if not coverage:
        return (yield)
    if item.path in COUNTED:
        coverage.resume()
    try:
        return (yield)
    finally:
        coverage.pause()  # pytest-cov counts on after any test that is marked `no_cover`


def counting(config: pytest.Config) -> Any:
    """Return what counts the lines that run, or None where nobody asked for it.

    Who has others run the tests only adds up what they count, and is left alone.
    """
    plugin = config.pluginmanager.getplugin("_cov")
    leads = config.getoption("dist", "no") != "no"
    return plugin.cov_controller if plugin and not leads else None
