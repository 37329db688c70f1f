"""Makes the sidebar read well; mkdocs calls this.

Below the name of a chapter of several pages, its first page, which has the same name, is called
*Introduction*. A page outside of the navigation has the sidebar of the first page of its folder. A
heading that has the title of a page beside it is not listed twice. *Next* does not lead from the
parts of the book into the part that is linked below every page, nor *Previous* back.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

FIRST = "Introduction"
LONG_NAME = re.compile(r"\b(?=\w{25})\w+_\w+")


def on_nav(nav: Navigation, *, config: MkDocsConfig, files: Files) -> Navigation:
    """Name the first pages, and give the pages outside of the navigation a parent."""
    for page in nav.pages:
        chapter = page.parent
        if chapter and chapter.parent and chapter.children[0] is page:
            page.typeset = {"title": FIRST}  # type: ignore[attr-defined]  # the theme shows it
    by_place = sorted(nav.pages, key=lambda page: page.file.name == "index")
    parents = {folder(page): page.parent for page in by_place}
    for file in files.documentation_pages():
        if file.page and file.page not in nav.pages:
            file.page.parent = parents.get(folder(file.page))
    foot = next((part for part in nav.items if part.title == config.extra.get("foot")), None)
    first = foot.children[0] if foot and foot.children else None
    if isinstance(first, Page):  # in a book without the page, a link
        if first.previous_page:
            first.previous_page.next_page = None
        first.previous_page = None
    return nav


def on_page_content(html: str, *, page: Page, **about: object) -> None:
    """Leave out of the sidebar the headings that name pages beside this one; break long names."""
    beside = {other.title for other in (page.parent.children if page.parent else [])} - {page.title}
    for heading in page.toc:
        heading.children = [below for below in heading.children if below.title not in beside]
        for link in (heading, *heading.children):
            if (title := with_breaks(link.title)) != link.title:
                link.typeset = {"title": title}  # type: ignore[attr-defined]  # the theme shows it


def with_breaks(title: str) -> str:
    """Return a title in which a long name may wrap after its underscores.

    Examples:
        >>> with_breaks("original_max_position_embeddings and rope_theta")
        'original_<wbr>max_<wbr>position_<wbr>embeddings and rope_theta'
    """
    return LONG_NAME.sub(lambda name: name[0].replace("_", "_<wbr>"), title)


def folder(page: Page) -> PurePosixPath:
    """Return the folder of a page."""
    return PurePosixPath(page.file.src_uri).parent
