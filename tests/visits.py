"""A page open in a real browser: what went wrong, what sticks out, and what axe-core finds.

A page is loaded once. Its widths and its colours are changed where it stands, as a reader changes
them, and what axe-core need not look at twice is taken out of its sight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import ConsoleMessage, Page, Request, Response, ViewportSize, expect
from served import ROOT, Site

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
PHONE = ViewportSize(width=360, height=780)
TABLET = ViewportSize(width=768, height=1024)
DESK = ViewportSize(width=1440, height=900)
SIZES = (DESK, TABLET, PHONE)
NOWHERE = "no/such/page/"
TOGGLE = "label[for^=__palette]:visible"

Rules = dict[str, Any]
ALL_RULES: Rules = {"resultTypes": ["violations"], "preload": False}  # every sheet is from here
# What is still to be asked of a page that is dark and narrow.
ANEW = ("color-contrast", "link-in-text-block", "scrollable-region-focusable")
NARROW_AND_DARK: Rules = ALL_RULES | {"runOnly": ANEW}

# Pictures below the fold, and those of the other colour scheme, load only when asked for.
LOAD_ALL = """async () => {
    const images = [...document.images];
    for (const image of images) image.loading = "eager";
    await Promise.all(images.map(image => image.decode().catch(
        () => console.error("broken picture", image.currentSrc))));
    await document.fonts.ready;
}"""
SHIFTS = """
    window.shift = 0;
    new PerformanceObserver(list => {
        for (const entry of list.getEntries()) window.shift += entry.value;
    }).observe({type: "layout-shift", buffered: true});
"""
# Scripts that answer to a new width have had their turn after two frames.
SETTLE = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
UNFOLD = "document.querySelectorAll('article details').forEach(part => (part.open = true))"
# What sticks out of a page, but for what stands in a box that scrolls. A page that cannot be
# scrolled sideways has nothing of the kind, and is not searched.
TOO_WIDE = """() => {
    const boxed = element => element !== document.documentElement &&
        (getComputedStyle(element).overflowX !== "visible" || boxed(element.parentElement));
    const {scrollWidth} = document.documentElement;
    return scrollWidth <= innerWidth ? [] : [`${scrollWidth} px`, ...
        [...document.body.querySelectorAll("*")].filter(element =>
            element.getBoundingClientRect().right > innerWidth && !boxed(element))
        .map(element => element.cloneNode().outerHTML)];
}"""

# Contrast is a matter of the letters' colour, size and weight, and of what lies behind them. The
# first three texts of each look are marked; a long page has thousands of texts and some fifty
# looks. Of a single letter axe-core says nothing, nor of what is there for the ear alone.
MARK_LOOKS = """() => {
    const seen = {};
    const letters = node => node.nodeType === Node.TEXT_NODE && node.data.trim().length > 1;
    const shown = element => {
        const {width, height, right} = element.getBoundingClientRect();
        return element.checkVisibility({visibilityProperty: true}) &&
            Math.min(width, height, right) > 1;
    };
    const walk = (element, above) => {
        const style = getComputedStyle(element);
        const {backgroundColor, backgroundImage, opacity} = style;
        const behind = [above.behind, backgroundColor, backgroundImage, opacity].filter(
            part => !["rgba(0, 0, 0, 0)", "none", "1"].includes(part)).join();
        const around = element.matches("a") ? above.color : "";  // a link differs from its text
        const look = [behind, style.color, style.fontSize, style.fontWeight, around].join();
        const says = element.matches("input, select, textarea") ||
            [...element.childNodes].some(letters);
        if (says && !(seen[look] >= 3) && shown(element)) {
            seen[look] = (seen[look] ?? 0) + 1;
            element.dataset.look = "";
        }
        if (element.matches(".katex-mathml")) return;
        for (const child of element.children) walk(child, {behind, color: style.color});
    };
    walk(document.body, {behind: ""});
}"""
# A formula is some hundred elements without role, name, state, link or stop of the keyboard, whose
# boxes axe-core would measure one by one. All but those with a look of their own make room for a
# box of their size, with their source in it. And a listing whose colours have been seen elsewhere
# becomes one text again.
STAND_IN = """() => {
    const formulas = [...document.querySelectorAll(".katex:not([data-stands-in])")]
        .filter(formula => !formula.matches("[data-look]") && !formula.querySelector("[data-look]"))
        .map(formula => [formula, formula.getBoundingClientRect()]);
    for (const [formula, {width, height}] of formulas) {
        formula.textContent = formula.querySelector("annotation").textContent;
        formula.dataset.standsIn = "";
        formula.style.cssText =
            `display: inline-block; overflow: clip; width: ${width}px; height: ${height}px`;
    }
    for (const code of document.querySelectorAll("article pre code:not(:has([data-look], a))"))
        code.textContent = code.textContent;
}"""
AT_LOOKS_ALONE = """axe.configure({rules: [
    {id: "color-contrast", selector: "[data-look]"}
]})"""


@dataclass
class Visit:
    """One page, open in a browser, and all that went wrong since."""

    page: Page
    site: Site
    faults: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """Note every error, failed request and request to another place from here on."""
        for event, note in self._notes():
            self.page.on(event, note)

    def leave(self) -> None:
        """Look no longer, and let the tab be as if nobody had been there."""
        for event, note in self._notes():
            self.page.remove_listener(event, note)
        forget(self.page)
        self.page.set_viewport_size(DESK)

    def _notes(self) -> list[tuple[Any, Callable[[Any], None]]]:
        return [
            ("console", self._console),
            ("pageerror", self._error),
            ("request", self._request),
            ("requestfailed", self._failed),
            ("response", self._response),
        ]

    def _error(self, error: object) -> None:
        self.faults.append(f"script: {error}")

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

    def arrive(self, path: str) -> None:
        """Open a page and let it load all that it has."""
        self.page.goto(self.site.url + path)
        self.page.evaluate(LOAD_ALL)

    def resize(self, size: ViewportSize) -> None:
        """Give the page another width, and its scripts their turn."""
        if self.page.viewport_size != size:
            self.page.set_viewport_size(size)
            self.page.evaluate(SETTLE)

    def turn(self, scheme: str) -> None:
        """Switch to the light or the dark colours as a reader does."""
        body = self.page.locator("body")
        name = "slate" if scheme == "dark" else "default"
        if body.get_attribute("data-md-color-scheme") != name:
            self.page.locator(TOGGLE).click()
            expect(body).to_have_attribute("data-md-color-scheme", name)

    def too_wide(self, sizes: Sequence[ViewportSize] = SIZES) -> list[str]:
        """Return what sticks out of the page at each of the widths."""
        found = []
        for size in sizes:
            self.resize(size)
            found += [f"at {size['width']}: {part}" for part in self.page.evaluate(TOO_WIDE)]
        return found

    def prepare(self) -> None:
        """Leave to axe-core what it has to look at, in the colours of night and of day."""
        self.resize(DESK)
        for scheme in ("dark", "light"):
            self.turn(scheme)
            self.page.evaluate(MARK_LOOKS)
        self.page.evaluate(STAND_IN)

    def violations(self, rules: Rules = ALL_RULES) -> list[str]:
        """Return what axe-core holds against the page as it is."""
        return violations(self.page, rules)


def forget(page: Page) -> None:
    """Take back what a page has kept for the next visit."""
    if page.url.startswith("http"):
        page.evaluate("localStorage.clear(), sessionStorage.clear()")


def violations(page: Page, rules: Rules = ALL_RULES) -> list[str]:
    """Return what axe-core holds against a page: the rule, and each place where it is broken."""
    page.evaluate(SETTLE)
    if not page.evaluate("'axe' in window"):
        page.add_script_tag(path=AXE)
    if page.locator("[data-look]").count():
        page.evaluate(AT_LOOKS_ALONE)
    found = page.evaluate("rules => axe.run(rules)", rules)["violations"]
    return [
        f"{rule['id']}: {rule['help']}: {node['target']}: {node['html']}"
        for rule in found
        for node in rule["nodes"]
    ]
