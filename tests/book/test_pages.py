"""Pages number and name their parts in order, and every part that a page names exists."""

import posixpath
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import pytest
from mkdocs.config import load_config

from scripts import DOCS, ROOT
from scripts.book import check, pages
from scripts.book.chapters import Chapter, chapter_of, chapters, whole_text
from scripts.book.data import front_matter
from scripts.book.evaluate import names
from scripts.book.length import LIMIT, prose_words
from scripts.book.settings import accepted
from scripts.site import downloads

CHAPTERS = [chapter for chapter in chapters() if chapter.first.startswith("chapters/")]
BY_TITLE: Any = {"ids": lambda chapter: chapter.title}
CAPTION = re.compile(
    r"^/// (table|figure)-caption \|(?: <)? ([\d.]+) #(table|figure)-([\d-]+)$", re.M
)
HOME = DOCS / "index.md"
STOP = re.compile(r"^\d\. \[(.*)\]\((.*?)#(.*)\) \*(\d+) min\*$", re.M)
NAMED = re.compile(r"(Table|Figure|Exercise)\s([\d.]+\d)")


def front(path: Path) -> str:
    return path.read_text("utf-8").split("---\n")[1]


@pytest.mark.parametrize("chapter", CHAPTERS, **BY_TITLE)
@pytest.mark.parametrize("kind", ["table", "figure"])
def test_captions_are_numbered_in_order(chapter: Chapter, kind: str) -> None:
    text = whole_text(chapter)
    of = front_matter(text)["chapter"]
    captions = [m.groups() for m in CAPTION.finditer(text) if m[1] == kind]
    if of == 0:  # before the first chapter, nothing has a number
        assert captions == []
        return
    assert len(captions) == len(re.findall(rf"^/// {kind}-caption", text, re.M))
    for n, (_, number, in_id, digits) in enumerate(captions, start=1):
        assert number == f"{of}.{n}"
        assert (in_id, digits.replace("-", ".")) == (kind, number)


def test_every_table_figure_and_exercise_that_a_page_names_exists() -> None:
    texts = {page: pages.text(page) for page in pages.paths()}
    there = {(m[1].title(), m[2]) for text in texts.values() for m in CAPTION.finditer(text)}
    there |= {
        ("Exercise", n)
        for t in texts.values()
        for n in re.findall(r"^\*\*Exercise ([\d.]+)\*\*", t, re.M)
    }
    for page, text in texts.items():
        assert {m.groups() for m in NAMED.finditer(text)} <= there, page


@pytest.mark.parametrize("chapter", CHAPTERS, **BY_TITLE)
def test_a_chapter_states_its_audience_time_and_needs(chapter: Chapter) -> None:
    for key in ("audience", "time", "needs"):
        assert re.search(rf"^{key}: \S", front(DOCS / chapter.first), re.M), key
    assert accepted(chapter.first)


@pytest.mark.parametrize("chapter", CHAPTERS, **BY_TITLE)
def test_each_page_of_a_chapter_has_its_number_and_a_description(chapter: Chapter) -> None:
    matters = [front_matter(pages.text(page)) for page in chapter.pages]
    assert all(matter["description"] for matter in matters)
    assert len({matter["chapter"] for matter in matters}) == 1


def test_a_chapter_of_several_pages_is_a_folder() -> None:
    for chapter in chapters():
        if len(chapter.pages) > 1:
            folder = Path(chapter.first).parent
            assert Path(chapter.first).name == "index.md"
            assert {Path(page).parent for page in chapter.pages} == {folder}
            assert len(chapter.pages) == len(list((DOCS / folder).glob("*.md")))


@pytest.mark.parametrize("page", pages.written_pages())
def test_a_page_is_short_enough_to_answer_one_question(page: str) -> None:
    assert prose_words(pages.text(page)) <= LIMIT


@pytest.mark.parametrize("path", pages.written_pages())
def test_an_example_reports_its_own_column(path: str) -> None:
    """By itself, Sybil counts the column of a line's second example from the start of the page."""
    document = check.sybil().parse(DOCS / path)
    lines = document.text.split("\n")
    for example in document.examples():
        assert 1 <= example.column <= len(lines[example.line - 1]) + 1


def door(heading: str) -> list[tuple[str, ...]]:
    """Return the stops under a heading of the home page: name, page, anchor and minutes."""
    text = HOME.read_text("utf-8")
    return STOP.findall(re.split(r"^## ", text.partition(f"\n## [{heading}]")[2], flags=re.M)[0])


def entries(navigation: list[Any]) -> Iterator[tuple[str, str]]:
    """Yield the name and the path of each page in a navigation."""
    for entry in navigation:
        for name, below in entry.items():
            if isinstance(below, str):
                yield name, below
            else:
                yield from entries(below)


def test_navigation_has_the_words_of_the_titles() -> None:
    config = load_config(str(ROOT / "mkdocs.yml"), hooks=[], plugins=[])
    for name, at in entries(config["nav"][1:]):
        text = pages.text(at)
        title = re.search(r"^title: \"?(.*?)\"?$", text, re.M)
        heading = re.search(r"^# (.*?)(?: \{.*)?$", text, re.M)
        assert title
        assert heading
        assert title[1] == heading[1].replace("'", "’") == re.sub(r"^\d ", "", name)


def test_the_stops_of_the_first_chapter_lead_from_one_to_the_next() -> None:
    """The last two are an exercise of the chapter and the quiz."""
    stops = door("New to this")
    for here, there in pairwise(stops):
        rest = pages.text(here[1]).partition(f"{{ #{here[2]} }}")[2]
        found = re.search(r"^(?:Next|Last) stop.*\]\((.*)#(.*)\)\.\n\{ \.stop \}$", rest, re.M)
        assert found
        assert found[2] == there[2]
        target = posixpath.normpath(posixpath.join(posixpath.dirname(here[1]), found[1]))
        assert target == there[1] or here[1] == there[1]
    *_, exercise, quiz = stops
    assert (exercise[2], quiz[2]) == ("exercises", "the-quiz")
    assert {stop[1] for stop in stops[:-1]} <= {*chapter_of("chapters/by-hand/index.md").pages}
    assert sum(int(stop[3]) for stop in stops) == 15


def test_teachers_are_led_to_the_things_they_use() -> None:
    text = HOME.read_text("utf-8").partition("\n## [Teaching it]")[2].partition("</div>")[0]
    links = dict(re.findall(r"^- \[(.*?)\]\((.*?)\)", text, re.M))
    assert links["Slides"] == "teach/slides/index.html"
    assert links["Handout"] == "teach/slides/index.html?print"
    assert links["Quiz sheet"] == "teach/quiz-sheet/index.html"
    assert downloads.ITEMS in text


def test_a_part_of_a_page_can_be_checked_alone() -> None:
    """Processes that share the tests may divide a page, and a part needs the names before it."""
    document = check.sybil().parse(DOCS / "explore" / "rope.md")
    document.namespace.update(names())
    *_, last = (one for one in document.examples() if one.region.parsed)
    assert "score(4, 2)" in document.text[last.start : last.end]
    last.evaluate()


def test_two_pages_whose_titles_have_one_id_are_told_apart_by_their_words() -> None:
    for page in ("chapters/by-hand/clocks.md", "explore/clocks.md"):
        title = Element("h1", id="clocks")
        title.text = pages.title(page)
        assert pages.page_of(title) == page
    title.text = "Another"
    assert pages.page_of(title) == pages.page_of(None) == ""
