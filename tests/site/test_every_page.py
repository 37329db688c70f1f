"""Every page in a real browser: it loads whole, fits its window, and axe-core finds nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, ViewportSize

from tests.selection import slow_except
from tests.site.served import Site, paths
from tests.site.visits import (
    DESK,
    LAPTOP,
    LOAD_ALL,
    NOWHERE,
    OUT_OF_REACH,
    PHONE,
    SETTLE,
    TABLET,
    TOO_WIDE,
    Visit,
    fresh_page,
    violations,
)

PAGES = [*paths(), NOWHERE]
CHAPTERS = [path for path in PAGES if path.startswith("chapters/")]

# How many formulas KaTeX has set, and how many not.
SET_AND_NOT = """() => [".katex-html", ".arithmatex:not(:has(.katex))"].map(
    formula => document.querySelectorAll(formula).length)"""
# Formulas without a size, except in a closed solution, and in headings of a table that repeats them
# as a label of each cell on a phone.
UNSEEN = """() => [...document.querySelectorAll(".katex-html")].filter(formula => {
    const {width, height} = formula.getBoundingClientRect();
    return !(width && height) && !formula.closest("details:not([open]), .rows thead");
}).map(formula => formula.textContent)"""
# Headings over several columns of a table that do not begin and end where the columns do.
UNEQUAL = """() => [...document.querySelectorAll("th.group")].filter(group => {
    const [above, below] = group.closest("thead").rows;
    const before = [...above.cells].slice(0, [...above.cells].indexOf(group));
    const first = before.reduce((sum, cell) => sum + (cell.rowSpan > 1 ? 0 : cell.colSpan), 0);
    const columns = [...below.cells].slice(first, first + group.colSpan);
    const [own, left, right] = [group, columns[0], columns.at(-1)].map(
        cell => cell.getBoundingClientRect());
    return Math.abs(own.left - left.left) > 1 || Math.abs(own.right - right.right) > 1;
}).map(group => group.textContent)"""
TITLES_AND_LANGUAGE = "[document.querySelectorAll('h1').length, document.documentElement.lang]"
FONTS = """document.fonts.ready.then(fonts =>
    [...fonts].filter(font => font.status === "loaded").map(font => font.family))"""
# Formulas that a line break separates from the bracket or punctuation mark beside them, and short
# formulas that are broken themselves.
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

# The position and the size of each part of an article.
PLACES = """() => [...document.querySelectorAll("article > *")].map(part => {
    const {x, y, width, height} = part.getBoundingClientRect();
    return [x, y + scrollY, width, height].map(Math.round);
})"""
# The first words of tables that are wider than their box, except the grid of marks.
SIDEWAYS = """() => [...document.querySelectorAll("article :not(.matrix) > .scroll")]
    .filter(box => box.clientWidth && box.scrollWidth > box.clientWidth + 1)
    .map(box => box.textContent.trim().slice(0, 60))"""
WIDE_GRIDS = """[...document.querySelectorAll("article .matrix > .scroll")]
    .filter(box => box.scrollWidth > box.clientWidth + 1).length"""
# What paper cuts off, since it cannot be scrolled. Listings reach into the margin a little.
CUT_OFF = """() => {
    const wide = document.documentElement.scrollWidth - innerWidth - 16;
    return [...(wide > 0 ? [`the page, by ${wide}`] : []),
        ...[...document.querySelectorAll("article :not(.katex *)")].filter(part =>
            part.scrollWidth > part.clientWidth + 1 && part.clientWidth > 1 &&
            getComputedStyle(part).overflowX !== "visible" && part.checkVisibility())
        .map(part => part.textContent.trim().slice(0, 60))];
}"""
# What should not be on paper: controls, and text too faint to print.
NOT_FOR_PAPER = """() => [...document.querySelectorAll(
        "header, nav, footer, dialog, button, input[type=range], .headerlink")]
    .filter(part => part.checkVisibility()).map(part => part.outerHTML.slice(0, 80))"""
FAINT = """() => [...document.querySelectorAll("article :is(p, li, td, h1, h2, h3)")]
    .filter(part => part.checkVisibility())
    .map(part => getComputedStyle(part).color.match(/\\d+/g).map(Number))
    .filter(([red, green, blue]) => 0.2126 * red + 0.7152 * green + 0.0722 * blue > 120)"""
WRONG_ON_PAPER = f"[({NOT_FOR_PAPER})(), ({FAINT})(), ({CUT_OFF})()]"
PAPER = ViewportSize(width=718, height=1054)  # A4 within its margins
CONTRAST = "color-contrast"  # a rule of axe-core
TEXTS = ("chapters/", "beyond/")  # where formulas stand in sentences
MATRIX = "vectors/who-computes-what/"
SOME_SIZES = (DESK, TABLET, PHONE)
MANY_SIZES = (
    DESK,
    *(PHONE | {"width": width} for width in (1280, 1024, 768, 600, 412, 390, 320)),
    PHONE,
)


# One page of each kind is opened, in all looks, at all widths and on paper, and by axe-core.
# `make test-all` opens the others so, too.
SPECIMENS = (
    "",
    "chapters/attention/",
    "explore/waves/",
    "long-context/workbench/",
    "museum/scaling/",
    "practise/masks/",
    "reference/alibi/",
    MATRIX,
    NOWHERE,
)


def page_id(path: str) -> str:
    """Return a name for the home page, too."""
    return path or "home"


every_page = pytest.mark.parametrize(
    "visit", slow_except(SPECIMENS, PAGES), indirect=True, ids=page_id, scope="module"
)


@pytest.fixture(scope="module")
def visit(
    request: pytest.FixtureRequest,
    browser: Browser,
    browser_context_args: dict[str, Any],
    site: Site,
) -> Iterator[Visit]:
    """Open a page in a context of its own, once for all the tests below; no fault may follow."""
    with fresh_page(browser, browser_context_args) as page:
        visit = Visit(page, site)
        visit.open(request.param)
        yield visit
        assert visit.faults == []


@pytest.fixture
def unfolded(visit: Visit) -> Visit:
    """Return the page with every fold open."""
    visit.unfold()
    return visit


@every_page
def test_page_loads_without_faults_and_from_this_host_alone(visit: Visit) -> None:
    assert visit.faults == []


@every_page
def test_layout_does_not_shift_while_the_page_loads(visit: Visit) -> None:
    if visit.shift > 0.01:  # a font that comes late moves a line; the second time it is cached
        visit.open(visit.path)
    assert visit.shift <= 0.01


@every_page
def test_page_has_one_title_and_a_language(visit: Visit) -> None:
    assert visit.page.evaluate(TITLES_AND_LANGUAGE) == [1, "en"]


@every_page
def test_axe_finds_nothing_in_the_look_of_a_desk(unfolded: Visit) -> None:
    assert violations(unfolded.page) == []


@every_page
def test_page_fits_every_width_and_no_line_break_tears_a_formula(unfolded: Visit) -> None:
    for size in MANY_SIZES if unfolded.path.startswith(TEXTS) else SOME_SIZES:
        unfolded.resize(size)
        assert unfolded.page.evaluate(TOO_WIDE_OR_TORN) == [[], []], size


@every_page
def test_dark_colours_fit_a_phone_and_move_nothing(unfolded: Visit) -> None:
    """Nothing moves, so what fits every width in light colours fits it in dark ones.

    Images load before places are compared: at a new width a lazy image takes the shape of the one
    made for that width only once it loads.
    """
    unfolded.resize(PHONE)
    unfolded.switch_to("light")
    unfolded.page.evaluate(LOAD_ALL)
    light = unfolded.page.evaluate(PLACES)
    unfolded.switch_to("dark")
    unfolded.page.evaluate(LOAD_ALL)
    assert unfolded.page.evaluate(f"[({PLACES})(), ({TOO_WIDE})()]") == [light, []]


@every_page
def test_a_heading_over_columns_is_as_wide_as_they_are(unfolded: Visit) -> None:
    unfolded.resize(PHONE)
    assert unfolded.page.evaluate(UNEQUAL) == []


@every_page
def test_no_table_scrolls_sideways_on_a_phone(unfolded: Visit) -> None:
    unfolded.resize(PHONE)
    assert unfolded.page.evaluate(SIDEWAYS) == []


@pytest.mark.parametrize("visit", [MATRIX], indirect=True, ids=page_id, scope="module")
def test_the_table_of_libraries_fits_a_tablet_and_scrolls_alone_on_a_phone(visit: Visit) -> None:
    for size, is_wide in ((LAPTOP, 0), (TABLET, 0), (PHONE, 1)):
        visit.resize(size)
        assert visit.page.evaluate(WIDE_GRIDS) == is_wide
        assert visit.page.evaluate(TOO_WIDE) == []


@every_page
def test_keyboard_reaches_every_box_that_scrolls_on_a_phone(unfolded: Visit) -> None:
    unfolded.resize(PHONE)
    unfolded.page.evaluate(SETTLE)
    assert unfolded.page.evaluate(OUT_OF_REACH) == []


@every_page
def test_page_is_readable_on_paper_even_if_its_colours_are_dark(unfolded: Visit) -> None:
    unfolded.switch_to("dark")
    unfolded.page.emulate_media(media="print")
    unfolded.resize(PAPER)
    found = unfolded.page.evaluate(WRONG_ON_PAPER)
    unfolded.page.emulate_media(media="null")
    assert found == [[], [], []]


@every_page
def test_axe_finds_nothing_on_a_phone(unfolded: Visit) -> None:
    """Contrast takes most of the time, and colours are those of a desk, where it is checked."""
    unfolded.resize(PHONE)
    unfolded.switch_to("light")
    unfolded.page.evaluate(LOAD_ALL)
    assert violations(unfolded.page, but=CONTRAST) == []


@every_page
def test_dark_colours_have_enough_contrast(unfolded: Visit) -> None:
    """Of what axe-core checks, contrast alone depends on the colours, which no width changes."""
    unfolded.resize(LAPTOP)
    unfolded.switch_to("dark")
    unfolded.page.evaluate(LOAD_ALL)
    assert violations(unfolded.page, only=CONTRAST) == []


@pytest.mark.parametrize("path", slow_except(SPECIMENS[:-1], paths()), ids=page_id)
def test_page_fits_a_phone_and_shows_its_formulas_without_scripts(
    path: str, page_without_scripts: Page
) -> None:
    page = page_without_scripts
    page.set_viewport_size(PHONE)
    page.goto(path)
    assert page.evaluate(TOO_WIDE) == []
    if path in CHAPTERS:
        (is_set, is_not), unseen, fonts = page.evaluate(
            f"{FONTS}.then(fonts => [({SET_AND_NOT})(), ({UNSEEN})(), fonts])"
        )
        assert is_not == 0
        assert unseen == []
        if page.locator(".katex-html").count():
            assert is_set > 0
            assert "KaTeX_Main" in fonts
