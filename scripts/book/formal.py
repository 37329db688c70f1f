"""Folds under the names of theorems that a machine has proved: "Proved by machine: `name`".

Each name must be that of a theorem in docs/proofs/ that was checked. The fold links to its entry on
the page of formal statements. A script copies the entry into the fold when a reader opens it, since
the statements would make chapter 4 a tenth heavier.
"""

from __future__ import annotations

from os.path import relpath
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

from scripts.proofs.record import recorded
from scripts.proofs.source import theorem

PROVED_BY = "Proved by machine"
PAGE = "trust/formal-statements.md"
SHOWN = 2  # names; more are counted
UNSEARCHED = {"data-search-exclude": ""}


def formal_fold(line: Element, page: str) -> None:
    """Turn a line of evidence into a fold with links to the statements that it names.

    Raises:
        ValueError: The line says anything else.
        ProofsError: docs/proofs/ has no theorem of a name, or nobody has checked it.
    """
    names = _named(line)
    for name in names:
        recorded(theorem(name).name)
    tail = line.tail
    line.clear()
    line.tag, line.attrib, line.tail = "details", {"class": "checked formal", **UNSEARCHED}, tail
    _summary(line, names)
    inside = SubElement(line, "p", {"class": "names"})
    for number, name in enumerate(names):
        address = f"{relpath(PAGE, Path(page).parent)}#{name}" if page else f"#{name}"
        link = SubElement(inside, "a", {"href": address})
        SubElement(link, "code").text = name
        link.tail = ", " if number < len(names) - 1 else None


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
