"""Every item of the sources has its counterpart: a place in the built site that covers it."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from scripts.book import pages, sourcemap_page
from scripts.book.chapters import chapter_of, chapters
from scripts.book.data import front_matter
from scripts.book.sourcemap_page import Item, Source, sources
from tests.site.anchored_text import Places
from tests.site.served import Site, address

# How many items each of the five texts has, and on how many lines they stand.
ITEMS = {"S0": (94, 513), "S1": (88, 1066), "S2": (29, 116), "S3": (63, 201), "S4": (70, 441)}
CHAPTERS = {
    "S0": "chapters/by-hand/index.md",
    "S1": "chapters/build-it/index.md",
    "S2": "chapters/at-the-board/index.md",
    "S3": "chapters/prove-it/index.md",
    "S4": "chapters/check-yourself/index.md",
}
LEAST_NOTICED = 0.95  # of the wrong places tried for the items of a source


def source_named(name: str) -> Source:
    """Return a source, or fail if its file is missing."""
    found = sources()
    assert name in found, f"docs/data/sources/ has no file for {name}"
    return found[name]


def missing(name: str, items: list[Item]) -> set[str]:
    """Return the items of a source that the map lacks."""
    return {f"{name}-{n:02d}" for n in range(1, ITEMS[name][0] + 1)} - {item.id for item in items}


@cache
def places(page: Path) -> Places:
    return Places(page)


def built_places(site: Site, page: str) -> Places:
    return places(site.folder / address(page) / "index.html")


def anchors(items: list[Item], page: str) -> frozenset[str]:
    """Return the addresses on a page at which some of these items have their places."""
    return frozenset(item.anchor for item in items if item.page == page)


def item_text(site: Site, at: Item, items: list[Item]) -> str:
    """Return the text at the place of an item, up to the next place of its source."""
    return built_places(site, at.page).text_at(at.anchor, anchors(items, at.page)).lower()


def missing_terms(text: str, item: Item) -> list[str]:
    """Return the terms of an item that a text lacks."""
    return [term for term in item.terms if term.lower() not in text]


def dead_items(site: Site, items: list[Item]) -> list[str]:
    """Return the items whose address is missing from its page or repeated, with the address."""
    counts = [(item, built_places(site, item.page).ids.count(item.anchor)) for item in items]
    return [f"{i.id}: {i.at} is there {times} times" for i, times in counts if times != 1]


def untreated_items(site: Site, items: list[Item]) -> list[str]:
    """Return the items that their place does not cover, with the place and the missing terms."""
    found = [(item, missing_terms(item_text(site, item, items), item)) for item in items]
    return [f"{item.id}: {item.at} does not say {words}" for item, words in found if words]


def test_the_map_covers_the_five_sources() -> None:
    assert {name: source.page for name, source in sources().items()} == CHAPTERS


@pytest.mark.parametrize("name", ITEMS)
def test_no_item_is_missing(name: str) -> None:
    """Items are numbered in the order of the source's lines, and each is complete."""
    items, (count, lines) = source_named(name).items, ITEMS[name]
    assert not missing(name, items)
    assert [item.id for item in items] == sorted({item.id for item in items})
    assert len(items) == count
    places = [place for item in items for place in item.span]
    assert places == sorted(places)
    assert 1 <= places[0] <= places[-1] <= lines
    assert all(before.span[1] < after.span[0] for before, after in pairwise(items))
    assert [item for item in items if not (item.kind and item.what)] == []
    assert [item for item in items if not 1 <= len(item.terms) <= 5] == []


@pytest.mark.parametrize("name", ITEMS)
def test_every_item_has_an_address_that_exists(name: str, site: Site) -> None:
    assert not dead_items(site, source_named(name).items)


@pytest.mark.parametrize("name", ITEMS)
def test_every_place_treats_its_item(name: str, site: Site) -> None:
    assert not untreated_items(site, source_named(name).items)


@pytest.mark.parametrize("name", ITEMS)
def test_places_come_in_the_order_of_the_source(name: str, site: Site) -> None:
    """In the source's own chapter no item is in an earlier section than the item before it."""
    source = source_named(name)
    chapter = chapter_of(source.page).pages
    own = [item for item in source.items if item.page in chapter]
    sections = [
        (chapter.index(item.page), built_places(site, item.page).section(item.anchor))
        for item in own
    ]
    pairs = zip(pairwise(own), pairwise(sections), strict=True)
    back = [f"{b.id}: {b.at} stands above {a.at}, {a.id}" for (a, b), (x, y) in pairs if y < x]
    assert not back


@pytest.mark.parametrize("name", ITEMS)
def test_a_wrong_place_is_noticed(name: str, site: Site) -> None:
    """Give each item every other place of its page in turn: its words are hardly ever there."""
    items, unnoticed, wrong = source_named(name).items, 0, 0
    texts = {(item.page, item.anchor): item_text(site, item, items) for item in items}
    for item in items:
        own = (item.page, item.anchor)
        others = [text for at, text in texts.items() if at[0] == item.page and at != own]
        wrong += len(others)
        unnoticed += sum(not missing_terms(text, item) for text in others)
    assert unnoticed <= (1 - LEAST_NOTICED) * wrong, f"{unnoticed} of {wrong} wrong places pass"


def test_a_planted_fault_is_noticed(site: Site) -> None:
    first, second, *rest = source_named("S0").items
    assert missing("S0", [first, *rest]) == {"S0-02"}
    gone = replace(second, at=f"{second.page}#gone")
    there = f"S0-02: {second.page}#gone is there 0 times"
    assert dead_items(site, [first, gone, *rest]) == [there]
    with pytest.raises(LookupError, match="by-hand has no address #gone"):
        untreated_items(site, [first, gone, *rest])
    elsewhere = replace(second, at=f"{second.page}#why-this-happens")
    [complaint] = untreated_items(site, [first, elsewhere, *rest])
    assert complaint.startswith(f"S0-02: {second.page}#why-this-happens does not say ['")
    misread = replace(second, terms=[*second.terms, "carburettor"])
    there = f"S0-02: {second.at} does not say ['carburettor']"
    assert untreated_items(site, [first, misread, *rest]) == [there]


@pytest.mark.parametrize(
    ("says", "instead", "complaint"),
    [
        ("kind: prose, ", "", "001.yml: items/S1-01: 'kind' is a required property"),
        ("kind:", "sort: odd, kind:", "001.yml: items/S1-01: .*'sort' was unexpected"),
        ("kind:", "kind: list, kind:", "001.yml: .* line 4 .* 'kind' more than once"),
        ("title:", "title: Other\ntitle:", "001.yml: .* line 1 .* 'title' more than once"),
        ("page:", "page: a.md\nplace:", "001.yml: .*'place' was unexpected"),
    ],
)
def test_missing_unknown_and_duplicate_fields_are_rejected(
    says: str, instead: str, complaint: str, tmp_path: Path
) -> None:
    item = '{ lines: "1-2", kind: prose, what: "it", anchor: here, terms: [it] }'
    text, file = f"title: A\npage: a.md\nitems:\n  S1-01: {item}\n", tmp_path / "001.yml"
    file.write_text(text, "utf-8")
    assert [found.id for found in sources(tmp_path)["S1"].items] == ["S1-01"]
    file.write_text(text.replace(says, instead), "utf-8")
    with pytest.raises(ValueError, match=complaint):
        sources(tmp_path)


def test_chapter_pages_have_the_number_shown_in_the_menu() -> None:
    """A page without a number there belongs to a chapter above it, or to none, which is 0."""
    numbers, numbered = [0], []
    for chapter in chapters():
        if chapter.first.startswith("chapters/"):
            found = re.match(r"\d(?= )", chapter.title)
            numbers += [int(found[0])] if found else []
            numbered += [chapter.first] * bool(found)
            matters = [front_matter(pages.text(page)) for page in chapter.pages]
            allowed = numbers[-1:] if found else numbers
            assert {matter["chapter"] for matter in matters} <= {*allowed}, chapter
    assert numbered == [*CHAPTERS.values()]


@pytest.mark.parametrize("name", ITEMS)
def test_the_page_links_to_every_place(name: str, site: Site) -> None:
    page = (site.folder / "trust" / "sources" / "index.html").read_text("utf-8")
    for item in source_named(name).items:
        row = page.split(f">{item.id}<")[1].split("</tr>")[0]
        assert f'href="../../{address(item.page)}#{item.anchor}"' in row, item.id
        assert sourcemap_page.format_lines(item.lines) in row
