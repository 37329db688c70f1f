"""What the proofs are of: theorems.toml and mutations.toml, beside them in docs/proofs/.

[[theorem]]                 one for each theorem of chapter 4
number = "4.15"
proved = ["rope_relative"]  theorems of docs/proofs/, in the order of the statement
part = true                 if they prove only a part of it, which `differences` names
differences = "…"           what the formal statement says otherwise, if anything
reason = "…"                why it is not formalised, where `proved` is absent

[[number]]                  one for each inequality or bound that the book states
claim = "…"
where = "chapters/by-hand/pictures.md#similarity"
proved = ["similarity_up_to_7"]

[[mutation]]                a changed statement, whose proof must fail
theorem = "rope_relative"
old = "n' - m"              must be in the statement exactly once, after its name
new = "m - n'"
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.proofs.source import FOLDER, ProofsError

FIELDS = {
    "theorem": ({"number"}, {"proved", "part", "differences", "reason"}),
    "number": ({"claim", "where", "proved"}, {"differences"}),
    "mutation": ({"theorem", "old", "new"}, set()),
}


@dataclass(frozen=True)
class Numbered:
    """A theorem of the book, with the formal theorems that prove it, or why there are none."""

    number: str
    proved: tuple[str, ...] = ()
    part: bool = False
    differences: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Bound:
    """An inequality or a bound that the book states, with the formal theorems that prove it."""

    claim: str
    where: str
    proved: tuple[str, ...]
    differences: str = ""


@dataclass(frozen=True)
class Mutation:
    """A changed statement: one with `new` in the place of `old`."""

    theorem: str
    old: str
    new: str

    def changed(self, statement: str) -> str:
        """Return a statement with the change made; line breaks count as spaces.

        The theorem's name is not changed.

        Raises:
            ProofsError: `old` is not in the statement exactly once, or equals `new`.
        """
        word, name, statement = statement.partition(self.theorem)
        pattern = re.compile(r"\s+".join(map(re.escape, self.old.split())))
        places = list(pattern.finditer(statement))
        about = f"mutations.toml: {self.theorem}: {self.old!r}"
        if len(places) != 1:
            raise ProofsError(f"{about} is in the statement {len(places)} times; it must be once")
        if self.old.split() == self.new.split():
            raise ProofsError(f"{about} is changed to itself")
        start, end = places[0].span()
        return f"{word}{name}{statement[:start]}{self.new}{statement[end:]}"


def numbered_theorems(folder: Path = FOLDER) -> list[Numbered]:
    """Return the theorems of the book, in the order of their numbers."""
    found = [
        Numbered(**_with_tuple(entry)) for entry in _entries(folder / "theorems.toml", "theorem")
    ]
    for one in found:
        if bool(one.proved) == bool(one.reason):
            raise ProofsError(
                f"theorems.toml: {one.number} must have either 'proved' or a 'reason' why not"
            )
        if one.part and not (one.proved and one.differences):
            raise ProofsError(
                f"theorems.toml: {one.number} is proved in part; 'differences' must name the part"
            )
    return sorted(found, key=lambda one: [int(part) for part in one.number.split(".")])


def bounds(folder: Path = FOLDER) -> list[Bound]:
    """Return the inequalities and bounds of the book that are proved, in the order of the file."""
    return [Bound(**_with_tuple(entry)) for entry in _entries(folder / "theorems.toml", "number")]


def mutations(folder: Path = FOLDER) -> list[Mutation]:
    """Return the changed statements, in the order of the file."""
    return [Mutation(**entry) for entry in _entries(folder / "mutations.toml", "mutation")]


def formal_theorems_of(folder: Path = FOLDER) -> list[str]:
    """Return the formal theorems that prove a theorem or a bound of the book, each once."""
    entries: list[Numbered | Bound] = [*numbered_theorems(folder), *bounds(folder)]
    return list(dict.fromkeys(name for one in entries for name in one.proved))


def _with_tuple(entry: dict[str, Any]) -> dict[str, Any]:
    return {**entry, "proved": tuple(entry.get("proved", ()))}


def _entries(path: Path, kind: str) -> list[dict[str, Any]]:
    """Return the entries of a kind, after checking their fields."""
    try:
        found: dict[str, list[dict[str, Any]]] = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ProofsError(f"{path.name}: {error}") from error
    if unknown := set(found) - set(FIELDS):
        raise ProofsError(f"{path.name} has an unknown table {min(unknown)!r}")
    required, optional = FIELDS[kind]
    for entry in found.get(kind, []):
        about = f"{path.name}: [[{kind}]] {entry}"
        if missing := required - set(entry):
            raise ProofsError(f"{about} has no field {min(missing)!r}")
        if more := set(entry) - required - optional:
            raise ProofsError(f"{about} has an unknown field {min(more)!r}")
    return found.get(kind, [])
