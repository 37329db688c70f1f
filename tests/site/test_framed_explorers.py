"""Each explorer in a frame of another site: small, whole, usable, and no other page."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Frame, Page, expect

from scripts.site import framed_explorers
from scripts.site.host import Host, serve_folder
from tests.site.explorers import EXPLORERS
from tests.site.served import Site
from tests.site.visits import PHONE, SETTLE, fresh_page, violations

WIDTHS = (360, 700)
LINE = re.compile(r"<iframe[^>]*></iframe>")
NAMED = re.compile(r'(\w+)="([^"]*)"')
OVERFLOW = """() => [innerWidth, document.documentElement.scrollHeight - innerHeight,
    document.documentElement.scrollWidth - innerWidth]"""
LOADED = """() => performance.getEntries().filter(entry => "decodedBodySize" in entry)
    .map(({name, decodedBodySize}) => [name, decodedBodySize])"""
PAPER = "getComputedStyle(document.documentElement).backgroundColor"


@pytest.fixture(scope="module")
def other_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """Serve a folder at another origin, for pages with frames."""
    folder = tmp_path_factory.mktemp("other")
    with serve_folder(folder) as host:
        yield folder, host.url


@pytest.fixture(scope="module")
def tab(browser: Browser, browser_context_args: dict[str, Any]) -> Iterator[Page]:
    with fresh_page(browser, browser_context_args | {"viewport": PHONE}) as page:
        yield page


@pytest.fixture(scope="module")
def all_console(tab: Page) -> list[str]:
    """Return all that the console of the shared page says, and every error in it."""
    console: list[str] = []
    tab.on("console", lambda message: console.append(message.text))
    tab.on("pageerror", lambda error: console.append(str(error)))
    return console


@pytest.fixture
def console(all_console: list[str]) -> list[str]:
    """Return what the console says during one test."""
    all_console.clear()
    return all_console


def line(site: Site, name: str) -> str:
    """Return the line to copy that an explorer's page shows."""
    page = (site.folder / "explore" / name / "index.html").read_text("utf-8")
    (found,) = LINE.findall(html.unescape(re.sub(r"<[^<>]+>", "", page)))
    return str(found)


def show(tab: Page, other_host: tuple[Path, str], name: str, lines: str) -> None:
    """Open a page of the other origin, by a name of its own, that holds these lines."""
    folder, url = other_host
    (folder / f"{name}.html").write_text(
        '<!doctype html><html lang="en"><link rel="icon" href="data:,">'
        f'<title>Notes</title><body style="margin: 0">{lines}</body></html>',
        "utf-8",
    )
    tab.goto(f"{url}{name}.html")


def inside(tab: Page) -> Frame:
    """Return the frame of the open page."""
    (frame,) = tab.main_frame.child_frames
    return frame


@pytest.mark.parametrize("name", EXPLORERS)
def test_explorer_stands_whole_in_a_page_of_another_site(
    name: str, site: Site, book: Host, other_host: tuple[Path, str], tab: Page, console: list[str]
) -> None:
    """The line is the one on the explorer's page, here for the host that sends the policy."""
    copied = line(site, name).replace(site.url, book.url)
    assert copied.startswith(f'<iframe src="{book.url}embed/{name}/"')
    show(tab, other_host, name, copied)
    frame = inside(tab)
    expect(frame.locator("[role=status]")).not_to_be_empty()
    assert frame.title() == dict(NAMED.findall(copied))["title"]
    for width in WIDTHS:
        tab.set_viewport_size(PHONE | {"width": width})
        frame.evaluate(SETTLE)
        assert frame.evaluate(OVERFLOW) == [width, 0, 0]
    field = frame.get_by_role("spinbutton").first
    before = field.input_value()
    slider = frame.get_by_role("slider").first
    slider.focus()
    slider.press("ArrowLeft")
    expect(field).not_to_have_value(before)
    assert console == []


@pytest.mark.parametrize("name", EXPLORERS)
def test_explorer_and_all_it_loads_are_small(name: str, book: Host, tab: Page) -> None:
    tab.goto(f"{book.url}embed/{name}/", wait_until="networkidle")
    loaded: dict[str, int] = dict(tab.evaluate(LOADED))
    assert all(url.startswith(book.url) for url in loaded)
    assert f"{book.url}assets/js/explore/base.js" in loaded
    assert 20_000 < sum(loaded.values()) <= framed_explorers.LARGEST, loaded


def test_state_in_the_address_is_shown(book: Host, tab: Page) -> None:
    tab.goto(f"{book.url}embed/rope/?rope.query=40")
    status = tab.get_by_role("status")
    expect(status).to_contain_text("Query, solid, at 40")
    slider = tab.get_by_role("slider", name="key − query")
    slider.focus()
    slider.press("ArrowRight")
    expect(tab).to_have_url(f"{book.url}embed/rope/?rope.query=40&rope.relative=3")


def test_other_pages_of_the_book_cannot_be_framed(
    book: Host, other_host: tuple[Path, str], tab: Page
) -> None:
    show(tab, other_host, "refused", f'<iframe src="{book.url}explore/rope/"></iframe>')
    assert inside(tab).url.startswith("chrome-error:")


@pytest.mark.parametrize(("scheme", "paper"), [("light", "252, 252, 250"), ("dark", "20, 24, 26")])
@pytest.mark.parametrize("name", ["clocks", "t5"])
def test_axe_finds_nothing_in_either_scheme(
    name: str, scheme: Any, paper: str, book: Host, tab: Page
) -> None:
    tab.emulate_media(color_scheme=scheme)
    tab.goto(f"{book.url}embed/{name}/")
    expect(tab.get_by_role("status")).not_to_be_empty()
    assert paper in tab.evaluate(PAPER)
    assert violations(tab) == []


def test_without_scripts_the_figure_and_the_credit_are_shown(
    book: Host, page_without_scripts: Page
) -> None:
    page_without_scripts.goto(f"{book.url}embed/rope/")
    expect(page_without_scripts.locator("picture img:visible")).to_have_count(1)
    credit = page_without_scripts.get_by_role("link", name="Positional encoding, worked out")
    assert credit.evaluate("link => [link.href, link.target, link.rel]") == [
        f"{book.url}explore/rope/",
        "_blank",
        "noopener",
    ]


def test_embedded_pages_are_in_no_list_and_name_the_page_of_the_book(site: Site) -> None:
    pages = {path.parent.name: path.read_text("utf-8") for path in site.folder.glob("embed/*/*")}
    assert sorted(pages) == EXPLORERS
    for name, page in pages.items():
        assert '<meta name="robots" content="noindex">' in page
        assert f'<link rel="canonical" href="{site.url}explore/{name}/">' in page
    for file in ("sitemap.xml", "llms.txt", "search/index.json"):
        text = (site.folder / file).read_text("utf-8").replace("<iframe src", "")
        assert not re.search(r'"embed/|<loc>[^<]*/embed/|\(\S*embed/', text), file


def test_a_page_without_its_explorer_stops_the_build() -> None:
    with pytest.raises(SystemExit, match="has no <explore-t5> to embed"):
        framed_explorers.page("<p>Nothing.</p>", "t5", "bias")
