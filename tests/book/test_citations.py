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

ARXIV = re.compile(r"\barXiv (\S*?)(?=[,;) ]|$)")
LINKED = re.compile(r"^https://arxiv\.org/abs/(\S+)$")


@pytest.mark.parametrize("key", references())
def test_a_reference_is_complete(key: str) -> None:
    entry = references()[key]
    assert set(entry) == {"authors", "title", "where", "url"}
    assert key[-4:] in entry["where"]  # a key ends in its year
    assert entry["url"].startswith("https://")
    assert wrong_number(key, entry) == ""


def wrong_number(key: str, entry: dict[str, str]) -> str:
    """Return what is wrong with the arXiv number of a reference, in `where` and in `url`.

    A number is two digits of the year, two of the month, and five more. A journal follows within
    two years.
    """
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


def normalized(title: str) -> str:
    """Return a title normalized for comparison."""
    return " ".join(re.findall(r"\w+", title.lower()))


def shared_entries(entries: dict[str, dict[str, str]]) -> list[str]:
    """Return what two references share: a title, or its beginning, an address, a number, authors.

    Two papers by the same authors in one year would need an exception here.
    """
    titles = sorted(normalized(entry["title"]) for entry in entries.values())
    addresses = [entry["url"] for entry in entries.values()]
    numbers = [n for entry in entries.values() for n in ARXIV.findall(entry["where"])]
    authors = [f"{normalized(entry['authors'])} {key[-4:]}" for key, entry in entries.items()]
    begun = [other for one, other in pairwise(titles) if other.startswith(one)]
    kinds = (addresses, numbers, authors)
    return begun + [x for found in kinds for x in set(found) if found.count(x) > 1]


def test_no_paper_has_two_references() -> None:
    assert shared_entries(references()) == []


OTHER = {"authors": "Nobody", "title": "Another", "where": "2022", "url": "https://x.org/1"}
PRESS = references()["press2022"]


@pytest.mark.parametrize(
    ("key", "field", "value", "shared"),
    [
        ("planted2022", "title", PRESS["title"], 1),
        ("planted2022", "title", "Train short, test long", 1),
        ("planted2022", "where", PRESS["where"], 1),
        ("planted2022", "url", PRESS["url"], 1),
        ("planted2022", "authors", PRESS["authors"], 1),  # one paper under another title
        ("planted2021", "authors", PRESS["authors"], 0),
    ],
)
def test_a_second_reference_to_a_paper_is_found(
    key: str, field: str, value: str, shared: int
) -> None:
    assert len(shared_entries({**references(), key: {**OTHER, field: value}})) == shared


@pytest.mark.parametrize("name", facts())
def test_a_fact_names_its_source(name: str) -> None:
    entry = facts()[name]
    assert {"value", "what", "source"} <= set(entry)
    mirrored = re.fullmatch(r"lines [\d-]+ of S[0-4]", entry["source"])
    assert entry["source"] in references() or mirrored


def test_every_reference_and_fact_is_used() -> None:
    every = "".join(map(pages.text, pages.paths()))
    footnotes = set(re.findall(r"\[[\^@]\w+\]", every))
    assert [key for key in references() if not {f"[^{key}]", f"[@{key}]"} & footnotes] == []
    assert not [name for name in facts() if f'fact("{name}")' not in every]


def test_a_reference_is_shown_whole_in_a_footnote_and_in_the_text() -> None:
    html = render("As they say.[^vaswani2017]\n")
    assert "Attention Is All You Need" in html
    assert 'href="https://arxiv.org/abs/1706.03762"' in html
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

CHAPTER = "chapters/by-hand/alternatives.md"


def test_every_exchanged_citation_is_noticed() -> None:
    """Replace each citation by the work before it in the list, and check the page."""
    text, works = pages.text(CHAPTER), [*references()]
    assert list(miscited(text, CHAPTER)) == []
    for citation in citations(text):
        other = works[works.index(citation.work) - 1]
        broken = f"{text[: citation.start]}[^{other}]{text[citation.end :]}"
        assert list(miscited(broken, CHAPTER)), f"{citation.work} for {citation.words!r}"


def test_an_added_and_a_removed_citation_are_noticed() -> None:
    text = pages.text(CHAPTER)
    *_, last = citations(text)
    head, tail = text[: last.end], text[last.end :]
    other = next(work for work in references() if work != last.work)
    assert list(miscited(f"{head}[^{other}]{tail}", CHAPTER))
    assert list(miscited(text[: last.start] + tail, CHAPTER))


def test_two_swapped_citations_are_noticed() -> None:
    """Swap each citation with the next one, unless both are for the same words."""
    text = pages.text(CHAPTER)
    for one, other in pairwise(citations(text)):
        if one.work != other.work and one.words != other.words:
            head, between, tail = (
                text[: one.start],
                text[one.end : other.start],
                text[other.end :],
            )
            broken = f"{head}[^{other.work}]{between}[^{one.work}]{tail}"
            assert list(miscited(broken, CHAPTER)), f"{one.words!r} and {other.words!r}"


def test_cited_yml_names_only_existing_sections() -> None:
    """The check of a page reads only its own entries, so one for a missing page is never read."""
    there = {f"{page}#{s.name}" for page in pages.paths() for s in sections(pages.text(page))}
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
