"""What the search knows: which text of a page, under which headings, names and ids."""

from __future__ import annotations

import gzip
import json
import re
from typing import Any

import pytest

from scripts import DOCS
from scripts.book.claims import claims
from scripts.book.elsewhere import names_by_place, places_by_name
from scripts.book.links_and_anchors import Tags
from scripts.book.render import render
from scripts.book.sourcemap_page import sources
from scripts.site.search_index import FOLDER, INDEX, Section, searched_page
from tests.site.served import Site, paths

SMALL = """\
# Rows { #rows }

A row of `table` has a sine.[^vaswani2017] It is $x$ long.

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

| cell | beside |
|---|---|
| `rope_theta` | 10000 |
| one<br>two | `test_every_row_has_the_same_length` |

Word
:   What it says.
"""


@pytest.fixture(scope="module")
def index(site: Site) -> dict[str, Any]:
    """Return the index of the search."""
    found: dict[str, Any] = json.loads((site.folder / FOLDER / INDEX).read_text("utf-8"))
    return found


@pytest.fixture(scope="module")
def sections(index: dict[str, Any]) -> dict[str, str]:
    """Return the heading of each section by its address."""
    found = {}
    for page, *section in index["sections"]:
        path, title, _ = index["pages"][page]
        anchor, heading = section or ("", title)
        found[f"{path}#{anchor}" if anchor else path] = heading
    return found


def shown(site: Site, path: str) -> dict[str, list[str]]:
    """Return the sentences of a page by the anchors of its sections."""
    files = (site.folder / FOLDER / (path.strip("/") or "home")).glob("*.json")
    return {
        anchor: sentences
        for file in files
        for anchor, sentences in json.loads(file.read_text("utf-8")).items()
    }


def read(text: str) -> list[Section]:
    """Return the sections of a page that is given as Markdown."""
    return searched_page("small/", f"<article>{render(text)}</article>", {}).sections


def test_listings_evidence_notes_and_misprints_are_left_out_and_all_else_is_kept() -> None:
    first, more = read(SMALL)
    assert (first.anchor, first.heading, more.anchor, more.heading) == ("", "Rows", "more", "More")
    assert [sentence.replace("\u200b", "") for sentence in first.sentences] == [
        "A row of table has a sine.",
        "It is x long.",
    ]
    assert more.sentences == [
        *("A list.", "Often printed otherwise", "Within\u00a01.".replace("\u00a0", " ")),
        *("Word", "What it says."),
    ]


def test_cells_of_a_table_are_found_and_never_shown() -> None:
    more = read(SMALL)[-1]
    assert more.cells == ["cell", "beside", "rope_theta", "10000", "one two"]  # no evidence
    assert not any("rope_theta" in sentence for sentence in more.sentences)


def test_every_page_has_its_sections_and_every_section_its_place(
    site: Site, index: dict[str, Any], sections: dict[str, str]
) -> None:
    assert sorted(path for path, *_ in index["pages"]) == sorted(paths())
    for path in paths():
        anchors = Tags((site.folder / path / "index.html").read_text("utf-8")).anchors
        own = [place for place in sections if place.partition("#")[0] == path]
        assert {place.partition("#")[2] for place in own} <= {*anchors, ""}, path
        assert shown(site, path).keys() == {place.partition("#")[2] for place in own}, path


def test_no_excerpt_is_a_listing_and_numbers_stand_as_they_are_typed(site: Site) -> None:
    all_shown = [text for path in paths() for part in shown(site, path).values() for text in part]
    assert not any(re.search("^>>> |Source code in|\u2060", text) for text in all_shown)
    assert any("1e-300" in text for text in all_shown)


def test_page_is_found_by_its_description(site: Site) -> None:
    page = (DOCS / "explore" / "rope.md").read_text("utf-8")
    description = re.search("^description: (.+)$", page, re.M)
    assert description
    assert shown(site, "explore/rope/")[""][0] == description[1]


def test_every_id_of_the_ledger_and_the_map_has_a_section_and_an_anchor(
    site: Site, sections: dict[str, str]
) -> None:
    ids = {
        "trust/claims/": [claim.id for claim in claims()],
        "trust/sources/": [item.id for text in sources().values() for item in text.items],
    }
    for page, names in ids.items():
        html = (site.folder / page / "index.html").read_text("utf-8")
        for name in names:
            assert sections[f"{page}#{name.lower()}"].split()[0] == name
            assert html.count(f'id="{name.lower()}"') == 1, name


def test_every_name_leads_to_a_section(sections: dict[str, str]) -> None:
    others = [place for place in names_by_place() if place not in sections]
    anchors = {place.partition("#")[0] for place in sections}
    # The place of a term may be a paragraph with an id; its page is found by it all the same.
    assert [place for place in others if place.partition("#")[0] not in anchors] == []
    assert len(places_by_name()) > 140


def test_what_a_reader_loads_is_small(site: Site) -> None:
    """As compressed for sending: the index, the scripts, and for each section its sentences.

    The goal is 200 KB before the first answer; the limits leave room for a few more pages.
    """
    sent = {
        file: len(gzip.compress(file.read_bytes(), 6))
        for file in [*(site.folder / FOLDER).rglob("*.json"), site.folder / "assets/js/search.js"]
    }
    index, script = site.folder / FOLDER / INDEX, site.folder / "assets/js/search.js"
    assert sent[index] < 170_000
    assert sent[script] < 12_000
    assert max(size for file, size in sent.items() if file not in (index, script)) < 8_000
