"""Folds what a machine has proved under the names of the theorems: "Proved by machine: `name`".

Each name must be that of a theorem in docs/proofs/. The fold shows its statement, cut from its
file, and the axioms that it rests on, as the checker printed them (docs/data/proofs.json). It links
to the page that has the definitions as well.
"""

from __future__ import annotations

from os.path import relpath
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

from markdown.util import AtomicString

from scripts.proofs.record import Recorded, recorded
from scripts.proofs.source import Item, theorem

PROVED_BY = "Proved by machine"
PAGE = "trust/formal-statements.md"
SHOWN = 2  # names; more are counted
UNSEARCHED = {"data-search-exclude": ""}


def formal_fold(line: Element, page: str) -> None:
    """Turn a line of evidence into a fold with the statements that it names.

    Raises:
        ValueError: The line says anything else.
        ProofsError: docs/proofs/ has no theorem of a name, or nobody has checked it.
    """
    names = _named(line)
    tail = line.tail
    line.clear()
    line.tag, line.attrib, line.tail = "details", {"class": "checked formal", **UNSEARCHED}, tail
    _summary(line, names)
    inside = SubElement(line, "div", {"class": "names"})
    found = [theorem(name) for name in names]
    listing = SubElement(SubElement(inside, "pre"), "code")
    listing.text = AtomicString("\n\n".join(map(_stated, found)))
    below = SubElement(inside, "p")
    below.text = AtomicString(f"{_assumptions(names)} ")
    if page:
        address = f"{relpath(PAGE, Path(page).parent)}#{names[0]}"
        SubElement(below, "a", {"href": address}).text = "Definitions and proof"


def _named(line: Element) -> list[str]:
    """Return the names in a line, after checking its form."""
    codes = line.findall("code")
    parts = [line.text or "", *(code.tail or "" for code in codes)]
    if not codes or [part.strip() for part in parts] != [
        f"{PROVED_BY}:",
        *[","] * (len(codes) - 1),
        "",
    ]:
        words = "".join(line.itertext())
        raise ValueError(f"{words!r} must be '{PROVED_BY}:' and names, with commas, and no more")
    return ["".join(code.itertext()) for code in codes]


def _summary(fold: Element, names: list[str]) -> None:
    summary = SubElement(fold, "summary")
    if len(names) > SHOWN:
        summary.text = f"{PROVED_BY}: {len(names)} theorems"
        return
    summary.text = f"{PROVED_BY}: "
    for number, name in enumerate(names):
        code = SubElement(summary, "code")
        code.text, code.tail = name, ", " if number < len(names) - 1 else None


def _stated(item: Item) -> str:
    """Return a statement, below the variables and hypotheses of its section."""
    return "\n".join([*item.assumed, item.statement])


def _assumptions(names: list[str]) -> str:
    """Return a sentence on what theorems assume, or one for each where they differ."""
    by_name = {name: assumed(recorded(name)) for name in names}
    if len(set(by_name.values())) == 1:
        return f"Assume{'s' if len(names) == 1 else ''} {by_name[names[0]]}."
    return " ".join(f"{name} assumes {axioms}." for name, axioms in by_name.items())


def assumed(said: Recorded) -> str:
    """Return what a theorem assumes: the names of axioms, without their modules."""
    names = [axiom.rpartition(".")[2] for axiom in said.classical]
    if said.machine:
        names.append(f"{said.machine} axioms about the processor’s integers and floats")
    return ", ".join(names) or "nothing"
