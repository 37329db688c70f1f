"""Finds a browser for the tests, or installs one.

`python -m scripts.setup.browser` prints its path, after installing one if necessary. If none can be
installed, it prints what to do; that is an error only with `CI=true`.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.setup.node import executable

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Playwright's own node needs libatomic, which a minimal Debian and slim images lack.
os.environ.setdefault("PLAYWRIGHT_NODEJS_PATH", executable())

# The headless shell comes first: it uses a tenth less CPU time.
NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
PACKAGES = ("chromium-headless-shell", "chromium")  # Debian 12 has only the second
FLAGS = ["--disable-background-networking", "--disable-dev-shm-usage", "--disable-gpu"]
FLAGS += ["--no-first-run", "--no-sandbox"]
APPLICATIONS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
INSTALLED = ("chrome-linux*/chrome", "chrome-mac*/*.app/Contents/MacOS/*")  # in playwright's folder
MISSING = (
    "no Chrome or Chromium was found, and none could be installed. Install one (on Debian, as"
    " root: apt-get install chromium; elsewhere: python -m playwright install chromium)"
    " and run the same command again"
)


@contextmanager
def launched() -> Iterator[Browser]:
    """Start the browser. Playwright allows one at a time, so what tests run takes theirs."""
    from playwright.sync_api import sync_playwright  # installed with the test extra only

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find(), args=FLAGS)
        yield chromium
        chromium.close()


def find() -> str | None:
    """Return the path of the first browser that starts, or None."""
    return next(filter(starts, candidates()), None)


def candidates() -> Iterator[str]:
    """Yield possible paths of a browser: on the PATH, in macOS applications, from playwright."""
    yield from filter(None, map(shutil.which, NAMES))
    yield from filter(os.path.exists, APPLICATIONS)
    yield from map(str, playwright_chromium())


def playwright_chromium() -> Iterator[Path]:
    """Yield the Chromium that playwright has installed, without starting playwright."""
    spec = find_spec("playwright")
    if not (spec and spec.origin):
        return
    listed = Path(spec.origin).parent / "driver" / "package" / "browsers.json"
    browsers = json.loads(listed.read_text(encoding="utf-8"))["browsers"]
    (revision,) = (one["revision"] for one in browsers if one["name"] == "chromium")
    for pattern in INSTALLED:
        yield from sorted(playwright_folder().glob(f"chromium-{revision}/{pattern}"))


def playwright_folder() -> Path:
    """Return the folder where playwright installs browsers."""
    caches = Path("Library/Caches") if sys.platform == "darwin" else Path(".cache")
    there = Path.home() / caches / "ms-playwright"
    return Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or there)


def starts(path: str) -> bool:
    """Return whether a browser starts; a stub, or one without its libraries, does not."""
    return succeeds(path, "--version")


def install() -> None:
    """Install a browser: Debian's package if run as root on Debian, else playwright's Chromium."""
    print("Installing a browser for the tests", flush=True)
    if os.geteuid() == 0 and shutil.which("apt-get"):
        os.environ["DEBIAN_FRONTEND"] = "noninteractive"
        succeeds("apt-get", "update")
        command = ("apt-get", "install", "--yes", "--no-install-recommends")
        if any(succeeds(*command, package) and find() for package in PACKAGES):
            return
    succeeds(sys.executable, "-m", "playwright", "install", "chromium")


def succeeds(*command: str) -> bool:
    """Run a command without showing its output, and return whether it succeeded."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return done.returncode == 0


def is_ci() -> bool:
    """Return whether a missing browser is an error, as in continuous integration."""
    return os.environ.get("CI", "").lower() == "true"


def main() -> int:
    """Find or install a browser; return 1 if there is none and one is required."""
    if not find():
        install()
    path = find()
    print(f"Browser: {path}" if path else f"The browser tests cannot run: {MISSING}.", flush=True)
    return 1 if path is None and is_ci() else 0


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Control-C ends it without a traceback
    sys.exit(main())
