"""Every item of the sources has its counterpart: a place in the built site that exists."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
import yaml
from served import Site

from scripts.book import DATA

MAP: dict[str, dict[str, Any]] = yaml.safe_load((DATA / "source-map.yml").read_text("utf-8"))

# How many items each source has, and on how many lines they stand.
ITEMS = {"000": (94, 513)}


def lines_of(items: dict[str, dict[str, str]]) -> Iterator[tuple[int, int]]:
    for item in items.values():
        first, last = item["lines"].split("-")
        yield int(first), int(last)


@pytest.mark.parametrize("source", ITEMS)
def test_every_item_is_mapped(source: str) -> None:
    count, _ = ITEMS[source]
    expected = [f"S{int(source)}-{n:02d}" for n in range(1, count + 1)]
    assert list(MAP[source]["items"]) == expected


@pytest.mark.parametrize("source", ITEMS)
def test_items_stand_in_the_order_of_their_source(source: str) -> None:
    spans = list(lines_of(MAP[source]["items"]))
    assert all(first <= last for first, last in spans)
    assert all(a[1] < b[0] for a, b in pairwise(spans))
    assert spans[-1][1] <= ITEMS[source][1]


@pytest.mark.parametrize("source", ITEMS)
def test_every_item_has_an_anchor_that_exists(source: str, site: Site) -> None:
    page = MAP[source]["page"].removesuffix(".md")
    ids = re.findall(r'\bid="([^"]+)"', (site.folder / page / "index.html").read_text("utf-8"))
    missing = {
        name: item["anchor"]
        for name, item in MAP[source]["items"].items()
        if ids.count(item["anchor"]) != 1
    }
    assert not missing


@pytest.mark.parametrize("source", ITEMS)
def test_places_come_in_the_order_of_the_source(source: str, site: Site) -> None:
    """A mirror keeps the order: the anchors' places in the page never go back by a section."""
    html = (site.folder / MAP[source]["page"].removesuffix(".md") / "index.html").read_text("utf-8")
    section, sections = 0, [m.start() for m in re.finditer(r"<h2\b", html)]
    for item in MAP[source]["items"].values():
        place = html.index(f'id="{item["anchor"]}"')
        now = sum(start <= place + 4 for start in sections)
        assert now >= section, item
        section = now
