"""What the tests of every page can see: faults are planted in a page, and each is found."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, ViewportSize

from tests.site.served import Site
from tests.site.test_every_page import PLACES, SET_AND_NOT, TORN, UNSEEN, WRONG_ON_PAPER
from tests.site.visits import (
    DESK,
    LAPTOP,
    LOAD_ALL,
    OUT_OF_REACH,
    PHONE,
    TABLET,
    TOO_WIDE,
    Visit,
    violations,
)

PAGE = "reference/frequencies/"  # small, and with formulas
PLANTED = """
<div id="wide" style="min-width: 2000px">sticks out</div>
<img src="/gone.png" alt="">
<img id="elsewhere" src="http://127.0.0.1:9/elsewhere.png" alt="">
<p id="faint-by-day" style="color: #aaa">cannot be read by day</p>
<p id="faint-by-night" style="color: #333">cannot be read by night</p>
<p id="faint-always" style="color: #888; background: #999">cannot be read at all</p>
<details><summary>A fold</summary>
<p id="faint-in-a-fold" style="color: #888; background: #999">cannot be read at all</p>
</details>
<button id="nameless"></button>
<img id="speechless"
  src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7">
<div id="odd" role="checkbox" tabindex="0" aria-label="odd" aria-level="1"></div>
<p>A sentence with <a id="link" href="#x" style="color: #333; text-decoration: none">a
link</a> that by day looks like the rest.</p>
<p id="tight" style="letter-spacing: 0 !important">letters that nobody can pull apart</p>
<div id="stuck" style="overflow: auto; width: 9em">
  <p style="min-width: 90em">a line that is far longer than its box is wide</p>
</div>
<style>[data-md-color-scheme=slate] #tight { padding-top: 9px }</style>
"""
IN_THE_FRAME = """
<p id="faint-in-the-frame" style="color: #333">cannot be read by night</p>
<input id="unlabelled">
"""
PLANT = """([planted, inTheFrame]) => {
    const article = document.querySelector("article");
    article.insertAdjacentHTML("beforeend", planted);
    document.querySelector("footer").insertAdjacentHTML("beforeend", inTheFrame);
    document.body.insertAdjacentHTML("beforeend", "<p id=outside>on no part of the page</p>");
    const formula = article.querySelector(".katex:has(.mop)").cloneNode(true);
    const part = formula.querySelector(".mop");
    part.style.color = "#abb";
    part.id = "formula";
    article.append(formula);
    console.error("an error is said");
    setTimeout(() => { throw new Error("an error is thrown"); });
}"""

TEAR = """() => {
    const formula = document.querySelector("article p span.arithmatex");
    formula.after(document.createElement("br"), ".");
    return formula.querySelector("annotation").textContent;
}"""
TAKE_AWAY = """() => {
    const [formula, other] = document.querySelectorAll("article p span.arithmatex");
    formula.textContent = "";
    other.querySelector(".katex-html").style.display = "none";
}"""
REMOVE_WIDE = "document.getElementById('wide').remove()"
COVER = """() => {
    const cover = document.createElement("div");
    cover.style.cssText = "position: fixed; inset: 0; z-index: 99";
    cover.id = "cover";
    document.body.append(cover);
}"""
FAINT = {
    "light": ["faint-always", "faint-by-day", "faint-in-a-fold", "formula"],
    "dark": ["faint-always", "faint-by-night", "faint-in-a-fold", "faint-in-the-frame", "link"],
}


@pytest.fixture
def visit(page: Page, site: Site) -> Visit:
    """Open a page and plant faults in it."""
    visit = Visit(page, site)
    visit.open(PAGE)
    assert visit.faults == []
    page.evaluate(PLANT, [PLANTED, IN_THE_FRAME])
    page.evaluate(LOAD_ALL)
    return visit


def test_errors_and_requests_are_seen(visit: Visit) -> None:
    faults = "\n".join(visit.faults)
    for fault in (
        "console: an error is said",
        "script: an error is thrown",
        "console: broken picture",
        f"status 404: {visit.site.url}gone.png",
        "third party: http://127.0.0.1:9/elsewhere.png",
        "failed: http://127.0.0.1:9/elsewhere.png",
    ):
        assert fault in faults


def test_layout_shifts_are_seen(visit: Visit) -> None:
    before = visit.page.evaluate("window.shift")
    visit.page.evaluate("scrollTo(0, 0), document.body.style.paddingTop = '300px'")
    visit.page.wait_for_function("before => window.shift > before + 0.01", arg=before)


def test_element_that_sticks_out_is_seen_at_every_width(visit: Visit) -> None:
    for size in (DESK, TABLET, PHONE):
        visit.resize(size)
        assert any("wide" in part for part in visit.page.evaluate(TOO_WIDE))
    visit.page.evaluate(REMOVE_WIDE)
    for size in (DESK, TABLET, PHONE):
        visit.resize(size)
        assert visit.page.evaluate(TOO_WIDE) == []


def test_box_that_the_keyboard_cannot_scroll_is_seen(visit: Visit) -> None:
    visit.resize(PHONE)
    (found,) = visit.page.evaluate(OUT_OF_REACH)
    assert "a line that is far longer" in found


def test_colours_that_move_something_are_seen(visit: Visit) -> None:
    light = visit.page.evaluate(PLACES)
    visit.switch_to("dark")
    dark = visit.page.evaluate(PLACES)
    assert dark != light
    assert len(dark) == len(light)


def test_colours_do_not_switch_if_something_covers_the_button(visit: Visit) -> None:
    visit.page.evaluate(COVER)
    with pytest.raises(AssertionError):
        visit.switch_to("dark")
    visit.page.evaluate("document.getElementById('cover').remove()")
    visit.switch_to("dark")


def test_faults_on_paper_are_seen(visit: Visit) -> None:
    visit.page.evaluate(REMOVE_WIDE)
    visit.page.emulate_media(media="print")
    not_for_paper, faint, cut_off = visit.page.evaluate(WRONG_ON_PAPER)
    assert '<button id="nameless"></button>' in not_for_paper
    assert [0xAA, 0xAA, 0xAA] in faint
    assert cut_off == ["a line that is far longer than its box is wide"]


def test_torn_and_missing_formulas_are_seen(visit: Visit) -> None:
    torn = visit.page.evaluate(TEAR)
    assert visit.page.evaluate(TORN) == [torn]
    visit.page.evaluate(TAKE_AWAY)
    is_set, is_not = visit.page.evaluate(SET_AND_NOT)
    assert is_set > is_not == 1
    assert len(visit.page.evaluate(UNSEEN)) == 1


@pytest.mark.parametrize("scheme", FAINT)
@pytest.mark.parametrize("size", [PHONE, LAPTOP], ids=["phone", "laptop"])
def test_axe_sees_every_planted_fault(size: ViewportSize, scheme: str, visit: Visit) -> None:
    visit.page.evaluate(REMOVE_WIDE)
    visit.unfold()
    visit.resize(size)
    visit.switch_to(scheme)
    found = violations(visit.page)
    assert planted(found, "color-contrast") == FAINT[scheme]
    assert planted(found, "link-in-text-block") == (["link"] if scheme == "light" else [])
    assert planted(found, "button-name") == ["nameless"]
    assert planted(found, "image-alt") == ["speechless"]
    assert planted(found, "label") == ["unlabelled"]
    assert planted(found, "aria-allowed-attr") == ["odd"]
    assert planted(found, "avoid-inline-spacing") == ["tight"]
    assert planted(found, "scrollable-region-focusable") == ["stuck"]
    assert planted(found, "region") == ["outside"]


def planted(violations: list[str], rule: str) -> list[str]:
    """Return the ids of the planted elements that break a rule."""
    places = [line.split(": ")[2] for line in violations if line.startswith(rule)]
    names = {place.partition("#")[2].partition(" ")[0].strip("']") for place in places}
    return sorted(names - {""})
