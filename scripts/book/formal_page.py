"""The page of formal statements, docs/trust/formal-statements.md, made from docs/proofs/.

It has a table of chapter 4's theorems, one of the book's numbers, every formal theorem with what it
assumes and how it was tried, the definitions, and the axioms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from scripts import DOCS
from scripts.book.evaluate import corrections
from scripts.book.formal import PAGE as ADDRESS
from scripts.book.text import corrected
from scripts.proofs import checker, listed, record, source
from scripts.proofs.listed import Bound, Mutation, Numbered
from scripts.proofs.record import Recorded
from scripts.proofs.source import Item

PAGE = DOCS / ADDRESS
CHAPTER = DOCS / "chapters" / "prove-it.md"
THEOREM = re.compile(r'^!!! theorem "Theorem (?P<number>[\d.]+) \((?P<name>[^"]+)\)"$', re.M)
HEADING = re.compile(r"^#{2,3} .*\{ #(?P<id>[\w-]+) \}$", re.M)
TITLE = re.compile(r"\A\(\*\*\s+\*\s+(?P<words>[^\n]+?)\s*(?:\*\))?\n")
CODE = re.compile(r"\[(?P<code>[^\[\]]+)\]")

HEAD = """\
---
title: The formal statements
description: Every theorem of the book that a machine has checked, as the machine reads it.
audience: anyone who wants to know what exactly was proved
time: a minute a theorem
needs: nothing to look; Coq or Rocq to check it again
---
# The formal statements { #formal-statements }

The theorems of chapter 4 and some bounds of the book as the proof checker reads them, each with
what the formal statement says otherwise, what it assumes, and the changed statements that were
refused. [What a machine proves](what-a-machine-proves.md) explains how to read one.
{ .lead }

{{ 0 = proofs.proved() }} of chapter 4’s {{ 0 = proofs.asked() }} theorems are proved, and a part of
{{ 0 = proofs.in_part() }} more, by {{ 0 = proofs.formal() }} formal ones; these also prove the
{{ 0 = proofs.bounds() }} bounds. Behind them are {{ 0 = proofs.steps() }} theorems and lemmas in
{{ 0,000 = proofs.lines() }} lines. The listings are cut from the files, which this site has too;
the name of a file leads to it.
{ #counts }

"""

CHAPTER_TABLE = """\
## The theorems of chapter 4 { #theorems }

| theorem | proved by machine | what differs from the page |
|---|---|---|
"""

BOUNDS_TABLE = """\
## Numbers and bounds { #bounds }

| what the book states | proved by machine | what differs from the page |
|---|---|---|
"""

AXIOMS = """\
## What they assume { #axioms }

No file has an axiom of its own. What a theorem assumes about the world, such as the error of a
library’s sine, stands in its statement as a condition. The standard library has axioms, though, and
the checker lists those that a proof rests on, directly or through another. The real numbers of the
library bring three, which are those of ordinary mathematics:

"""

WORDS = {
    "sig_forall_dec": "If a property can be decided for each natural number, then either all"
    " numbers have it, or there is one that has not.",
    "sig_not_dec": "Of any statement, either its negation holds or the negation of that.",
    "functional_extensionality_dep": "Two functions with the same value everywhere are the same.",
    "classic": "Every statement holds, or its negation does.",
    "constructive_indefinite_description": "Of what exists, one can be named.",
    "proof_irrelevance": "Two proofs of the same statement count as one.",
    "propositional_extensionality": "Two statements that imply each other count as one.",
}


def page() -> str:
    """Return the whole page as Markdown."""
    found = source.library()
    parts = [
        HEAD,
        chapter_table(),
        bounds_table(),
        *statements(found),
        *definitions(found),
        axioms(),
    ]
    text = "".join(parts)
    return corrected(text, corrections(text))


def places() -> dict[str, tuple[str, str]]:
    """Return the name of each theorem of chapter 4, and the anchor of its section, by number."""
    text = CHAPTER.read_text(encoding="utf-8")
    found = {}
    for match in THEOREM.finditer(text):
        above = [heading["id"] for heading in HEADING.finditer(text, 0, match.start())]
        found[match["number"]] = (match["name"], above[-1])
    return found


def chapter_table() -> str:
    """Return the table of chapter 4's theorems, whether they are proved or not."""
    return f"{CHAPTER_TABLE}{''.join(_row(one) for one in listed.numbered())}\n"


def _row(one: Numbered) -> str:
    name, anchor = places()[one.number]
    title = f"[{one.number}](../chapters/prove-it.md#{anchor}) {name}"
    if not one.proved:
        return f"| {title} | *not formalised*{{ .none }} | {one_line(one.reason)} |\n"
    part = "in part: " if one.part else ""
    return f"| {title} | {part}{_links(one.proved)} | {one_line(one.differences)} |\n"


def bounds_table() -> str:
    """Return the table of the book's numbers that are proved."""
    return f"{BOUNDS_TABLE}{''.join(_bound(one) for one in listed.bounds())}\n"


def _bound(one: Bound) -> str:
    claim = f"[{one_line(one.claim)}](../{one.where})"
    return f"| {claim} | {_links(one.proved)} | {one_line(one.differences)} |\n"


def _links(names: tuple[str, ...]) -> str:
    return ", ".join(f"[`{name}`](#{name})" for name in names)


def one_line(words: str) -> str:
    """Return words for a cell of a table."""
    return " ".join(words.split()).replace("|", "&#124;")


def statements(found: dict[str, Item]) -> Iterator[str]:
    """Yield the sections of formal theorems, one for each file."""
    yield "## The statements { #statements }\n\n"
    wanted = set(listed.named())
    changes = listed.mutations()
    for name in checker.project().files:
        path = source.FOLDER / name
        items = [item for item in source.read(path) if item.name in wanted]
        if items:
            yield f"### {title(path.read_text(encoding='utf-8'))} {{ #{path.stem} }}\n\n"
            yield f"From [`docs/proofs/{name}`](../proofs/{name}).\n\n"
        for item in items:
            tried = [change for change in changes if change.theorem == item.name]
            yield statement(item, found, tried)


def statement(item: Item, found: dict[str, Item], tried: list[Mutation]) -> str:
    """Return a formal theorem with its comment, what it uses and assumes, and how it was tried."""
    said = record.recorded(item.name)
    uses = [f"[`{one.name}`](#{anchor(one)})" for one in source.used(item, found)]
    refused = [f"{_code(one.old)} changed to {_code(one.new)}" for one in tried]
    below = [
        f"Uses {', '.join(uses) or 'no definition of ours'}.",
        f"Assumes {assumptions(said)}.",
        *([f"Refused: {'; '.join(refused)}."] if refused else []),
    ]
    words = prose(item.comment) or f"`{item.name}`."
    return (
        f"{words}\n{{ #{item.name} }}\n\n"
        f"```coq\n{chr(10).join([*item.assumed, item.statement])}\n```\n\n"
        + "".join(f"{line}\n{{ .uses }}\n\n" for line in below)
    )


def assumptions(said: Recorded) -> str:
    """Return what a theorem assumes, as links to the axioms."""
    short = [name.rpartition(".")[2] for name in said.classical]
    links = [f"[`{name}`](#{name})" for name in short]
    if said.machine:
        links.append(
            f"[{said.machine} axioms about the processor’s {numbers(said.axioms)}](#machine)"
        )
    return ", ".join(links) or "nothing"


def numbers(axioms: Iterable[str]) -> str:
    """Return of which of the processor's numbers axioms speak."""
    floats = any("Float" in name.split(".")[0] for name in axioms)
    return "integers and floats" if floats else "integers"


def definitions(found: dict[str, Item]) -> Iterator[str]:
    """Yield the definitions that the statements use, one after another."""
    yield "## The definitions { #definitions }\n\n"
    wanted = {one.name for name in listed.named() for one in source.used(found[name], found)}
    for item in found.values():
        if item.name in wanted:
            words = prose(item.comment) or f"`{item.name}`"
            yield f"{words}\n{{ #{anchor(item)} }}\n\n```coq\n{item.statement}\n```\n\n"


def anchor(item: Item) -> str:
    """Return the anchor of a definition."""
    return f"def-{item.name}"


def axioms() -> str:
    """Return the section of axioms, each as the checker prints it."""
    known = record.load()["axioms"]
    parts = [AXIOMS]
    for name, printed in known.items():
        if not checker.is_machine(name):
            short = name.rpartition(".")[2]
            parts.append(f"{WORDS.get(short, '')}\n{{ #{short} }}\n\n")
            parts.append(f"```coq\n{name}\n  : {printed}\n```\n\n")
    machine = sorted(name for name in known if checker.is_machine(name))
    if machine:
        kind = numbers(machine)
        parts.append(MACHINE.format(numbers=kind, first=f"{machine[0]}\n  : {known[machine[0]]}"))
    return "".join(parts)


MACHINE = """\
The `interval` tactic encloses a function by computing, and computes with the processor’s
{numbers}. The checker takes it as given that these do what their specification says, which the
library writes down in {{{{ 0 = proofs.machine() }}}} further axioms, such as
{{ #machine }}

```coq
{first}
```
"""


def title(text: str) -> str:
    """Return the title of a file, from its first comment."""
    found = TITLE.match(text)
    return found["words"].rstrip(".") if found else ""


def prose(comment: str) -> str:
    """Return a comment as Markdown: what is in square brackets there is code."""
    parts = CODE.split(comment)
    words = [re.sub(r"([*_<>$])", r"\\\1", part) for part in parts[::2]]
    codes = [_code(part) for part in parts[1::2]]
    return "".join(a + b for a, b in zip(words, [*codes, ""], strict=True))


def _code(words: str) -> str:
    return f"`{' '.join(words.split())}`"
