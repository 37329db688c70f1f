"""Make the book to take along: one PDF and one EPUB, in build/paper/.

python -m scripts.site.paper                build the site, then both
python -m scripts.site.paper --site DIR     use a site that is already built
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.config import load_config

from scripts import ROOT
from scripts.book.chapters import chapters
from scripts.setup import browser
from scripts.site.built_chapter import address
from scripts.site.downloads import AUTHOR, EPUB, FOLDER, PDF
from scripts.site.host import serve_folder
from scripts.site.markdown_copies import every_part, public_address
from scripts.site.paper import check, epub, pdf
from scripts.site.paper.epub import Part

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HERE = Path(__file__).parent


def main() -> None:
    """Make both, and say where they are."""
    parser = argparse.ArgumentParser(prog="python -m scripts.site.paper", description=__doc__)
    parser.add_argument("--site", type=Path, help="use this built site instead of building one")
    site = parser.parse_args().site
    if site and not (site / "index.html").is_file():
        parser.error(f"--site must be a built site; {site} has no index.html")
    if browser.find() is None:
        sys.exit(browser.MISSING)
    with tempfile.TemporaryDirectory() as folder:
        if site is None:
            site = Path(folder)
            command = [sys.executable, "-m", "scripts.site.build", "--site-dir", str(site)]
            subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        problems = make(site, parts(), FOLDER)
    for name in (PDF, EPUB):
        file = FOLDER / name
        print(f"{file.relative_to(ROOT)}  {file.stat().st_size / 1e6:.1f} MB")
    if problems:
        sys.exit("\n".join(["Both were made, but have errors:", *problems]))


def parts() -> list[Part]:
    """Return the parts of the book in the order of the navigation."""
    return [
        (title, [(page.copy.removesuffix("index.md"), page.title) for page in pages])
        for title, pages in every_part(_config())
    ]


def later_pages() -> list[str]:
    """Return the paths in the site of the pages that continue a chapter."""
    return [address(page) for chapter in chapters() for page in chapter.pages[1:]]


def make(site: Path, parts: list[Part], folder: Path, within: Browser | None = None) -> list[str]:
    """Make the PDF and the EPUB of parts of a built site, and return what is wrong with them."""
    config = _config()
    address = config["site_url"]
    published = public_address(address)
    about = epub.Book(config["site_name"], AUTHOR, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
    folder.mkdir(parents=True, exist_ok=True)
    with opened(site, within) as page:
        later = later_pages()
        read, pictures = epub.read_chapters(page, parts, later, published)
        drawn = {name: (site / path).read_bytes() for name, path in pictures.items()}
        epub.write(folder / EPUB, about, read, drawn)
        listed = [path for _, pages in parts for path, _ in pages]
        titles = pdf.gather(page, listed, later, published)
        pdf.write(page, folder / PDF, title=about.title, author=about.author)
    return [*check.pdf_problems(folder / PDF, titles), *check.epub_problems(folder / EPUB)]


def _config() -> Any:
    return load_config(str(ROOT / "mkdocs.yml"), hooks=[], plugins=[])


@contextmanager
def opened(site: Path, within: Browser | None = None) -> Iterator[Page]:
    """Open the first page of a site, as it is before any script runs."""
    own = nullcontext(within) if within else browser.launched()
    with (
        serve_folder(site) as host,
        own as chromium,
        chromium.new_page(color_scheme="light", bypass_csp=True) as page,
    ):
        page.route("**/*.js", lambda route: route.abort())
        page.goto(host.url)
        page.add_script_tag(path=HERE / "articles.js")
        yield page


if __name__ == "__main__":
    main()
