"""What the tests share: the built site, and the browser that reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from served import Site, build, served

from scripts import browser

# Nothing that a browser does of its own accord belongs in a test of what the pages do.
QUIET = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
    "--no-sandbox",
]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Build the site once and serve it until the tests end."""
    folder = tmp_path_factory.mktemp("site")
    with served(folder) as url:
        build(folder, url)
        yield Site(folder, url)


@pytest.fixture(scope="session")
def base_url(site: Site) -> str:
    """Tell pytest-playwright where its pages are."""
    return site.url


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    """Tell pytest-playwright which browser to start; without one, skip, or fail under CI."""
    path = browser.find()
    if path is None:
        (pytest.fail if browser.is_ci() else pytest.skip)(browser.MISSING)
    return {"executable_path": path, "args": QUIET}
