"""Pages are tests: pytest hands every Markdown page to the book's checker.

With only the package and pytest installed, `pytest --doctest-modules posenc` checks the examples of
the numpy modules. What needs more is skipped, and the reason is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import pytest

from scripts import ROOT

# These import libraries that are not installed here; `make matrix` runs them.
collect_ignore = ["docs/data/matrix/programs", "scripts/matrix/adapters"]

Collect = Callable[[Path, pytest.Collector], pytest.Collector | None]

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

    def __init__(self, *, needs: str, **arguments: Any) -> None:
        """Keep the reason."""
        super().__init__(**arguments)
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
