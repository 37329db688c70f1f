"""Pages number and name their parts in order, and every part that a page names exists."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from mkdocs.config import load_config

from scripts import DOCS, ROOT
from scripts.book import check, pages
from scripts.book.data import front_matter
from scripts.book.evaluate import names
from scripts.book.settings import accepted

CHAPTERS = sorted((DOCS / "chapters").glob("*.md"))
CAPTION = re.compile(
    r"^/// (table|figure)-caption \|(?: <)? ([\d.]+) #(table|figure)-([\d-]+)$", re.M
)
HOME = DOCS / "index.md"
STOP = re.compile(r"^\d\. \[(.*)\]\((.*?)#(.*)\) \*(\d+) min\*$", re.M)
NAMED = re.compile(r"(Table|Figure|Exercise)\s([\d.]+\d)")


def front(path: Path) -> str:
    return path.read_text("utf-8").split("---\n")[1]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
@pytest.mark.parametrize("kind", ["table", "figure"])
def test_captions_are_numbered_in_order(path: Path, kind: str) -> None:
    text = path.read_text("utf-8")
    chapter = re.search(r"^chapter: (\d+)$", front(path), re.M)
    assert chapter
    captions = [m.groups() for m in CAPTION.finditer(text) if m[1] == kind]
    if chapter[1] == "0":  # before the first chapter, nothing has a number
        assert captions == []
        return
    assert len(captions) == len(re.findall(rf"^/// {kind}-caption", text, re.M))
    for n, (_, number, in_id, digits) in enumerate(captions, start=1):
        assert number == f"{chapter[1]}.{n}"
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


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_states_its_audience_time_and_needs(path: Path) -> None:
    for key in ("audience", "time", "needs", "description", "chapter"):
        assert re.search(rf"^{key}: \S", front(path), re.M), key
    assert accepted(path.relative_to(DOCS).as_posix())


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_says_what_to_skip_of_its_sections(path: Path) -> None:
    text = path.read_text("utf-8")
    headings = re.findall(r"^##+ .*\{ #([\w-]+) \}$", text, re.M)
    ways = front_matter(text).get("skip", [])
    assert bool(ways) == (path.stem != "formula-sheet")  # one page to print
    for way in ways:
        assert set(way) in ({"from", "skip"}, {"from", "begin"})
        assert {*way.get("skip", [way.get("begin")])} <= {*headings}


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


def test_navigation_has_the_words_of_the_titles() -> None:
    config = load_config(str(ROOT / "mkdocs.yml"), hooks=[], plugins=[])
    listed = [page for group in config["nav"][1:] for part in group.values() for page in part]
    for name, at in (item for page in listed for item in page.items()):
        text = pages.text(at)
        title = re.search(r"^title: \"?(.*?)\"?$", text, re.M)
        heading = re.search(r"^# (.*?)(?: \{.*)?$", text, re.M)
        assert title
        assert heading
        assert title[1] == heading[1].replace("'", "’") == re.sub(r"^\d ", "", name)


def test_the_stops_of_the_first_chapter_lead_from_one_to_the_next() -> None:
    stops = door("New to this")
    text = (DOCS / "chapters" / "by-hand.md").read_text("utf-8")
    places = [stop[2] for stop in stops]
    for here, there in pairwise(places):
        rest = text.partition(f"{{ #{here} }}")[2]
        found = re.search(r"^(?:Next|Last) stop: \[.*\]\(#(.*)\)\.\n\{ \.stop \}$", rest, re.M)
        assert found
        assert found[1] == there
    assert {stop[1] for stop in stops} == {"chapters/by-hand.md"}
    assert sum(int(stop[3]) for stop in stops) == 15


def test_the_boards_of_the_home_page_are_those_of_the_lecture() -> None:
    boards = door("Teaching it")
    text = (DOCS / "chapters" / "at-the-board.md").read_text("utf-8")
    lecture = re.findall(r"^## Board \d: (.*) \{ #(.*) \}$", text, re.M)
    assert [(name.lower(), anchor) for name, _, anchor, _ in boards] == [
        (name.lower(), anchor) for name, anchor in lecture
    ]
    assert sum(int(minutes) for *_, minutes in boards) == 60


def test_a_part_of_a_page_can_be_checked_alone() -> None:
    """Processes that share the tests may divide a page, and a part needs the names before it."""
    document = check.sybil().parse(DOCS / "explore" / "rope.md")
    document.namespace.update(names())
    *_, last = (one for one in document.examples() if one.region.parsed)
    assert "score(4, 2)" in document.text[last.start : last.end]
    last.evaluate()
