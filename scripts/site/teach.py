"""The pages for teachers that are cut from chapters once these are built; mkdocs calls this.

    teach/slides/       the boards as slides, made by slides.py
    teach/quiz-sheet/   a quiz on paper, made by quiz_sheet.py

They are outside of the navigation and without the header of the book. A book without the chapter
that a page is cut from does not have the page.
"""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from scripts.site import quiz_sheet, slides
from scripts.site.built_chapter import built_chapter, chapter_at

PAGES = (slides, quiz_sheet)


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Tell mkdocs of the pages, so that others may link them; they are written at the end."""
    for made in PAGES:
        chapter = chapter_at(made.CHAPTER)
        if chapter and files.get_file_from_path(chapter.first):
            files.append(File.generated(config, f"{made.HERE}index.html", content=""))
    return files


def on_post_build(config: MkDocsConfig) -> None:
    """Write the pages."""
    site = Path(config.site_dir)
    for made in PAGES:
        if (site / made.CHAPTER / "index.html").is_file():
            page = made.page(built_chapter(site, made.CHAPTER))
            (site / made.HERE / "index.html").write_text(page, encoding="utf-8")
