"""The formula sheet prints on one page of A4, with all that the screen shows."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

SHEET = "chapters/formula-sheet/"
A4 = (595, 842)  # points
# Elements that are missing in print, or overflow their column.
CUT_OFF = """(() => {
    const sheet = document.querySelector(".sheet"), {right, bottom} = sheet.getBoundingClientRect();
    return [...sheet.querySelectorAll("h2, p:not(.names), .katex-html, td")].filter(part => {
        const box = part.getBoundingClientRect();
        return !(box.width && box.height) || box.right > right + 1 || box.bottom > bottom + 1;
    }).map(part => part.textContent);
})()"""
UNSTYLED = """for (const {cssRules} of document.styleSheets)
    for (let n = cssRules.length; n--;)
        if (cssRules[n].cssText.includes("sheet")) cssRules[n].parentStyleSheet.deleteRule(n)"""


def printed(page: Page) -> bytes:
    """Return the page as a PDF, printed by Chromium on the paper size of its style."""
    page.evaluate("document.fonts.ready")
    return page.pdf(prefer_css_page_size=True)


def pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))


def test_the_sheet_is_one_page_of_a4(page: Page) -> None:
    page.goto(SHEET)
    pdf = printed(page)
    assert pages(pdf) == 1
    size = re.search(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    assert size is not None
    assert tuple(round(float(side)) for side in size.groups()) == A4
    assert pages(page.pdf(format="A4")) == 1  # also if the printer sets the size


def test_sheet_needs_its_print_style_to_fit_one_page(page: Page) -> None:
    page.goto(SHEET)
    page.evaluate(UNSTYLED)
    assert pages(page.pdf(format="A4")) > 1


def test_all_of_the_sheet_is_on_the_paper(page: Page) -> None:
    page.set_viewport_size({"width": 718, "height": 1054})  # A4 within its margins
    page.goto(SHEET)
    on_screen = page.locator(".sheet h2").count()
    page.emulate_media(media="print")
    page.evaluate("document.fonts.ready")
    expect(page.locator(".sheet h2:visible")).to_have_count(on_screen)
    assert page.evaluate(CUT_OFF) == []


def test_the_lead_names_the_button_that_shows_the_tests(page: Page) -> None:
    page.goto(SHEET)
    expect(page.locator(".sheet .checked:visible")).to_have_count(0)
    label = page.locator("button.evidence").get_attribute("aria-label")
    expect(page.locator(".lead")).to_contain_text(label or "no such button")


def test_every_formula_of_the_sheet_names_its_test_and_its_function(page: Page) -> None:
    page.goto(SHEET)
    page.get_by_role("button", name="Show the evidence").click()
    sections = page.locator(".sheet h2").all()
    assert page.locator(".sheet .checked").count() == len(sections)
    assert page.locator(".sheet .computed").count() == len(sections) - 1
    for section in sections:
        identity = section.get_attribute("id")
        evidence = page.locator(f"#{identity} ~ .checked").first
        count = re.fullmatch(r"Checked by (\d) tests?", evidence.inner_text())
        assert count is not None, identity
        names = evidence.locator("code").all_text_contents()
        assert len(names) == int(count[1])
        assert all(re.fullmatch(r"test_\w+", name) for name in names), identity
        if identity != "parameters":  # a count, which no function computes
            computed = page.locator(f"#{identity} ~ .computed").first
            assert re.match(r"Computed by\s\w+", computed.inner_text()), identity
            below = evidence.evaluate("fold => fold.previousElementSibling.className")
            assert below == "computed", identity


def test_the_printed_sheet_names_no_test(page: Page) -> None:
    page.goto(SHEET)
    page.get_by_role("button", name="Show the evidence").click()
    page.locator(".sheet .checked > summary").first.click()
    expect(page.locator(".sheet .names:visible")).to_have_count(1)
    page.emulate_media(media="print")
    expect(page.locator(".sheet .names:visible")).to_have_count(0)
    assert "test_" not in page.locator(".sheet").inner_text()
    assert "Checked by 1 test" in page.locator(".sheet").inner_text()
