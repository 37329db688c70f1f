"""Runs the checker: Rocq, or Coq as it was called until version 9.

missing()               why nothing can be checked here, or an empty string
compiled(folder, to)    checks the files, and returns the seconds that each took
assumptions(names, …)   what theorems of checked files assume, as the checker prints it
together(groups, …)     the same for groups of theorems, faster
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from scripts import ROOT
from scripts.proofs import source
from scripts.proofs.source import FOLDER, ProofsError, place_of

BUILD = ROOT / "build" / "proofs"
PROJECT = "_CoqProject"
LIBRARIES = ("Coquelicot", "Flocq", "Interval")
JOBS = 2
SLOWEST = 300.0  # seconds for one file
PLACE = re.compile(
    r'^File "(?:\./)?(?P<file>[^"]+)", line (?P<line>\d+), characters [\d-]+:\n', re.M
)
REQUIRED = re.compile(
    r"\bFrom\s+(?P<root>\w+)\s+Require\b(?:\s+(?:Import|Export))?(?P<names>[^.]+)\."
)
CLOSED = "Closed under the global context"

# The axioms that a proof may rest on, all of the standard library: those of the real numbers and of
# classical logic, and the checker's own integers, floats and arrays, which `interval` needs.
# Version 8.20 uses arrays where 8.16 does not.
CLASSICAL = {
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
    "ClassicalEpsilon.constructive_indefinite_description",
    "ProofIrrelevance.proof_irrelevance",
    "PropExtensionality.propositional_extensionality",
}
MACHINE = (
    "PrimInt63",
    "Uint63",
    "Uint63Axioms",
    "Sint63",
    "Sint63Axioms",
    "PrimFloat",
    "FloatAxioms",
    "FloatOps",
    "PArray",
    "PrimArray",
    "ArrayAxioms",
)
ACCEPTED = {*MACHINE, *(name.split(".")[0] for name in CLASSICAL)}  # modules of axioms


class CheckError(ProofsError):
    """The checker refuses a file; the message names the file, the line and the theorem."""


@cache
def compiler() -> tuple[str, ...]:
    """Return the command that checks a file, or an empty one if there is none."""
    return ("coqc",) if shutil.which("coqc") else ("rocq", "c") if shutil.which("rocq") else ()


@cache
def toplevel() -> tuple[str, ...]:
    """Return the command that reads sentences, or an empty one if there is none."""
    return (
        ("coqtop",) if shutil.which("coqtop") else ("rocq", "repl") if shutil.which("rocq") else ()
    )


def missing() -> str:
    """Return why nothing can be checked here, or an empty string."""
    if not compiler():
        return "neither coqc nor rocq is on the PATH"
    absent = [name for name in LIBRARIES if not has_library(name)]
    return f"{compiler()[0]} lacks the {_libraries(absent)}" if absent else ""


def _libraries(names: list[str]) -> str:
    return f"librar{'y' if len(names) == 1 else 'ies'} {', '.join(names)}"


@cache
def has_library(name: str) -> bool:
    """Return whether the checker has a library."""
    where = subprocess.run([*compiler(), "-where"], capture_output=True, text=True, check=False)
    folders = [Path(where.stdout.strip()) / "user-contrib"]
    for variable in ("COQPATH", "ROCQPATH"):
        folders += [Path(part) for part in os.environ.get(variable, "").split(os.pathsep) if part]
    return any((folder / name).is_dir() for folder in folders)


@cache
def version() -> str:
    """Return the checker's name and version, such as `Coq 8.16.1`."""
    command = [*compiler(), "--version"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"The (\w+) .*version (\S+)", output)
    return f"{found[1]} {found[2]}" if found else output.splitlines()[0]


@dataclass(frozen=True)
class Project:
    """What _CoqProject says: the name under which the files are required, and their order."""

    root: str
    files: tuple[str, ...]


def project(folder: Path = FOLDER) -> Project:
    """Return what _CoqProject says, after comparing it with the files that there are.

    Raises:
        ProofsError: It gives the files no name, or lists others than there are.
    """
    words = (folder / PROJECT).read_text(encoding="utf-8").split()
    if "-R" not in words and "-Q" not in words:
        raise ProofsError(f"{PROJECT} must say `-R . Book`, the name of the files for one another")
    root = words[words.index("-R" if "-R" in words else "-Q") + 2]
    listed = tuple(word for word in words if word.endswith(".v"))
    there = {path.name for path in source.files(folder)}
    if wrong := set(listed) ^ there:
        name = min(wrong)
        raise ProofsError(
            f"{PROJECT} lists {name}, which does not exist"
            if name in listed
            else f"{PROJECT} does not list {name}"
        )
    if reserved := {name.removesuffix(".v") for name in listed} & ACCEPTED:
        raise ProofsError(
            f"docs/proofs/{min(reserved)}.v has the name of a library whose axioms are accepted"
        )
    return Project(root, listed)


def needs(path: Path, root: str) -> set[str]:
    """Return the names of the files that a file requires."""
    text = source.without_comments_and_strings(path.read_text(encoding="utf-8"), place_of(path))
    required = [m["names"].split() for m in REQUIRED.finditer(text) if m["root"] == root]
    return {f"{name}.v" for names in required for name in names}


def compile_folder(folder: Path = FOLDER, to: Path = BUILD, jobs: int = JOBS) -> dict[str, float]:
    """Check the files of a folder, those that others require first; return the seconds of each.

    What the checker writes goes to `to`, which is emptied first.

    Raises:
        CheckError: It refuses a file.
    """
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    known = project(folder)
    for name in known.files:
        shutil.copy(folder / name, to / name)
    order = TopologicalSorter(
        {n: needs(folder / n, known.root) & {*known.files} for n in known.files}
    )
    order.prepare()
    seconds: dict[str, float] = {}
    with ThreadPoolExecutor(jobs) as pool:
        running: dict[Future[float], str] = {}
        while order.is_active():
            for name in order.get_ready():
                running[pool.submit(compile_one, folder / name, to, known.root)] = name
            done = wait(running, return_when="FIRST_COMPLETED").done
            for one in done:
                name = running.pop(one)
                try:
                    seconds[name] = one.result()
                except CheckError:
                    pool.shutdown(cancel_futures=True)
                    raise
                order.done(name)
    return {name: seconds[name] for name in known.files}


def compile_one(path: Path, to: Path, root: str) -> float:
    """Check one file, whose copy and the files that it requires are in `to`; return the seconds.

    Raises:
        CheckError: The checker refuses it.
    """
    start = time.monotonic()
    command = [*compiler(), "-q", "-R", ".", root, path.name]
    try:
        done = subprocess.run(
            command, cwd=to, capture_output=True, text=True, timeout=SLOWEST, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise CheckError(f"{place_of(path)}: not checked within {SLOWEST:.0f} seconds") from error
    if done.returncode:
        raise CheckError(refusal(path, done.stdout + done.stderr))
    return time.monotonic() - start


def refusal(path: Path, output: str) -> str:
    """Return why the checker refused a file: file, line, theorem and the checker's words."""
    errors = [m for m in PLACE.finditer(output) if output[m.end() :].startswith("Error")]
    if not errors:
        return f"{place_of(path)}: {output.strip()[-2000:] or 'the checker stopped without a word'}"
    line = int(errors[-1]["line"])
    name = source.name_at_line(path, line)
    words = " ".join(output[errors[-1].end() :].removeprefix("Error:").split())[:600]
    return f"{place_of(path)}, line {line}{f', in {name}' if name else ''}: {words}"


def assumptions(
    names: Iterable[str], folder: Path = FOLDER, to: Path = BUILD, jobs: int = JOBS
) -> dict[str, dict[str, str]]:
    """Return what theorems of checked files assume: for each the axioms, by name, as printed."""
    items = [source.theorem(name, folder) for name in names]
    root, stems = project(folder).root, sorted({item.file.stem for item in items})

    def assumptions_of_part(part: int) -> dict[str, dict[str, str]]:
        part_items = items[part::jobs]
        questions = [f"Print Assumptions {root}.{one.file.stem}.{one.name}." for one in part_items]
        printed = _printed_axioms(f"part_{part}", stems, questions, to, root)
        return {one.name: axioms for one, axioms in zip(part_items, printed, strict=True)}

    with ThreadPoolExecutor(jobs) as pool:
        return {
            name: said
            for part in pool.map(assumptions_of_part, range(jobs))
            for name, said in part.items()
        }


def shared_assumptions(
    groups: Iterable[Iterable[str]], folder: Path = FOLDER, to: Path = BUILD
) -> list[dict[str, str]]:
    """Return what several theorems assume together, for each group of them.

    The checker goes through a library once for each question, so this takes a fraction of the time.
    """
    root, stems, questions = project(folder).root, set(), []
    for number, names in enumerate(groups):
        items = [source.theorem(name, folder) for name in names]
        stems |= {item.file.stem for item in items}
        proofs = ", ".join(f"@{root}.{item.file.stem}.{item.name}" for item in items)
        questions.append(
            f"Definition posenc_{number} := ({proofs}). Print Assumptions posenc_{number}."
        )
    return _printed_axioms("groups", sorted(stems), questions, to, root)


def _printed_axioms(
    name: str, stems: list[str], questions: list[str], to: Path, root: str
) -> list[dict[str, str]]:
    """Return the axioms that the checker prints in answer to each question."""
    lines = ["Set Printing Width 78.", f"From {root} Require {' '.join(stems)}."]
    mark = 'Goal True. idtac "posenc: next". Abort.'
    lines += [line for question in questions for line in (mark, question)]
    path = to / f"posenc_assumed_{name}.v"
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    command = [*compiler(), "-q", "-R", ".", root, path.name]
    done = subprocess.run(command, cwd=to, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CheckError(f"Print Assumptions: {(done.stdout + done.stderr).strip()[-2000:]}")
    return [axioms(printed) for printed in done.stdout.split("posenc: next\n")[1:]]


def axioms(printed: str) -> dict[str, str]:
    """Return the axioms in what `Print Assumptions` printed, by name.

    Each begins at the left margin; a line that is not "name : statement" is kept as a name, so that
    nothing the checker warns of goes unnoticed.
    """
    entries: list[str] = []
    for line in printed.splitlines():
        if line.startswith((" ", "\t")) and entries:
            entries[-1] += f"\n{line}"
        elif line.strip() and line.strip() not in (CLOSED, "Axioms:"):
            entries.append(line)
    split = (re.match(r"(\S+)\s+:\s+(.*)", entry, re.S) for entry in entries)
    return {
        (one[1] if one else entry): " ".join((one[2] if one else "").split())
        for one, entry in zip(split, entries, strict=True)
    }


def is_machine(axiom: str) -> bool:
    """Return whether an axiom is of the processor's integers and floats."""
    return any(part in MACHINE for part in axiom.split(".")[:-1])


def is_allowed(axiom: str) -> bool:
    """Return whether a proof may rest on an axiom: those of the standard library, none of ours."""
    return axiom in CLASSICAL or is_machine(axiom)
