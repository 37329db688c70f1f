"""The tests' own sight: faults are planted in a page, and every one is seen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page
from served import Site
from visits import LOAD_ALL, NARROW_AND_DARK, PHONE, Visit

pytestmark = pytest.mark.no_cover  # it runs no line of posenc that others do not

PAGE = "reference/frequencies/"  # small, and with formulas
PLANTED = """
<div id="wide" style="min-width: 2000px">sticks out</div>
<img src="/gone.png" alt="">
<img id="elsewhere" src="http://127.0.0.1:9/elsewhere.png" alt="">
<p id="faint-by-day" style="color: #aaa">cannot be read by day</p>
<p id="faint-by-night" style="color: #333">cannot be read by night</p>
<button id="nameless"></button>
<div id="stuck" style="overflow: auto; width: 9em">
  <p style="min-width: 90em">a line that is far longer than its box is wide</p>
</div>
"""
PLANT = """planted => {
    const article = document.querySelector("article");
    article.insertAdjacentHTML("beforeend", planted);
    const formula = article.querySelector(".katex:has(.mop)").cloneNode(true);
    formula.style.color = "#aaa";
    formula.querySelector(".mop").id = "formula";
    article.append(formula);
    console.error("an error is said");
    setTimeout(() => { throw new Error("an error is thrown"); });
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
    wide = [line for line in visit.too_wide() if "wide" in line]
    assert [line.partition(":")[0] for line in wide] == ["at 1440", "at 768", "at 360"]
    visit.page.evaluate("document.getElementById('wide').remove()")
    assert visit.too_wide() == []


def test_axe_sees_what_cannot_be_read_named_or_reached(visit: Visit) -> None:
    visit.prepare()
    assert visit.page.locator("[data-stands-in]").count() > 5
    by_day = visit.violations()
    assert planted(by_day, "color-contrast") == ["faint-by-day", "formula"]
    assert planted(by_day, "button-name") == ["nameless"]
    visit.resize(PHONE)
    visit.turn("dark")
    narrow_and_dark = visit.violations(NARROW_AND_DARK)
    assert planted(narrow_and_dark, "scrollable-region-focusable") == ["stuck"]
    assert planted(narrow_and_dark, "color-contrast") == ["faint-by-night"]


def planted(violations: list[str], rule: str) -> list[str]:
    """Return the names of what has broken a rule; other parts of the formula have none."""
    places = [line.split(": ")[2] for line in violations if line.startswith(rule)]
    names = {place.partition("#")[2].partition(" ")[0].strip("']") for place in places}
    return sorted(names - {""})
