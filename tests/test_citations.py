"""References and facts stand in one place, complete, and pages can only cite what is there."""

import re

import pytest

from scripts.book import DOCS
from scripts.book.citations import fact, facts, reference, references
from scripts.book.render import render


@pytest.mark.parametrize("key", references())
def test_a_reference_is_complete(key: str) -> None:
    entry = references()[key]
    assert set(entry) == {"authors", "title", "where", "url"}
    assert key[-4:] in entry["where"]  # a key ends in its year
    assert entry["url"].startswith("https://")


@pytest.mark.parametrize("name", facts())
def test_a_fact_names_its_source(name: str) -> None:
    entry = facts()[name]
    assert {"value", "what", "source"} <= set(entry)
    mirrored = entry["source"].startswith("source 000 of docs/data/source-map.yml, ")
    assert entry["source"] in references() or mirrored


def test_what_is_stored_is_used() -> None:
    pages = "".join(path.read_text("utf-8") for path in DOCS.rglob("*.md"))
    cited = set(re.findall(r"\[[\^@]\w+\]", pages))
    assert [key for key in references() if not {f"[^{key}]", f"[@{key}]"} & cited] == []
    assert not [name for name in facts() if f'fact("{name}")' not in pages]


def test_a_footnote_carries_the_whole_reference() -> None:
    html = render("As they say.[^vaswani2017]\n")
    assert "Attention Is All You Need" in html
    assert 'href="https://arxiv.org/abs/1706.03762"' in html


def test_a_reference_can_stand_in_the_text() -> None:
    assert reference("press2022").startswith("Press, Smith and Lewis, [“Train Short, Test Long")
    assert "Enables Input Length Extrapolation" in render("1. [@press2022]\n")


@pytest.mark.parametrize("text", ["No one.[^nobody1999]", "1. [@nobody1999]", "No.[^Nobody-1999]"])
def test_a_reference_nobody_has_stops_the_build(text: str) -> None:
    with pytest.raises(KeyError, match=r"(?i)nobody-?1999"):
        render(text)


def test_a_fact_nobody_has_is_an_error() -> None:
    with pytest.raises(KeyError, match="no 'the-moon'"):
        fact("the-moon")
