"""The site as readers get it: built strictly and served on a loopback port."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from scripts import ROOT
from scripts.book import pages
from scripts.site.host import serve_folder
from tests.linked_environment import linked_environment


@dataclass(frozen=True)
class Site:
    """A built site: its folder and its address."""

    folder: Path
    url: str


def paths() -> list[str]:
    """Return the path of every page of the site, found by its source."""
    return [address(page) for page in pages.paths()]


def address(page: str) -> str:
    """Return the path in the site of a page, from its path under docs/."""
    source = Path(page).with_suffix("")
    folder = source.parent if source.name == "index" else source
    return f"{folder}/" if folder.name else ""


@contextmanager
def served(folder: Path, *, under: str = "/") -> Iterator[str]:
    """Serve a folder while the block runs, at the root or under a path, and give its address.

    The folder may still be empty: the site is built for the address that it is served at.
    """
    with serve_folder(folder, under=under) as host:
        yield host.url


def build(folder: Path, url: str) -> None:
    """Build the site into a folder, for an address; a warning is a failure.

    It is built as readers build it, with the extra `docs` alone.
    """
    with TemporaryDirectory() as environment:
        python = linked_environment(Path(environment), "posenc[docs]")
        _run(python, "-m", "scripts.site.build", "--site-dir", str(folder), url=url)


def _run(*command: str | Path, url: str) -> None:
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | {"SITE_URL": url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command} failed:\n{done.stdout}{done.stderr}"
