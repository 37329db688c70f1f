"""The museum: bugs of real projects, each made again by a small program of ours.

    layouts.py    which dimensions form a pair, and which rotate
    precision.py  numbers with too few bits
    scaling.py    rules for longer texts, and settings that nobody reads
    biases.py     ALiBi and T5
    caches.py     tables that are kept, padding and packing
    axes.py       positions with more than one axis
    effects.py    what the bugs do to scores and weights

`docs/data/museum.yml` has the facts about each exhibit, which the pages of `docs/museum/` show and
`tests/book/test_museum.py` compares. A program takes the input of a case of its suite, as
`posenc.vectors.check` hands it over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from importlib import import_module
from typing import Any

import yaml

from scripts import DATA

FACTS = DATA / "museum.yml"
WINGS = ("layouts", "precision", "scaling", "biases", "caches", "axes")
STATES = ("merged", "closed", "open")
PROPERTIES = {
    "zero": "At position 0 nothing is rotated, every sine is 0 and every cosine 1.",
    "relative": "Shift a query and a key together: their score does not change.",
    "distinct": "No two positions have the same angles.",
    "known": "Compare with a value computed elsewhere, at a far position and at an unusual size.",
    "settings": "Change one setting: the answer changes.",
    "edges": "Test exactly at the limit, a token before it and a token after it.",
    "fresh": "An object that was used before answers like a fresh object.",
    "alone": "A cached step, a padded row and a packed document give the result of the text alone.",
    "near": "With equal scores, the nearest key has the largest weight.",
    "axes": "Move along one axis: only what belongs to that axis changes.",
    "split": "Heads that are split over devices give what a single device gives.",
}


@dataclass(frozen=True)
class Exhibit:
    """A bug that was seen, and the program that makes it.

    Attributes:
        id: its place on the page of its wing.
        wing: one of `WINGS`, a module here and a page of docs/museum/.
        title: what happened, in a few words.
        program: a function or class of the wing's module.
        suite: of the vectors, that it is tested against.
        case: a case of the suite that fails on it.
        bug: the name that the vectors have for it.
        asks: what a test without any vector could ask, one of `PROPERTIES`.
        project: where it was seen.
        link: the thread where it was reported or fixed.
        dated: the first date in the thread.
        state: "merged", "closed" or "open", as the thread was read.
        fixed: the day of the commit that fixed it, where that was found.
        said: numbers that the thread has, or another that the plate links, by name.
        choice: inputs of the suite that the program is for, as in layout: half.
    """

    id: str
    wing: str
    title: str
    program: str
    suite: str
    case: str
    bug: str
    asks: str
    project: str
    link: str
    dated: date
    state: str
    fixed: date | None = None
    said: dict[str, float] = field(default_factory=dict)
    choice: dict[str, Any] = field(default_factory=dict)

    @property
    def function(self) -> Callable[..., Any]:
        """The program."""
        found: Callable[..., Any] = getattr(
            import_module(f"scripts.examples.museum.{self.wing}"), self.program
        )
        return found

    @property
    def dated_in_words(self) -> str:
        """The first date in the thread, as a page prints it."""
        return date_in_words(self.dated)

    @property
    def state_in_words(self) -> str:
        """What became of it, as a page prints it."""
        return f"fixed on {date_in_words(self.fixed)}" if self.fixed else self.state

    @property
    def row(self) -> dict[str, str]:
        """The exhibit's row in the table of all."""
        place = f"[{self.title}]({self.wing}.md#{self.id})"
        return {
            "what happened": place,
            "seen in": self.project,
            "caught by": self.suite,
        }


def reported_number(exhibit: str, name: str) -> float:
    """Return a number that the thread of an exhibit has."""
    return next(one for one in exhibits() if one.id == exhibit).said[name]


def properties() -> list[dict[str, str | int]]:
    """Return a row for each property, with how many exhibits it catches."""
    counts = Counter(exhibit.asks for exhibit in exhibits())
    return [{"test": said, "bugs": counts[name]} for name, said in PROPERTIES.items()]


def date_in_words(day: date) -> str:
    """Return a date as pages print it."""
    return f"{day.day} {day:%B %Y}"


@cache
def exhibits() -> tuple[Exhibit, ...]:
    """Return all exhibits, in the order of the wings."""
    facts = yaml.safe_load(FACTS.read_text("utf-8"))
    found = [Exhibit(wing=wing, **one) for wing in WINGS for one in facts["exhibits"][wing]]
    return tuple(found)
