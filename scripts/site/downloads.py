"""Offers the book as a PDF and an EPUB, if `make pdf` has made them; mkdocs calls this.

Where a page says `<!-- downloads -->`, it links them. Without them the line is left out.
"""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from scripts import ROOT

FOLDER = ROOT / "build" / "paper"
PDF, EPUB = "positional-encoding.pdf", "positional-encoding.epub"
AUTHOR = "The posenc authors"
MARK = "<!-- downloads -->"
LINE = "Take the whole book along: {}."


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the files that have been made to the site."""
    for file in existing_files():
        files.append(File.generated(config, file.name, abs_src_path=str(file)))
    return files


def on_page_markdown(markdown: str, **about: object) -> str:
    """Return a page with links to the files where it asks for them."""
    return markdown.replace(MARK, offer(existing_files()))


def existing_files() -> list[Path]:
    """Return the files of the book that exist."""
    return [FOLDER / name for name in (PDF, EPUB) if (FOLDER / name).is_file()]


def offer(files: list[Path]) -> str:
    """Return the sentence that links these files, with their sizes; nothing without files."""
    links = [
        f"[{file.suffix[1:].upper()}]({file.name}) ({file.stat().st_size / 1e6:.1f} MB)"
        for file in files
    ]
    return LINE.format(" or ".join(links)) if links else ""
