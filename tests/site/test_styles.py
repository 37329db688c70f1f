"""The one sheet has no more rules than it needs, and no change has more styled than it must."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from scripts.site.styles import BARE, COMMENT, RULE, lean, may_match, parts, used
from tests.site.served import Site
from tests.site.visits import SETTLE, TOGGLE, UNFOLD


@pytest.mark.parametrize(
    ("css", "kept"),
    [
        ("p{top:0}", "p{top:0}"),
        (".a{top:0}.no{top:0}", ".a{top:0}"),
        (".a,.no .a,p{top:0}", ".a,p{top:0}"),
        (".no-more{top:0}", ""),
        (".from-here,.a--b{top:0}", ".from-here{top:0}"),
        (".a:not(.no),.a:has(.no){top:0}", ".a:not(.no),.a:has(.no){top:0}"),
        ('.a[title=".no"]{top:0}', '.a[title=".no"]{top:0}'),
        ("@media print{.no{top:0}@supports (top:0){.no{top:0}}}.a{top:0}", ".a{top:0}"),
        ("@font-face{src:url(a.no)}@page{margin:0}", "@font-face{src:url(a.no)}@page{margin:0}"),
        ("@keyframes x{from{top:0}12.5%{top:1px}}", "@keyframes x{from{top:0}12.5%{top:1px}}"),
        ("/* {.a} */.a{top:0}", ".a{top:0}"),
        (f"{BARE} td{{top:0}}table.a{{top:0}}", "table.a{top:0}"),
        (":is(.a, .b) > :is(td, th):hover{top:0}", None),
        ("p:is(.a,.b){top:0}", "p.a,p.b{top:0}"),
        ("p:is(i,b){top:0}", "p:is(i,b){top:0}"),
        (".a:is(.b, p){top:0}", ".a:is(.b, p){top:0}"),
        (".a:not(:is(.b, .a)){top:0}", ".a:not(:is(.b, .a)){top:0}"),
    ],
)
def test_a_sheet_keeps_what_may_match(css: str, kept: str | None) -> None:
    if kept is None:
        kept = ".a > td:hover,.a > th:hover,.b > td:hover,.b > th:hover{top:0}"
    assert lean(css, {"a", "b", "from-"}) == kept


def test_a_table_without_a_class_keeps_its_rules() -> None:
    assert BARE not in used(['<table class="a">', '<table id="b" class="a">'], [])
    assert BARE in used(["<p><table><tr>"], [])
    assert BARE in used(['<table id="b">'], [])


def test_classes_are_those_of_elements_and_of_scripts_that_give_them() -> None:
    page = """<p class="one two"><b class='three'><script>x.add("four")</script>"""
    script = "query('.no five'); a.six; add(`seven--${eight}`)"
    found = used([page], [script])
    assert found >= {"one", "two", "three", "four", "five", "seven--"}
    assert not found & {"no", "six"}


def left_out(folder: Path) -> list[str]:
    """Return the selectors that the sheets have from which the one was made, and it has not."""
    pages = [page.read_text(encoding="utf-8") for page in folder.rglob("*.html")]
    files = [*folder.glob("assets/js/**/*.js"), *folder.glob("assets/javascripts/*.js")]
    seen = used(pages, [file.read_text(encoding="utf-8") for file in files])
    sheets = [*folder.glob("assets/stylesheets/*.css"), *folder.glob("assets/built/*.css")]
    css = "".join(sheet.read_text(encoding="utf-8") for sheet in sheets)
    rules = RULE.finditer(COMMENT.sub("", css))
    selectors = {part for rule in rules for part in parts(rule["selectors"])}
    return sorted(selector for selector in selectors if not may_match(selector, seen))


# What selectors find on a page, of which the part behind :: is drawn, and not found.
FOUND = """selectors => selectors.filter(selector => {
    const element = selector.replace(/::?(before|after|marker|placeholder|[-]\\w[\\w-]*)/g, "");
    return document.querySelector(element);
})"""


def answer(page: Page) -> None:
    """Get a verdict and a score."""
    page.locator(".question input").first.check()
    page.locator(".question .check").first.click()


def search(page: Page) -> None:
    """Get results."""
    page.locator(".md-search__input").fill("rotary")
    page.locator(".md-search-result__item").first.wait_for()


@pytest.mark.parametrize(
    ("path", "act"),
    [("", search), ("chapters/check-yourself/", answer), ("explore/rope/", None)],
    ids=["search", "quiz", "explorer"],
)
def test_what_is_left_out_matches_nothing_that_scripts_make(
    path: str, act: Callable[[Page], None] | None, site: Site, page: Page
) -> None:
    page.goto(path)
    if act:
        act(page)
    selectors = left_out(site.folder)
    assert len(selectors) > 500
    assert page.evaluate(FOUND, selectors) == []


def styled(browser: Browser, page: Page, act: Callable[[], object]) -> float:
    """Return how often an act has the page styled: once if each of its elements is, one time."""
    browser.start_tracing(page=page, categories=["devtools.timeline"])
    act()
    page.evaluate(SETTLE)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    passes = [event for event in events if event["name"] == "UpdateLayoutTree"]
    elements = sum(event["args"].get("elementCount", 0) for event in passes)
    there: int = page.evaluate("document.querySelectorAll('body *').length")
    return float(elements / there)


LIGHT_OR_DARK = """() => {
    const root = document.documentElement;
    root.style.color = "CanvasText";
    const [red] = getComputedStyle(root).color.match(/\\d+/);
    root.style.color = "";
    return red < 128 ? "light" : "dark";
}"""
REDRAW = "document.querySelector('article p').append(document.createElement('b'))"


def test_a_page_is_styled_once_at_its_load_and_once_at_each_change(
    browser: Browser, page: Page
) -> None:
    """The window around the page has its colours, and a class or an element more costs nothing."""
    page.goto("about:blank")
    assert styled(browser, page, lambda: page.goto("reference/baselines/")) < 2
    page.evaluate(UNFOLD)
    assert page.evaluate(LIGHT_OR_DARK) == "light"
    assert styled(browser, page, page.locator(TOGGLE).click) < 2
    assert page.evaluate(LIGHT_OR_DARK) == "dark"
    page.reload()
    assert page.evaluate(LIGHT_OR_DARK) == "dark"
    one_more = "document.documentElement.classList.toggle('unrolls')"
    assert styled(browser, page, lambda: page.evaluate(one_more)) < 0.2
    page.emulate_media(media="print")
    page.evaluate(SETTLE)
    assert styled(browser, page, lambda: page.evaluate(REDRAW)) < 0.2
