"""The site as a reader uses it, in a real browser: search, menu, keyboard, colours, back, paper."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import BrowserContext, Page, Route, ViewportSize, expect

from tests.site.explorers import await_theme, walk
from tests.site.served import Site, paths
from tests.site.visits import (
    CLICK_AFTER_SCROLL,
    DESK,
    PATIENCE,
    PERMALINK,
    PHONE,
    SCROLLS_ALONE,
    SETTLE,
    TOGGLE,
    Visit,
    violations,
)

ARTICLE = ".md-content article"
CHAPTERS = [path for path in paths() if path.startswith("chapters/")]
CHAPTER = "chapters/at-the-board/"  # the shortest
# What a reader types, and a page that has to be among the first five.
TERMS = {
    "sinusoidal": "reference/sinusoidal/",
    "wavelength": "reference/frequencies/",
    "by hand": "chapters/by-hand/",
    "rope": "reference/rotary/",
    "rotary": "reference/rotary/",
    "alibi": "reference/alibi/",
    "slopes": "explore/alibi/",
    "t5": "reference/t5/",
    "buckets": "reference/t5/",
    "swin": "reference/swin/",
    "learned positions": "reference/learned/",
    "relative": "reference/relative/",
    "attention": "reference/attention/",
    "permutation": "chapters/build-it/",
    "orthogonal": "chapters/prove-it/",
    "yarn": "reference/scaling/",
    "ntk": "reference/scaling/",
    "concatenate": "reference/combine/",
    "tokenizer": "reference/tokenizer/",
    "diagnose": "how-to/diagnose/",
    "quiz": "chapters/check-yourself/",
}
# Whether the place where Tab has arrived can be seen; the switch of colours shows its label.
STOP_IS_SEEN = """() => {
    const stop = document.activeElement;
    if (stop === document.body || stop.matches(".md-option")) return true;
    const {x, y, width, height} = stop.getClientRects()[0];  // the first line of a long link
    const seen = document.elementFromPoint(x + width / 2, y + height / 2);
    return seen !== null && (stop.contains(seen) || seen.contains(stop));
}"""
# As when the page has just been loaded: Tab leads to its first stop.
FROM_THE_TOP = """() => {
    const top = document.createElement("i");
    top.tabIndex = -1;
    document.body.prepend(top);
    top.focus();
    top.remove();
}"""
# Type what is to be found, and wait until something is; what was found before is cleared first.
TYPE = """async ([typed, patience]) => {
    const field = document.querySelector(".md-search__input");
    const found = document.querySelector(".md-search-result__list");
    const links = () => [...found.querySelectorAll("a.md-search-result__link")];
    const write = (text, ready) => new Promise(done => {
        const look = () => { if (ready()) { watch.disconnect(); done(); } };
        const watch = new MutationObserver(look);
        watch.observe(found, {childList: true, subtree: true});
        setTimeout(done, patience);
        field.focus();
        field.value = text;
        field.dispatchEvent(new KeyboardEvent("keyup", {bubbles: true}));
        look();
    });
    await write("", () => links().length === 0);
    await write(typed, () => links().length > 0);
    return links().map(link => link.href.split(/[?#]/)[0]);
}"""
VERDICT = re.compile("A is (right|wrong)")
PAPER = "getComputedStyle(document.body).backgroundColor"


BOXES = "article :is(.scroll, div.arithmatex, pre > code)"
# The places of the boxes that scroll sideways, and of those that the keyboard stops at.
WIDE_AND_STOPS = f"""() => {{
    const boxes = [...document.querySelectorAll("{BOXES}")].filter(box => box.checkVisibility());
    const places = is => boxes.flatMap((box, place) => is(box) ? [place] : []);
    return [places(box => box.scrollWidth > box.clientWidth), places(box => box.tabIndex === 0)];
}}"""
# A box is a stop until it has been measured, which takes a frame, and again after a typeface comes.
STOPS_WHERE_WIDE = f"""() => {{
    const [wide, stops] = ({WIDE_AND_STOPS})();
    return String(wide) === String(stops);
}}"""
# The page asks for time to lay itself out once it is loaded, and then part by part.
LAY_OUT = """() => {
    while (waiting.length) waiting.shift()();
    const parts = [...document.querySelectorAll(".unrolls .md-content__inner > h2 ~ *")];
    return parts.every(part => part.style.contentVisibility === "visible");
}"""
# The letters of formulas come late, and are wider than those that stand in for them; the boxes of
# formulas keep their height.
KEEP_HEIGHT = "article div.arithmatex { block-size: 3em }"
WIDEN = """async () => {
    document.fonts.add(new FontFace("late", "url(/assets/built/fonts/book-code-400-normal.woff2)"));
    const come = new Promise(done => document.fonts.addEventListener("loadingdone", done));
    document.head.insertAdjacentHTML("beforeend",
        "<style>article div.arithmatex .mord { font-family: late, serif }</style>");
    await come;
}"""


@pytest.fixture
def reader(page: Page, site: Site) -> Iterator[Visit]:
    """Return a reader at a desk, with an empty tab."""
    visit = Visit(page, site)
    visit.watch()
    yield visit
    visit.leave()


@pytest.fixture(scope="module")
def home(tab: Page, site: Site) -> Iterator[Visit]:
    """Open the home page, from which a reader searches: to read the index takes a while."""
    visit = Visit(tab, site)
    visit.watch()
    visit.arrive("")
    yield visit
    visit.leave()


# Search


def results(page: Page, typed: str) -> list[str]:
    """Type into the search, and return the pages that it finds, the likeliest first."""
    addresses = page.evaluate(TYPE, [typed, PATIENCE])
    return list(dict.fromkeys(addresses))


def test_search_finds_what_readers_type(home: Visit) -> None:
    found = {term: results(home.page, term)[:5] for term in TERMS}
    missed = [term for term, path in TERMS.items() if home.site.url + path not in found[term]]
    assert {term: found[term] for term in missed} == {}
    assert home.faults == []
    results(home.page, "wave")
    home.page.keyboard.press("Escape")


def write(page: Page, text: str) -> None:
    """Write into the search in place of what is there, at once, so that one answer comes."""
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(text)
    page.keyboard.press("End")  # it listens to keys


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_search_is_walked_with_tab_and_left_with_escape(size: ViewportSize, home: Visit) -> None:
    home.resize(size)
    field, find = home.page.locator(".md-search__input"), home.page.locator(".find")
    find.press("Enter") if size is PHONE else home.page.keyboard.press("/")
    expect(field).to_be_focused()
    write(home.page, "wavelength")
    found = home.page.locator(".md-search-result__link")
    expect(found.and_(home.page.locator("[href*='h=wavelength']"))).not_to_have_count(0)
    home.page.keyboard.press("Tab")
    expect(found.first).to_be_focused()
    home.page.keyboard.press("Escape")
    expect(home.page.locator(".md-search__output")).to_be_hidden()
    expect(find if size is PHONE else field).to_be_focused()


def test_contents_open_on_a_phone(home: Visit) -> None:
    home.resize(PHONE)
    home.page.locator("header .menu:visible").click()
    expect(home.page.locator("nav.md-nav--primary a:visible").first).to_be_in_viewport()
    assert violations(home.page) == []
    home.page.keyboard.press("Escape")
    assert home.faults == []


def test_search_finds_a_word(home: Visit) -> None:
    home.resize(DESK)
    home.page.locator(".md-search__input").focus()
    write(home.page, "wavelength")
    first = home.page.locator(".md-search-result__link").first
    expect(first).to_be_visible()
    assert violations(home.page) == []
    first.click()
    expect(home.page.locator(ARTICLE)).to_contain_text("wavelength", ignore_case=True)
    assert home.faults == []


# Menu and keyboard


@pytest.fixture(scope="module")
def chapter(tab: Page, site: Site) -> Iterator[Visit]:
    """Open a chapter, through which a reader goes by keyboard."""
    visit = Visit(tab, site)
    visit.watch()
    visit.page.goto(CHAPTER)
    yield visit
    visit.leave()


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_tab_stops_only_where_something_is_seen(size: ViewportSize, chapter: Visit) -> None:
    chapter.resize(size)
    chapter.page.evaluate(FROM_THE_TOP)
    for _ in range(12):
        chapter.page.keyboard.press("Tab")
        chapter.page.wait_for_function(STOP_IS_SEEN)  # what closes takes a moment


def test_drawer_takes_the_focus_and_gives_it_back(chapter: Visit) -> None:
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
    assert stops > len(CHAPTERS)  # each of them, and the part of the book
    expect(menu).to_have_attribute("aria-expanded", "false")  # the focus has gone on to the page
    menu.press("Enter")
    chapter.page.keyboard.press("Escape")
    expect(menu).to_be_focused()
    expect(menu).to_have_attribute("aria-expanded", "false")


@pytest.fixture
def waits(window: BrowserContext) -> Iterator[Page]:
    """Open a narrow chapter in a browser that has no time yet to lay out what is far below."""
    with window.new_page() as waits:
        waits.add_init_script("waiting = []; requestIdleCallback = (lay) => waiting.push(lay)")
        waits.set_viewport_size(PHONE)
        waits.goto("chapters/by-hand/", wait_until="networkidle")
        yield waits


def test_what_scrolls_can_be_reached_before_it_is_laid_out(waits: Page) -> None:
    assert violations(waits, SCROLLS_ALONE) == []
    waits.set_viewport_size(DESK)
    waits.evaluate(SETTLE)
    waits.set_viewport_size(PHONE)
    assert violations(waits, SCROLLS_ALONE) == []


def test_once_all_is_laid_out_only_what_scrolls_is_a_stop_of_the_keyboard(waits: Page) -> None:
    waits.wait_for_function(LAY_OUT)
    waits.wait_for_function(STOPS_WHERE_WIDE)
    wide, _ = waits.evaluate(WIDE_AND_STOPS)
    assert 0 < len(wide) < waits.locator(BOXES).count()


def test_formula_that_a_late_typeface_widens_can_be_reached(waits: Page) -> None:
    waits.evaluate("document.documentElement.classList.remove('unrolls')")
    waits.add_style_tag(content=KEEP_HEIGHT)
    waits.evaluate(SETTLE)
    before, _ = waits.evaluate(WIDE_AND_STOPS)
    waits.evaluate(WIDEN)
    waits.wait_for_function(STOPS_WHERE_WIDE)
    wide, _ = waits.evaluate(WIDE_AND_STOPS)
    assert len(wide) > len(before)


def test_permalink_leads_to_its_heading_and_is_its_own(chapter: Visit) -> None:
    heading = chapter.page.locator(f"{ARTICLE} h2[id]").last
    heading.hover()
    heading.locator(".headerlink").click()
    expect(chapter.page).to_have_url(f"{chapter.site.url}{CHAPTER}#{heading.get_attribute('id')}")
    expect(heading).to_be_in_viewport()
    links = chapter.page.locator(f"{ARTICLE} :is(h2, h3)[id] > .headerlink")
    pairs = links.evaluate_all("all => all.map(a => [a.hash, '#' + a.parentElement.id])")
    assert pairs
    assert all(target == own for target, own in pairs)


def test_jump_keeps_what_was_chosen_and_closes_the_menu_also_when_it_leads_nowhere_new(
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
        page.locator("nav.md-nav--primary a[href*='/claims/#']").first.evaluate("a => a.click()")
        expect(page.locator("#__drawer")).not_to_be_checked()
    assert reader.faults == []


@pytest.fixture
def slow(reader: Visit) -> Iterator[tuple[Page, list[str]]]:
    """Open a chapter on a phone, whose network is slow from then on; note what is asked of it."""
    reader.resize(PHONE)
    reader.page.goto(CHAPTER)
    await_theme(reader.page)
    asked = []

    def answer_late(route: Route) -> None:
        asked.append(route.request.url.removeprefix(reader.site.url))
        time.sleep(0.4)
        route.continue_()

    reader.page.route("**/", answer_late)
    yield reader.page, asked
    assert reader.faults == []


@pytest.mark.parametrize("pause", [0, 50, 100])
def test_jump_right_after_scrolling_leads_to_its_heading_and_asks_for_no_page(
    pause: int, slow: tuple[Page, list[str]]
) -> None:
    page, asked = slow
    for _ in range(2):
        came, top = page.evaluate(f"pause => ({CLICK_AFTER_SCROLL})('{PERMALINK}', pause)", pause)
        assert came
        assert 0 <= top < 100
    assert asked == []
    page.go_back()
    expect(page).to_have_url(re.compile(f"{CHAPTER}$"))


@pytest.mark.parametrize("pause", [0, 50, 100])
def test_link_followed_right_after_scrolling_opens_its_page_at_the_top(
    pause: int, slow: tuple[Page, list[str]]
) -> None:
    page, asked = slow
    link = "article a[href$='/chapters/prove-it/']"
    assert page.evaluate(f"pause => ({CLICK_AFTER_SCROLL})(`{link}`, pause)", pause) == [True, 0]
    assert asked == ["chapters/prove-it/"]
    page.go_back()
    expect(page.locator("h1")).to_contain_text("At the board")
    page.wait_for_function("scrollY === 700")


# Colours


def test_toggle_changes_the_colours_and_is_remembered(reader: Visit) -> None:
    reader.page.goto("")
    before = reader.page.evaluate(PAPER)
    reader.page.locator(TOGGLE).click()
    after = reader.page.evaluate(PAPER)
    assert after != before
    reader.page.reload()
    expect(reader.page.locator("body")).to_have_css("background-color", after)


@pytest.mark.parametrize(("system", "scheme"), [("light", "default"), ("dark", "slate")])
def test_a_new_reader_gets_the_colours_that_the_system_asks_for(
    system: Literal["light", "dark"], scheme: str, page: Page
) -> None:
    page.emulate_media(color_scheme=system)
    page.goto("")
    expect(page.locator("body")).to_have_attribute("data-md-color-scheme", scheme)


# Pages that change without a reload


def test_pages_come_without_a_reload(reader: Visit) -> None:
    reader.page.goto("")
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


def test_back_and_forward_keep_what_was_chosen(reader: Visit) -> None:
    """The ledger's filter and the quiz's answers, with pages between them."""
    page = reader.page
    page.goto("trust/claims/?verdict=false")  # few, which are quickly laid out
    page.evaluate("window.here = true")
    page.get_by_label("S0", exact=True).check()
    count = page.locator("output").inner_text()
    walk(page, "chapters/check-yourself/")
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
    assert page.evaluate("window.here"), "a page was loaded anew"
    assert reader.faults == []
