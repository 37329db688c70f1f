"""References and facts are complete and kept in one place, and pages cite only those."""

import re
from itertools import pairwise

import pytest

from scripts.book import pages
from scripts.book.check import problems
from scripts.book.citations import fact, facts, reference, references
from scripts.book.cited import citations, cited, miscited
from scripts.book.render import render
from scripts.book.settings import sections


@pytest.mark.parametrize("key", references())
def test_a_reference_is_complete(key: str) -> None:
    entry = references()[key]
    assert set(entry) == {"authors", "title", "where", "url"}
    assert key[-4:] in entry["where"]  # a key ends in its year
    assert entry["url"].startswith("https://")


ARXIV = re.compile(r"\barXiv (\S*?)(?=[,;) ]|$)")
LINKED = re.compile(r"^https://arxiv\.org/abs/(\S+)$")


@pytest.mark.parametrize("key", references())
def test_arxiv_number_is_well_formed_and_matches_the_year(key: str) -> None:
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
            return f"{number} is not a year, a month and five digits"
        if not 2000 + int(number[:2]) <= int(key[-4:]) <= 2002 + int(number[:2]):
            return f"{number} does not fit the year of {key}"
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
def test_a_wrong_arxiv_number_is_noticed(planted: dict[str, str]) -> None:
    entry = references()["vaswani2017"]
    assert wrong_number("vaswani2017", entry) == ""
    assert wrong_number("vaswani2017", entry | planted)


def words(title: str) -> str:
    """Return a title normalized for comparison."""
    return " ".join(re.findall(r"\w+", title.lower()))


def twice(entries: dict[str, dict[str, str]]) -> list[str]:
    """Return what two references share: a title, or its beginning, an address, a number, authors.

    Two papers by the same authors in one year would need an exception here.
    """
    titles = sorted(words(entry["title"]) for entry in entries.values())
    addresses = [entry["url"] for entry in entries.values()]
    numbers = [n for entry in entries.values() for n in ARXIV.findall(entry["where"])]
    authors = [f"{words(entry['authors'])} {key[-4:]}" for key, entry in entries.items()]
    begun = [other for one, other in pairwise(titles) if other.startswith(one)]
    kinds = (addresses, numbers, authors)
    return begun + [x for found in kinds for x in set(found) if found.count(x) > 1]


def test_no_paper_has_two_references() -> None:
    assert twice(references()) == []
    press = references()["press2022"]
    other = {"authors": "Nobody", "title": "Another", "where": "2022", "url": "https://x.org/1"}
    for field, shared in (
        ("title", press["title"]),
        ("title", "Train short, test long"),
        ("where", press["where"]),
        ("url", press["url"]),
        ("authors", press["authors"]),  # one paper under another title
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


def test_every_reference_and_fact_is_used() -> None:
    every = "".join(map(pages.text, pages.paths()))
    cited = set(re.findall(r"\[[\^@]\w+\]", every))
    assert [key for key in references() if not {f"[^{key}]", f"[@{key}]"} & cited] == []
    assert not [name for name in facts() if f'fact("{name}")' not in every]


def test_a_footnote_carries_the_whole_reference() -> None:
    html = render("As they say.[^vaswani2017]\n")
    assert "Attention Is All You Need" in html
    assert 'href="https://arxiv.org/abs/1706.03762"' in html


def test_a_reference_can_be_inserted_in_the_text() -> None:
    assert reference("press2022").startswith("Press, Smith and Lewis, [“Train Short, Test Long")
    assert "Enables Input Length Extrapolation" in render("1. [@press2022]\n")


@pytest.mark.parametrize("text", ["No one.[^nobody1999]", "1. [@nobody1999]", "No.[^Nobody-1999]"])
def test_an_unknown_reference_stops_the_build(text: str) -> None:
    with pytest.raises(KeyError, match=r"(?i)nobody-?1999"):
        render(text)


def test_an_unknown_fact_is_an_error() -> None:
    with pytest.raises(KeyError, match="no 'the-moon'"):
        fact("the-moon")


# What each work is cited for

PAGES = [page for page in pages.paths() if "[^" in pages.text(page)]
MOST = 25  # citations replaced per page, spread evenly: each one re-reads the page


@pytest.mark.parametrize("path", PAGES)
def test_every_exchanged_citation_is_noticed(path: str) -> None:
    """Replace each citation by the work before it in the list, and check the page."""
    text, works = pages.text(path), [*references()]
    assert list(miscited(text, path)) == []
    found = list(citations(text))
    unnoticed = []
    for citation in found[:: 1 + len(found) // MOST]:
        other = works[works.index(citation.work) - 1]
        broken = f"{text[: citation.start]}[^{other}]{text[citation.end :]}"
        if not list(miscited(broken, path)):
            unnoticed.append(f"{citation.work} for {citation.words!r}")
    assert unnoticed == []


@pytest.mark.parametrize("path", PAGES)
def test_two_swapped_citations_are_noticed(path: str) -> None:
    """Swap each citation with the next one, unless both are for the same words."""
    text = pages.text(path)
    pairs = [
        (one, other)
        for one, other in pairwise(citations(text))
        if one.work != other.work and one.words != other.words
    ]
    unnoticed = []
    for one, other in pairs[:: 1 + len(pairs) // MOST]:
        between = text[one.end : other.start]
        head, tail = text[: one.start], text[other.end :]
        broken = f"{head}[^{other.work}]{between}[^{one.work}]{tail}"
        if not list(miscited(broken, path)):
            unnoticed.append(f"{one.words!r} and {other.words!r}")
    assert unnoticed == []


def test_cited_yml_names_only_existing_sections() -> None:
    """The check of a page reads only its own entries, so one for a missing page is never read."""
    there = {f"{page}#{section.name}" for page in PAGES for section in sections(pages.text(page))}
    assert {place for places in cited().values() for place in places} <= there


BERT = '# BERT\n\nIt has {{ 512 = fact("bert-positions") }} rows.[^devlin2019]\n'


@pytest.mark.parametrize("work", ["radford2019", "vaswani2017"])
def test_a_fact_is_cited_from_its_source(work: str) -> None:
    assert problems(BERT) == []
    (problem,) = problems(BERT.replace("devlin2019", work))
    assert problem.endswith(f"[^{work}] follows a fact from devlin2019: cite that instead")


def test_a_sentence_may_cite_before_it_prints_a_fact() -> None:
    text = BERT.replace(" rows.[^devlin2019]", ", as the first transformer.[^vaswani2017]")
    assert len(problems(text)) == 1
    assert problems(text.replace("It has", "BERT[^devlin2019] has")) == []
    assert problems(text.replace(", as the", " rows. As the")) == []  # of another sentence


def test_words_are_compared_as_a_reader_sees_them() -> None:
    text = "# A\n\nFirst. The *two* `rows`, by {{ 57° = 1 in radians }}: see [B](b.md)."
    text += "[^su2021] [^shaw2018]\n"
    one, other = citations(text)
    assert one.words == other.words == "The two rows, by 57°: see B."
    assert (one.section, one.proposed) == ("A", "The two rows, by 57°: see B")
