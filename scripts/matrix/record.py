"""Other libraries and how they answer the test vectors, from `docs/data/matrix/`.

`libraries/NAME.yml` says how a library is installed and asked, and what was found out about its
answers. `results/NAME.json` holds the answers, counted; `make matrix` alone writes it.

    title        as the library calls itself
    home         its address
    group        the heading that it stands under, one of GROUPS
    install      pins for pip, as NAME==VERSION; constraints.txt pins what they depend on
    alone        pins for pip of packages that are installed without what they depend on
    free         true if the pins of constraints.txt do not fit what is installed
    npm          pins for npm, as NAME@VERSION, installed into node_modules of the environment
    version      the package whose version is the library's, if not the first that is installed
    asked        for each suite, what was called, as Markdown
    ways         for each function or family with answers of its own, what it is; the adapter takes
                 its name as --way. A suite in `asked` may then have a line for each way.
    without      why suites are not asked, as Markdown
    differences  what was found out, a list:

        suite       one, or a list
        way         one, or a list; all ways if it is left out
        cases       a pattern of case names, as in cast-*, or a list; all if it is left out
        kind        convention, limit or fault
        what        one sentence or two
        program     a file of programs/, the smallest that shows it
        definition  the address where what is expected is defined, in the book or a paper
        thread      a list of where it is discussed upstream: `at`, an address, and `is`, the role
                    of the thread and its state
        report      the title of a report, if no thread is about this fault; the command's
                    `--report` prints the whole text
        until       what users of the library can do until a fault is mended, as Markdown
        mended      the version that answers as expected, if there is one
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from posenc import vectors
from posenc.vectors import suites
from posenc.vectors.report import ABSENT
from scripts import DATA, ROOT
from scripts.book.data import load, validate

FOLDER = DATA / "matrix"
ADAPTERS = ROOT / "scripts" / "matrix" / "adapters"
KINDS = ("convention", "limit", "fault")
RELEASED = DATA / "vectors_released.json"
TODAY = "today"
TOO_LOOSE = "is too loose to test it"  # of a contract, which is no library's doing
WAYLESS = ""  # the way of a library that has one only
GROUPS = {
    "torch": "PyTorch libraries",
    "training": "Training frameworks",
    "vision": "Images and diffusion",
    "other": "Other frameworks and runtimes",
}


@dataclass(frozen=True)
class Difference:
    """What was found out about wrong answers.

    Attributes:
        suites: where it shows.
        ways: in which ways; none for all.
        cases: patterns of the names of the cases that it explains.
        kind: "convention", "limit" or "fault".
        what: what differs, as Markdown.
        program: the file of the smallest program that shows it, or nothing.
        definition: where what is expected is defined, or nothing.
        threads: where it is discussed upstream, each an address and what the thread is.
        report: the title of a report, or nothing.
        until: what users can do until it is mended, or nothing.
        mended: the version that answers as expected, or nothing.
    """

    suites: tuple[str, ...]
    ways: tuple[str, ...]
    cases: tuple[str, ...]
    kind: str
    what: str
    program: str = ""
    definition: str = ""
    threads: tuple[tuple[str, str], ...] = ()
    report: str = ""
    until: str = ""
    mended: str = ""

    def explains(self, way: str, case: str) -> bool:
        """Return whether this is about a case, given as in "rotation/near-001"."""
        suite, _, name = case.partition("/")
        return (
            suite in self.suites
            and (not self.ways or way in self.ways)
            and any(fnmatch.fnmatchcase(name, pattern) for pattern in self.cases)
        )


@dataclass(frozen=True)
class Library:
    """A library that is asked.

    Attributes:
        name: of its files.
        title: as it calls itself.
        home: its address.
        group: the heading that it stands under.
        install: pins for pip.
        alone: pins of packages that are installed without what they depend on.
        free: whether the pins of constraints.txt are left aside.
        npm: pins for npm.
        version: the package whose version is the library's.
        asked: what was called, for each suite.
        ways: what each way is; one without a name if there is one only.
        without: why suites are not asked.
        differences: what was found out.
        folder: where its files are.
        adapters: where its adapter is.
    """

    name: str
    title: str
    home: str
    group: str
    install: tuple[str, ...]
    alone: tuple[str, ...]
    free: bool
    npm: tuple[str, ...]
    version: str
    asked: Mapping[str, Any]
    ways: Mapping[str, str]
    without: str
    differences: tuple[Difference, ...]
    folder: Path = field(default=FOLDER, repr=False)
    adapters: Path = field(default=ADAPTERS, repr=False)

    @property
    def adapter(self) -> Path:
        """The program that answers for it."""
        return self.adapters / f"{self.name}.py"

    @property
    def result(self) -> Path:
        """The file of its result."""
        return self.folder / "results" / f"{self.name}.json"

    @property
    def programs(self) -> tuple[Path, ...]:
        """The smallest programs that show its differences, each once."""
        names = dict.fromkeys(one.program for one in self.differences if one.program)
        return tuple(self.folder / "programs" / name for name in names)

    def digests(self) -> dict[str, Any]:
        """Return digests of all that its result depends on."""
        settings = [self.install, self.alone, self.free, self.npm, self.version, sorted(self.ways)]
        return {
            "adapter": digest(self.adapter.read_bytes(), (ADAPTERS / "lines.py").read_bytes()),
            "install": digest(json.dumps(settings).encode()),
            "programs": digest(*(path.read_bytes() for path in self.programs)),
            "vectors": {suite: questions(suite) for suite in sorted(self.asked)},
        }


@cache
def questions(suite: str) -> str:
    """Return a digest of the cases of a suite and their answers.

    What known bugs would return is left out: one that becomes known later changes no answer.
    """
    told = [
        [case.id, case.input, case.expected, case.tolerance, case.result, case.acceptable]
        for case in vectors.load(suite).cases
    ]
    return digest(json.dumps(told, sort_keys=True).encode())


@cache
def releases() -> dict[str, dict[str, Any]]:
    """Return for each release of the vectors, the last first, the questions of each suite.

    A suite of a release has its digest, as `questions` has it, and its count of cases.
    """
    found = json.loads(RELEASED.read_text("utf-8"))
    return {
        version: {suite: (one, found["releases"][version][suite]) for suite, one in digests.items()}
        for version, digests in reversed(found["questions"].items())
    }


def release_of(suite: str, one: str) -> str:
    """Return the release whose questions of a suite have a digest: TODAY, or nothing if none."""
    if one == questions(suite):
        return TODAY
    known = releases().items()
    return next((name for name, own in known if own.get(suite, ("", 0))[0] == one), "")


def release(library: Library) -> str:
    """Return the oldest release with whose cases a library was asked; nothing if one is unknown."""
    found = {release_of(*pair) for pair in result(library)["digests"]["vectors"].items()}
    return next(one for one in ("", *reversed(releases()), TODAY) if one in found or one == TODAY)


def is_known(library: Library) -> bool:
    """Return whether a result is of today's adapter, pins and programs, and of known cases.

    Cases keep their ids and are only added, so what was answered to those of a release stays true.
    """
    own, today = result(library)["digests"], library.digests()
    same = {**own, "vectors": sorted(own["vectors"])} == {
        **today,
        "vectors": sorted(today["vectors"]),
    }
    return same and bool(release(library))


@cache
def case_count(suite: str) -> int:
    """Return how many cases a suite has."""
    return len(vectors.load(suite).cases)


def case_counts(library: Library) -> tuple[int, int]:
    """Return how many cases the suites had that a library was asked, and how many they have."""
    asked = result(library)["digests"]["vectors"]
    total = {suite: case_count(suite) for suite in asked}
    known = {suite: release_of(suite, one) for suite, one in asked.items()}
    then = [
        total[suite] if name in ("", TODAY) else releases()[name][suite][1]
        for suite, name in known.items()
    ]
    return sum(then), sum(total.values())


def digest(*parts: bytes) -> str:
    """Return a digest of several texts."""
    found = hashlib.sha256()
    for part in parts:
        found.update(hashlib.sha256(part).digest())
    return found.hexdigest()[:16]


def libraries(folder: Path = FOLDER, adapters: Path = ADAPTERS) -> tuple[Library, ...]:
    """Return all libraries, in the order of their groups and titles.

    Raises:
        ValueError: what is wrong with a file.
    """
    found = [
        _library(path, folder, adapters) for path in sorted((folder / "libraries").glob("*.yml"))
    ]
    order = list(GROUPS)
    return tuple(sorted(found, key=lambda one: (order.index(one.group), one.title.lower())))


def answered_libraries(folder: Path = FOLDER) -> tuple[Library, ...]:
    """Return the libraries that have a result, with or without answers."""
    return tuple(library for library in libraries(folder) if library.result.is_file())


def library(name: str) -> Library:
    """Return the library of a name."""
    return _library(FOLDER / "libraries" / f"{name}.yml")


def result(library: Library) -> dict[str, Any]:
    """Return the result of a library.

    Raises:
        ValueError: it is torn, or miscounted.
    """
    return _result(library.result, library.result.stat().st_mtime_ns)


@cache
def _result(path: Path, changed: int) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"{path.name} is torn: {error}") from None
    validate(found, "result", path.name)
    for way in found.get("ways", {}).values():
        for suite, counts in way["suites"].items():
            for wrong in miscounted(counts):
                raise ValueError(f"{path.name}: {suite}: {wrong}")
    return found


def miscounted(counts: Mapping[str, Any]) -> Iterator[str]:
    """Yield which numbers of a suite do not add up."""
    named = {kind: cases_of(counts.get(kind, {})) for kind in (*WRONG, "nonsense")}
    numbers = {kind: counts[kind]["count"] for kind in WRONG if kind in counts}
    numbers["nonsense"] = counts.get("nonsense", {}).get("answered", 0)
    for kind, number in numbers.items():
        if number != len(named[kind]):
            yield f"{number} {kind}, and {len(named[kind])} are named"
    passed = counts.get("passed", 0) + sum(counts.get("acceptable", {}).values())
    counted = passed + sum(numbers[kind] for kind in WRONG if kind in counts)
    if counted != counts["asked"]:
        yield f"{counts['asked']} were asked, and {counted} are counted"


def cases_of(found: Mapping[str, Any]) -> list[str]:
    """Return the names of the cases that a result lists."""
    return [*ungrouped(found.get("cases", {}))]


def _library(path: Path, folder: Path = FOLDER, adapters: Path = ADAPTERS) -> Library:
    """Return the library of a file."""
    return _read(path, path.stat().st_mtime_ns, folder, adapters)


@cache
def _read(path: Path, changed: int, folder: Path, adapters: Path) -> Library:
    entry = load(path, "library")
    differences = tuple(map(_difference, entry.get("differences", [])))
    pins = {key: tuple(entry.get(key, ())) for key in ("install", "alone", "npm")}
    first = next((pin for key in ("alone", "install", "npm") for pin in pins[key]), "")
    found = Library(
        name=path.stem,
        title=entry["title"],
        home=entry["home"],
        group=entry["group"],
        **pins,
        free=entry.get("free", False),
        version=entry.get("version", re.split(r"(?<=.)@|==|\[", first)[0]),
        asked=entry["asked"],
        ways=entry.get("ways", {WAYLESS: ""}),
        without=entry.get("without", ""),
        differences=differences,
        folder=folder,
        adapters=adapters,
    )
    if wrong := list(faults(found)):
        raise ValueError(f"{path.name}: {'; '.join(wrong)}")
    return found


def _difference(entry: Mapping[str, Any]) -> Difference:
    """Return a difference of a file."""
    return Difference(
        suites=as_tuple(entry["suite"]),
        ways=as_tuple(entry.get("way", ())),
        cases=as_tuple(entry.get("cases", "*")),
        kind=entry["kind"],
        what=entry["what"].strip(),
        program=entry.get("program", ""),
        definition=entry.get("definition", ""),
        threads=tuple((one["at"], one["is"]) for one in entry.get("thread", ())),
        report=entry.get("report", ""),
        until=entry.get("until", "").strip(),
        mended=str(entry.get("mended", "")),
    )


def normal(name: str) -> str:
    """Return the name of a package as results have it."""
    return name.lower().replace("_", "-")


def as_tuple(value: str | Iterable[str]) -> tuple[str, ...]:
    """Return one or several as several."""
    return (value,) if isinstance(value, str) else tuple(value)


def faults(found: Library) -> Iterator[str]:
    """Yield what is wrong with a library beyond what its schema says."""
    if not found.adapter.is_file():
        yield f"there is no adapter {found.name}.py"
    yield from _unknown("asked", found.asked, suites())
    for suite, called in found.asked.items():
        if isinstance(called, Mapping):
            yield from _unknown(f"asked for {suite}", called, found.ways)
    for one in found.differences:
        yield from _unknown("a difference", one.suites, found.asked)
        yield from _unknown("a difference", one.ways, found.ways)
        if one.program and not (found.folder / "programs" / one.program).is_file():
            yield f"programs/{one.program} does not exist"


def _unknown(where: str, names: Iterable[str], known: Iterable[str]) -> Iterator[str]:
    """Yield each name that is not known."""
    yield from (f"{where} names {name!r}, which is unknown" for name in names if name not in known)


@dataclass(frozen=True)
class Answers:
    """How a library answers a suite in one of its ways.

    Attributes:
        library: which.
        way: in which way.
        suite: which.
        counts: what its result says of it.
    """

    library: Library
    way: str
    suite: str
    counts: Mapping[str, Any]

    @property
    def called(self) -> str:
        """What was called, as Markdown."""
        called = self.library.asked[self.suite]
        return called if isinstance(called, str) else str(called.get(self.way, ""))

    @property
    def passed(self) -> int:
        """How many cases passed."""
        return int(self.counts.get("passed", 0))

    @property
    def acceptable(self) -> int:
        """How many cases were answered by a convention that the vectors name."""
        return sum(self.counts.get("acceptable", {}).values())

    @property
    def wrong(self) -> tuple[str, ...]:
        """The cases with an answer that were failed, refused or crashed."""
        named = [cases_of(self.counts.get(kind, {})) for kind in WRONG]
        return tuple(f"{self.suite}/{case}" for cases in named for case in cases)

    @property
    def skipped(self) -> bool:
        """Whether there are cases that the library does not support."""
        reasons = self.counts.get("unsupported", {})
        return any(not reason.endswith(TOO_LOOSE) for reason in reasons)

    @property
    def unexplained(self) -> tuple[str, ...]:
        """The wrong cases that nothing explains."""
        return tuple(case for case in self.wrong if not self.kind(case))

    def kind(self, case: str) -> str:
        """Return the gravest kind of what explains a wrong case; nothing if nothing does."""
        kinds = {one.kind for one in self.library.differences if one.explains(self.way, case)}
        return next((kind for kind in reversed(KINDS) if kind in kinds), "")

    @property
    def verdict(self) -> str:
        """One of VERDICTS."""
        if not self.counts.get("asked"):
            return "not offered"
        if not self.wrong and self.acceptable:
            return "by convention"
        if not self.wrong:
            return "passes in part" if self.skipped else "passes"
        kinds = {self.kind(case) for case in self.wrong}
        if "" in kinds:
            return "differs"
        return next(VERDICT_OF[kind] for kind in reversed(KINDS) if kind in kinds)


WRONG = ("failed", "refused", "crashed")
VERDICTS = ("passes", "passes in part", "by convention", "limited", "differs", "not offered")
VERDICT_OF = {"convention": "by convention", "limit": "limited", "fault": "differs"}


def answered_count() -> int:
    """Return how many libraries have answers."""
    return sum("ways" in result(library) for library in answered_libraries())


def total(what: str) -> int:
    """Return how many cases were asked or passed, of all libraries."""
    return sum(
        int(one.counts.get(what, 0))
        for library in answered_libraries()
        for one in answers(library).values()
    )


def unexpected_count(kind: str) -> int:
    """Return how many answers are not those expected, of a kind; "" is for those unexplained."""
    found = [one for library in answered_libraries() for one in answers(library).values()]
    wrong = sum(one.kind(case) == kind for one in found for case in one.wrong)
    return wrong + sum(one.acceptable for one in found) * (kind == "convention")


def explained_count(name: str, number: int) -> int:
    """Return how many wrong cases a difference of a library explains."""
    found = library(name)
    one = found.differences[number]
    return sum(
        one.explains(answer.way, case)
        for answer in answers(found).values()
        for case in answer.wrong
    )


def unexplained_count(name: str, way: str, suite: str) -> int:
    """Return how many wrong cases of a library nothing explains."""
    return len(answers(library(name))[way, suite].unexplained)


def ungrouped(groups: Mapping[str, str]) -> Iterator[str]:
    """Yield the names of cases that a result has by group.

    >>> list(ungrouped({"near": "1-2, 4"}))
    ['near-001', 'near-002', 'near-004']
    """
    for group, numbers in groups.items():
        for run in numbers.split(", "):
            first, _, last = run.partition("-")
            for number in range(int(first), int(last or first) + 1):
                yield f"{group}-{number:03d}"


def answers(library: Library) -> dict[tuple[str, str], Answers]:
    """Return how a library answers, by way and suite; nothing if it could not be asked."""
    ways = result(library).get("ways", {})
    return {
        (way, suite): Answers(library, way, suite, counts)
        for way, found in ways.items()
        for suite, counts in found["suites"].items()
        if ABSENT not in counts.get("unsupported", {})
    }
