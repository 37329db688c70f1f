"""The mark of the claims' tests: `@pytest.mark.claim("C0-08", "false")`, an id and a verdict.

Each test names the claims that cite it, with the verdicts that it proves. The test of the ledger,
tests/book/test_ledger_page.py, compares the marks with the data, so that neither changes alone.
"""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark."""
    config.addinivalue_line("markers", "claim(id, verdict): proves this verdict on a claim")
