"""What the tests of modules share: a compiler that spares itself what no test looks at."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch._dynamo.guards


@pytest.fixture(scope="session", autouse=True)
def untimed() -> Iterator[None]:
    """Do not time how fast the conditions of each compiled graph are checked.

    For that alone PyTorch empties the processor's caches, which takes as long as many a graph.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch._dynamo.guards, "profile_guard_manager", lambda *_: 0.0, raising=False)
        yield


@pytest.fixture
def any_length() -> Iterator[None]:
    """Compile for a length that is not known.

    PyTorch keeps what comes of each operation, by the shapes it is given; of a shape with an
    unknown in it that takes longer than to work out anew what comes of it.
    """
    with torch._dynamo.config.patch(fake_tensor_cache_enabled=False):
        yield
