"""The page of formal statements, trust/formal-statements.md, made from docs/proofs/.

It has a table of chapter 4's theorems, one of the book's numbers, every formal theorem with what it
assumes and how it was tried, the definitions, and the axioms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from scripts.book import pages
from scripts.book.chapters import chapter_of
from scripts.book.evaluate import corrected_page
from scripts.book.template import code, filled
from scripts.proofs import checker, listed, record, source
from scripts.proofs.source import Item

CHAPTER = "chapters/prove-it/index.md"  # its first page
THEOREM = re.compile(r'^!!! theorem "Theorem (?P<number>[\d.]+) \((?P<name>[^"]+)\)"$', re.M)
HEADING = re.compile(r"^#{1,3} .*\{ #(?P<id>[\w-]+) \}$", re.M)
TITLE = re.compile(r"\A\(\*\*\s+\*\s+(?P<words>[^\n]+?)\s*(?:\*\))?\n")
CODE = re.compile(r"\[(?P<code>[^\[\]]+)\]")

WORDS = {
    "sig_forall_dec": "If a property can be decided for each natural number, then either all"
    " numbers have it, or there is one that does not.",
    "sig_not_dec": "For any statement, either its negation holds, or the negation of its negation.",
    "functional_extensionality_dep": "Two functions with the same value everywhere are the same.",
    "classic": "Every statement holds, or its negation does.",
    "constructive_indefinite_description": "If something has a property, one can be chosen.",
    "proof_irrelevance": "Two proofs of the same statement count as one.",
    "propositional_extensionality": "Two statements that imply each other count as one.",
}


def page(path: str) -> str:
    """Return the whole page as Markdown, with its bound numbers computed."""
    known = record.load()["axioms"]
    machine = sorted(filter(checker.is_machine, known))
    return corrected_page(
        filled(
            "formal-statements",
            numbered=listed.numbered_theorems(),
            places=places(),
            bounds=listed.bounds(),
            files=files(),
            refused=refused_changes(),
            definitions=definitions(),
            axioms=known,
            machine=machine,
            **HELPERS,
        )
    )


def places() -> dict[str, tuple[str, str]]:
    """Return the name of each theorem of chapter 4, and the place of its section, by number."""
    found = {}
    for path in chapter_of(CHAPTER).pages:
        text = pages.text(path)
        for match in THEOREM.finditer(text):
            above = [heading["id"] for heading in HEADING.finditer(text, 0, match.start())]
            found[match["number"]] = (match["name"], f"{path}#{above[-1]}")
    return found


def files() -> dict[Path, list[Item]]:
    """Return the files of the proofs, each with its theorems that prove something of the book."""
    theorems = set(listed.formal_theorems_of())
    paths = [source.FOLDER / name for name in checker.project().files]
    return {path: [item for item in source.read(path) if item.name in theorems] for path in paths}


def refused_changes() -> dict[str, list[str]]:
    """Return for each theorem which changes of its statement were tried, and refused."""
    found: dict[str, list[str]] = {}
    for one in listed.mutations():
        found.setdefault(one.theorem, []).append(f"{code(one.old)} changed to {code(one.new)}")
    return found


def used_definitions(item: Item) -> list[Item]:
    """Return the definitions that a statement uses."""
    return source.used_definitions(item, source.library())


def links(names: Iterable[str], before: str = "") -> str:
    """Return links to what has these names on the page."""
    return ", ".join(f"[`{name}`](#{before}{name})" for name in names)


def assumptions(item: Item) -> str:
    """Return what a theorem assumes, as links to the axioms."""
    entry = record.recorded_entry(item.name)
    about = f"{entry.machine} axioms about the processor’s {numbers(entry.axioms)}"
    parts = [links(map(short, entry.classical)), f"[{about}](#machine)" if entry.machine else ""]
    return ", ".join(filter(None, parts)) or "nothing"


def numbers(axioms: Iterable[str]) -> str:
    """Return of which of the processor's numbers axioms speak."""
    floats = any("Float" in name.split(".")[0] for name in axioms)
    return "integers and floats" if floats else "integers"


def definitions() -> list[Item]:
    """Return the definitions that the statements use, one after another."""
    found = source.library()
    wanted = {
        one.name for name in listed.formal_theorems_of() for one in used_definitions(found[name])
    }
    return [item for item in found.values() if item.name in wanted]


def short(name: str) -> str:
    """Return the name of an axiom without its library."""
    return name.rpartition(".")[2]


def words(axiom: str) -> str:
    """Return what an axiom says."""
    return WORDS.get(short(axiom), "")


def title(path: Path) -> str:
    """Return the title of a file, from its first comment."""
    found = TITLE.match(path.read_text(encoding="utf-8"))
    return found["words"].rstrip(".") if found else ""


def prose(comment: str) -> str:
    """Return a comment as Markdown: what is in square brackets there is code."""
    parts = CODE.split(comment)
    words = [re.sub(r"([*_<>$])", r"\\\1", part) for part in parts[::2]]
    codes = [code(part) for part in parts[1::2]]
    return "".join(a + b for a, b in zip(words, [*codes, ""], strict=True))


# What the template of the page uses.
HELPERS: dict[str, Any] = {
    "assumptions": assumptions,
    "links": links,
    "numbers": numbers,
    "prose": prose,
    "short": short,
    "title": title,
    "used": used_definitions,
    "words": words,
}
