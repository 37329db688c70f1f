"""Fixtures shared by the tests of modules, which make compilation cheaper."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch._dynamo.guards


@pytest.fixture(scope="session", autouse=True)
def untimed() -> Iterator[None]:
    """Do not measure how fast the guards of each compiled graph are checked.

    PyTorch flushes the CPU caches for that measurement, which can take as long as compiling.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch._dynamo.guards, "profile_guard_manager", lambda *_: 0.0, raising=False)
        yield


@pytest.fixture
def any_length() -> Iterator[None]:
    """Compile for an unknown length, without PyTorch's cache of output shapes.

    With symbolic shapes, a lookup in that cache takes longer than computing the shape again.
    """
    with torch._dynamo.config.patch(fake_tensor_cache_enabled=False):
        yield
