"""Every number in CHANGELOG.md is computed from the book or the package.

The file is shown as it is, so its numbers are bound here, each by the words after it. Text in
quotation marks or backticks quotes earlier output and is exempt.
"""

from __future__ import annotations

import re
import tomllib

import pytest

from posenc import sinusoidal_encoding
from scripts import DOCS, ROOT
from scripts.book.chapters import chapters, whole_text
from scripts.book.claims import claims
from scripts.book.sourcemap_page import sources
from scripts.measure.summary import measurement

CHANGES = (ROOT / "CHANGELOG.md").read_text("utf-8")
VERSION = re.compile(r"^## (?P<version>.+?), (?:unreleased|\d{4}-\d\d-\d\d)$", re.M)
NO_STATEMENT = re.compile(r"`[^`]*`|“[^”]*”|\]\([^)]*\)|^## .*$", re.M)
WORDS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9}
WORDS |= {"ten": 10, "eleven": 11, "twelve": 12, "twenty-four": 24}
NUMBER = re.compile(rf"(?<![\w.-])(?:\d[\d,]*(?:\.\d+)?|{'|'.join(reversed(WORDS))})(?![\w-])")
CHAPTER = re.compile(r"[Cc]hapter (?P<number>\d), \*(?P<title>[^*]+)\*")


def page(name: str) -> str:
    return (DOCS / name).read_text("utf-8")


def expected_values() -> dict[str, float]:
    """Return the expected value of each number, by the words that follow it."""
    rows, width = sinusoidal_encoding(4, 8).shape
    assert "pair_columns(sinusoidal_encoding(4, 8))" in page("chapters/by-hand/four-positions.md")
    lengths = measurement().lengths()
    quiz = next(chapter for chapter in chapters() if chapter.title == "5 Check yourself")
    return {
        "positions and": rows,
        "dimensions,": width,
        "questions": len(re.findall(r'^!!! question "', whole_text(quiz), re.M)),
        "claims of": len(claims()),
        "texts, each with a verdict": len(sources()),
        "items": sum(len(source.items) for source in sources().values()),
        "times their length": lengths[-1] / lengths[0],
        "seeds": measurement().seeds(),
    }


# Numbers that are chosen, not computed, like the settings of a page.
CHOSEN = ("three forms and both layouts", "chapters 1 and 4 print", "from three words")


def wrong_numbers(changes: str) -> list[str]:
    """Return the wrong numbers of the file, and the unknown ones."""
    text = " ".join(NO_STATEMENT.sub(" ", changes).split())
    for chosen in CHOSEN:
        text = text.replace(chosen, "")
    found = []
    for chapter in CHAPTER.finditer(text):
        if f"{chapter['number']} {chapter['title']}" not in {one.title for one in chapters()}:
            found.append(f"{chapter[0]} has another number")
    text, known = CHAPTER.sub("", text), expected_values()
    for number in NUMBER.finditer(text):
        after = text[number.end() + 1 :]
        should = next((known[words] for words in known if after.startswith(words)), None)
        if should is None:
            found.append(f"{number[0]} {after[:30]}: bind it in {__name__}, or quote it")
        elif WORDS.get(number[0]) != should and number[0].replace(",", "") != str(should):
            found.append(f"{number[0]} {after[:30]}: it is {should}")
    return found


def test_every_number_of_the_changelog_is_bound() -> None:
    assert wrong_numbers(CHANGES) == []
    text = " ".join(CHANGES.split())
    assert [
        words for words in expected_values() if f" {words}" not in text
    ] == []  # every binding is used


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("259 claims", "258 claims"),
        ("five texts", "six texts"),
        ("twenty-four questions", "twelve questions"),
        ("chapter 5, *Check yourself*", "chapter 4, *Check yourself*"),
        ("three seeds", "five seeds"),
        ("It needs numpy alone.", "It has 40 functions."),
        ("It needs numpy alone.", "It has seven functions."),
    ],
)
def test_a_wrong_number_in_the_changelog_is_found(old: str, new: str) -> None:
    assert CHANGES.count(old) == 1
    assert len(wrong_numbers(CHANGES.replace(old, new))) == 1


def test_quoted_numbers_are_exempt() -> None:
    assert wrong_numbers(f"{CHANGES}- Was “{9.07} at twice the length” and `{19.6}`.\n") == []


def versions(changes: str) -> list[str]:
    """Return the versions of the file, newest first; a heading of another form is an error."""
    headings = re.findall(r"^## .*$", changes, re.M)
    found = [VERSION.fullmatch(heading) for heading in headings]
    assert all(found), headings
    return [match["version"] for match in found if match]


def test_newest_version_in_the_changelog_is_the_package_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = versions(CHANGES)
    assert named[0] == project["version"]
    numbers = [tuple(map(int, version.split("."))) for version in named]
    assert numbers == sorted(set(numbers), reverse=True)
    with pytest.raises(AssertionError):
        versions(CHANGES.replace(", unreleased", " (unreleased)"))
    planted = versions(f"{CHANGES}\n## {named[0]}, 2026-01-01\n")
    assert len(planted) > len(set(planted))
