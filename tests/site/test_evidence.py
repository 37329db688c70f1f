"""The evidence is hidden until the reader asks for it, and then shown on every page."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from scripts.book.claims import claims_on_page
from tests.site.served import Site
from tests.site.visits import DESK, PHONE, Visit, violations

PAGE = "chapters/by-hand/clocks"
PROOFS = "chapters/prove-it/rope/"  # has tests, theorems and claims
EVIDENCE = "article .checked"
VISIBLE = f"{EVIDENCE}:visible"


def switch(page: Page) -> Locator:
    return page.get_by_role("button", name="Show the evidence", exact=True)


def all_is_shown(page: Page) -> bool:
    return page.locator(VISIBLE).count() == page.locator(EVIDENCE).count() > 0


def test_evidence_is_hidden_at_first_and_the_switch_shows_all_of_it(page: Page) -> None:
    page.goto(PROOFS)
    expect(page.locator(VISIBLE)).to_have_count(0)
    expect(switch(page)).to_have_attribute("aria-pressed", "false")
    switch(page).click()
    expect(switch(page)).to_have_attribute("aria-pressed", "true")
    assert all_is_shown(page)
    for kind in (".formal", ".ledger", ":not(details)"):
        expect(page.locator(f"{EVIDENCE}{kind}").first).to_be_visible()
    switch(page).click()
    expect(page.locator(VISIBLE)).to_have_count(0)


def test_choice_is_kept_for_other_pages_and_for_a_page_that_is_returned_to(page: Page) -> None:
    page.goto(PROOFS)
    page.goto(f"{PAGE}/")
    switch(page).click()
    page.go_back()
    expect(switch(page)).to_have_attribute("aria-pressed", "true")
    assert all_is_shown(page)
    page.route("**/evidence*.js", lambda route: route.abort())
    page.goto("chapters/prove-it/shift/")  # shown from the first frame, before the switch works
    assert all_is_shown(page)
    page.unroute_all()
    page.goto(PROOFS)
    switch(page).click()
    page.goto(f"{PAGE}/")
    expect(switch(page)).to_have_attribute("aria-pressed", "false")
    expect(page.locator(VISIBLE)).to_have_count(0)


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_keyboard_reaches_the_switch_and_a_fold_opens_in_place(
    size: dict[str, int], page: Page, site: Site
) -> None:
    visit = Visit(page, site)
    visit.open(f"{PAGE}/")
    visit.resize(size)  # type: ignore[arg-type]
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('button.evidence')"):
            break
    page.keyboard.press("Space")
    fold = page.locator("details.ledger").first
    fold.locator("summary").press("Enter")
    claim = claims_on_page(f"{PAGE}.md")
    number = fold.locator(".names").first.get_attribute("id")
    told = {f"ledger-{one.id.lower()}": one for found in claim.values() for one in found}
    expect(fold).to_contain_text(told[number or ""].quote)
    assert page.url == f"{site.url}{PAGE}/"
    assert violations(page) == []
    assert visit.faults == []


def test_address_of_a_claim_shows_the_evidence_and_opens_its_fold(page: Page) -> None:
    [claim, *_] = next(iter(claims_on_page(f"{PAGE}.md").values()))
    entry = page.locator(f"#ledger-{claim.id.lower()}")
    page.goto(f"{PAGE}/#ledger-{claim.id.lower()}")
    expect(entry).to_be_in_viewport()
    expect(switch(page)).to_have_attribute("aria-pressed", "true")
    page.goto(f"{PAGE}/#clocks")
    page.reload()
    expect(switch(page)).to_have_attribute("aria-pressed", "false")
    page.evaluate(f"location.hash = '#ledger-{claim.id.lower()}'")
    expect(entry).to_be_in_viewport()


def test_without_scripts_the_evidence_is_shown_and_the_switch_is_not(
    page_without_scripts: Page,
) -> None:
    page_without_scripts.goto(PROOFS)
    assert all_is_shown(page_without_scripts)
    expect(page_without_scripts.locator("button.evidence")).to_be_hidden()


def test_tests_are_named_on_paper_and_claims_are_not(page: Page) -> None:
    page.goto(PROOFS)
    page.emulate_media(media="print")
    claims, lines = page.locator(f"{EVIDENCE}.ledger"), page.locator(f"{EVIDENCE}:not(.ledger)")
    expect(claims.first).to_be_hidden()
    expect(lines.first).to_be_visible()


def test_only_pages_with_evidence_that_can_be_hidden_have_the_switch(page: Page) -> None:
    page.goto("trust/claims/?verdict=false")
    expect(switch(page)).to_have_count(0)
    expect(page.locator("article.claim .checked:visible").first).to_be_visible()
    page.goto("practise/sines/")
    expect(page.locator(EVIDENCE)).to_have_count(0)
    expect(switch(page)).to_have_count(0)
