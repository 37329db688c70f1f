"""A page open in a browser: its size and colours, what goes wrong in it, what axe-core finds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Page,
    Request,
    Response,
    ViewportSize,
    expect,
)

from scripts import ROOT
from tests.site.served import Site

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
PHONE = ViewportSize(width=360, height=780)
TABLET = ViewportSize(width=768, height=1024)
TOUCH = {"viewport": PHONE, "has_touch": True, "is_mobile": True}  # of a browser context
LAPTOP = ViewportSize(width=1280, height=800)
DESK = ViewportSize(width=1440, height=900)
NOWHERE = "no/such/page/"  # answered with the page for wrong addresses
TOGGLE = "label[for^=__palette]:visible"
# The middle of the button that switches the colours, scrolled into view.
TOGGLE_PLACE = """() => {
    const label = [...document.querySelectorAll("label[for^=__palette]")].find(
        label => label.checkVisibility());
    label.scrollIntoView({block: "nearest", behavior: "instant"});
    const {x, y, width, height} = label.getBoundingClientRect();
    return [x + width / 2, y + height / 2];
}"""
SCHEME = "document.body.dataset.mdColorScheme"

# How long to wait for anything, in milliseconds: no test depends on the speed of the machine.
PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)

# Images below the fold and those of the other colour scheme load only when needed.
LOAD_ALL = """async () => {
    const images = [...document.images];
    for (const image of images) image.loading = "eager";
    await Promise.all(images.map(image => image.decode().catch(
        () => console.error("broken picture", image.currentSrc))));
    await document.fonts.ready;
}"""
# Adds up the layout shifts of a page, from its first frame on.
SHIFTS = """
    window.shift = 0;
    new PerformanceObserver(list => {
        for (const entry of list.getEntries()) window.shift += entry.value;
    }).observe({type: "layout-shift", buffered: true});
"""
# After two frames, scripts have reacted to a new width or new colours.
SETTLE = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
# Show the evidence and open every fold: what is not laid out, axe-core skips.
UNFOLD = """() => {
    document.documentElement.classList.remove("hides-evidence");
    for (const part of document.querySelectorAll("article details")) part.open = true;
}"""
# Scroll, click a link to a place of the same page, and return whether the address is that of the
# link, and how far the place is from the top of the window. Nothing signals the end of a jump, so
# it gets a fixed time.
JUMP_AFTER_SCROLL = """async selector => {
    const link = [...document.querySelectorAll(selector)].at(-1);
    const scrolled = new Promise(done => addEventListener("scroll", done, {once: true}));
    scrollTo({top: scrollY + 700, behavior: "instant"});
    await scrolled;
    link.click();
    await new Promise(done => setTimeout(done, 1000));
    const place = document.getElementById(link.hash.slice(1));
    return [location.href === link.href, Math.round(place.getBoundingClientRect().top)];
}"""
PERMALINK = "article :is(h2, h3) > .headerlink"
# Elements that stick out of the page on the right, unless a box that scrolls contains them. The
# first entry is the width of the page.
TOO_WIDE = """() => {
    const boxed = element => element !== document.documentElement &&
        (getComputedStyle(element).overflowX !== "visible" || boxed(element.parentElement));
    const {scrollWidth, clientWidth} = document.documentElement;
    return scrollWidth <= clientWidth ? [] : [`${scrollWidth} px`, ...
        [...document.body.querySelectorAll("*")].filter(element =>
            element.getBoundingClientRect().right > clientWidth && !boxed(element))
        .map(element => element.cloneNode().outerHTML)];
}"""

# Boxes that scroll sideways and that the keyboard cannot focus, nor anything in them.
OUT_OF_REACH = """() => [...document.querySelectorAll("body *")].filter(box =>
    box.scrollWidth > box.clientWidth && box.clientWidth > 1 && box.checkVisibility() &&
    /auto|scroll/.test(getComputedStyle(box).overflowX) && box.tabIndex < 0 &&
    !box.querySelector("a[href], button, input, select, textarea, [tabindex='0']")
).map(box => `${box.className}: ${box.textContent.trim().slice(0, 60)}`)"""

# All rules that axe-core runs by default. The style sheets are the site's own and need no preload.
AXE_OPTIONS = {"resultTypes": ["violations"], "preload": False}
# One line for each place where a rule is broken.
RUN_AXE = """async options => {
    const {violations} = await axe.run(options);
    return violations.flatMap(({id, help, nodes}) => nodes.map(({target, html}) =>
        `${id}: ${help}: ${target}: ${html.slice(0, 200)}`));
}"""


@dataclass
class Visit:
    """A page open in a browser, and all that has gone wrong in it."""

    page: Page
    site: Site
    faults: list[str] = field(default_factory=list)
    path: str = ""
    shift: float = 0.0  # the layout shifts while the page loaded

    def __post_init__(self) -> None:
        """Note every error, failed request and request to another host from here on."""
        self.page.on("console", self._console)
        self.page.on("pageerror", self._error)
        self.page.on("request", self._request)
        self.page.on("requestfailed", self._failed)
        self.page.on("response", self._response)

    def _error(self, error: object) -> None:
        self.faults.append(f"script: {error}")

    def _console(self, message: ConsoleMessage) -> None:
        expected = message.location["url"] == self.page.url and NOWHERE in self.page.url
        if message.type == "error" and not expected:
            self.faults.append(f"console: {message.text} ({message.location['url']})")

    def _request(self, request: Request) -> None:
        if not request.url.startswith((self.site.url, "data:", "blob:")):
            self.faults.append(f"to a third party: {request.url}")

    def _failed(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # cancelled when the page was left
            self.faults.append(f"failed: {request.url} ({request.failure})")

    def _response(self, response: Response) -> None:
        if response.status >= 400 and NOWHERE not in response.url:
            self.faults.append(f"status {response.status}: {response.url}")

    def open(self, path: str) -> None:
        """Open a page and load all its images and fonts."""
        self.path = path
        self.page.goto(self.site.url + path)
        self.page.evaluate(LOAD_ALL)
        self.shift = self.page.evaluate(f"{SETTLE}.then(() => window.shift)")

    def unfold(self) -> None:
        """Show the evidence, open every fold, and lay out the whole page."""
        self.page.evaluate(UNFOLD)

    def resize(self, size: ViewportSize) -> None:
        """Resize the window, and let scripts react to it."""
        if self.page.viewport_size != size:
            self.page.set_viewport_size(size)
            self.page.evaluate(SETTLE)

    def switch_to(self, scheme: str) -> None:
        """Switch to the "light" or the "dark" colours with the button in the header."""
        name = "slate" if scheme == "dark" else "default"
        if self.page.evaluate(SCHEME) != name:
            self.page.mouse.click(*self.page.evaluate(TOGGLE_PLACE))
            self.page.evaluate(SETTLE)
            assert self.page.evaluate(SCHEME) == name


@contextmanager
def fresh_page(browser: Browser, context: Mapping[str, Any]) -> Iterator[Page]:
    """Open a page in a browser context of its own, with nothing stored, and close both.

    The arguments of the context are those of pytest-playwright's `browser_context_args`. For a
    single test take its `page` fixture; this is for fixtures that a module's tests share.
    """
    with browser.new_context(**context) as opened:
        opened.set_default_timeout(PATIENCE)
        opened.add_init_script(SHIFTS)
        yield opened.new_page()


def requested(page: Page) -> list[str]:
    """Return a list that gets the address of each request from here on."""
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    return urls


def violations(page: Page, *, only: str | None = None, but: str | None = None) -> list[str]:
    """Return what axe-core finds in the whole page: the rule, and each place where it is broken.

    Args:
        only: Run this one rule, not all.
        but: Run all rules but this one.
    """
    page.evaluate(SETTLE)
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe_core())
    options = AXE_OPTIONS | ({"runOnly": [only]} if only else {})
    options |= {"rules": {but: {"enabled": False}}} if but else {}
    found: list[str] = page.evaluate(RUN_AXE, options)
    return found


@cache
def axe_core() -> str:
    return AXE.read_text("utf-8")
