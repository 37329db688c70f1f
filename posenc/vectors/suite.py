"""The suites and their cases, read from their files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

VERSION = 1
HERE = Path(__file__).resolve().parent
FOLDERS = (HERE / "files", HERE.parents[1] / "docs" / "vectors")  # in a wheel, in a checkout
INDEX = "index.json"
HEAD = {"about": str, "answer": str, "conventions": dict, "bugs": dict}
LATER = ("inputs", "refusals")  # of the head, since 0.2
WITHDRAWN = "withdrawn"
RESULTS = ("valid", "acceptable", "invalid")
MISSING = (
    "the vector files are not here: this copy of posenc was installed without them. Install the"
    " wheel that has them, or pass the folder of the files as `folder`"
)


@dataclass(frozen=True)
class Case:
    """A question about positions, and its answer.

    Attributes:
        id: names the case, as in "rotation/near-001".
        suite: the suite that it belongs to.
        input: the question, by name.
        expected: the answer; null where any value will do, "-Infinity" for a hidden key. None if
            the input is to be refused.
        tolerance: for each contract, how far a number may be off: absolute + relative · |number|.
            A contract so loose that zeros would pass is left out.
        result: "valid", "acceptable" if a convention gives a different answer, or answers an input
            that others refuse, or "invalid" if the input must be refused.
        flags: what the case is about.
        acceptable: the answers of other conventions, by name.
        bugs: what known bugs return, by name, in 7 digits.
        why: why the input is nonsense; empty if it is not.
    """

    id: str
    suite: str
    input: Mapping[str, Any]
    expected: Any
    tolerance: Mapping[str, Mapping[str, float]]
    result: str
    flags: tuple[str, ...]
    acceptable: Mapping[str, Any]
    bugs: Mapping[str, Any]
    why: str = ""

    @property
    def withdrawn(self) -> bool:
        """Whether the case was found to be wrong: it is kept, and no longer asked."""
        return WITHDRAWN in self.flags

    def __repr__(self) -> str:
        return f"Case({self.id!r})"


@dataclass(frozen=True)
class Suite:
    """Cases about one thing.

    Attributes:
        name: the suite's name.
        about: what is asked.
        answer: what is to be returned.
        conventions: what differs without being wrong, described by name.
        bugs: known bugs, described by name.
        cases: all cases, in order.
        inputs: for each input its shape, what it is about, and whether a case may lack it.
        refusals: why inputs are nonsense, by the flag of their cases.
    """

    name: str
    about: str
    answer: str
    conventions: Mapping[str, str]
    bugs: Mapping[str, str]
    cases: tuple[Case, ...]
    inputs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    refusals: Mapping[str, str] = field(default_factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        """How many cases are valid, acceptable and invalid."""
        results = [case.result for case in self.cases]
        return {result: results.count(result) for result in RESULTS}

    def __repr__(self) -> str:
        return f"Suite({self.name!r}, {len(self.cases)} cases)"


def suites(*, folder: str | Path | None = None) -> tuple[str, ...]:
    """Return the names of all suites.

    Args:
        folder: where the files are; None for those of this package.

    Returns:
        A tuple of names.

    Raises:
        FileNotFoundError: there are no files.
        ValueError: the index is torn, or of another version.

    Examples:
        >>> suites()[:3]
        ('frequencies', 'config', 'rotation')
    """
    return tuple(_entries(_folder(folder)))


def load(suite: str, *, folder: str | Path | None = None) -> Suite:
    """Return a suite with its cases.

    The digest of its file is compared with the index, so a changed file is noticed.

    Args:
        suite: a name that `suites` returns.
        folder: where the files are; None for those of this package.

    Returns:
        A `Suite`.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the suite is unknown, or its file is torn, changed, or of another version.

    Examples:
        >>> suite = load("t5")
        >>> suite.cases[0].id, suite.cases[0].input["buckets"], len(suite.cases) > 100
        ('t5/near-001', 32, True)
    """
    place = _folder(folder)
    entries = _entries(place)
    if suite not in entries:
        raise ValueError(f"suite must be one of {', '.join(entries)}; got {suite!r}")
    path = place / _field(INDEX, entries[suite], "file", str)
    text = path.read_bytes()
    if hashlib.sha256(text).hexdigest() != _field(INDEX, entries[suite], "sha256", str):
        _parsed_object(path, text)  # torn, or of another version, says more
        raise ValueError(f"{path.name} must have the digest that {INDEX} has; it was changed")
    found = _parsed_object(path, text)
    about = {key: _field(path.name, found, key, kind) for key, kind in HEAD.items()}
    later = {key: _field(path.name, {key: {}} | found, key, dict) for key in LATER}
    written = _field(path.name, found, "cases", list)
    cases = tuple(_case(path.name, suite, case, later["refusals"]) for case in written)
    return Suite(suite, **about, **later, cases=cases)


def _case(file: str, suite: str, case: Any, refusals: Mapping[str, str]) -> Case:
    """Return a case of a file."""
    known = {one.name for one in fields(Case)} - {"suite", "why"}
    given = {key: _field(file, case, key) for key in sorted(known - {"acceptable"})}
    if unknown := set(case) - known:
        raise ValueError(f"{file} must not have {', '.join(sorted(unknown))} in {case['id']}")
    flags = tuple(_field(file, case, "flags", list))
    accepted = case.get("acceptable", {})
    nonsense = [refusals[flag] for flag in flags if flag in refusals]
    why = nonsense[0] if nonsense and given["expected"] is None else ""
    return Case(**given | {"suite": suite, "flags": flags, "acceptable": accepted, "why": why})


def _field(file: str, found: Any, name: str, kind: type = object) -> Any:
    """Return a field of a JSON object in a file."""
    if not isinstance(found, dict):
        raise ValueError(f"{file} must have an object with {name}; got {str(found)[:40]}")
    if name not in found or not isinstance(found[name], kind):
        where = f" in {found['id']}" if "id" in found else ""
        told = f"must have {name}{where}" if name not in found else f"has malformed {name}{where}"
        raise ValueError(f"{file} {told}")
    return found[name]


def _folder(folder: str | Path | None) -> Path:
    """Return the folder of the files."""
    if folder is not None:
        return Path(folder)
    for place in FOLDERS:
        if (place / INDEX).is_file():
            return place
    raise FileNotFoundError(MISSING)


def _entries(folder: Path) -> dict[str, Any]:
    """Return what the index of a folder says of each suite."""
    path = folder / INDEX
    entries: dict[str, Any] = _field(INDEX, _parsed_object(path, path.read_bytes()), "suites", dict)
    return entries


def _parsed_object(path: Path, text: bytes) -> dict[str, Any]:
    """Return the JSON object of a file, of this version."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{path.name} must be JSON; it is malformed: {error}") from None
    version = found.get("version") if isinstance(found, dict) else None
    if version != VERSION:
        raise ValueError(f"{path.name} must be of version {VERSION}; got {version!r}")
    return dict(found)
