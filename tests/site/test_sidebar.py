"""The doors of the site: its tabs, its sidebar, and the links below every page."""

from __future__ import annotations

from typing import Any

import pytest
from mkdocs.config import load_config
from selectolax.lexbor import LexborHTMLParser, LexborNode

from scripts import ROOT
from scripts.book.chapters import Chapter, chapters
from scripts.site.sidebar import FIRST
from tests.site.served import Site, address

CONFIG = load_config(str(ROOT / "mkdocs.yml"), hooks=[], plugins=[])
PARTS: dict[str, Any] = {title: below for part in CONFIG["nav"] for title, below in part.items()}
FOOT = CONFIG["extra"]["foot"]
SEVERAL = [chapter for chapter in chapters() if len(chapter.pages) > 1]
OUTSIDE = {"reference/names.md": "Reference", "trust/formal-statements.md": FOOT}


def built(site: Site, page: str) -> LexborHTMLParser:
    """Return a built page."""
    return LexborHTMLParser((site.folder / address(page) / "index.html").read_text("utf-8"))


def words(parts: list[LexborNode]) -> list[str]:
    """Return the words of some elements."""
    return [" ".join(part.text().split()) for part in parts]


def shown(page: LexborHTMLParser) -> str:
    """Return the part of the book that the sidebar of a wide page shows."""
    (part,) = words(page.css(".md-nav--primary > ul > .md-nav__item--active > label"))
    return part


def test_the_tabs_are_the_parts_without_the_one_below_every_page(site: Site) -> None:
    found = words(built(site, "index.md").css(".tabs a"))
    assert found == [part for part in PARTS if part != FOOT]
    assert FOOT in PARTS


@pytest.mark.parametrize("page", ["index.md", "museum/axes.md", *OUTSIDE])
def test_every_page_links_what_the_book_rests_on(page: str, site: Site) -> None:
    titles = [title for entry in PARTS[FOOT] for title in entry]
    assert words(built(site, page).css(".md-copyright nav a")) == titles


@pytest.mark.parametrize("chapter", SEVERAL, ids=lambda chapter: chapter.name)
def test_the_first_page_of_a_chapter_does_not_repeat_its_name(chapter: Chapter, site: Site) -> None:
    """Neither on the page itself nor on the next; links to it below a page have its title."""
    first, second = (built(site, page) for page in chapter.pages[:2])
    below = ".md-nav--primary .md-nav__item--active .md-nav__item--active > nav > ul > li > a"
    assert words(first.css(below))[0] == words(second.css(below))[0] == FIRST
    (previous,) = second.css(".md-footer__link--prev .md-ellipsis")
    assert chapter.title.endswith(words([previous])[0])


@pytest.mark.parametrize(("page", "part"), OUTSIDE.items())
def test_a_page_outside_of_the_navigation_has_the_sidebar_of_its_folder(
    page: str, part: str, site: Site
) -> None:
    found = built(site, page)
    assert shown(found) == part
    assert found.css(".md-footer__link") == []
    assert not found.css(f".md-nav--primary [href='{page}']")


def test_the_pages_outside_of_the_navigation_are_those_that_others_link() -> None:
    left_out = CONFIG["not_in_nav"]
    assert all(left_out.match_file(page) for page in OUTSIDE)
    assert [c.first for c in chapters() if left_out.match_file(c.first)] == []


def test_next_does_not_lead_into_the_part_below_every_page(site: Site) -> None:
    last = [page for title, below in PARTS.items() if title != FOOT for page in pages_of(below)][-1]
    first = pages_of(PARTS[FOOT])[0]
    assert built(site, last).css(".md-footer__link--prev")
    assert not built(site, last).css(".md-footer__link--next")
    assert built(site, first).css(".md-footer__link--next")
    assert not built(site, first).css(".md-footer__link--prev")


def test_no_group_of_exercises_is_twice_in_the_sidebar(site: Site) -> None:
    part = ".md-nav--primary > ul > .md-nav__item--active > nav"
    links = words(built(site, "practise/index.md").css(f"{part} a"))
    assert len(links) == len(set(links))


def pages_of(below: Any) -> list[str]:
    """Return the paths of the pages of a part of the navigation, in order."""
    if isinstance(below, str):
        return [below]
    return [page for entry in below for inner in entry.values() for page in pages_of(inner)]
