"""The tests' own sight: faults are planted in a page, and every one is seen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page
from served import Site
from visits import DESK, LOAD_ALL, PHONE, TABLET, TOO_WIDE, Visit

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
"""
PLANT = """planted => {
    const article = document.querySelector("article");
    article.insertAdjacentHTML("beforeend", planted);
    const formula = article.querySelector(".katex:has(.mop)").cloneNode(true);
    const part = formula.querySelector(".mop");
    part.style.color = "#abb";
    part.id = "formula";
    article.append(formula);
    console.error("an error is said");
    setTimeout(() => { throw new Error("an error is thrown"); });
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
    visit.page.evaluate(PLANT, PLANTED)
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


def test_axe_sees_what_cannot_be_read_named_or_reached(visit: Visit) -> None:
    found = visit.violations_of_the_article()
    assert visit.page.locator("[data-stands-in]").count() > 5
    assert planted(found, "color-contrast") == [
        "faint-always",
        "faint-by-day",
        "faint-by-night",
        "formula",
        "link",
    ]
    assert planted(found, "button-name") == ["nameless"]
    assert planted(found, "image-alt") == ["speechless"]
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
