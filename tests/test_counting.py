"""Lines are counted in the tests of the package, which is slow, and in no other."""

from __future__ import annotations

import sys

import pytest


def test_no_line_is_traced_in_a_test_of_something_else(request: pytest.FixtureRequest) -> None:
    if not request.config.pluginmanager.hasplugin("_cov"):
        pytest.skip("nobody counts lines in this run")
    assert sys.gettrace() is None
