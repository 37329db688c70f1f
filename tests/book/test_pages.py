"""Tables, figures and exercises are numbered in order, and each that a page names exists."""

import re
from pathlib import Path

import pytest

from scripts import DOCS
from scripts.book import check
from scripts.book.settings import accepted

CHAPTERS = sorted((DOCS / "chapters").glob("*.md"))
PAGES = sorted(DOCS.rglob("*.md"))
CAPTION = re.compile(
    r"^/// (table|figure)-caption \|(?: <)? ([\d.]+) #(table|figure)-([\d-]+)$", re.M
)
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
    assert len(captions) == len(re.findall(rf"^/// {kind}-caption", text, re.M))
    for n, (_, number, in_id, digits) in enumerate(captions, start=1):
        assert number == f"{chapter[1]}.{n}"
        assert (in_id, digits.replace("-", ".")) == (kind, number)


def test_every_table_figure_and_exercise_that_a_page_names_exists() -> None:
    texts = {path: path.read_text("utf-8") for path in PAGES}
    there = {(m[1].title(), m[2]) for text in texts.values() for m in CAPTION.finditer(text)}
    there |= {
        ("Exercise", n)
        for t in texts.values()
        for n in re.findall(r"^\*\*Exercise ([\d.]+)\*\*", t, re.M)
    }
    for path, text in texts.items():
        assert {m.groups() for m in NAMED.finditer(text)} <= there, path


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_states_its_audience_time_and_needs(path: Path) -> None:
    for key in ("audience", "time", "needs", "description", "chapter"):
        assert re.search(rf"^{key}: \S", front(path), re.M), key
    assert accepted(path.relative_to(DOCS).as_posix())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(DOCS)))
def test_an_example_reports_its_own_column(path: Path) -> None:
    """By itself, Sybil counts the column of a line's second example from the start of the page."""
    document = check.sybil().parse(path)
    lines = document.text.split("\n")
    for example in document.examples():
        assert 1 <= example.column <= len(lines[example.line - 1]) + 1
