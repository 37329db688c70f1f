"""Lines are counted in the tests of the package, which is slow, and in no other."""

from __future__ import annotations

import sys

import pytest


# pytest-cov counts on after a test that is marked, and here the other comes after it.
@pytest.mark.parametrize("marks", [pytest.param("no_cover", marks=pytest.mark.no_cover), ""])
def test_no_line_is_traced_in_a_test_of_something_else(
    marks: str, request: pytest.FixtureRequest
) -> None:
    if not request.config.pluginmanager.hasplugin("_cov"):
        pytest.skip("nobody counts lines in this run")
    assert sys.gettrace() is None
