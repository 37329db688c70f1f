"""Old addresses of pages that are split or gone lead to what they named, without scripts too."""

from __future__ import annotations

from pathlib import PurePosixPath
from urllib.parse import urldefrag, urljoin

import pytest
from playwright.sync_api import Page, expect
from selectolax.lexbor import LexborHTMLParser, LexborNode

from scripts.book import pages
from scripts.book.chapters import chapters
from scripts.site.moved_places import Place, folders, former_places, left, left_page, moved, places
from tests.site.served import Site, address

MOVED = moved()
LEFT = left()
FOLDERS = folders(pages.paths())


def tree(site: Site, path: str) -> LexborHTMLParser:
    """Return a built page."""
    return LexborHTMLParser((site.folder / address(path) / "index.html").read_text("utf-8"))


def with_id(page: LexborHTMLParser, anchor: str) -> LexborNode | None:
    """Return what an anchor names on a page."""
    return next((part for part in page.css("article [id]") if part.id == anchor), None)


def link_around(part: LexborNode | None) -> str:
    """Return where the link leads that an element is or stands in, or an empty string."""
    while part is not None and part.tag != "a":
        part = part.parent
    return "" if part is None else part.attrs.sget("href")


@pytest.mark.parametrize("first", MOVED)
def test_the_pages_are_those_of_the_folder_in_the_order_of_the_navigation(first: str) -> None:
    folder = PurePosixPath(first).parent
    inside = [path for path in MOVED[first] if PurePosixPath(path).parent == folder]
    order = [page for chapter in chapters() for page in chapter.pages]
    assert inside == [page for page in order if page in inside]  # a newer page has no old places


def test_an_anchor_is_listed_once() -> None:
    for first, found in MOVED.items():
        anchors = [anchor for listed in found.values() for anchor in listed]
        assert len(anchors) == len(set(anchors)) > 10, first


@pytest.mark.parametrize("first", MOVED)
def test_every_former_anchor_leads_to_its_page_without_scripts(first: str, site: Site) -> None:
    """Tables, figures and sections are linked themselves, paragraphs by their section."""
    old, home = tree(site, first), f"/{address(first)}"
    new = {path: tree(site, path) for path in MOVED[first]}
    for _, path, anchor in (found for found in former_places() if found[0] == first):
        assert with_id(new[path], anchor) is not None, f"{path}#{anchor}"
        if path != first:
            target, place = urldefrag(urljoin(home, link_around(with_id(old, anchor))))
            assert target == f"/{address(path)}", anchor
            assert not place or with_id(new[path], place) is not None, anchor


@pytest.mark.parametrize("first", MOVED)
def test_a_link_of_the_list_has_words(first: str, site: Site) -> None:
    links = tree(site, first).css(".places a")
    assert links
    assert all(link.text().strip() for link in links)


def test_a_paragraph_is_listed_with_its_section() -> None:
    text = "---\ntitle: A\n---\n# A { #a }\n\nOne.\n{ #one }\n\n## B { #b }\n\nTwo.\n{ #two }\n"
    found = places(text, ["one", "b", "two"])
    assert found == [Place("A", "", ["one"]), Place("B", "b", ["two"])]
    assert places(text, ["a"])[0].anchor == "a"


@pytest.mark.parametrize("first", MOVED)
def test_with_scripts_an_old_address_leads_on(first: str, page: Page) -> None:
    for path, anchors in MOVED[first].items():
        page.goto(f"{address(first)}#{anchors[-1]}")
        expect(page).to_have_url(f"{site_url(page)}{address(path)}#{anchors[-1]}")


@pytest.mark.parametrize("old", LEFT)
def test_every_anchor_of_a_page_that_is_gone_leads_on_without_scripts(old: str, site: Site) -> None:
    path, anchors = LEFT[old]
    here, there = tree(site, old), tree(site, path)
    for before, after in anchors.items():
        assert with_id(there, after) is not None, f"{path}#{after}"
        part = here.css_first("main a") if not before else here.css_first(f"main [id='{before}']")
        assert urljoin(f"/{address(old)}", link_around(part)) == f"/{address(path)}#{after}", before


@pytest.mark.parametrize("old", LEFT)
def test_with_scripts_the_address_of_a_page_that_is_gone_leads_on(old: str, page: Page) -> None:
    path, anchors = LEFT[old]
    for before, after in [*anchors.items(), ("no-such-place", anchors[""])]:
        page.goto(f"{address(old)}#{before}".removesuffix("#"))
        expect(page).to_have_url(f"{site_url(page)}{address(path)}#{after}")


def test_every_folder_above_a_page_has_a_page(site: Site) -> None:
    above = {str(folder) for path in pages.paths() for folder in PurePosixPath(path).parents[:-1]}
    assert above > set(FOLDERS) > {"how-to", "vectors/libraries"}
    assert all((site.folder / folder / "index.html").is_file() for folder in above)


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_leads_to_its_first_page_without_scripts(
    folder: str, page_without_scripts: Page
) -> None:
    page_without_scripts.goto(f"{folder}/")
    expect(page_without_scripts).to_have_url(
        f"{site_url(page_without_scripts)}{address(FOLDERS[folder])}"
    )


def test_pages_that_are_gone_are_in_no_list(site: Site) -> None:
    listed = (site.folder / "sitemap.xml").read_text("utf-8")
    assert LEFT
    assert not any(f"/{folder}/<" in listed for folder in FOLDERS)
    for old in LEFT:
        assert not pages.exists(old)
        assert f"/{address(old)}<" not in listed


def test_a_page_that_is_gone_needs_a_place_for_its_whole() -> None:
    with pytest.raises(KeyError):
        left_page("a/old.md", "reference/models.md", {"there": "table"}, "")


def site_url(page: Page) -> str:
    """Return the address of the site that a page is from."""
    return urljoin(page.url, "/")


def test_a_view_of_an_explorer_leads_to_the_page_that_has_it(page: Page) -> None:
    view = "?rope.width=2&rope.base=10000&rope.query=2&rope.relative=-1"
    page.goto(f"chapters/by-hand/{view}")
    expect(page).to_have_url(f"{site_url(page)}chapters/by-hand/rope/{view}")


def test_a_page_that_was_not_split_has_no_list(site: Site) -> None:
    assert not tree(site, "index.md").css(".places")
    assert pages.exists("index.md")
