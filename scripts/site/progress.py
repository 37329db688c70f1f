"""Says how far a build is: `Building the book: 37 of 103 pages`; mkdocs calls this.

On a terminal one line counts; elsewhere, as in a log, each quarter of the pages has a line.
"""

from __future__ import annotations

import logging
import sys

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.nav import Navigation

log = logging.getLogger("mkdocs.hooks.progress")
_pages = {"all": 0, "built": 0}


def on_nav(nav: Navigation, *, config: MkDocsConfig, files: Files) -> Navigation:
    """Count the pages that this build converts."""
    pages = [page for page in files.documentation_pages() if page.is_modified()]
    _pages.update(all=len(pages), built=0)
    return nav


def on_page_content(html: str, **about: object) -> str:
    """Say how many pages have been converted."""
    _pages["built"] += 1
    say(_pages["built"], _pages["all"])
    return html


def say(built: int, pages: int) -> None:
    """Print how many pages are built, each time on a terminal and four times in a log."""
    words = f"Building the book: {built} of {pages} pages"
    if not log.isEnabledFor(logging.INFO):
        return
    if sys.stderr.isatty():
        print(f"\r{words}", end="\n" if built == pages else "", file=sys.stderr, flush=True)
    elif built * 4 // pages > (built - 1) * 4 // pages:
        log.info(words)
