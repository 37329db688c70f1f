"""The citation on the home page is that of CITATION.cff, with the address of the site."""

from __future__ import annotations

import yaml
from selectolax.lexbor import LexborHTMLParser

from scripts.site.cite import CITATION, bibtex
from tests.site.served import Site


def test_the_citation_is_made_from_the_file() -> None:
    citation = yaml.safe_load(CITATION.read_text(encoding="utf-8"))
    entry = bibtex(citation, "https://example.org/book/")
    assert f"title = {{{citation['title']}}}" in entry
    assert f"Version {citation['version']}" in entry
    assert "url = {https://example.org/book/}" in entry
    assert "year" not in entry
    assert "year = {2026}" in bibtex(citation | {"date-released": "2026-12-01"}, "")


def test_a_site_on_this_machine_is_not_cited_by_its_address() -> None:
    citation = yaml.safe_load(CITATION.read_text(encoding="utf-8"))
    assert "url" not in bibtex(citation, "http://127.0.0.1:8000/")


def test_home_has_the_citation_as_a_listing(site: Site) -> None:
    home = LexborHTMLParser((site.folder / "index.html").read_text(encoding="utf-8"))
    (listing,) = home.css(".language-bibtex code")
    citation = yaml.safe_load(CITATION.read_text(encoding="utf-8"))
    assert listing.text().strip() == bibtex(citation, site.url)
