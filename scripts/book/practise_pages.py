"""The pages of *Practise*, practise/: an index and a page for each group of exercises.

They are made from the files in scripts/practise/exercises/. The starter of an exercise that is
solved in the page is marked `.answer`; the page's script makes it editable.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from posenc import sinusoidal_encoding
from scripts.book import pages
from scripts.book.evaluate import corrected_page
from scripts.book.template import filled
from scripts.practise.read import GROUPS, Exercise, exercises

NOTEBOOK = "../assets/built/practise.ipynb"


@dataclass(frozen=True)
class Group:
    """What the page of a group says before its exercises."""

    title: str
    description: str
    lead: str
    needs: str


ABOUT = {
    "sines": Group(
        "Practise sines",
        "Exercises on the sinusoidal table, from one row to the matrix that shifts it.",
        "From one row of the table to the whole of it, to the matrix that shifts a row, and back"
        " from a row to its position.",
        "a little numpy, and the formula",
    ),
    "rotation": Group(
        "Practise rotation",
        "Exercises on rotary positions, from one pair to a projection in another layout.",
        "From one pair to a whole head, in both layouts, and to the weights of a checkpoint in"
        " the other layout.",
        "a little numpy, and what a query and a key are",
    ),
    "biases": Group(
        "Practise biases and buckets",
        "Exercises on relative positions, Shaw’s index, ALiBi and T5’s buckets.",
        "Compute what is added to the scores, and the index that looks it up. Relative position is"
        " key minus query everywhere in this book; its sign is the first thing to get wrong.",
        "a little numpy, and what a score is",
    ),
    "length": Group(
        "Practise length and scaling",
        "Exercises on pairs that never complete a turn and on the rules that slow them down.",
        "Find which pairs complete a turn in training, and what the rules for a longer context do"
        " to the others.",
        "a little numpy, and the frequencies",
    ),
    "masks": Group(
        "Practise masks and caches",
        "Exercises on masks, padded batches, precision and decoding with a cache.",
        "The places where a right formula gets a wrong position: a mask, a padded batch, a cache, a"
        " cast.",
        "a little numpy, and attention",
    ),
    "bugs": Group(
        "Find the bug",
        "Programs with one fault each, of kinds found in real code. Find it and fix it.",
        "Each program runs without an error and has a fault of a kind found in real code."
        " The checks say what it should do; find out why it does not.",
        "the other groups, or some experience",
    ),
}


def page(path: str) -> str:
    """Return the index, or the page of a group, with its bound numbers computed."""
    name = Path(path).stem
    if name == "index":
        return corrected_page(filled("practise", exercises=exercises(), **WORDS))
    return corrected_page(filled("exercises", group=name, **WORDS))


def exercises_in(group: str) -> list[Exercise]:
    """Return the exercises of a group."""
    return [one for one in exercises() if one.group == group]


def cells(group: str) -> str:
    """Return the row of cells of a group: as many numbers of its row of the table as exercises."""
    found = exercises_in(group)
    row = sinusoidal_encoding(len(GROUPS) + 1, 2 * -(-len(found) // 2) or 2)[
        GROUPS.index(group) + 1
    ]
    names = " ".join(one.name for one in found)
    numbers = " ".join(f"{value:.2f}" for value in row[: len(found)])
    return f'<div class="cells" data-of="{names}" data-row="{numbers}" aria-hidden="true">\n</div>'


def heading(section: str) -> str:
    """Return the words of a heading, given by its page and its anchor, or else the page's title."""
    path, _, anchor = section.partition("#")
    text, title = pages.text(path), pages.title(path)
    found = re.search(rf"^#+ (.*?) \{{ #{re.escape(anchor)} \}}$", text, re.M)
    return f"{title}, *{found[1]}*" if found and found[1] != title else title


# What the templates of the pages use.
WORDS: dict[str, Any] = {
    "about": ABOUT,
    "cells": cells,
    "heading": heading,
    "notebook": f'[the notebook]({NOTEBOOK}){{ download="practise.ipynb" }}',
    "of": exercises_in,
}
