"""A correction quotes first and then says what is right, and the ledger backs each *often*."""

from __future__ import annotations

import re
from functools import cache

import pytest

from scripts.book import pages
from scripts.book.claims import claims
from scripts.book.render import render

OFTEN, ONCE = "Often printed otherwise", "Printed in one of our sources"
PAGES = [page for page in pages.paths() if "\n!!! correction" in pages.text(page)]
BOX = re.compile(r'<div class="admonition correction">\n.*?\n</div>(?=\n|\Z)', re.S)
CLAIM = re.compile(r"claims\.md#(c\d-\d\d)")
FOLDS: list[list[str]] = [[], ["checked"], ["checked ledger"], ["checked", "checked ledger"]]
ORDERS = [["wrong", "right", *folds] for folds in FOLDS]


@cache
def corrections(page: str) -> list[str]:
    """Return the HTML of the corrections on a page."""
    text = pages.text(page)
    found = BOX.findall(render(text))
    assert len(found) == text.count("\n!!! correction")
    return found


def sources(html: str) -> set[str]:
    """Return the sources of the claims that a correction links to, and of those judged alike."""
    linked = {name.upper() for name in CLAIM.findall(html)}
    alike = {claim.id for claim in claims() if linked & set(claim.like)}
    alike |= {other for claim in claims() if claim.id in linked for other in claim.like}
    return {claim.source for claim in claims() if claim.id in linked | alike}


def faults(html: str) -> list[str]:
    """Return what is wrong with a correction."""
    title = re.search(r'<p class="admonition-title">(.*?)</p>', html)
    words = title[1] if title else ""
    order = re.findall(r'^<\w+ class="(wrong|right|checked ledger|checked)', html, re.M)
    quotation = html.partition('class="wrong"')[2].partition("</p>")[0]
    several = len(sources(html)) > 1 or "footnote-ref" in quotation
    wrong = {
        "another title": words not in {OFTEN, ONCE},
        "parts missing or in another order": order not in ORDERS,
        "leads to no claim of the ledger": not sources(html),
        "often, and shows one source": words == OFTEN and not several,
    }
    return [what for what, is_so in wrong.items() if is_so]


@pytest.mark.parametrize("path", PAGES)
def test_every_correction_quotes_first_and_has_the_title_that_the_ledger_backs(path: str) -> None:
    found = {box[:300]: faults(box) for box in corrections(path)}
    assert {box: wrong for box, wrong in found.items() if wrong} == {}


def test_chapters_keep_twenty_to_thirty_corrections() -> None:
    chapters = [page for page in PAGES if page.startswith("chapters/")]
    assert 20 <= sum(len(corrections(page)) for page in chapters) <= 30


def test_a_planted_fault_in_a_correction_is_noticed() -> None:
    boxes = [*corrections("chapters/by-hand/index.md"), *corrections("chapters/by-hand/code.md")]
    often = next(box for box in boxes if OFTEN in box and "footnote-ref" not in box)
    once = next(box for box in boxes if ONCE in box)
    swapped = often.replace('class="wrong"', "W").replace('class="right"', 'class="wrong"')
    swapped = swapped.replace("W", 'class="right"')
    assert faults(swapped) == ["parts missing or in another order"]
    assert faults(once.replace(ONCE, OFTEN)) == ["often, and shows one source"]
    assert faults(once.replace(ONCE, "Wrong")) == ["another title"]
    assert faults(CLAIM.sub("claims.md#", once)) == ["leads to no claim of the ledger"]
