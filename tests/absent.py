"""What a test needs and a machine may lack."""

from __future__ import annotations

from typing import NoReturn

import pytest

from scripts.setup.browser import is_ci


def give_up(reason: str) -> NoReturn:
    """Skip the test, and say why; in CI, which installs what tests need, fail it."""
    (pytest.fail if is_ci() else pytest.skip)(reason)
