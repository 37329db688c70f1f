"""Offers the book as a PDF and an EPUB, if `make pdf` has made them; mkdocs calls this.

Where a page says `<!-- downloads -->`, a sentence links them; where a list says
`<!-- downloads: items -->`, it has an item for each. Without them the lines are left out, so no
site links a file that it does not have.
"""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from scripts import ROOT

FOLDER = ROOT / "build" / "paper"
PDF, EPUB = "positional-encoding.pdf", "positional-encoding.epub"
AUTHOR = "The posenc authors"
MARK = "<!-- downloads -->"
ITEMS = "<!-- downloads: items -->\n"
LINE = "Take the whole book along: {}."


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the files that have been made to the site."""
    for file in existing_files():
        files.append(File.generated(config, file.name, abs_src_path=str(file)))
    return files


def on_page_markdown(markdown: str, *, page: Page, **about: object) -> str:
    """Return a page with links to the files where it asks for them."""
    up = "../" * page.file.src_uri.count("/")
    files = existing_files()
    return markdown.replace(MARK, offer(files, up)).replace(ITEMS, items(files, up))


def existing_files() -> list[Path]:
    """Return the files of the book that exist."""
    return [FOLDER / name for name in (PDF, EPUB) if (FOLDER / name).is_file()]


def offer(files: list[Path], up: str = "") -> str:
    """Return the sentence that links these files, with their sizes; nothing without files."""
    links = [f"{link(file, up)} ({megabytes(file)})" for file in files]
    return LINE.format(" or ".join(links)) if links else ""


def items(files: list[Path], up: str = "") -> str:
    """Return a list item for each of these files, with its size."""
    return "".join(f"- {link(file, up)} *the book, {megabytes(file)}*\n" for file in files)


def link(file: Path, up: str) -> str:
    """Return a link to a file at the top of the site, with its kind as text."""
    return f"[{file.suffix[1:].upper()}]({up}{file.name})"


def megabytes(file: Path) -> str:
    """Return the size of a file in words."""
    return f"{file.stat().st_size / 1e6:.1f} MB"
