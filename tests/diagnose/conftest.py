"""What the tests of the diagnosis share: one thread, and the same weights at every run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Run small tensors on one thread: several would spend their time waiting for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True)
def same_weights() -> None:
    """Draw the same weights at every run, in whatever order the tests are."""
    torch.manual_seed(0)
