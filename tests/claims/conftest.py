"""What the tests of claims say of them: `@pytest.mark.claim("C0-08", "false")`, the verdict.

Each test here names the claims that cite it, with the verdicts that it proves of them, and
tests/book/test_ledger.py compares that with the data: neither changes without the other.
"""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known."""
    config.addinivalue_line("markers", "claim(id, verdict): proves this verdict on a claim")
