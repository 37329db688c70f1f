"""The browser that the tests drive: the one that is here, or one installed for them.

`python -m scripts.setup.browser` prints its path, after installing one where there is none. Where
none can be installed it says what is missing; that is a failure only under `CI=true`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from scripts.setup.node import executable

# Playwright's own node needs a library, libatomic, that a bare Debian and slim images do not have.
os.environ.setdefault("PLAYWRIGHT_NODEJS_PATH", executable())

# First Chromium without a window of its own, which takes a tenth less of a processor's time.
NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
PACKAGES = ("chromium-headless-shell", "chromium")  # Debian's; an older one has the second alone
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


def find() -> str | None:
    """Return the path of the first browser that starts, or nothing."""
    return next(filter(starts, candidates()), None)


def candidates() -> Iterator[str]:
    """Yield the places where a browser may be: the PATH, a Mac's applications, playwright's own."""
    yield from filter(None, map(shutil.which, NAMES))
    yield from filter(os.path.exists, APPLICATIONS)
    yield from map(str, playwrights_own())


def playwrights_own() -> Iterator[Path]:
    """Yield the Chromium that playwright has installed, found without starting playwright."""
    spec = find_spec("playwright")
    if not (spec and spec.origin):
        return
    listed = Path(spec.origin).parent / "driver" / "package" / "browsers.json"
    browsers = json.loads(listed.read_text(encoding="utf-8"))["browsers"]
    (revision,) = (one["revision"] for one in browsers if one["name"] == "chromium")
    for pattern in INSTALLED:
        yield from sorted(installed().glob(f"chromium-{revision}/{pattern}"))


def installed() -> Path:
    """Return the folder in which playwright keeps the browsers that it installs."""
    caches = Path("Library/Caches") if sys.platform == "darwin" else Path(".cache")
    there = Path.home() / caches / "ms-playwright"
    return Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or there)


def starts(path: str) -> bool:
    """Return whether a browser runs here: a stub, or one without its libraries, does not."""
    return quietly(path, "--version")


def install() -> None:
    """Install a browser: Debian's when this is root on Debian, else playwright's own."""
    print("Installing a browser for the tests", flush=True)
    if os.geteuid() == 0 and shutil.which("apt-get"):
        os.environ["DEBIAN_FRONTEND"] = "noninteractive"
        quietly("apt-get", "update")
        command = ("apt-get", "install", "--yes", "--no-install-recommends")
        if any(quietly(*command, package) and find() for package in PACKAGES):
            return
    quietly(sys.executable, "-m", "playwright", "install", "chromium")


def quietly(*command: str) -> bool:
    """Run a command, show nothing of it, and return whether it succeeded."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return done.returncode == 0


def is_ci() -> bool:
    """Return whether a missing browser is a failure here."""
    return os.environ.get("CI", "").lower() == "true"


def main() -> int:
    """Find or install a browser; return 1 where there is none and there has to be one."""
    if not find():
        install()
    path = find()
    print(f"Browser: {path}" if path else f"The browser tests cannot run: {MISSING}.", flush=True)
    return 1 if path is None and is_ci() else 0


if __name__ == "__main__":
    sys.exit(main())
