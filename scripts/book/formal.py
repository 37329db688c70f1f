"""Folds under the names of theorems that a machine has proved: "Proved by machine: `name`".

Each name must be that of a theorem in docs/proofs/ that was checked. The fold links to its entry on
the page of formal statements. A script copies the entry into the fold when a reader opens it, since
the statements would make chapter 4 a tenth heavier.
"""

from __future__ import annotations

from os.path import relpath
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

from scripts.proofs.record import recorded_entry
from scripts.proofs.source import theorem

PROVED_BY = "Proved by machine"
IN_PART = f"{PROVED_BY}, in part"
PAGE = "trust/formal-statements.md"
SHOWN = 1  # name; more are counted


def formal_fold(line: Element, page: str) -> None:
    """Turn a line of evidence into a fold with links to the statements that it names.

    Raises:
        ValueError: The line says anything else.
        ProofsError: docs/proofs/ has no theorem of a name, or nobody has checked it.
    """
    label, names = _parsed_line(line)
    for name in names:
        recorded_entry(theorem(name).name)
    tail = line.tail
    line.clear()
    line.tag, line.attrib, line.tail = "details", {"class": "checked formal"}, tail
    _summary(line, label, names)
    inside = SubElement(line, "p", {"class": "names"})
    for number, name in enumerate(names):
        address = f"{relpath(PAGE, Path(page).parent)}#{name}" if page else f"#{name}"
        link = SubElement(inside, "a", {"href": address})
        SubElement(link, "code").text = name
        link.tail = ", " if number < len(names) - 1 else None


def _parsed_line(line: Element) -> tuple[str, list[str]]:
    """Return the first words of a line and the names in it, after checking its form."""
    codes = line.findall("code")
    label = (line.text or "").strip().removesuffix(":")
    after = [(code.tail or "").strip() for code in codes]
    if (
        not codes
        or (line.text or "").strip() not in (f"{PROVED_BY}:", f"{IN_PART}:")
        or after != [*[","] * (len(codes) - 1), ""]
    ):
        words = "".join(line.itertext())
        raise ValueError(
            f"{words!r} must be '{PROVED_BY}:' or '{IN_PART}:' and names, with commas, and no more"
        )
    return label, ["".join(code.itertext()) for code in codes]


def _summary(fold: Element, label: str, names: list[str]) -> None:
    summary = SubElement(fold, "summary")
    if len(names) > SHOWN:
        summary.text = f"{label}: {len(names)} theorems"
        return
    summary.text = f"{label}: "
    for number, name in enumerate(names):
        code = SubElement(summary, "code")
        code.text, code.tail = name, ", " if number < len(names) - 1 else None
