"""What the search knows: which text, under which ids and names, and with which weight."""

from __future__ import annotations

import json
import re
from fnmatch import fnmatchcase
from importlib import import_module
from typing import Any

import pytest

from scripts import DOCS
from scripts.book.claims import claims
from scripts.book.data import load
from scripts.book.render import render
from scripts.book.sourcemap_page import sources
from scripts.site.search_index import FILE, with_exclusions
from tests.site.served import Site

Parser = import_module("material.plugins.search.plugin").Parser  # which has no types
DATA = load(FILE)
SMALL = """\
# Rows { #rows }

A row of `table` has a sine.[^vaswani2017]

```python
def half(x):
    return x / 2
```

Checked by `test_every_row_has_the_same_length`
{ .checked }

## More { #more }

- A list.

!!! correction "Often printed otherwise"

    Within 1.
    { .right }

    They grow.
    { .wrong }
"""


@pytest.fixture(scope="module")
def entries(site: Site) -> dict[str, dict[str, Any]]:
    """Return the entries of the search by their address."""
    index = json.loads((site.folder / "search" / "search_index.json").read_text("utf-8"))
    return {entry["location"]: entry for entry in index["docs"]}


def read(content: str) -> list[tuple[str, str]]:
    """Return the title and the text of each section that the search plugin finds in a page."""
    parser = Parser()
    parser.feed(content)
    parser.close()
    return [("".join(part.title), "".join(part.text).strip()) for part in parser.data]


def test_listings_evidence_and_references_are_left_out_and_all_else_is_kept() -> None:
    assert read(with_exclusions(render(SMALL))) == [
        ("Rows", "<p>A row of <code>table</code> has a sine.<sup>1</sup></p>"),
        (
            "More",
            "<ul> <li>A list.</li> </ul> <p>Often printed otherwise</p> <p>Within\u00a01.</p>",
        ),
    ]


def test_no_entry_has_a_listing_or_source_code(entries: dict[str, dict[str, Any]]) -> None:
    found = [at for at, entry in entries.items() if re.search("<pre|Source code in", entry["text"])]
    assert found == []
    assert "rotary" in entries["reference/rotary/#posenc.rotary.rope.apply_rope"]["text"]


def test_numbers_are_found_as_they_are_typed(entries: dict[str, dict[str, Any]]) -> None:
    assert any("1e-300" in entry["text"] for entry in entries.values())
    assert not any("\u2060" in entry["text"] for entry in entries.values())


def test_page_is_found_by_its_description(entries: dict[str, dict[str, Any]]) -> None:
    page = (DOCS / "explore" / "rope.md").read_text("utf-8")
    description = re.search("^description: (.+)$", page, re.M)
    assert description
    assert entries["explore/rope/"]["text"].startswith(f"<p>{description[1]}</p>")


def test_every_id_of_the_ledger_and_the_map_has_an_entry_and_an_anchor(
    site: Site, entries: dict[str, dict[str, Any]]
) -> None:
    ids = {
        "trust/claims/": [claim.id for claim in claims()],
        "trust/sources/": [item.id for text in sources().values() for item in text.items],
    }
    for page, names in ids.items():
        html = (site.folder / page / "index.html").read_text("utf-8")
        for name in names:
            assert entries[f"{page}#{name.lower()}"]["title"].split()[0] == name
            assert html.count(f'id="{name.lower()}"') == 1, name


def test_every_other_name_leads_to_an_entry(entries: dict[str, dict[str, Any]]) -> None:
    assert [place for place in DATA["names"] if place not in entries] == []
    assert {place: entries[place]["tags"] for place in DATA["names"]} == DATA["names"]


def test_no_pattern_of_weights_is_idle(entries: dict[str, dict[str, Any]]) -> None:
    left = set(entries)
    for pattern, weight in DATA["weights"].items():
        matched = {place for place in left if fnmatchcase(place, pattern)}
        assert matched, pattern
        assert {entries[place]["boost"] for place in matched} == {weight}
        left -= matched
    assert left == set()
