"""The site in a real browser: every page loads whole, is accessible, and fits a phone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    Response,
    ViewportSize,
    expect,
)
from served import ROOT, Site, paths

pytestmark = pytest.mark.no_cover  # it runs no line of posenc that others do not

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
PHONE = ViewportSize(width=360, height=780)
DESK = ViewportSize(width=1280, height=900)
NOWHERE = "no/such/page/"
ARTICLE = ".md-content article"
TOGGLE = "label[for^=__palette]:visible"
CHAPTERS = [path for path in paths() if path.startswith("chapters/")]

Rules = dict[str, Any]
ALL_RULES: Rules = {"resultTypes": ["violations"]}
COLOUR_RULES: Rules = ALL_RULES | {"runOnly": ["color-contrast", "link-in-text-block"]}

# Pictures below the fold, and those of the other colour scheme, load only when asked for.
LOAD_ALL = """async () => {
    const images = [...document.images];
    for (const image of images) image.loading = "eager";
    await Promise.all(images.map(image => image.decode().catch(
        () => console.error("broken picture", image.currentSrc))));
    await document.fonts.ready;
}"""
# Formulas without a size, but for those in a closed solution.
UNSEEN = """all => all.filter(formula => {
    const {width, height} = formula.getBoundingClientRect();
    return !(width && height) && !formula.closest("details:not([open])");
}).map(formula => formula.textContent)"""
FONTS = """document.fonts.ready.then(fonts =>
    [...fonts].filter(font => font.status === "loaded").map(font => font.family))"""
SHIFTS = """
    window.shift = 0;
    new PerformanceObserver(list => {
        for (const entry of list.getEntries()) window.shift += entry.value;
    }).observe({type: "layout-shift", buffered: true});
"""
# Scripts that answer to a new width have had their turn after two frames.
SETTLE = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
UNFOLD = "document.querySelectorAll('article details').forEach(part => (part.open = true))"
# What sticks out of a narrow page, but for what stands in a box that scrolls.
TOO_WIDE = """(() => {
    const boxed = element => element !== document.documentElement &&
        (getComputedStyle(element).overflowX !== "visible" || boxed(element.parentElement));
    return [...document.body.querySelectorAll("*")]
        .filter(element => element.getBoundingClientRect().right > innerWidth && !boxed(element))
        .map(element => element.cloneNode().outerHTML);
})()"""


@dataclass
class Visit:
    """One page, open in a browser, and all that went wrong since."""

    page: Page
    site: Site
    faults: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """Note every error, failed request and request to another place from here on."""
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.faults.append(f"script: {error}"))
        self.page.on("request", self._request)
        self.page.on("requestfailed", lambda request: self._failed(request))
        self.page.on("response", self._response)

    def _console(self, message: ConsoleMessage) -> None:
        own = message.location["url"] == self.page.url and NOWHERE in self.page.url
        if message.type == "error" and not own:
            self.faults.append(f"console: {message.text} ({message.location['url']})")

    def _request(self, request: Request) -> None:
        if not request.url.startswith((self.site.url, "data:", "blob:")):
            self.faults.append(f"to a third party: {request.url}")

    def _failed(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # what a navigation leaves behind
            self.faults.append(f"failed: {request.url} ({request.failure})")

    def _response(self, response: Response) -> None:
        if response.status >= 400 and NOWHERE not in response.url:
            self.faults.append(f"status {response.status}: {response.url}")


@pytest.fixture(scope="module")
def window(browser: Browser) -> Iterator[BrowserContext]:
    """Open a browser window on a system that asks for light pages, and for rest."""
    with browser.new_context(
        color_scheme="light", reduced_motion="reduce", viewport=DESK
    ) as window:
        window.add_init_script(SHIFTS)
        yield window


@pytest.fixture(scope="module", params=[*paths(), NOWHERE], ids=lambda path: path or "home")
def visit(request: pytest.FixtureRequest, window: BrowserContext, site: Site) -> Iterator[Visit]:
    """Open a page and let it load all that it has."""
    with window.new_page() as page:
        visit = Visit(page, site)
        visit.watch()
        page.goto(site.url + request.param)
        page.evaluate(LOAD_ALL)
        yield visit


def test_page_loads_whole_and_from_here_alone(visit: Visit) -> None:
    assert visit.faults == []


def test_page_stands_still_while_it_loads(visit: Visit) -> None:
    visit.page.evaluate(SETTLE)
    assert visit.page.evaluate("window.shift") < 0.02


def test_page_has_one_title_and_a_language(visit: Visit) -> None:
    expect(visit.page.locator("h1")).to_have_count(1)
    assert visit.page.locator("html").get_attribute("lang") == "en"


def test_axe_finds_nothing_on_a_desk(visit: Visit) -> None:
    visit.page.set_viewport_size(DESK)
    assert violations(visit.page) == []


def test_page_fits_a_phone(visit: Visit) -> None:
    visit.page.set_viewport_size(PHONE)
    visit.page.evaluate(UNFOLD)
    visit.page.evaluate(SETTLE)
    width = visit.page.evaluate("document.documentElement.scrollWidth")
    assert width <= PHONE["width"], visit.page.evaluate(TOO_WIDE)
    assert visit.faults == []


def test_axe_finds_nothing_on_a_phone(visit: Visit) -> None:
    visit.page.set_viewport_size(PHONE)
    assert violations(visit.page) == []


def test_page_in_the_dark_is_whole_and_axe_finds_nothing(visit: Visit) -> None:
    """The structure is that of the light page, so axe looks at the colours alone."""
    visit.page.set_viewport_size(DESK)
    visit.page.locator(TOGGLE).click()
    visit.page.evaluate("localStorage.clear()")  # the next page is to be light again
    expect(visit.page.locator("body")).to_have_attribute("data-md-color-scheme", "slate")
    for size in (PHONE, DESK):
        visit.page.set_viewport_size(size)
        visit.page.evaluate(LOAD_ALL)
        assert violations(visit.page, COLOUR_RULES) == []
    assert visit.faults == []


def violations(page: Page, rules: Rules = ALL_RULES) -> list[str]:
    """Return what axe-core holds against a page: the rule, and the first place it is broken."""
    page.evaluate(SETTLE)
    if not page.evaluate("'axe' in window"):
        page.add_script_tag(path=AXE)
    found = page.evaluate("rules => axe.run(rules)", rules)["violations"]
    return [
        f"{rule['id']}, {len(rule['nodes'])} times: {rule['help']}: {rule['nodes'][0]['html']}"
        for rule in found
    ]


@pytest.mark.parametrize("path", CHAPTERS)
def test_mathematics_is_there_without_scripts(path: str, browser: Browser, site: Site) -> None:
    with browser.new_context(java_script_enabled=False, viewport=DESK) as window:
        page = window.new_page()
        page.goto(site.url + path)
        expect(page.locator(".katex-html").first).to_be_attached()
        expect(page.locator(".arithmatex:not(:has(.katex))")).to_have_count(0)
        assert page.locator(".katex-html").evaluate_all(UNSEEN) == []
        assert "KaTeX_Main" in page.evaluate(FONTS)


@pytest.fixture
def reader(page: Page, site: Site) -> Visit:
    """Return a reader at a desk who has just arrived at the book's first page."""
    visit = Visit(page, site)
    visit.watch()
    page.set_viewport_size(DESK)
    page.goto("")
    return visit


def test_search_finds_a_word(reader: Visit) -> None:
    reader.page.keyboard.press("/")
    reader.page.keyboard.type("wavelength")
    first = reader.page.locator(".md-search-result__link").first
    expect(first).to_be_visible()
    assert violations(reader.page) == []
    first.click()
    expect(reader.page.locator(ARTICLE)).to_contain_text("wavelength", ignore_case=True)
    assert reader.faults == []


def test_contents_open_on_a_phone(reader: Visit) -> None:
    reader.page.set_viewport_size(PHONE)
    reader.page.locator("header .menu:visible").click()
    expect(reader.page.locator("nav.md-nav--primary a:visible").first).to_be_in_viewport()
    assert violations(reader.page) == []
    assert reader.faults == []


def test_permalink_leads_to_its_heading(reader: Visit) -> None:
    reader.page.goto(CHAPTERS[0])
    heading = reader.page.locator(f"{ARTICLE} h2[id]").last
    heading.hover()
    heading.locator(".headerlink").click()
    assert reader.page.url.endswith(f"#{heading.get_attribute('id')}")
    expect(heading).to_be_in_viewport()


def test_every_permalink_is_its_headings_own(reader: Visit) -> None:
    reader.page.goto(CHAPTERS[0])
    links = reader.page.locator(f"{ARTICLE} :is(h2, h3)[id] > .headerlink")
    pairs = links.evaluate_all("all => all.map(a => [a.hash, '#' + a.parentElement.id])")
    assert pairs
    assert all(target == own for target, own in pairs)


def test_toggle_changes_the_colours_and_is_remembered(reader: Visit) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    before = reader.page.evaluate(paper)
    reader.page.locator(TOGGLE).click()
    after = reader.page.evaluate(paper)
    assert after != before
    reader.page.reload()
    assert reader.page.evaluate(paper) == after


def test_pages_come_without_a_reload(reader: Visit) -> None:
    title = reader.page.locator("h1").inner_text()
    reader.page.evaluate("window.here = true")
    reader.page.locator(f"{ARTICLE} a[href*='{CHAPTERS[0]}']").first.click()
    expect(reader.page.locator("h1")).not_to_contain_text(title)
    expect(reader.page.locator(f"{ARTICLE} .katex-html").first).to_be_visible()
    assert reader.page.evaluate("window.here")
    reader.page.go_back()
    expect(reader.page.locator("h1")).to_contain_text(title)
    assert reader.page.evaluate("window.here")
    assert reader.faults == []
