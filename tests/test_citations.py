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
LINKED = re.compile(r"^https://arxiv\.org/abs/(\S+)$")


@pytest.mark.parametrize("key", references())
def test_an_arxiv_number_is_one_and_of_the_right_time(key: str) -> None:
    """Two digits of the year, two of the month, five more; a journal follows within two years."""
    assert wrong_number(key, references()[key]) == ""


def wrong_number(key: str, entry: dict[str, str]) -> str:
    """Return what is wrong with the arXiv number of a reference, in `where` and in `url`."""
    numbers, linked = ARXIV.findall(entry["where"]), LINKED.findall(entry["url"])
    if len(re.findall("arxiv", entry["where"], re.I)) != len(numbers):
        return "is not written as “arXiv 1706.03762”"
    if "arxiv" in entry["url"].lower() and linked != numbers:
        return f"is {numbers} where it stands and {linked} in its link"
    for number in numbers:
        if not re.fullmatch(r"\d\d(0[1-9]|1[0-2])\.\d{5}", number):
            return f"{number} is no month and five digits"
        if not 2000 + int(number[:2]) <= int(key[-4:]) <= 2002 + int(number[:2]):
            return f"{number} is not of the time of {key}"
    return ""


@pytest.mark.parametrize(
    "planted",
    [
        {"where": "NeurIPS 2017, arXiv:1706.03762"},
        {"where": "NeurIPS 2017, arxiv 1706.03762"},
        {"where": "NeurIPS 2017"},
        {"where": "NeurIPS 2017, arXiv 1706.03763"},
        {"where": "NeurIPS 2017, arXiv 1713.03762", "url": "https://arxiv.org/abs/1713.03762"},
        {"where": "NeurIPS 2017, arXiv 1406.03762", "url": "https://example.org"},
        {"url": "https://arxiv.org/abs/1706.03762v5"},
        {"url": "https://arxiv.org/pdf/1706.03762"},
    ],
)
def test_a_planted_number_is_noticed(planted: dict[str, str]) -> None:
    entry = references()["vaswani2017"]
    assert wrong_number("vaswani2017", entry) == ""
    assert wrong_number("vaswani2017", entry | planted)


def words(title: str) -> str:
    """Return a title as it is compared with others."""
    return " ".join(re.findall(r"\w+", title.lower()))


def twice(entries: dict[str, dict[str, str]]) -> list[str]:
    """Return what two references share: a title, or its beginning, an address, a number, authors.

    Authors who have two papers of one year are told apart by hand, when they come.
    """
    titles = sorted(words(entry["title"]) for entry in entries.values())
    addresses = [entry["url"] for entry in entries.values()]
    numbers = [n for entry in entries.values() for n in ARXIV.findall(entry["where"])]
    authors = [f"{words(entry['authors'])} {key[-4:]}" for key, entry in entries.items()]
    begun = [other for one, other in pairwise(titles) if other.startswith(one)]
    kinds = (addresses, numbers, authors)
    return begun + [x for found in kinds for x in set(found) if found.count(x) > 1]


def test_one_paper_is_one_reference() -> None:
    assert twice(references()) == []
    press = references()["press2022"]
    other = {"authors": "Nobody", "title": "Another", "where": "2022", "url": "https://x.org/1"}
    for field, shared in (
        ("title", press["title"]),
        ("title", "Train short, test long"),
        ("where", press["where"]),
        ("url", press["url"]),
        ("authors", press["authors"]),  # one paper, said to be called otherwise
    ):
        planted = {**other, field: shared}
        assert len(twice({**references(), "planted2022": planted})) == 1, planted
    assert twice({**references(), "planted2021": {**other, "authors": press["authors"]}}) == []


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
