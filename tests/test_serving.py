"""What is served follows what is edited, whole: the page, its links to others, and the search."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from scripts.book import ROOT
from scripts.serve import free_port

Read = Callable[[str], str]

# What is edited or looked at; links to other pages warn.
KEPT = {
    "index.md",
    "reference/combine.md",
    "reference/frequencies.md",
    "reference/index.md",
    "reference/names.md",
}
# A page that nobody edits, in place of one that takes long to build.
OTHER = "# Build it\n\nFour positions.\n"


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of what a few pages of the site are made from."""
    copy = tmp_path_factory.mktemp("served") / "book"
    copy.mkdir()
    without = shutil.ignore_patterns("__pycache__", "*.gzip", "*.whl", "*.zip")
    for name in ("docs", "posenc", "scripts", "tests"):
        shutil.copytree(ROOT / name, copy / name, ignore=without)
    for page in (copy / "docs").rglob("*.md"):
        if str(page.relative_to(copy / "docs")) not in KEPT:
            page.unlink()
    (copy / "docs" / "chapters" / "build-it.md").write_text(OTHER, "utf-8")
    shutil.copy(ROOT / "mkdocs.yml", copy)
    (copy / "node_modules").symlink_to(ROOT / "node_modules")
    return copy


@pytest.fixture(scope="module")
def read(book: Path) -> Iterator[Read]:
    """Serve the copy until the tests end; return what reads from it."""
    port = free_port()
    command = [sys.executable, "-m", "scripts.serve", "--port", str(port)]
    server = subprocess.Popen(
        command, cwd=book, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
    )

    def get(path: str) -> str:
        try:
            with urlopen(f"http://127.0.0.1:{port}/{path}", timeout=60) as answer:
                return str(answer.read().decode())
        except URLError:
            return ""

    try:
        wait_for("Four positions", lambda: get("chapters/build-it/"))
        yield get
    finally:
        server.terminate()
        server.wait()


def wait_for(words: str, page: Callable[[], str]) -> str:
    """Return the page once it has these words."""
    end = time.monotonic() + 60
    while words not in (found := page()):
        assert time.monotonic() < end, f"{words!r} did not show"
        time.sleep(0.1)
    return found


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


PAGES = {"reference/names.md": "reference/names/", "reference/index.md": "reference/"}


@pytest.mark.parametrize("source", PAGES)
def test_an_edited_page_shows_with_its_links_and_the_search_keeps_the_others(
    source: str, book: Path, read: Read
) -> None:
    edit(book / "docs" / source, "\n# ", f"\n# Edited {len(source)}, ")
    page = wait_for(f"Edited {len(source)}, ", lambda: read(PAGES[source]))
    assert 'combine/#posenc.combine.add"' in page
    places = {entry["location"] for entry in json.loads(read("search/search_index.json"))["docs"]}
    assert {"reference/", "chapters/build-it/", "reference/combine/"} <= places


def test_an_edited_docstring_shows_on_the_pages_that_print_it(book: Path, read: Read) -> None:
    edit(
        book / "posenc" / "frequencies.py", "Return the frequency", "Return, edited, the frequency"
    )
    wait_for("Return, edited, the frequency", lambda: read("reference/frequencies/"))
    assert "Four positions" in read("chapters/build-it/")
