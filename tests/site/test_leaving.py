"""The site can move: to any folder, any sub-folder of a host, GitHub Pages, another builder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
import yaml
from PIL import Image
from playwright.sync_api import Page, Request, expect
from selectolax.lexbor import LexborHTMLParser

from scripts import ROOT
from scripts.site.minify import minify
from tests.site.served import Site, paths, served
from tests.site.visits import requested

UNDER = "/some/book/"
HOOKS = ("workbench", "search_index")
CHAPTER = "chapters/by-hand/"


class PageMetadata:
    """The metadata of a page, and every address in it."""

    def __init__(self, page: str) -> None:
        tree = LexborHTMLParser(page)
        told = [tag.attrs for tag in tree.css("meta[property], meta[name]")]
        self.metadata = {
            one.sget("property") or one.sget("name"): one.sget("content") for one in told
        }
        self.metadata["canonical"] = tree.css("link[rel~=canonical]")[0].attrs.sget("href")
        found = [tag.attrs for tag in tree.css("[href]:not([rel~=canonical]), [src]")]
        self.addresses = [one.sget("href") or one.sget("src") for one in found]


@cache
def page_metadata(page: Path) -> PageMetadata:
    return PageMetadata(page.read_text(encoding="utf-8"))


# Metadata


def test_page_has_canonical_address_and_preview_card(site: Site) -> None:
    for path in paths():
        said = page_metadata(site.folder / path / "index.html").metadata
        assert said["canonical"] == said["og:url"] == site.url + path
        assert said["og:description"] == said["description"], path
        assert said["og:title"], path
        assert said["og:type"] == ("article" if path else "website"), path
        assert said["twitter:card"] == "summary_large_image", path
        picture = site.folder / said["og:image"].removeprefix(site.url)
        size = (said["og:image:width"], said["og:image:height"])
        with Image.open(picture) as drawn:
            assert size == tuple(map(str, drawn.size)), path


def test_titles_and_descriptions_are_unique(site: Site) -> None:
    said = [page_metadata(site.folder / path / "index.html").metadata for path in paths()]
    for what in ("og:title", "og:description"):
        found = [one[what] for one in said]
        assert len(set(found)) == len(found), what


def test_sitemap_lists_every_page_at_the_site_url(site: Site) -> None:
    tree = ElementTree.parse(site.folder / "sitemap.xml")
    found = [place.text for place in tree.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")]
    assert sorted(map(str, found)) == sorted(site.url + path for path in paths())


# A folder, and a sub-folder


def test_links_between_pages_are_relative_and_lead_to_files(site: Site) -> None:
    for path in paths():
        page = site.folder / path / "index.html"
        for address in set(page_metadata(page).addresses):
            parts = urlsplit(address)
            said = f"{path or 'home'}: {address}"
            assert not address.startswith("/"), f"{said} is another place in a sub-folder"
            if not parts.scheme and parts.path:
                place = (page.parent / parts.path).resolve()
                assert (place / "index.html" if place.is_dir() else place).is_file(), said


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Build a site of two pages for a sub-folder, and serve it there."""
    place = tmp_path_factory.mktemp("small")
    docs = place / "docs"
    without = shutil.ignore_patterns("python")
    shutil.copytree(ROOT / "docs" / "assets", docs / "assets", ignore=without)
    (docs / "chapters").mkdir()
    for name, words in {"index.md": "Home", f"{CHAPTER[:-1]}.md": "By hand"}.items():
        (docs / name).write_text(f"# {words}\n\nA pendulum.\n", encoding="utf-8")
    config = {
        "INHERIT": str(ROOT / "mkdocs.yml"),
        "docs_dir": str(docs),
        # Scripts import the tables of the workbench.
        "hooks": [str(ROOT / "scripts" / "site" / f"{name}.py") for name in HOOKS],
        "nav": [{"Home": "index.md"}, {"By hand": f"{CHAPTER[:-1]}.md"}],
        "plugins": [],
        "theme": {"custom_dir": str(ROOT / "scripts" / "site" / "theme")},
        "watch": [],
    }
    (place / "mkdocs.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    folder = place / "site"
    folder.mkdir()
    with served(folder, under=UNDER) as url:
        command = ["mkdocs", "build", "-q", "-f", str(place / "mkdocs.yml"), "-d", str(folder)]
        environment = os.environ | {"SITE_URL": url, "PYTHONPATH": str(ROOT)}
        subprocess.run([sys.executable, "-m", *command], env=environment, cwd=ROOT, check=True)
        minify(folder)
        yield Site(folder, url)


def test_links_stay_in_the_sub_folder(small: Site, page: Page) -> None:
    urls = requested(page)
    page.goto(small.url)
    page.locator(".tabs").get_by_role("link", name="By hand").click()
    expect(page).to_have_url(small.url + CHAPTER)
    expect(page.locator("h1")).to_contain_text("By hand")
    assert [url for url in urls if not url.startswith((small.url, "data:", "blob:"))] == []


def test_search_works_in_a_sub_folder(small: Site, page: Page) -> None:
    page.goto(small.url + CHAPTER)
    page.locator(".search-field").press_sequentially("pendulum")
    expect(page.locator(".search-found a")).to_have_count(2, timeout=30_000)


def test_wrong_address_in_a_sub_folder_gets_the_404_page(small: Site, page: Page) -> None:
    answer = page.goto(f"{small.url}no/such/page/")
    assert answer is not None and answer.status == 404
    expect(page).to_have_title(re.compile("^Page not found - "))
    expect(page.locator("h1")).to_have_text("Page not found")
    background = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(background) == "rgb(252, 252, 250)"  # styled
    page.locator("article").get_by_role("link", name="contents").click()
    expect(page).to_have_url(small.url)


def test_a_site_built_for_one_address_works_at_another(site: Site, small: Site, page: Page) -> None:
    """The whole book navigates and fetches its index; the small site also opens a result."""
    built_for = (site.url, small.url)
    faults: list[str] = []

    def note(request: Request) -> None:
        if request.url.startswith(built_for):
            faults.append(request.url)

    page.on("request", note)
    page.on("response", lambda one: faults.append(one.url) if one.status >= 400 else None)
    with served(site.folder, under=UNDER) as url:
        page.goto(url)
        page.locator("article").get_by_role("link", name="By hand", exact=True).first.click()
        expect(page).to_have_url(url + CHAPTER)
        with page.expect_response(f"{url}search/index.json"):
            page.locator(".search-field").focus()
    with served(small.folder) as url:
        page.goto(url + CHAPTER)
        page.locator(".search-field").press_sequentially("pendulum")
        page.locator(".search-found a", has_text="Home").click()
        expect(page).to_have_url(url)
    assert faults == []


# Search


def test_the_search_index_is_fetched_only_when_needed(site: Site, page: Page) -> None:
    urls = requested(page)
    page.goto(site.url, wait_until="networkidle")
    assert [url for url in urls if "search" in url] == []
    with page.expect_request(f"{site.url}search/index.json"):
        page.locator(".search-field").focus()


# GitHub Pages


def test_pages_workflow_makes_the_downloads_and_the_site() -> None:
    text = (ROOT / ".github" / "workflows" / "pages.yml").read_text(encoding="utf-8")
    steps = [step for job in yaml.safe_load(text)["jobs"].values() for step in job["steps"]]
    built, pushed = (step for step in steps if "run" in step)
    assert built["run"] == "make pdf && make site"
    assert built["env"]["SITE_URL"] == "${{ steps.pages.outputs.base_url }}/"
    # The branch that Colab reads is the one that gets the notebooks.
    assert built["env"]["COLAB_URL"].endswith("${{ github.repository }}/blob/notebooks/")
    assert "--initial-branch notebooks\ngit add ./*.ipynb\n" in pushed["run"]
    assert [step["with"]["path"] for step in steps if "upload" in step.get("uses", "")] == ["site"]
