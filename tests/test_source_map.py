"""Every item of the sources has its counterpart: a place in the built site that treats it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from served import Site
from treated import Places

from scripts import sourcemap
from scripts.book import DOCS
from scripts.sourcemap import Item, Source, sources

# How many items each of the five texts has, and on how many lines they stand.
ITEMS = {"S0": (94, 513), "S1": (88, 1066), "S2": (29, 116), "S3": (63, 201), "S4": (70, 441)}
CHAPTERS = {
    "S0": "chapters/by-hand.md",
    "S1": "chapters/build-it.md",
    "S2": "chapters/at-the-board.md",
    "S3": "chapters/prove-it.md",
    "S4": "chapters/check-yourself.md",
}
LEAST_NOTICED = 0.95  # of all the wrong places that an item of a text could be said to have


def the(name: str) -> Source:
    """Return a source, or say that its file is not there."""
    found = sources()
    assert name in found, f"docs/data/sources/ has no file for {name}"
    return found[name]


def missing(name: str, items: list[Item]) -> set[str]:
    """Return the items that a source has and the map has not."""
    return {f"{name}-{n:02d}" for n in range(1, ITEMS[name][0] + 1)} - {item.id for item in items}


@cache
def places(page: Path) -> Places:
    return Places(page)


def built(site: Site, page: str) -> Places:
    return places(site.folder / page.removesuffix(".md") / "index.html")


def anchors(items: list[Item], page: str) -> frozenset[str]:
    """Return the addresses on a page at which some of these items have their places."""
    return frozenset(item.anchor for item in items if item.page == page)


def said(site: Site, at: Item, items: list[Item]) -> str:
    """Return what the book says at the place of an item, up to the next place of its source."""
    return built(site, at.page).said(at.anchor, anchors(items, at.page)).lower()


def treats(text: str, item: Item) -> bool:
    """Return whether a text holds the words without which it would not treat an item."""
    return all(str(term).lower() in text for term in item.terms)


def dead(site: Site, items: list[Item]) -> list[str]:
    """Return the items whose address is not on its page, or more than once."""
    return [i.id for i in items if built(site, i.page).ids.count(i.anchor) != 1]


def untreated(site: Site, items: list[Item]) -> list[str]:
    """Return the items whose place does not treat them."""
    return [item.id for item in items if not treats(said(site, item, items), item)]


def test_the_map_is_of_five_texts() -> None:
    assert {name: source.page for name, source in sources().items()} == CHAPTERS


@pytest.mark.parametrize("name", ITEMS)
def test_no_item_is_missing(name: str) -> None:
    items = the(name).items
    assert not missing(name, items)
    assert [item.id for item in items] == sorted({item.id for item in items})
    assert len(items) == ITEMS[name][0]


@pytest.mark.parametrize("name", ITEMS)
def test_items_stand_in_the_order_of_their_source(name: str) -> None:
    spans = [item.span for item in the(name).items]
    assert all(first <= last for first, last in spans)
    assert all(before[1] < after[0] for before, after in pairwise(spans))
    assert spans[0][0] >= 1
    assert spans[-1][1] <= ITEMS[name][1]


@pytest.mark.parametrize("name", ITEMS)
def test_an_item_says_what_it_is_and_by_what_words_its_place_is_known(name: str) -> None:
    for item in the(name).items:
        assert item.kind, item
        assert item.what, item
        assert 1 <= len(item.terms) <= 5, item


@pytest.mark.parametrize("name", ITEMS)
def test_every_item_has_an_address_that_exists(name: str, site: Site) -> None:
    assert not dead(site, the(name).items)


@pytest.mark.parametrize("name", ITEMS)
def test_every_place_treats_its_item(name: str, site: Site) -> None:
    assert not untreated(site, the(name).items)


@pytest.mark.parametrize("name", ITEMS)
def test_places_come_in_the_order_of_the_source(name: str, site: Site) -> None:
    """A mirror keeps the order: on its own page no item stands in a section before the last's."""
    source = the(name)
    own = [item for item in source.items if item.page == source.page]
    sections = [built(site, source.page).section(item.anchor) for item in own]
    back = [b.id for (a, b), (x, y) in zip(pairwise(own), pairwise(sections), strict=True) if y < x]
    assert not back


@pytest.mark.parametrize("name", ITEMS)
def test_a_wrong_place_is_noticed(name: str, site: Site) -> None:
    """Give each item every other place of its page in turn: its words are hardly ever there."""
    items, unnoticed, wrong = the(name).items, 0, 0
    for item in items:
        others = anchors(items, item.page) - {item.anchor}
        texts = [said(site, replace(item, at=f"{item.page}#{other}"), items) for other in others]
        wrong += len(texts)
        unnoticed += sum(treats(text, item) for text in texts)
    assert unnoticed <= (1 - LEAST_NOTICED) * wrong, f"{unnoticed} of {wrong} wrong places pass"


def test_a_planted_fault_is_noticed(site: Site) -> None:
    first, second, *rest = the("S0").items
    assert missing("S0", [first, *rest]) == {"S0-02"}
    gone = replace(second, at=f"{second.page}#gone")
    assert dead(site, [first, gone, *rest]) == ["S0-02"]
    elsewhere = replace(second, at=f"{second.page}#rope")
    assert untreated(site, [first, elsewhere, *rest]) == ["S0-02"]
    misread = replace(second, terms=["carburettor"])
    assert untreated(site, [first, misread, *rest]) == ["S0-02"]


def test_the_page_is_what_the_data_say() -> None:
    """`make update` makes it again."""
    assert (DOCS / sourcemap.MAP).read_text("utf-8") == sourcemap.page()


@pytest.mark.parametrize("name", ITEMS)
def test_the_page_leads_to_every_place(name: str, site: Site) -> None:
    page = (site.folder / "trust" / "sources" / "index.html").read_text("utf-8")
    for item in the(name).items:
        row = page.split(f">{item.id}<")[1].split("</tr>")[0]
        assert f'href="../../{item.page.removesuffix(".md")}/#{item.anchor}"' in row, item.id
        assert sourcemap.lines_shown(item.lines) in row
