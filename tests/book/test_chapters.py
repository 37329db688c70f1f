"""A chapter is a page, or the pages of a folder in the order of the navigation."""

from __future__ import annotations

import re

import pytest
from mkdocs.config import load_config

from scripts import ROOT
from scripts.book import pages
from scripts.book.chapters import Chapter, as_section, chapter_of, chapters, chapters_in, whole_text
from scripts.book.sessions import sessions

SEVERAL = [chapter for chapter in chapters() if len(chapter.pages) > 1]


def test_every_page_belongs_to_one_chapter_or_is_outside_of_the_navigation() -> None:
    config = load_config(str(ROOT / "mkdocs.yml"), hooks=[], plugins=[])
    outside = [page for page in pages.paths() if config["not_in_nav"].match_file(page)]
    found = [page for chapter in chapters() for page in chapter.pages]
    assert sorted([*found, *outside]) == pages.paths()


def test_a_navigation_is_read_with_its_folders() -> None:
    below = [{"A": "a.md"}, {"B": [{"One": "b/index.md"}, {"Two": "b/two.md"}]}]
    found = [*chapters_in([{"Home": "index.md"}, {"Part": below}])]
    assert [(one.title, one.pages, one.name) for one in found] == [
        ("Home", ("index.md",), ""),
        ("A", ("a.md",), "a"),
        ("B", ("b/index.md", "b/two.md"), "b"),
    ]


@pytest.mark.parametrize("chapter", SEVERAL, ids=lambda chapter: chapter.name)
def test_a_whole_chapter_has_one_title_and_all_sessions_of_its_pages(chapter: Chapter) -> None:
    text = whole_text(chapter)
    outside = re.sub(r"(?ms)^ *```.*?^ *```$", "", text)
    titles = re.findall(r"^##? (.*?)(?: \{.*)?$", outside, re.M)
    assert len(re.findall(r"^# ", outside, re.M)) == 1
    for page in chapter.pages:
        assert re.sub("’", "'", pages.title(page)) in [title.replace("’", "'") for title in titles]
    typed = [one.source for page in chapter.pages for one in sessions(pages.text(page))]
    assert [one.source for one in sessions(text)] == typed


def test_a_comment_of_a_listing_is_no_heading() -> None:
    text = "# A\n\n```pycon\n>>> 1\n# 2\n```\n\n## B\n"
    assert as_section(text) == "## A\n\n```pycon\n>>> 1\n# 2\n```\n\n### B\n"


def test_a_page_outside_of_the_navigation_is_a_chapter_of_its_own() -> None:
    assert chapter_of("chapters/by-hand/clocks.md").first == "chapters/by-hand/index.md"
    assert chapter_of("index.md").pages == ("index.md",)
    assert chapter_of("reference/names.md").pages == ("reference/names.md",)
