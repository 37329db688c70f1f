"""The citation on the home page is that of CITATION.cff, and paper says where a page is from."""

from __future__ import annotations

import re

import pytest
import yaml
from jinja2 import Environment, FileSystemLoader
from mkdocs.config.defaults import MkDocsConfig
from playwright.sync_api import Page, expect
from selectolax.lexbor import LexborHTMLParser

from scripts import ROOT
from scripts.book import pages
from scripts.site.cite import CITATION, bibtex, newest_release, on_config
from tests.site.served import Site

PARTIALS = ROOT / "scripts" / "site" / "theme" / "partials"
ADDRESS = "https://example.org/book/"


def test_the_citation_is_made_from_the_file() -> None:
    citation = yaml.safe_load(CITATION.read_text(encoding="utf-8"))
    entry = bibtex(citation, ADDRESS)
    assert f"title = {{{citation['title']}}}" in entry
    assert f"Version {citation['version']}" in entry
    assert f"url = {{{ADDRESS}}}" in entry
    assert "url" not in bibtex(citation, "")


def test_the_citation_has_the_year_of_its_release_or_of_the_newest_before() -> None:
    citation = yaml.safe_load(CITATION.read_text(encoding="utf-8"))
    assert "year = {2031}" in bibtex(citation | {"date-released": "2031-12-01"}, "")
    citation.pop("date-released", None)
    assert newest_release() >= "2026-11-24"
    assert f"year = {{{newest_release()[:4]}}}" in bibtex(citation, "")


def test_a_site_on_this_machine_is_not_cited_by_its_address() -> None:
    said = []
    for address in (ADDRESS, "http://127.0.0.1:8000/", None):
        config = MkDocsConfig()
        config.load_dict({"site_url": address, "extra": {}})
        on_config(config)
        said.append(config.extra["address"])
    assert said == [ADDRESS, "", ""]


def test_home_has_the_citation_as_a_listing(site: Site) -> None:
    home = LexborHTMLParser((site.folder / "index.html").read_text(encoding="utf-8"))
    (listing,) = home.css(".language-bibtex code")
    citation = yaml.safe_load(CITATION.read_text(encoding="utf-8"))
    assert listing.text().strip() == bibtex(citation, "")


def test_the_reference_leads_to_the_citation() -> None:
    (section,) = re.findall(r"\{ #cite \}(.*?)^## ", pages.text("reference/index.md"), re.M | re.S)
    assert "(../index.md#cite)" in section


@pytest.mark.parametrize(
    ("address", "words"),
    [("", "From The book"), (ADDRESS, f"From The book, {ADDRESS}")],
    ids=["on this machine", "published"],
)
def test_paper_has_the_title_and_the_address_of_the_book(address: str, words: str) -> None:
    origin = Environment(loader=FileSystemLoader(PARTIALS), autoescape=True)
    config = {"site_name": "The book", "extra": {"address": address}}
    made = origin.get_template("origin.html").render(config=config)
    assert re.sub(r"<[^<>]+>", "", made).strip() == words


@pytest.mark.parametrize(
    "path",
    ["chapters/by-hand/clocks/", "chapters/formula-sheet/", "teach/slides/", "teach/quiz-sheet/"],
)
def test_only_paper_says_where_a_page_is_from_and_covers_nothing(path: str, page: Page) -> None:
    page.goto(path)
    origin = page.locator(".origin")
    expect(origin).to_be_hidden()
    page.set_viewport_size({"width": 665, "height": 1000})  # A4 within margins of 17 mm
    page.emulate_media(media="print")
    expect(origin).to_have_text("From Positional encoding, worked out")
    expect(origin).to_be_visible()
    there = origin.evaluate("""origin => {
        const {left, bottom} = origin.getBoundingClientRect();
        const range = document.createRange();
        const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        const found = [];
        while (walk.nextNode()) {
            range.selectNodeContents(walk.currentNode);
            const isHit = box => box.top < bottom && box.bottom > 1 && box.right > left;
            if ([...range.getClientRects()].some(box => box.width > 1 && isHit(box)))
                found.push(walk.currentNode.data);
        }
        return found;
    }""")
    assert there == ["From ", "Positional encoding, worked out"]
