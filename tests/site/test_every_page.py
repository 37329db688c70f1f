"""Every page in a real browser: it loads whole, fits a phone, is accessible, by day and night."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, ViewportSize

from tests.site.served import Site, paths
from tests.site.visits import (
    DESK,
    LOAD_ALL,
    NOWHERE,
    OUT_OF_REACH,
    PHONE,
    SETTLE,
    TABLET,
    TOO_WIDE,
    UNFOLD,
    UNPAINT,
    Visit,
)

PAGES = [*paths(), NOWHERE]
CHAPTERS = [path for path in PAGES if path.startswith("chapters/")]
# One page of each kind is looked at as a whole, each text and formula with every rule. To look at a
# chapter so takes longest: once, where it is narrow, and dark.
WHOLE: tuple[tuple[str, ViewportSize], ...] = (("dark", DESK), ("dark", PHONE), ("light", TABLET))
SAMPLES = dict.fromkeys(["", "reference/baselines/", "trust/how-checked/", NOWHERE], WHOLE)
SAMPLES["chapters/at-the-board/"] = (("dark", PHONE),)

# How many formulas are set, and how many are not.
SET_AND_NOT = """() => [".katex-html", ".arithmatex:not(:has(.katex))"].map(
    formula => document.querySelectorAll(formula).length)"""
# Formulas without a size, but for those in a closed solution.
UNSEEN = """() => [...document.querySelectorAll(".katex-html")].filter(formula => {
    const {width, height} = formula.getBoundingClientRect();
    return !(width && height) && !formula.closest("details:not([open])");
}).map(formula => formula.textContent)"""
SHIFT = f"{SETTLE}.then(() => window.shift)"
TITLES_AND_LANGUAGE = "[document.querySelectorAll('h1').length, document.documentElement.lang]"
FONTS = """document.fonts.ready.then(fonts =>
    [...fonts].filter(font => font.status === "loaded").map(font => font.family))"""
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
TOO_WIDE_OR_TORN = f"[({TOO_WIDE})(), ({TORN})()]"

# Where the parts of an article stand, and how high and wide they are.
PLACES = """() => [...document.querySelectorAll("article > *")].map(part => {
    const {x, y, width, height} = part.getBoundingClientRect();
    return [x, y + scrollY, width, height].map(Math.round);
})"""
# What paper cuts off: there it cannot be scrolled. Listings reach into the margin a little.
CUT_OFF = """() => {
    const wide = document.documentElement.scrollWidth - innerWidth - 16;
    return [...(wide > 0 ? [`the page, by ${wide}`] : []),
        ...[...document.querySelectorAll("article :not(.katex *)")].filter(part =>
            part.scrollWidth > part.clientWidth + 1 && part.clientWidth > 1 &&
            getComputedStyle(part).overflowX !== "visible" && part.checkVisibility())
        .map(part => part.textContent.trim().slice(0, 60))];
}"""
# What is on paper and should not be: what wants a finger, and letters that are hardly ink.
NOT_FOR_PAPER = """() => [...document.querySelectorAll(
        "header, nav, footer, dialog, button, input[type=range], .headerlink")]
    .filter(part => part.checkVisibility()).map(part => part.outerHTML.slice(0, 80))"""
FAINT = """() => [...document.querySelectorAll("article :is(p, li, td, h1, h2, h3)")]
    .filter(part => part.checkVisibility())
    .map(part => getComputedStyle(part).color.match(/\\d+/g).map(Number))
    .filter(([red, green, blue]) => 0.2126 * red + 0.7152 * green + 0.0722 * blue > 120)"""
WRONG_ON_PAPER = f"[({NOT_FOR_PAPER})(), ({FAINT})(), ({CUT_OFF})()]"
PAPER = ViewportSize(width=718, height=1054)  # A4 within its margins
TEXTS = ("chapters/", "beyond/")  # where formulas stand in sentences
SOME_SIZES = (DESK, TABLET, PHONE)
MANY_SIZES = (
    DESK,
    *(PHONE | {"width": width} for width in (1280, 1024, 768, 600, 412, 390, 320)),
    PHONE,
)
LOOKS: dict[str, int] = {}  # what axe-core has seen of the pages so far


@pytest.fixture(scope="module", params=PAGES, ids=lambda path: path or "home")
def visit(request: pytest.FixtureRequest, tab: Page, site: Site) -> Iterator[Visit]:
    """Open a page and let it load all that it has."""
    visit = Visit(tab, site, LOOKS)
    visit.watch()
    visit.arrive(request.param)
    yield visit
    visit.leave()


# The tests of one visit, in their order: what the first ones look at, the last ones take away.


def test_page_loads_whole_and_from_here_alone(visit: Visit) -> None:
    assert visit.faults == []


def test_page_stands_still_while_it_loads(visit: Visit) -> None:
    shift = visit.page.evaluate(SHIFT)
    if shift > 0.01:  # a typeface that comes late moves a line
        visit.arrive(visit.path)
        shift = visit.page.evaluate(SHIFT)
    assert shift <= 0.01


def test_page_has_one_title_and_a_language(visit: Visit) -> None:
    assert visit.page.evaluate(TITLES_AND_LANGUAGE) == [1, "en"]


def test_page_fits_every_width_and_no_line_begins_with_what_ends_a_formula(visit: Visit) -> None:
    visit.page.evaluate(UNFOLD)
    visit.page.evaluate(UNPAINT)
    for size in MANY_SIZES if visit.path.startswith(TEXTS) else SOME_SIZES:
        visit.resize(size)
        assert visit.page.evaluate(TOO_WIDE_OR_TORN) == [[], []], size


def test_page_fits_a_phone_by_night_too_and_its_colours_move_nothing(visit: Visit) -> None:
    """What fits every width by day does so by night, if all parts keep their places."""
    visit.page.evaluate(UNFOLD)
    visit.mark("light")
    by_day = visit.page.evaluate(PLACES)
    visit.mark("dark")
    visit.page.evaluate(LOAD_ALL)
    assert visit.page.evaluate(f"[({PLACES})(), ({TOO_WIDE})()]") == [by_day, []]
    assert visit.faults == []


def test_what_scrolls_on_a_phone_can_be_reached_with_the_keyboard(visit: Visit) -> None:
    visit.page.evaluate(UNFOLD)
    visit.resize(PHONE)
    visit.page.evaluate(SETTLE)
    assert visit.page.evaluate(OUT_OF_REACH) == []


def test_page_is_readable_on_paper(visit: Visit) -> None:
    """Also that of a reader who reads by night."""
    visit.turn("dark")
    visit.page.emulate_media(media="print")
    visit.resize(PAPER)
    found = visit.page.evaluate(WRONG_ON_PAPER)
    visit.page.emulate_media(media="null")
    assert found == [[], [], []]


def test_axe_finds_nothing(visit: Visit) -> None:
    """Structure does not depend on the colours, nor do the article's colours on the width."""
    for scheme, size in SAMPLES.get(visit.path, ()):
        assert visit.violations_at(scheme, size) == [], (scheme, size)
    if SAMPLES.get(visit.path) != WHOLE:
        assert visit.violations() == []


@pytest.mark.parametrize("path", paths(), ids=lambda path: path or "home")
def test_page_is_whole_without_scripts(path: str, still: Page) -> None:
    """It fits a phone, and a chapter's mathematics is set."""
    still.set_viewport_size(PHONE)
    still.goto(path)
    assert still.evaluate(TOO_WIDE) == []
    if path in CHAPTERS:
        (is_set, is_not), unseen, fonts = still.evaluate(
            f"{FONTS}.then(fonts => [({SET_AND_NOT})(), ({UNSEEN})(), fonts])"
        )
        assert is_set > 0
        assert is_not == 0
        assert unseen == []
        assert "KaTeX_Main" in fonts
