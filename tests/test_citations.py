"""References and facts stand in one place, complete, and pages can only cite what is there."""

import re
from itertools import pairwise

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


ARXIV = re.compile(r"\barXiv (\S*?)(?=[,;) ]|$)")


@pytest.mark.parametrize("key", references())
def test_an_arxiv_number_is_one_and_of_the_right_time(key: str) -> None:
    """Two digits of the year, two of the month, five more; a journal follows within two years."""
    entry = references()[key]
    numbers = ARXIV.findall(entry["where"])
    linked = re.fullmatch(r"https://arxiv\.org/abs/(.+)", entry["url"])
    assert not linked or numbers == [linked[1]]
    for number in numbers:
        assert re.fullmatch(r"\d\d(0[1-9]|1[0-2])\.\d{5}", number)
        assert 2000 + int(number[:2]) <= int(key[-4:]) <= 2002 + int(number[:2])


def words(title: str) -> str:
    """Return a title as it is compared with others."""
    return " ".join(re.findall(r"\w+", title.lower()))


def twice(entries: dict[str, dict[str, str]]) -> list[str]:
    """Return what two references share: a title, an address, a number, or one title begun alike."""
    titles = sorted(words(entry["title"]) for entry in entries.values())
    addresses = [entry["url"] for entry in entries.values()]
    numbers = [n for entry in entries.values() for n in ARXIV.findall(entry["where"])]
    begun = [other for one, other in pairwise(titles) if other.startswith(one)]
    return begun + [x for found in (addresses, numbers) for x in set(found) if found.count(x) > 1]


def test_one_paper_is_one_reference() -> None:
    assert twice(references()) == []
    press = references()["press2022"]
    for planted in (
        {**press, "title": "Another", "url": "https://example.org/1"},
        {**press, "where": "ICLR 2022", "url": "https://example.org/2"},
        {**press, "title": "Another", "where": "ICLR 2022"},
        {**press, "title": "Train short, test long", "where": "2022", "url": "https://x.org/3"},
    ):
        assert len(twice({**references(), "planted2022": planted})) == 1, planted


@pytest.mark.parametrize("name", facts())
def test_a_fact_names_its_source(name: str) -> None:
    entry = facts()[name]
    assert {"value", "what", "source"} <= set(entry)
    mirrored = re.fullmatch(r"lines [\d-]+ of S[0-4]", entry["source"])
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
