"""A page open in a real browser: what went wrong, what sticks out, and what axe-core finds.

A page is loaded once. Its widths and its colours are changed where it stands, as a reader changes
them, and what axe-core need not look at twice is taken out of its sight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from playwright.sync_api import ConsoleMessage, Page, Request, Response, ViewportSize, expect

from scripts import ROOT
from tests.site.served import Site

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
PHONE = ViewportSize(width=360, height=780)
TABLET = ViewportSize(width=768, height=1024)
DESK = ViewportSize(width=1440, height=900)
NOWHERE = "no/such/page/"
TOGGLE = "label[for^=__palette]:visible"
TOGGLE_PLACE = """() => {
    const label = [...document.querySelectorAll("label[for^=__palette]")].find(
        label => label.checkVisibility());
    label.scrollIntoView({block: "nearest", behavior: "instant"});
    const {x, y, width, height} = label.getBoundingClientRect();
    return [x + width / 2, y + height / 2];
}"""
SCHEME = "document.body.dataset.mdColorScheme"

# No test is about how fast a machine is: on one with much else to do all that is waited for comes.
PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)

Rules = dict[str, Any]
ALL_RULES: Rules = {"resultTypes": ["violations"], "preload": False}  # every sheet is from here
COLOURS = ["color-contrast", "link-in-text-block"]
OF_AN_ARTICLE: Rules = ALL_RULES | {"rules": {"region": {"enabled": False}}}
# What holds the article is the same on every page, and looked at where a page is looked at whole.
OF_PARTS: Rules = ALL_RULES | {
    "rules": {rule: {"enabled": False} for rule in ["bypass", "region", *COLOURS]}
}
SCROLLS_ALONE: Rules = ALL_RULES | {"runOnly": ["scrollable-region-focusable"]}
COLOURS_ALONE: Rules = ALL_RULES | {"runOnly": COLOURS}

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
# Nothing waits to be opened, nor, on a long page, to be laid out.
UNFOLD = """() => {
    document.documentElement.classList.remove("unrolls");
    for (const part of document.querySelectorAll("article details")) part.open = true;
}"""
# Where things stand is seen without painting them, which takes a sixth of a new width's time.
UNPAINT = "document.body.style.opacity = 0"
PAINT = "document.body.style.opacity = ''"
# Click a link so many milliseconds after the page has been scrolled, and say where that led to once
# all that was to happen then has happened: the address, and how far from the window's top the place
# is that it names, or the page's own top. Another page is there with another heading; what a jump
# may still do wrong has no end to wait for, only a time.
CLICK_AFTER_SCROLL = """async (selector, pause) => {
    const wait = time => new Promise(done => setTimeout(done, time));
    const link = [...document.querySelectorAll(selector)].at(-1);
    const scrolled = new Promise(done => addEventListener("scroll", done, {once: true}));
    scrollTo({top: scrollY + 700, behavior: "instant"});
    await scrolled;
    await wait(pause);
    const {href} = link;
    const heading = () => document.querySelector("h1")?.textContent;
    const before = heading(), end = performance.now() + PATIENCE;
    const leaves = href.split("#")[0] !== location.href.split("#")[0];
    const came = () => location.href === href && ![before, undefined].includes(heading());
    link.click();
    while (leaves && !came() && performance.now() < end) await wait(20);
    await wait(leaves ? 300 : 1000);
    const place = document.getElementById(new URL(href).hash.slice(1));
    return [location.href === href, Math.round(place?.getBoundingClientRect().top ?? -scrollY)];
}""".replace("PATIENCE", str(PATIENCE))
PERMALINK = "article :is(h2, h3) > .headerlink"
# What sticks out of a page, but for what stands in a box that scrolls. A page that cannot be
# scrolled sideways has nothing of the kind, and is not searched.
TOO_WIDE = """() => {
    const boxed = element => element !== document.documentElement &&
        (getComputedStyle(element).overflowX !== "visible" || boxed(element.parentElement));
    const {scrollWidth, clientWidth} = document.documentElement;
    return scrollWidth <= clientWidth ? [] : [`${scrollWidth} px`, ...
        [...document.body.querySelectorAll("*")].filter(element =>
            element.getBoundingClientRect().right > clientWidth && !boxed(element))
        .map(element => element.cloneNode().outerHTML)];
}"""

# What scrolls sideways and cannot be reached with the keyboard, nor can anything in it.
OUT_OF_REACH = """() => [...document.querySelectorAll("body *")].filter(box =>
    box.scrollWidth > box.clientWidth && box.clientWidth > 1 && box.checkVisibility() &&
    /auto|scroll/.test(getComputedStyle(box).overflowX) && box.tabIndex < 0 &&
    !box.querySelector("a[href], button, input, select, textarea, [tabindex='0']")
).map(box => `${box.className}: ${box.textContent.trim().slice(0, 60)}`)"""

# Contrast is a matter of the letters' colour, of whether they are large (as axe-core tells it, from
# 18 points on, or 14 where they are bold), and of what lies behind them. The first three texts of
# each look are marked: a long page has thousands of texts and some thirty looks, and what has been
# marked so often, on whatever page, need not be again. Of a single letter axe-core says nothing,
# nor of what is there for the ear alone.
MARK_LOOKS = """([scheme, seen]) => {
    const hasLetters = node => node.nodeType === Node.TEXT_NODE && node.data.trim().length > 1;
    const says = element => element.matches("input, select, textarea") ||
        (element.matches("a") ? element.textContent.trim() :
            [...element.childNodes].some(hasLetters));
    const shown = element => {
        const {width, height, right} = element.getBoundingClientRect();
        return element.checkVisibility({visibilityProperty: true}) &&
            Math.min(width, height, right) > 1;
    };
    const known = new Map([[document.documentElement, {behind: ""}]]);
    const styled = element => {  // asked only of what says something, and of all around it
        if (known.has(element)) return known.get(element);
        const above = styled(element.parentElement), style = getComputedStyle(element);
        const {color, backgroundColor, backgroundImage, opacity, fontSize, fontWeight} = style;
        const behind = [above.behind, backgroundColor, backgroundImage, opacity].filter(
            part => !["rgba(0, 0, 0, 0)", "none", "1"].includes(part)).join();
        const large = parseFloat(fontSize) * 0.75 >= (fontWeight >= 700 ? 14 : 18);
        const link = element.matches("a");  // it differs from the text around it
        const around = link ? [above.color, fontSize, fontWeight, style.textDecorationLine] : [];
        const look = [behind, color, large, ...around].join();
        known.set(element, {behind, color, look});
        return known.get(element);
    };
    for (const element of document.body.querySelectorAll(":not(.katex-mathml, .katex-mathml *)")) {
        if (!says(element)) continue;
        const {look} = styled(element);
        if (seen[look] >= 3 || !shown(element)) continue;
        seen[look] = (seen[look] ?? 0) + 1;
        element.setAttribute(`data-look-${scheme}`, "");
    }
    return seen;
}"""
MARKED = "[data-look-light], [data-look-dark]"
# A formula is some hundred elements without role, name, state, link or stop of the keyboard, whose
# boxes axe-core would measure one by one. All but those with a mark make room for a box of their
# size, with their source in it. And a listing without a mark becomes one text again.
STAND_IN = """marks => {
    const formulas = [...document.querySelectorAll("article .katex:not([data-stands-in])")]
        .filter(formula => !formula.matches(marks) && !formula.querySelector(marks))
        .map(formula => [formula, formula.getBoundingClientRect()]);
    for (const [formula, {width, height}] of formulas) {
        formula.textContent = formula.querySelector("annotation").textContent;
        formula.dataset.standsIn = "";
        formula.style.cssText =
            `display: inline-block; overflow: clip; width: ${width}px; height: ${height}px`;
    }
    for (const code of document.querySelectorAll("article pre code"))
        if (!code.querySelector(`${marks}, a`)) code.textContent = code.textContent;
    for (const pause of document.querySelectorAll("article wbr")) pause.remove();
}"""
# Of spacing, which stand-ins have none of, only what it is about.
WITHOUT_STAND_INS = """() => axe.configure({rules: [
    {id: "avoid-inline-spacing", selector: "[style*=important]"},
]})"""
# What axe-core finds: the rule, and each place where it is broken.
RUN_AXE = """async ([part, rules]) => {
    axe.configure({noHtml: true});  // that of all it looks at, the whole page among it
    const {violations} = await axe.run(part, {...rules, elementRef: true});
    return violations.flatMap(({id, help, nodes}) => nodes.map(({target, element}) =>
        `${id}: ${help}: ${target}: ${element.outerHTML.slice(0, 200)}`));
}"""
# Of contrast only what is marked.
AT_MARKS_ALONE = """scheme => axe.configure({rules: [
    {id: "color-contrast", selector: `[data-look-${scheme}]`},
    {id: "link-in-text-block", selector: `a[href][data-look-${scheme}]`},
]})"""
# What some parts stand in has their colours. The blocks around, which would be measured one by one,
# are emptied, and keep their room: or else what comes after would slide.
LEAVE_ALONE = """parts => {
    const isBlock = part => !getComputedStyle(part).display.includes("inline");
    const others = part => [...part.children].filter(child => !child.matches(parts)).flatMap(
        child => child.querySelector(parts) ? others(child) : isBlock(child) ? [child] : []);
    const blocks = others(document.querySelector("article"))
        .map(block => [block, block.getBoundingClientRect()]);
    for (const [block, {height}] of blocks) {
        block.textContent = "";
        block.style.cssText += `; box-sizing: border-box; height: ${height}px`;
    }
}"""


@dataclass
class Visit:
    """One page, open in a browser, and all that went wrong since."""

    page: Page
    site: Site
    looks: dict[str, int] = field(default_factory=dict)  # how many texts of each were looked at
    faults: list[str] = field(default_factory=list)
    path: str = ""
    marked: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """Note every error, failed request and request to another place from here on."""
        for event, note in self._notes():
            self.page.on(event, note)

    def leave(self) -> None:
        """Look no longer, and let the tab be as if nobody had been there."""
        for event, note in self._notes():
            self.page.remove_listener(event, note)
        forget(self.page)
        self.page.evaluate("document.body.style.display = 'none'")  # nothing to lay out
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
        self.path, self.marked = path, []
        self.page.goto(self.site.url + path)
        self.page.evaluate(LOAD_ALL)

    def resize(self, size: ViewportSize) -> None:
        """Give the page another width, and its scripts their turn."""
        if self.page.viewport_size != size:
            self.page.set_viewport_size(size)
            self.page.evaluate(SETTLE)

    def turn(self, scheme: str) -> None:
        """Switch to the light or the dark colours as a reader does."""
        name = "slate" if scheme == "dark" else "default"
        if self.page.evaluate(SCHEME) != name:
            self.page.mouse.click(*self.page.evaluate(TOGGLE_PLACE))
            self.page.evaluate(SETTLE)
            assert self.page.evaluate(SCHEME) == name

    def mark(self, scheme: str) -> None:
        """Mark in a narrow page what axe-core has to look at by day or by night."""
        if scheme not in self.marked:
            self.resize(PHONE)
            self.turn(scheme)
            self.looks.update(self.page.evaluate(MARK_LOOKS, [scheme, self.looks]))
            self.marked.append(scheme)

    def stand_in(self) -> None:
        """Mark what has to be looked at, and put something simple for each formula without."""
        self.page.evaluate(UNFOLD)
        for scheme in ("light", "dark"):
            self.mark(scheme)
        self.resize(PHONE)
        self.page.evaluate(STAND_IN, MARKED)
        self.page.evaluate(PAINT)
        add_axe(self.page)
        self.page.evaluate(WITHOUT_STAND_INS)

    def violations_at(self, scheme: str, size: ViewportSize) -> list[str]:
        """Return what axe-core holds against a page of a size, with every rule and as a whole."""
        self.page.evaluate(UNFOLD)
        self.resize(size)
        self.turn(scheme)
        self.page.evaluate(PAINT)
        return violations(self.page)

    def violations(self) -> list[str]:
        """Return what axe-core holds against a narrow page, by night and by day."""
        self.stand_in()
        found = violations(self.page, OF_PARTS)
        self.page.evaluate(LEAVE_ALONE, MARKED)
        return found + self._of_colours("dark") + self._of_colours("light")

    def _of_colours(self, scheme: str) -> list[str]:
        if not self.page.locator(f"[data-look-{scheme}]").count():
            return []
        self.turn(scheme)
        self.page.evaluate(AT_MARKS_ALONE, scheme)
        return violations(self.page, COLOURS_ALONE)


def forget(page: Page) -> None:
    """Take back what a page has kept for the next visit."""
    if page.url.startswith("http"):
        page.evaluate("localStorage.clear(), sessionStorage.clear()")


def violations(page: Page, rules: Rules = ALL_RULES, part: str = "html") -> list[str]:
    """Return what axe-core holds against a page: the rule, and each place where it is broken."""
    page.evaluate(SETTLE)
    add_axe(page)
    found: list[str] = page.evaluate(RUN_AXE, [part, rules])
    return found


def add_axe(page: Page) -> None:
    """Bring axe-core into a page that does not have it yet."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe_core())


@cache
def axe_core() -> str:
    """Return axe-core's source: evaluated as it is, a browser compiles it once for all pages."""
    return AXE.read_text("utf-8")
