"""The site as a reader uses it, in a real browser: search, menu, keyboard, colours, back, paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect
from served import DOCS, Site, paths
from visits import DESK, PHONE, SETTLE, TOGGLE, Visit, violations

ARTICLE = ".md-content article"
CHAPTERS = [path for path in paths() if path.startswith("chapters/")]
CHAPTER = "chapters/at-the-board/"  # the shortest
EXPLORERS = sorted(path.stem for path in DOCS.glob("explore/*.md") if path.stem != "index")
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
VERDICT = re.compile("A is (right|wrong)")
PAPER = "getComputedStyle(document.body).backgroundColor"


@pytest.fixture
def reader(page: Page, site: Site) -> Visit:
    """Return a reader at a desk, with an empty tab."""
    visit = Visit(page, site)
    visit.watch()
    return visit


# Search


@pytest.fixture(scope="module")
def search(tab: Page, site: Site) -> Iterator[Visit]:
    """Open the home page, from which a reader searches: to read the index takes a while."""
    visit = Visit(tab, site)
    visit.watch()
    visit.arrive("")
    yield visit
    visit.leave()


def results(page: Page, typed: str) -> list[str]:
    """Type into the search, and return the pages that it finds, the likeliest first."""
    field, found = page.locator(".md-search__input"), page.locator("a.md-search-result__link")
    field.fill("")
    field.press("End")  # it listens to keys
    expect(found).to_have_count(0)
    field.fill(typed)
    field.press("End")
    expect(found.first).to_be_attached()
    addresses = found.evaluate_all("all => all.map(link => link.href.split(/[?#]/)[0])")
    return list(dict.fromkeys(addresses))


def test_search_finds_what_readers_type(search: Visit) -> None:
    found = {term: results(search.page, term)[:5] for term in TERMS}
    missed = [term for term, path in TERMS.items() if search.site.url + path not in found[term]]
    assert {term: found[term] for term in missed} == {}
    assert search.faults == []
    results(search.page, "wave")
    search.page.keyboard.press("Escape")


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_search_is_walked_with_tab_and_left_with_escape(size: ViewportSize, search: Visit) -> None:
    search.resize(size)
    field, find = search.page.locator(".md-search__input"), search.page.locator(".find")
    find.press("Enter") if size is PHONE else search.page.keyboard.press("/")
    expect(field).to_be_focused()
    search.page.keyboard.press("Control+A")
    search.page.keyboard.type("wavelength")
    found = search.page.locator(".md-search-result__link")
    expect(found.and_(search.page.locator("[href*='h=wavelength']"))).not_to_have_count(0)
    search.page.keyboard.press("Tab")
    expect(found.first).to_be_focused()
    search.page.keyboard.press("Escape")
    expect(search.page.locator(".md-search__output")).to_be_hidden()
    expect(find if size is PHONE else field).to_be_focused()


def test_search_finds_a_word(search: Visit) -> None:
    search.resize(DESK)
    search.page.locator(".md-search__input").focus()
    search.page.keyboard.press("Control+A")
    search.page.keyboard.type("wavelength")
    first = search.page.locator(".md-search-result__link").first
    expect(first).to_be_visible()
    assert violations(search.page) == []
    first.click()
    expect(search.page.locator(ARTICLE)).to_contain_text("wavelength", ignore_case=True)
    assert search.faults == []


# Menu and keyboard


def test_contents_open_on_a_phone(reader: Visit) -> None:
    reader.resize(PHONE)
    reader.page.goto("")
    reader.page.locator("header .menu:visible").click()
    expect(reader.page.locator("nav.md-nav--primary a:visible").first).to_be_in_viewport()
    assert violations(reader.page) == []
    assert reader.faults == []


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_tab_stops_only_where_something_is_seen(size: ViewportSize, reader: Visit) -> None:
    reader.resize(size)
    reader.page.goto(CHAPTER)
    for _ in range(12):
        reader.page.keyboard.press("Tab")
        reader.page.wait_for_function(STOP_IS_SEEN)  # what closes takes a moment


def test_drawer_takes_the_focus_and_gives_it_back(reader: Visit) -> None:
    reader.resize(PHONE)
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


def test_permalink_leads_to_its_heading_and_is_its_own(reader: Visit) -> None:
    reader.page.goto(CHAPTER)
    heading = reader.page.locator(f"{ARTICLE} h2[id]").last
    heading.hover()
    heading.locator(".headerlink").click()
    expect(reader.page).to_have_url(f"{reader.site.url}{CHAPTER}#{heading.get_attribute('id')}")
    expect(heading).to_be_in_viewport()
    links = reader.page.locator(f"{ARTICLE} :is(h2, h3)[id] > .headerlink")
    pairs = links.evaluate_all("all => all.map(a => [a.hash, '#' + a.parentElement.id])")
    assert pairs
    assert all(target == own for target, own in pairs)


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
    system: Literal["light", "dark"], scheme: str, browser: Browser, site: Site
) -> None:
    with browser.new_context(color_scheme=system) as window:
        page = window.new_page()
        page.goto(site.url)
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


def walk(page: Page, path: str) -> None:
    """Follow a link of the open page to another page of the site, which is not loaded anew.

    The theme needs a moment after a page has changed before it answers to the next click.
    """
    page.wait_for_load_state("networkidle")
    page.evaluate(SETTLE)
    link = page.locator(f"a[href$='{path}'], a[href$='{path.split('/')[-2]}/']").first
    link.evaluate("link => link.click()")
    expect(page).to_have_url(re.compile(f"{path}$"))


@pytest.fixture(scope="module")
def tour(tab: Page, site: Site) -> Iterator[Visit]:
    """Open the list of explorers, from which a reader goes to each and comes back."""
    visit = Visit(tab, site)
    visit.watch()
    visit.arrive("explore/")
    visit.page.evaluate("window.here = true")
    yield visit
    visit.leave()


@pytest.mark.parametrize("name", EXPLORERS)
def test_an_explorer_lives_on_over_other_pages_and_back(name: str, tour: Visit) -> None:
    page = tour.page
    said, turned = page.locator(f"explore-{name} [role=status]"), page.locator(f"explore-{name}")
    walk(page, f"explore/{name}/")
    expect(said).not_to_be_empty()
    turned.get_by_role("slider").last.press("ArrowRight")
    expect(page).to_have_url(re.compile(rf"\?{name}\."))
    address, saying = page.url, said.inner_text()
    page.locator(".tabs a").last.click()
    expect(turned).to_have_count(0)
    page.go_back()
    expect(said).to_have_text(saying)
    assert page.url == address
    turned.get_by_role("slider").last.press("ArrowLeft")
    expect(page).not_to_have_url(address)
    if name == EXPLORERS[0]:  # what the theme does is the same with each
        page.go_forward()
        expect(turned).to_have_count(0)
        page.go_back()
        expect(turned.get_by_role("slider")).not_to_have_count(0)
    page.go_back()
    expect(page).to_have_url(f"{tour.site.url}explore/")
    expect(turned).to_have_count(0)
    assert page.evaluate("window.here"), "a page was loaded anew"
    assert tour.faults == []


def test_back_and_forward_keep_what_was_chosen(reader: Visit) -> None:
    """The ledger's filter and the quiz's answers, with pages between them."""
    page = reader.page
    page.goto("trust/claims/")
    page.evaluate("window.here = true")
    page.get_by_label("false", exact=True).check()
    count = page.locator("output").inner_text()
    walk(page, "chapters/check-yourself/")
    question = page.locator("#question-1")
    question.get_by_role("radio").first.check()
    question.get_by_role("button", name="Check").click()
    expect(question.get_by_role("status")).to_contain_text(VERDICT)
    page.go_back()
    expect(page.locator("output")).to_have_text(count)
    expect(page.get_by_label("false", exact=True)).to_be_checked()
    page.go_forward()
    expect(question.get_by_role("radio").first).to_be_checked()
    expect(question.get_by_role("status")).to_contain_text(VERDICT)
    assert page.evaluate("window.here"), "a page was loaded anew"
    assert reader.faults == []
