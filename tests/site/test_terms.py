"""A marked term shows its two sentences on hover and focus, fits a phone, and adds little else."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from scripts import DOCS
from scripts.book.data import front_matter
from scripts.book.glossary import terms
from tests.site.served import Site, paths
from tests.site.visits import DESK, LAPTOP, PHONE, TABLET, TOO_WIDE, TOUCH, fresh_page, violations

PAGE = "beyond/which-extrapolates/"  # a short page with many terms
MARK = re.compile(r'<a [^<>]*class="?term"?[^<>]*>([^<]*)</a>')
CHAPTERS = sorted(path.stem for path in (DOCS / "chapters").glob("*.md"))  # of one page
# The sentences that a term shows, or an empty string, and whether they are as wide as what they
# stand in and no wider.
SHOWN = """term => {
    const {display, content, width, boxSizing} = getComputedStyle(term, "::after");
    if (display === "none" || content === "none") return ["", true];
    const box = getComputedStyle(term.closest("p, li, dd"));
    const inside = box.position === "relative" && boxSizing === "border-box" &&
        parseFloat(width) <= parseFloat(box.width);
    return [JSON.parse(content.split(" / ")[0]), inside];
}"""
NONE = ["", True]


def first(page: Page) -> Any:
    return page.locator("article a.term").first


@pytest.mark.parametrize("size", [PHONE, TABLET, LAPTOP, DESK], ids=lambda size: str(size["width"]))
def test_hover_shows_the_sentences_within_the_text(size: Any, page: Page) -> None:
    page.set_viewport_size(size)
    page.goto(PAGE)
    says = {term.says for term in terms()}
    shown = set()
    assert first(page).evaluate(SHOWN) == NONE
    for term in page.locator("article a.term").all():
        term.hover()
        sentences, fits = term.evaluate(SHOWN)
        shown.add(sentences)
        assert fits, sentences
        assert page.evaluate(TOO_WIDE) == []
    assert len(shown) > 10 and shown <= says


def test_the_pointer_can_move_from_a_term_to_its_sentences(page: Page) -> None:
    page.goto(PAGE)
    term = first(page)
    term.hover()
    box = term.bounding_box()
    assert box
    for step in range(0, 24, 2):
        page.mouse.move(box["x"] + 9, box["y"] + box["height"] - 8 + step)
        assert term.evaluate(SHOWN)[0], step


def test_focus_shows_the_sentences_and_escape_hides_them(page: Page) -> None:
    page.goto(PAGE)
    page.keyboard.press("Tab")
    first(page).focus()
    assert first(page).evaluate(SHOWN)[0]
    page.keyboard.press("Escape")
    assert first(page).evaluate(SHOWN) == NONE
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    expect(first(page)).to_be_focused()
    assert first(page).evaluate(SHOWN)[0]
    page.keyboard.press("Enter")
    page.wait_for_url("**/reference/glossary/#*")


def test_a_tap_on_a_phone_follows_the_link(
    browser: Browser, browser_context_args: dict[str, Any], site: Site
) -> None:
    with fresh_page(browser, browser_context_args | TOUCH) as page:
        page.goto(site.url + PAGE)
        name = first(page).get_attribute("href").partition("#")[2]
        first(page).tap()
        page.wait_for_url(f"**/reference/glossary/#{name}")
        expect(page.locator(f"dt#{name}")).to_be_in_viewport()


def test_the_sentences_show_without_scripts(page_without_scripts: Page) -> None:
    page = page_without_scripts
    page.goto(PAGE)
    first(page).hover()
    assert first(page).evaluate(SHOWN)[0]


def test_paper_has_neither_line_nor_sentences(page: Page) -> None:
    page.goto(PAGE)
    first(page).hover()
    page.emulate_media(media="print")
    assert first(page).evaluate(SHOWN) == NONE
    assert first(page).evaluate("term => getComputedStyle(term).textDecorationLine") == "none"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_while_the_sentences_show(scheme: Any, page: Page) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(PAGE)
    first(page).hover()
    assert violations(page) == []


@pytest.mark.parametrize("path", paths(), ids=lambda path: path or "home")
def test_marks_add_little_to_a_page(path: str, site: Site) -> None:
    """Two kilobytes at most, as sent."""
    html = (site.folder / path / "index.html").read_text("utf-8")
    added = len(gzip.compress(html.encode())) - len(gzip.compress(MARK.sub(r"\1", html).encode()))
    assert 0 <= added <= 2000


def test_the_search_finds_no_sentences_but_those_of_the_glossary(site: Site) -> None:
    says = next(term.says for term in terms() if term.name == "attention").split(". ")[0]
    files = [
        file.parent.relative_to(site.folder / "search").as_posix()
        for file in (site.folder / "search").rglob("*/*.json")
        if says in file.read_text("utf-8")
    ]
    assert set(files) == {"reference/glossary"}


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_head_of_a_chapter_links_the_sections_to_skip(name: str, site: Site) -> None:
    ways = front_matter((DOCS / "chapters" / f"{name}.md").read_text("utf-8")).get("skip", [])
    html = Path(site.folder, "chapters", name, "index.html").read_text("utf-8")
    [head] = re.findall(r'<p class="?chapter-terms"?>(.*?)</p>', html, re.S)
    named = [section for way in ways for section in way.get("skip", [way.get("begin")])]
    assert re.findall(r'href="?#([\w-]+)', head) == named
