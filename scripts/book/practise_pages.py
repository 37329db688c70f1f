"""The pages of *Practise*, docs/practise/: an index and a page for each group of exercises.

They are made from the files in scripts/practise/exercises/. The starter of an exercise that is
solved in the page is marked `.answer`; the page's script makes it editable.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from posenc import sinusoidal_encoding
from scripts import DOCS
from scripts.book.data import front_matter
from scripts.book.evaluate import corrections
from scripts.book.text import corrected
from scripts.practise.read import GROUPS, Exercise, exercises

ROOM = DOCS / "practise"
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
        "From one row of the table to the whole of it, to the matrix that moves a row on, and back"
        " from a row to its position.",
        "a little numpy, and the formula",
    ),
    "rotation": Group(
        "Practise rotation",
        "Exercises on rotary positions, from one pair to a projection in another layout.",
        "From one pair to a whole head, in both layouts, and to the weights of a checkpoint that"
        " comes in the other one.",
        "a little numpy, and what a query and a key are",
    ),
    "biases": Group(
        "Practise biases and buckets",
        "Exercises on relative positions, Shaw’s index, ALiBi and T5’s buckets.",
        "What is added to the scores, and what it is looked up by. Relative position is key minus"
        " query everywhere in this book; its sign is the first thing to get wrong.",
        "a little numpy, and what a score is",
    ),
    "length": Group(
        "Practise length and scaling",
        "Exercises on pairs that never complete a turn and on the rules that slow them down.",
        "Which pairs a model has seen all round, and what the rules for a longer context do to the"
        " others.",
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
        "Programs with one fault each, as they are found in real code. Find it and mend it.",
        "Each program runs without an error and has a fault of a kind that is found in real code."
        " The checks say what it should do; find out why it does not.",
        "the other groups, or some experience",
    ),
}

INDEX = """\
---
title: All exercises
description: {count} exercises, from one row to a cache and a model with a bug, checked in the page.
audience: anyone who wants to write it, and be told what is wrong
time: five to fifteen minutes each
needs: a little Python and numpy; PyTorch for those in the notebook
---
# All exercises {{ #practise }}

You write a function, press *Check*, and are told what holds and what does not, and why. Only what
your code computes is compared, so write it your own way. There are {count} exercises in {groups}
groups, each with hints and a solution.
{{ .lead }}

Python runs in your browser and is fetched at the first *Check*, about 9 MB, once. Your answers and
your progress stay in this browser and are sent nowhere. In the editor Tab indents; to leave it with
the keyboard, press Escape and then Tab. Ctrl+Enter checks.

The {torch} exercises that need PyTorch are in
[the notebook]({notebook}){{ download="practise.ipynb" }}, which has all the others too, and
checks them in the same way.

Each group has a row of cells, which fill in as you solve it: row 1 of the table for the first
group, row 2 for the second.

<div class="solved" role="status">
</div>

{rows}
Checked by `test_the_solution_passes`, `test_the_starter_fails`,
`test_each_wrong_answer_gets_the_message_meant_for_it`, `test_solutions_agree_with_the_package`,
`test_notebook_checks_what_the_page_checks`
{{ .checked }}
"""

PAGE = """\
---
title: {title}
description: {description}
audience: anyone who wants to write it, and be told what is wrong
time: five to fifteen minutes each
needs: {needs}
---
# {title} {{ #{name} }}

{lead}
{{ .lead }}

{cells}

{exercises}"""


def pages() -> dict[Path, str]:
    """Return each page as Markdown, with its bound numbers computed."""
    return {path: page(path) for path in PATHS}


def page(path: Path) -> str:
    """Return one page as Markdown."""
    text = index() if path.stem == "index" else group_page(path.stem)
    return corrected(text, corrections(text))


PATHS = [ROOM / f"{name}.md" for name in ("index", *GROUPS)]
MADE = {path: partial(page, path) for path in PATHS}


def index() -> str:
    """Return the index, with a row of cells and a list for each group."""
    found = exercises()
    return INDEX.format(
        count=len(found),
        groups=len(GROUPS),
        torch=sum(one.torch for one in found),
        notebook=NOTEBOOK,
        rows="".join(map(_row, GROUPS)),
    )


def _row(name: str) -> str:
    """Return a group of the index."""
    listed = "".join(f"- [{one.title}]({name}.md#{one.name}){_aside(one)}\n" for one in of(name))
    about = ABOUT[name]
    return f"## {about.title} {{ #{name} }}\n\n{about.lead}\n\n{cells(name)}\n\n{listed}\n"


def _aside(exercise: Exercise) -> str:
    return ", in the notebook" if exercise.torch else ""


def group_page(name: str) -> str:
    """Return the page of a group."""
    about = ABOUT[name]
    return PAGE.format(
        name=name,
        title=about.title,
        description=about.description,
        needs=about.needs,
        lead=about.lead,
        cells=cells(name),
        exercises="\n".join(map(exercise, of(name))),
    )


def of(group: str) -> list[Exercise]:
    """Return the exercises of a group."""
    return [one for one in exercises() if one.group == group]


def cells(group: str) -> str:
    """Return the row of cells of a group: as many numbers of its row of the table as exercises."""
    found = of(group)
    row = sinusoidal_encoding(len(GROUPS) + 1, 2 * -(-len(found) // 2) or 2)[
        GROUPS.index(group) + 1
    ]
    names = " ".join(one.name for one in found)
    numbers = " ".join(f"{value:.2f}" for value in row[: len(found)])
    return f'<div class="cells" data-of="{names}" data-row="{numbers}" aria-hidden="true">\n</div>'


def exercise(one: Exercise) -> str:
    """Return an exercise with its starter, its hints and its solution."""
    where = f"../{one.section}"
    kind = ".answer .elsewhere" if one.torch else ".answer"
    marks = f' {{{kind} data-exercise="{one.name}"}}'
    link = f'[the notebook]({NOTEBOOK}){{ download="practise.ipynb" }}'
    needs = f"This one needs PyTorch: solve it in {link}.\n\n"
    parts = [
        f"## {one.title} {{ #{one.name} }}\n\n{one.statement}\n\n",
        f"Explained in [{heading(one.section)}]({where}).\n{{ .explained }}\n\n",
        needs if one.torch else "",
        f"```python{marks}\n{one.starter}```\n\n",
        *(f'??? hint "Hint {n}"\n\n    {hint}\n\n' for n, hint in enumerate(one.hints, 1)),
        f"??? solution\n\n    ```python\n{indented(one.solution)}    ```\n",
    ]
    return "".join(parts)


def heading(section: str) -> str:
    """Return the words of a heading, given by its page and its anchor, or else the page's title."""
    path, _, anchor = section.partition("#")
    text = (DOCS / path).read_text(encoding="utf-8")
    found = re.search(rf"^#+ (.*?) \{{ #{re.escape(anchor)} \}}$", text, re.M)
    title: str = front_matter(text)["title"]
    return f"{title}, *{found[1]}*" if found and found[1] != title else title


def indented(code: str) -> str:
    """Return code within a fold."""
    return "".join(
        f"    {line}" if line.strip() else line for line in code.splitlines(keepends=True)
    )
