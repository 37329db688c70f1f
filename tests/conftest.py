"""Fixtures that several folders of tests share: the built site, and a browser to read it."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from playwright.sync_api import Browser, BrowserContext, Page
from xdist.workermanage import WorkerController

from scripts.setup import browser
from tests.import_warnings import silence_import_warnings
from tests.selection import give_up
from tests.site.served import Site, build, served
from tests.site.visits import DESK, PATIENCE, SHIFTS, fresh_page

# Switches off what the browser does by itself, and what differs between systems.
QUIET = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--font-render-hinting=none",  # text has the same width on every system
    "--no-first-run",
    "--no-sandbox",
    "--no-zygote",
]

# Files that import what only `make test-all` installs, timm where no other test finds it.
NEEDS = {
    "commands/test_paper.py": "pikepdf",
    "oracles/test_timm.py": "timm",
}
collect_ignore = [file for file, needed in NEEDS.items() if not find_spec(needed)]
# In a browser `make test` opens a page of each kind; the other pages, and what pages do there, are
# left to `make test-all`, and so are the tests that need what only `make test-all` installs.
FIRST = "test_every_page.py"
APART = {"browser", "checker_installed"}

SITE = pytest.StashKey[Site]()

silence_import_warnings()
# What is imported and collected lives until the end. The garbage collector would walk over it again
# and again, for a tenth of the time of all tests.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)  # before pytest selects by markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to `make test-all` what `make test` has no time or no program for."""
    for item in items:
        if APART & {*getattr(item, "fixturenames", ())} and item.path.name != FIRST:
            item.add_marker("slow")


def pytest_configure_node(node: WorkerController) -> None:
    """Tell a worker of pytest-xdist where the site is."""
    site = _site(node.config)
    node.workerinput["site"] = (str(site.folder), site.url)


def _site(config: pytest.Config) -> Site:
    """Return the site of this run: a folder, still empty, which is served until the run ends.

    It is served by the process that starts the workers, since any of them may end before another.
    """
    if SITE not in config.stash:
        stack = ExitStack()
        config.add_cleanup(stack.close)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()), "site")
        config.stash[SITE] = Site(folder, stack.enter_context(served(folder)))
    return config.stash[SITE]


@pytest.fixture(scope="session")
def site(pytestconfig: pytest.Config) -> Site:
    """Return the built site, one for all workers; the first that needs it builds it."""
    shared = getattr(pytestconfig, "workerinput", {}).get("site")
    site = Site(Path(shared[0]), shared[1]) if shared else _site(pytestconfig)
    built = site.folder.with_suffix(".built")
    with FileLock(site.folder.with_suffix(".lock")):
        if not built.exists():
            build(site.folder, site.url)
            built.touch()
    return site


@pytest.fixture(scope="session")
def base_url(site: Site) -> str:
    """Tell pytest-playwright the address that relative paths start from."""
    return site.url


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    """Tell pytest-playwright which browser to start; without one, skip, or fail under CI."""
    path = browser.find()
    if path is None:
        give_up(browser.MISSING)
    return {"executable_path": path, "args": QUIET}


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    """Tell pytest-playwright what its contexts are like: a desktop with light colours."""
    desktop = {"color_scheme": "light", "reduced_motion": "reduce", "viewport": DESK}
    return browser_context_args | desktop


@pytest.fixture
def context(context: BrowserContext) -> BrowserContext:
    """Return pytest-playwright's context, patient and adding up layout shifts."""
    context.set_default_timeout(PATIENCE)
    context.add_init_script(SHIFTS)
    return context


@pytest.fixture(scope="module")
def shared_page(browser: Browser, browser_context_args: dict[str, Any]) -> Iterator[Page]:
    """Return a page that the tests of a module share."""
    with fresh_page(browser, browser_context_args) as page:
        yield page


@pytest.fixture(scope="module")
def page_without_scripts(browser: Browser, browser_context_args: dict[str, Any]) -> Iterator[Page]:
    """Return a page, shared by the tests of a module, in which no script runs."""
    with fresh_page(browser, browser_context_args | {"java_script_enabled": False}) as page:
        yield page
