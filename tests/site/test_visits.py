"""The tests' own sight: faults are planted in a page, and every one is seen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.site.served import Site
from tests.site.test_every_page import PLACES, SET_AND_NOT, TORN, UNSEEN, WRONG_ON_PAPER
from tests.site.visits import DESK, LOAD_ALL, PHONE, TABLET, TOO_WIDE, Visit

PAGE = "reference/frequencies/"  # small, and with formulas
PLANTED = """
<div id="wide" style="min-width: 2000px">sticks out</div>
<img src="/gone.png" alt="">
<img id="elsewhere" src="http://127.0.0.1:9/elsewhere.png" alt="">
<p id="faint-by-day" style="color: #aaa">cannot be read by day</p>
<p id="faint-by-night" style="color: #333">cannot be read by night</p>
<p id="faint-always" style="color: #888; background: #999">cannot be read at all</p>
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
COVER = """() => {
    const cover = document.createElement("div");
    cover.style.cssText = "position: fixed; inset: 0; z-index: 99";
    cover.id = "cover";
    document.body.append(cover);
}"""
PLANT_A_LOOK = """() => {
    for (const part of document.querySelectorAll("[data-look-dark]"))
        part.removeAttribute("data-look-dark");
    document.querySelector("article").insertAdjacentHTML(
        "beforeend", "<p id=new style='color: #fed'>in a colour that nothing has</p>");
}"""


@pytest.fixture(scope="module")
def visit(tab: Page, site: Site) -> Iterator[Visit]:
    """Open a page and plant in it what no page may have."""
    visit = Visit(tab, site)
    visit.watch()
    visit.arrive(PAGE)
    assert visit.faults == []
    visit.page.evaluate(PLANT, [PLANTED, IN_THE_FRAME])
    visit.page.evaluate(LOAD_ALL)
    yield visit
    visit.leave()


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


def test_what_sticks_out_is_seen_at_every_width(visit: Visit) -> None:
    for size in (DESK, TABLET, PHONE):
        visit.resize(size)
        assert any("wide" in part for part in visit.page.evaluate(TOO_WIDE))
    visit.page.evaluate("document.getElementById('wide').remove()")
    for size in (DESK, TABLET, PHONE):
        visit.resize(size)
        assert visit.page.evaluate(TOO_WIDE) == []


def test_colours_that_move_something_are_seen(visit: Visit) -> None:
    visit.mark("light")
    by_day = visit.page.evaluate(PLACES)
    visit.mark("dark")
    by_night = visit.page.evaluate(PLACES)
    assert by_night != by_day
    assert len(by_night) == len(by_day)


def test_colours_that_a_reader_cannot_reach_are_not_turned(visit: Visit) -> None:
    visit.page.evaluate(COVER)
    with pytest.raises(AssertionError):
        visit.turn("light")
    visit.page.evaluate("document.getElementById('cover').remove()")
    visit.turn("light")


def test_what_paper_cannot_show_is_seen(visit: Visit) -> None:
    visit.page.emulate_media(media="print")
    not_for_paper, faint, cut_off = visit.page.evaluate(WRONG_ON_PAPER)
    visit.page.emulate_media(media="null")
    assert '<button id="nameless"></button>' in not_for_paper
    assert [0xAA, 0xAA, 0xAA] in faint
    assert cut_off == ["a line that is far longer than its box is wide"]


def test_formulas_that_are_torn_or_not_there_are_seen(visit: Visit) -> None:
    torn = visit.page.evaluate(TEAR)
    assert visit.page.evaluate(TORN) == [torn]
    visit.page.evaluate(TAKE_AWAY)
    is_set, is_not = visit.page.evaluate(SET_AND_NOT)
    assert is_set > is_not == 1
    assert len(visit.page.evaluate(UNSEEN)) == 1


def test_axe_sees_what_a_page_has_outside_its_parts(visit: Visit) -> None:
    found = visit.violations_at("dark", DESK)
    assert planted(found, "region") == ["outside"]
    assert planted(found, "label") == ["unlabelled"]
    assert {"faint-by-night", "faint-in-the-frame"} <= {*planted(found, "color-contrast")}


def test_axe_sees_what_cannot_be_read_named_or_reached(visit: Visit) -> None:
    found = visit.violations()
    assert visit.page.locator("[data-stands-in]").count() > 5
    assert planted(found, "color-contrast") == [
        "faint-always",
        "faint-by-day",
        "faint-by-night",
        "faint-in-the-frame",
        "formula",
        "link",
    ]
    assert planted(found, "button-name") == ["nameless"]
    assert planted(found, "image-alt") == ["speechless"]
    assert planted(found, "label") == ["unlabelled"]
    assert planted(found, "aria-allowed-attr") == ["odd"]
    assert planted(found, "link-in-text-block") == ["link"]
    assert planted(found, "avoid-inline-spacing") == ["tight"]
    assert planted(found, "scrollable-region-focusable") == ["stuck"]


def test_of_looks_that_pages_share_only_the_new_ones_are_marked(visit: Visit) -> None:
    for _ in range(3):
        visit.marked = []
        visit.mark("dark")
    visit.page.evaluate(PLANT_A_LOOK)
    visit.marked = []
    visit.mark("dark")
    marked = visit.page.locator("[data-look-dark]")
    assert marked.evaluate_all("all => all.map(part => part.id)") == ["new"]


def planted(violations: list[str], rule: str) -> list[str]:
    """Return the names of what has broken a rule; other parts of the formula have none."""
    places = [line.split(": ")[2] for line in violations if line.startswith(rule)]
    names = {place.partition("#")[2].partition(" ")[0].strip("']") for place in places}
    return sorted(names - {""})
