"""Pages are tests: pytest hands every Markdown page to the book's checker.

With only the package and pytest installed, `pytest --doctest-modules posenc` checks the examples of
the numpy modules. What needs more is skipped, and the reason is reported.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Generator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import pytest

from scripts import ROOT

Collect = Callable[[Path, pytest.Collector], pytest.Collector | None]

# The tests of the package's own modules, their fast paths and what they refuse: their lines are
# counted. To trace them takes as long as the work itself, and all other tests look at the package
# from without.
MODULES = [path.relative_to(ROOT / "posenc") for path in (ROOT / "posenc").rglob("*.py")]
TESTS = (
    ROOT / "tests" / (path.parent.name or "package") / f"test_{path.stem.strip('_')}.py"
    for path in MODULES
)
OTHERS = (
    "package/test_fast.py",
    *("nn/test_fast.py", "nn/test_bad_input.py", "nn/test_tensor_arguments.py"),
)
COUNTED = {*TESTS, *(ROOT / "tests" / name for name in OTHERS)}

NEED_TORCH = [ROOT / "posenc" / name for name in ("_tensor_arguments.py", "diagnose", "nn")]
HAS_SYBIL, HAS_TORCH = (find_spec(name) is not None for name in ("sybil", "torch"))


def page_collector() -> Collect:
    """Return what collects a page; without Sybil it collects nothing."""
    if not HAS_SYBIL:
        return lambda file_path, parent: None
    from scripts.book.check import sybil

    collect: Collect = sybil().pytest()
    return collect


collect_page = page_collector()


class Skipped(pytest.File):
    """A file that cannot be checked here."""

    def __init__(self, *, needs: str, **given: Any) -> None:
        """Keep the reason."""
        super().__init__(**given)
        self.needs = needs

    def collect(self) -> NoReturn:
        """Skip the file, and say why."""
        pytest.skip(self.needs)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Collect pages too, and skip a file where what it needs is not installed."""
    collectors = yield
    if needs := missing(file_path):
        return [Skipped.from_parent(parent, path=file_path, needs=needs)]
    page = collect_page(file_path, parent)
    return [*collectors, page] if page else collectors


def missing(path: Path) -> str:
    """Return what has to be installed before a file can be checked, or nothing."""
    if not HAS_TORCH and any(place in (path, *path.parents) for place in NEED_TORCH):
        return "posenc.nn needs torch: pip install '.[nn]'"
    if path.suffix == ".md" and not HAS_SYBIL:
        return "pages need sybil: pip install -c constraints.txt -e '.[docs,test]'"
    return ""


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
