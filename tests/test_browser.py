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
CHAPTER = "chapters/by-hand/"

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

# Formulas that a line's end parts from what stands right against them; short ones that it parts.
TORN = """() => {
    const article = document.querySelector("article");
    const texts = document.createTreeWalker(article, NodeFilter.SHOW_TEXT, text =>
        text.parentElement.closest(".katex") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
    const beside = (formula, step) => { texts.currentNode = formula; return texts[step](); };
    const sign = (text, at) => {
        const range = document.createRange();
        range.setStart(text, at);
        range.setEnd(text, at + 1);
        return range.getBoundingClientRect();
    };
    const torn = formula => {
        const parts = [...formula.querySelector(".katex-html").getClientRects()];
        const before = beside(formula, "previousNode"), after = beside(formula, "nextNode");
        return /[([“‘]$/.test(before?.data) &&
                sign(before, before.length - 1).right > parts[0].left + 2 ||
            /^[.,;:?)\\]”’]/.test(after?.data) && sign(after, 0).left < parts.at(-1).right - 2 ||
            formula.matches(".short") && parts.some((part, n) => part.left < parts[n - 1]?.left);
    };
    return [...article.querySelectorAll("span.arithmatex")]
        .filter(formula => formula.checkVisibility() && torn(formula))
        .map(formula => formula.querySelector("annotation").textContent);
}"""
# Whether the place where Tab has arrived can be seen; the switch of colours shows its label.
STOP_IS_SEEN = """() => {
    const stop = document.activeElement;
    if (stop === document.body || stop.matches(".md-option")) return true;
    const {x, y, width, height} = stop.getClientRects()[0];  // the first line of a long link
    const seen = document.elementFromPoint(x + width / 2, y + height / 2);
    return seen !== null && (stop.contains(seen) || seen.contains(stop));
}"""


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
    """Structure and size are those of the light page, so axe looks at the colours alone."""
    visit.page.set_viewport_size(DESK)
    visit.page.locator(TOGGLE).click()
    visit.page.evaluate("localStorage.clear()")  # the next page is to be light again
    expect(visit.page.locator("body")).to_have_attribute("data-md-color-scheme", "slate")
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


@pytest.fixture(scope="module")
def without_scripts(browser: Browser) -> Iterator[Page]:
    """Open a phone's window in which no script runs."""
    with browser.new_context(java_script_enabled=False, viewport=PHONE) as window:
        yield window.new_page()


@pytest.mark.parametrize("path", paths(), ids=lambda path: path or "home")
def test_page_fits_a_phone_without_scripts(path: str, without_scripts: Page, site: Site) -> None:
    without_scripts.goto(site.url + path)
    width = without_scripts.evaluate("document.documentElement.scrollWidth")
    assert width <= PHONE["width"], without_scripts.evaluate(TOO_WIDE)


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


@pytest.mark.parametrize("path", CHAPTERS)
def test_no_line_begins_with_what_ends_a_formula(path: str, reader: Visit) -> None:
    reader.page.goto(path)
    reader.page.evaluate(UNFOLD)
    for width in (320, 360, 390, 412, 600, 768, 1024, 1280):
        reader.page.set_viewport_size({"width": width, "height": 800})
        assert reader.page.evaluate(TORN) == [], f"{width} px wide"


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_tab_stops_only_where_something_is_seen(size: ViewportSize, reader: Visit) -> None:
    reader.page.set_viewport_size(size)
    reader.page.goto(CHAPTER)
    for _ in range(12):
        reader.page.keyboard.press("Tab")
        reader.page.wait_for_function(STOP_IS_SEEN, timeout=2000)  # what closes takes a moment


def test_drawer_takes_the_focus_and_gives_it_back(reader: Visit) -> None:
    reader.page.set_viewport_size(PHONE)
    reader.page.goto(CHAPTER)
    menu = reader.page.locator("header button.menu")
    menu.press("Enter")
    focus = reader.page.locator("nav.md-nav--primary :focus")
    expect(focus).to_be_in_viewport()
    stops = 0
    while focus.count():
        expect(focus).to_be_in_viewport()
        reader.page.keyboard.press("Tab")
        stops += 1
    assert stops > len(CHAPTERS)  # each of them, and the part of the book
    expect(menu).to_have_attribute("aria-expanded", "false")  # the focus has gone on to the page
    menu.press("Enter")
    reader.page.keyboard.press("Escape")
    expect(menu).to_be_focused()
    expect(menu).to_have_attribute("aria-expanded", "false")


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_search_is_walked_with_tab_and_left_with_escape(size: ViewportSize, reader: Visit) -> None:
    reader.page.set_viewport_size(size)
    field, find = reader.page.locator(".md-search__input"), reader.page.locator(".find")
    find.press("Enter") if size is PHONE else reader.page.keyboard.press("/")
    reader.page.keyboard.type("wavelength")
    found = reader.page.locator(".md-search-result__link")
    expect(found.and_(reader.page.locator("[href*='h=wavelength']"))).not_to_have_count(0)
    reader.page.keyboard.press("Tab")
    expect(found.first).to_be_focused()
    reader.page.keyboard.press("Escape")
    expect(reader.page.locator(".md-search__output")).to_be_hidden()
    expect(find if size is PHONE else field).to_be_focused()


def test_permalink_leads_to_its_heading(reader: Visit) -> None:
    reader.page.goto(CHAPTER)
    heading = reader.page.locator(f"{ARTICLE} h2[id]").last
    heading.hover()
    heading.locator(".headerlink").click()
    expect(reader.page).to_have_url(f"{reader.site.url}{CHAPTER}#{heading.get_attribute('id')}")
    expect(heading).to_be_in_viewport()


def test_every_permalink_is_its_headings_own(reader: Visit) -> None:
    reader.page.goto(CHAPTER)
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
    reader.page.locator(f"{ARTICLE} a[href*='{CHAPTER}']").first.click()
    expect(reader.page.locator("h1")).not_to_contain_text(title)
    expect(reader.page.locator(f"{ARTICLE} .katex-html").first).to_be_visible()
    assert reader.page.evaluate("window.here")
    reader.page.go_back()
    expect(reader.page.locator("h1")).to_contain_text(title)
    assert reader.page.evaluate("window.here")
    assert reader.faults == []
