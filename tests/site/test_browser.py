"""The site in a real browser: menu, keyboard, colours, navigation."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Literal

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from scripts.book.chapters import chapters
from tests.site.served import Site
from tests.site.visits import (
    DESK,
    PERMALINK,
    PHONE,
    SETTLE,
    TOGGLE,
    Visit,
    violations,
)

ARTICLE = ".md-content article"
CHAPTERS = [chapter for chapter in chapters() if chapter.first.startswith("chapters/")]
CHAPTER = "chapters/at-the-board/why/"  # short, with formulas and a section
FORMULAS = "chapters/by-hand/why/"  # some are wider than a phone
# Whether the focused element is visible; the colour switch shows its label instead.
STOP_IS_SEEN = """() => {
    const stop = document.activeElement;
    if (stop === document.body || stop.matches(".md-option")) return true;
    const {x, y, width, height} = stop.getClientRects()[0];  // the first line of a long link
    const seen = document.elementFromPoint(x + width / 2, y + height / 2);
    return seen !== null && (stop.contains(seen) || seen.contains(stop));
}"""
# Put the focus before the first element of the page, as after loading it.
FROM_THE_TOP = """() => {
    const top = document.createElement("i");
    top.tabIndex = -1;
    document.body.prepend(top);
    top.focus();
    top.remove();
}"""
VERDICT = re.compile("A is (right|wrong)")
PAPER = "getComputedStyle(document.body).backgroundColor"


BOXES = "article :is(.scroll, div.arithmatex, pre > code)"
# The indices of the boxes that scroll sideways, and of those that Tab stops at.
WIDE_AND_STOPS = f"""() => {{
    const boxes = [...document.querySelectorAll("{BOXES}")].filter(box => box.checkVisibility());
    const places = is => boxes.flatMap((box, place) => is(box) ? [place] : []);
    return [places(box => box.scrollWidth > box.clientWidth), places(box => box.tabIndex === 0)];
}}"""
# Tab stops at every box until it has been measured, which takes a frame, also after a font loads.
STOPS_WHERE_WIDE = f"""() => {{
    const [wide, stops] = ({WIDE_AND_STOPS})();
    return String(wide) === String(stops);
}}"""
# Load a font late that makes formulas wider while their boxes keep their height.
KEEP_HEIGHT = "article div.arithmatex { block-size: 3em }"
WIDEN = """async () => {
    document.fonts.add(new FontFace("late", "url(/assets/built/fonts/book-code-400-normal.woff2)"));
    const come = new Promise(done => document.fonts.addEventListener("loadingdone", done));
    document.head.insertAdjacentHTML("beforeend",
        "<style>article div.arithmatex .mord { font-family: late, serif }</style>");
    await come;
}"""


@pytest.fixture
def reader(page: Page, site: Site) -> Visit:
    return Visit(page, site)


@pytest.fixture
def home(reader: Visit) -> Visit:
    reader.open("")
    return reader


@pytest.fixture
def chapter(reader: Visit) -> Visit:
    reader.page.goto(CHAPTER)
    return reader


# Menu and keyboard


def test_menu_opens_on_a_phone_and_axe_finds_nothing(home: Visit) -> None:
    home.resize(PHONE)
    home.page.locator("header .menu:visible").click()
    expect(home.page.locator("nav.md-nav--primary a:visible").first).to_be_in_viewport()
    assert violations(home.page) == []
    home.page.keyboard.press("Escape")
    assert home.faults == []


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_tab_stops_only_at_visible_elements(size: ViewportSize, chapter: Visit) -> None:
    chapter.resize(size)
    chapter.page.evaluate(FROM_THE_TOP)
    for _ in range(12):
        chapter.page.keyboard.press("Tab")
        chapter.page.wait_for_function(STOP_IS_SEEN)  # menus take a moment to close


def test_menu_takes_the_focus_and_returns_it(chapter: Visit) -> None:
    chapter.resize(PHONE)
    menu = chapter.page.locator("header button.menu")
    menu.press("Enter")
    focus = chapter.page.locator("nav.md-nav--primary :focus")
    expect(focus).to_be_in_viewport()
    stops = 0
    while focus.count():
        expect(focus).to_be_in_viewport()
        chapter.page.keyboard.press("Tab")
        stops += 1
    assert stops > len(CHAPTERS)  # each chapter, and their section
    expect(menu).to_have_attribute("aria-expanded", "false")  # closed, since the focus has left it
    menu.press("Enter")
    chapter.page.keyboard.press("Escape")
    expect(menu).to_be_focused()
    expect(menu).to_have_attribute("aria-expanded", "false")


@pytest.fixture
def formulas(page: Page) -> Page:
    """Open a page with formulas and code on a phone."""
    page.set_viewport_size(PHONE)
    page.goto(FORMULAS, wait_until="networkidle")
    return page


def test_keyboard_reaches_every_box_after_a_change_of_width(formulas: Page) -> None:
    formulas.set_viewport_size(DESK)
    formulas.evaluate(SETTLE)
    formulas.set_viewport_size(PHONE)
    assert violations(formulas, only="scrollable-region-focusable") == []


def test_keyboard_stops_only_at_boxes_that_scroll(formulas: Page) -> None:
    formulas.wait_for_function(STOPS_WHERE_WIDE)
    wide, _ = formulas.evaluate(WIDE_AND_STOPS)
    assert 0 < len(wide) < formulas.locator(BOXES).count()


def test_keyboard_reaches_a_formula_that_a_late_font_widens(formulas: Page) -> None:
    formulas.add_style_tag(content=KEEP_HEIGHT)
    formulas.evaluate(SETTLE)
    before, _ = formulas.evaluate(WIDE_AND_STOPS)
    formulas.evaluate(WIDEN)
    formulas.wait_for_function(STOPS_WHERE_WIDE)
    wide, _ = formulas.evaluate(WIDE_AND_STOPS)
    assert len(wide) > len(before)


def test_permalink_leads_to_its_own_heading(chapter: Visit) -> None:
    heading = chapter.page.locator(f"{ARTICLE} h2[id]").last
    heading.hover()
    heading.locator(".headerlink").click()
    expect(chapter.page).to_have_url(f"{chapter.site.url}{CHAPTER}#{heading.get_attribute('id')}")
    expect(heading).to_be_in_viewport()
    links = chapter.page.locator(f"{ARTICLE} :is(h2, h3)[id] > .headerlink")
    pairs = links.evaluate_all("all => all.map(a => [a.hash, '#' + a.parentElement.id])")
    assert pairs
    assert all(target == own for target, own in pairs)


def test_a_jump_to_a_section_marks_it_in_the_sidebar(reader: Visit) -> None:
    reader.resize(DESK)
    reader.open("chapters/by-hand/clocks/#the-formula")
    marked = reader.page.locator(".md-nav--primary a.md-nav__link--active").last
    expect(marked).to_have_text("The formula")


def test_jump_within_a_page_keeps_the_filter_and_closes_the_menu(
    reader: Visit,
) -> None:
    page = reader.page
    page.goto("trust/claims/")
    page.get_by_label("false", exact=True).check()
    count = page.locator("output").inner_text()
    page.locator(f"{PERMALINK}:visible").first.click()
    place = page.locator(":target")
    expect(page).to_have_url(re.compile(f"verdict=false#{place.get_attribute('id')}$"))
    expect(page.locator("output")).to_have_text(count)
    reader.resize(PHONE)
    for _ in range(2):
        page.locator("header .menu:visible").click()
        page.locator("nav.md-nav--primary a[href^='#']").first.evaluate("a => a.click()")
        expect(page.locator("#__drawer")).not_to_be_checked()
    assert reader.faults == []


# Colours


def test_switched_colours_are_remembered(reader: Visit) -> None:
    reader.page.goto("")
    before = reader.page.evaluate(PAPER)
    reader.page.locator(TOGGLE).click()
    after = reader.page.evaluate(PAPER)
    assert after != before
    reader.page.reload()
    expect(reader.page.locator("body")).to_have_css("background-color", after)


@pytest.mark.parametrize(("system", "scheme"), [("light", "default"), ("dark", "slate")])
def test_first_visit_takes_the_colours_of_the_system(
    system: Literal["light", "dark"], scheme: str, page: Page
) -> None:
    page.emulate_media(color_scheme=system)
    page.goto("")
    expect(page.locator("body")).to_have_attribute("data-md-color-scheme", scheme)


# From page to page

# Record in the new page whether it fades in, in place of the old one.
FADES = """() => addEventListener("pagereveal", ({ viewTransition }) => {
    sessionStorage.fades = viewTransition !== null;
})"""


def next_page_fades_in(page: Page) -> bool:
    """Whether a page fades in within three visits.

    The browser leaves the fade out where the new page takes longer than four seconds.
    """
    for _ in range(3):
        page.goto("chapters/at-the-board/picture/")
        page.locator(f"a[href*='{PurePosixPath(CHAPTER).name}/']:visible").first.click()
        expect(page.locator(f"{ARTICLE} .katex-html").first).to_be_visible()
        if page.evaluate("sessionStorage.fades") == "true":
            return True
    return False


@pytest.mark.parametrize(("motion", "fades"), [("no-preference", True), ("reduce", False)])
def test_pages_fade_into_one_another_unless_motion_is_reduced(
    motion: Literal["no-preference", "reduce"], fades: bool, reader: Visit
) -> None:
    reader.page.emulate_media(reduced_motion=motion)
    reader.page.add_init_script(f"({FADES})()")
    assert next_page_fades_in(reader.page) is fades
    assert reader.faults == []


@pytest.fixture
def menu(reader: Visit) -> Locator:
    """The menu on a phone, at the parts of the book."""
    reader.resize(PHONE)
    reader.page.goto("schemes/rope/")
    reader.page.locator("header .menu:visible").click()
    menu = reader.page.locator(".md-nav--primary")
    menu.get_by_text("Schemes", exact=True).locator("visible=true").last.click()  # up
    return menu


def test_a_closed_part_of_the_menu_opens_in_place_and_leads_on(
    reader: Visit, menu: Locator
) -> None:
    page = reader.page
    for part in ("Fix it", "A museum of bugs"):
        menu.get_by_role("link", name=part, exact=True).locator("visible=true").click()
        title = menu.locator("label.md-nav__title", has_text=part).locator("visible=true")
        expect(title).to_be_focused()
        expect(page).to_have_url(re.compile("/schemes/rope/$"))
    title.click()  # up
    menu.get_by_role("link", name="Resize a learned table").locator("visible=true").click()
    expect(page).to_have_url(re.compile("/how-to/resize-a-table/$"))
    assert reader.faults == []


def test_a_part_of_the_menu_that_cannot_be_read_leads_to_its_first_page(
    reader: Visit, menu: Locator
) -> None:
    page = reader.page
    page.evaluate("() => { window.fetch = () => Promise.reject(new Error('offline')) }")
    menu.get_by_role("link", name="Play", exact=True).locator("visible=true").click()
    expect(page).to_have_url(re.compile("/explore/$"))
    assert reader.faults == []


def test_page_shown_again_closes_its_menu_and_takes_over_colours(reader: Visit) -> None:
    """As when the browser has kept a page while the reader was at another."""
    page = reader.page
    reader.resize(PHONE)
    page.goto("")
    page.locator("header .menu:visible").click()
    expect(page.locator("#__drawer")).to_be_checked()
    other = page.context.new_page()
    other.goto(CHAPTER)
    other.locator(TOGGLE).click()
    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
    expect(page.locator("#__drawer")).not_to_be_checked()
    expect(page.locator("body")).to_have_attribute("data-md-color-scheme", "slate")
    assert reader.faults == []


def test_back_and_forward_keep_the_filter_and_the_answers(reader: Visit) -> None:
    """The filter of the ledger and the answers of the quiz."""
    page = reader.page
    page.goto("trust/claims/?verdict=false")  # a short list, quick to lay out
    page.get_by_label("S0", exact=True).check()
    count = page.locator("output").inner_text()
    page.goto("chapters/check-yourself/quiz/")
    question = page.locator("#question-1")
    question.get_by_role("radio").first.check()
    question.get_by_role("button", name="Check").click()
    expect(question.get_by_role("status")).to_contain_text(VERDICT)
    page.go_back()
    expect(page.locator("output")).to_have_text(count)
    for chosen in ("false", "S0"):
        expect(page.get_by_label(chosen, exact=True)).to_be_checked()
    page.go_forward()
    expect(question.get_by_role("radio").first).to_be_checked()
    expect(question.get_by_role("status")).to_contain_text(VERDICT)
    assert reader.faults == []
