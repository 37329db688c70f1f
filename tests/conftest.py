"""What the tests share: the built site, the browser that reads it, and who runs which of them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from playwright.sync_api import Browser, BrowserContext, Page
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

from scripts.setup import browser
from tests.site.served import Site, build, served
from tests.site.visits import DESK, PATIENCE, SHIFTS, forget
from tests.theirs import listen

# Nothing that a browser does of its own accord belongs in a test of what the pages do.
QUIET = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--font-render-hinting=none",  # words as wide on every system
    "--no-first-run",
    "--no-sandbox",
    "--no-zygote",
]

SITE = pytest.StashKey[Site]()

listen()


class ByFileAndPage(LoadFileScheduling):  # type: ignore[misc, unused-ignore]
    """Gives a worker one file at a time, and of the file that visits every page one page.

    All oracles go to one worker: to import them takes as long as many a comparison.
    """

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        if file.endswith("test_every_page.py"):
            return file + test[test.find("[") :]
        return "tests/oracles" if file.startswith("tests/oracles/") else file


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with a few tests that need the site: who needs it later does not wait for it."""
    items.sort(key=lambda item: item.path.name != "test_visits.py")


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByFileAndPage:
    """Divide what takes longest, and keep together what shares its preparations."""
    return ByFileAndPage(config, log)


def pytest_configure_node(node: WorkerController) -> None:
    """Tell a worker where the site will be that all of them read."""
    shared = _shared(node.config)
    node.workerinput["site"] = (str(shared.folder), shared.url)


def _shared(config: pytest.Config) -> Site:
    """Return the one folder in which the site is built, served until the tests end."""
    if SITE not in config.stash:
        stack = ExitStack()
        config.add_cleanup(stack.close)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()), "site")
        config.stash[SITE] = Site(folder, stack.enter_context(served(folder)))
    return config.stash[SITE]


@pytest.fixture(scope="session")
def site(pytestconfig: pytest.Config) -> Site:
    """Return the built site; whoever is first to ask builds it, for all workers."""
    given = getattr(pytestconfig, "workerinput", {}).get("site")
    site = Site(Path(given[0]), given[1]) if given else _shared(pytestconfig)
    built = site.folder.with_suffix(".built")
    with FileLock(site.folder.with_suffix(".lock")):
        if not built.exists():
            build(site.folder, site.url)
            built.touch()
    return site


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


@pytest.fixture(scope="session")
def window(browser: Browser, base_url: str) -> Iterator[BrowserContext]:
    """Open the one window of the tests, on a system that asks for light pages, and for rest."""
    with browser.new_context(
        base_url=base_url, color_scheme="light", reduced_motion="reduce", viewport=DESK
    ) as window:
        window.set_default_timeout(PATIENCE)
        window.add_init_script(SHIFTS)
        yield window


@pytest.fixture(scope="session")
def tab(window: BrowserContext) -> Iterator[Page]:
    """Open the one tab of the tests: to open one takes as long as many a page."""
    with window.new_page() as tab:
        yield tab


@pytest.fixture
def page(tab: Page) -> Iterator[Page]:
    """Return the tab as a new reader finds it: what the last one did is forgotten."""
    yield tab
    tab.context.set_offline(False)
    tab.context.clear_permissions()
    tab.unroute_all()
    forget(tab)
    tab.goto("about:blank")  # whatever still ran has ended
    tab.emulate_media(media="null", color_scheme="light")
    tab.set_viewport_size(DESK)


@pytest.fixture(scope="session")
def still(browser: Browser, base_url: str) -> Iterator[Page]:
    """Open a tab in which no script runs."""
    with browser.new_context(base_url=base_url, java_script_enabled=False, viewport=DESK) as window:
        window.set_default_timeout(PATIENCE)
        yield window.new_page()
