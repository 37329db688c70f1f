"""Which tests run where: what a machine lacks, and what is left to `make test-all`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

import pytest

from scripts.setup.browser import is_ci


def give_up(reason: str) -> NoReturn:
    """Skip the test, and say why; in CI, which installs what tests need, fail it."""
    (pytest.fail if is_ci() else pytest.skip)(reason)


def slow_except(quick: Iterable[Any], values: Iterable[Any]) -> list[Any]:
    """Return parameters of a test: `make test` runs the quick ones, `make test-all` the others."""
    kept = [*quick]
    listed = [*values]
    assert all(value in listed for value in kept), "a quick parameter is not among the values"
    return [one if one in kept else pytest.param(one, marks=pytest.mark.slow) for one in listed]
