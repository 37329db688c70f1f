"""A built chapter of several pages reads as one page, from which others can be cut."""

from __future__ import annotations

from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser

from scripts.book.chapters import chapter_of
from scripts.site.built_chapter import address, built_chapter, chapter_at, section
from scripts.site.paper.epub import Chapter, navigation
from tests.site.served import Site

HOME = "chapters/by-hand/"
PAGE = """<html><article><h1 id="a">A</h1><p>Text, <a href="#a">here</a>, <a href="../">first</a>,
<a href="../../other/#b">other</a>, <a href="https://example.org/">away</a>.</p>
<img src="../../../figures/x.svg"></article></html>"""


def test_addresses_of_a_later_page_lead_where_they_led() -> None:
    made = section(PAGE, f"{HOME}rope/", HOME)
    tree = LexborHTMLParser(f"<article>{made}</article>")
    led = [link.attrs.sget("href") for link in tree.css("a")]
    assert [urljoin(f"/{HOME}", target) for target in led] == [
        f"/{HOME}rope/#a",
        f"/{HOME}",
        "/chapters/other/#b",
        "https://example.org/",
    ]
    assert urljoin(f"/{HOME}", tree.css("img")[0].attrs.sget("src")) == "/figures/x.svg"
    heading = tree.css("h2")[0]
    assert (heading.id, heading.attrs.sget("data-page")) == ("a", "rope/")


def test_the_whole_chapter_has_what_all_its_pages_say(site: Site) -> None:
    chapter = chapter_of(f"{HOME}index.md")
    assert chapter_at(HOME) == chapter
    whole = LexborHTMLParser(built_chapter(site.folder, HOME))
    assert len(whole.css("article")) == len(whole.css("article h1")) == 1
    for page in chapter.pages:
        html = (site.folder / address(page) / "index.html").read_text("utf-8")
        captions = [one.text() for one in LexborHTMLParser(html).css("figcaption")]
        assert set(captions) <= {one.text() for one in whole.css("figcaption")}


def test_a_chapter_of_one_page_is_that_page(site: Site) -> None:
    html = (site.folder / "chapters/formula-sheet/index.html").read_text("utf-8")
    assert built_chapter(site.folder, "chapters/formula-sheet/") == html


def test_an_e_book_lists_later_pages_below_their_chapter() -> None:
    one, two = Chapter("one", "One", ""), Chapter("one.two", "Two", "", continues=True)
    made = navigation([("Part", [one, two, Chapter("other", "Other", "")])])
    assert (
        '<li><a href="one.xhtml">One</a><ol><li><a href="one.two.xhtml">Two</a></li></ol></li>'
        in (made)
    )
    assert '</li>\n<li><a href="other.xhtml">Other</a></li>' in made
