"""Tries changed statements: each is followed by the proof of the true one, which must fail.

The toplevel reads the whole file. Before each theorem it meets the changed statements, with their
proofs, so that all that the proof uses is there, and nothing else. What stands between two marks of
its output is about one of them.
"""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from scripts.proofs import checker, source
from scripts.proofs.checker import BUILD, JOBS, CheckError
from scripts.proofs.listed import Mutation
from scripts.proofs.source import FOLDER, Item, ProofsError, place_of

PATIENCE = 30  # seconds for a step of a proof
SLOWEST = 600.0  # seconds for all changes of a file
MARK = re.compile(r"The reference posenc_(?P<kind>\w+?)_(?P<number>\d+) was not found")
FAILED = re.compile(r"^(?:\s*)Error:(?P<words>.*?)(?=^\s*$|<prompt>|\Z)", re.M | re.S)
BLOCK = """\
Fail Check posenc_begin_{number}.
Set Default Timeout {patience}.
{statement}
Fail Check posenc_stated_{number}.
{proof}
Fail Check posenc_end_{number}.
Unset Default Timeout.
Abort All.
"""


@dataclass(frozen=True)
class Tried:
    """A changed statement that was tried: how it was refused, or why that cannot be said."""

    mutation: Mutation
    item: Item
    refused: str = ""
    problem: str = ""

    def message(self) -> str:
        """Return what is wrong with it, for the reader of `make prove`."""
        about = f"{self.mutation.old!r} changed to {self.mutation.new!r}"
        return (
            f"{place_of(self.item.file)}, line {self.item.line}, {self.item.name} with {about}:"
            f" {self.problem}"
        )


def try_mutations(
    mutations: Iterable[Mutation], folder: Path = FOLDER, to: Path = BUILD, jobs: int = JOBS
) -> list[Tried]:
    """Try changed statements of checked files, and return what came of each.

    Raises:
        ProofsError: One names no theorem, or changes nothing.
    """
    by_file: dict[Path, list[tuple[Mutation, Item]]] = defaultdict(list)
    for one in mutations:
        try:
            item = source.theorem(one.theorem, folder)
        except ProofsError as error:
            raise ProofsError(f"mutations.toml: {error}") from error
        by_file[item.file].append((one, item))
    with ThreadPoolExecutor(jobs) as pool:
        root = checker.project(folder).root
        found = pool.map(lambda path: _try_file(path, by_file[path], to, root), by_file)
        return [one for several in found for one in several]


def _try_file(path: Path, pairs: list[tuple[Mutation, Item]], to: Path, root: str) -> list[Tried]:
    """Try the changed statements of one file."""
    text = with_changes(path.read_text(encoding="utf-8"), pairs)
    command = [*checker.toplevel(), "-q", "-emacs", "-R", ".", root]
    try:
        output = subprocess.run(
            command,
            cwd=to,
            input=text,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SLOWEST,
            check=False,
        ).stdout
    except subprocess.TimeoutExpired as error:
        raise CheckError(
            f"{place_of(path)}: its changed statements took more than {SLOWEST:.0f} seconds"
        ) from error
    return list(_results(path, output, pairs))


def with_changes(text: str, pairs: list[tuple[Mutation, Item]]) -> str:
    """Return a file with the changed statements before each theorem."""
    blocks: defaultdict[int, str] = defaultdict(str)
    for number, (mutation, item) in enumerate(pairs):
        changed = re.sub(
            rf"\b{re.escape(item.name)}\b",
            f"{item.name}_changed_{number}",
            mutation.changed(item.statement),
            count=1,
        )
        blocks[item.start] += BLOCK.format(
            number=number,
            patience=PATIENCE,
            statement=changed,
            proof=item.text[len(item.statement) :],
        )
    for start in sorted(blocks, reverse=True):
        text = f"{text[:start]}{blocks[start]}{text[start:]}"
    return f"{text}\nFail Check posenc_done_0.\nQuit.\n"


def _results(path: Path, output: str, pairs: list[tuple[Mutation, Item]]) -> Iterable[Tried]:
    """Yield what came of each changed statement, from the output of the toplevel."""
    marks = {(mark["kind"], int(mark["number"])): mark for mark in MARK.finditer(output)}
    if ("done", 0) not in marks:
        raise CheckError(f"{place_of(path)}: the toplevel stopped: {output.strip()[-600:]}")
    for number, (mutation, item) in enumerate(pairs):
        begin, stated, end = (marks[kind, number] for kind in ("begin", "stated", "end"))
        wrong = _first_error(output[begin.end() : stated.start()])
        refused = _first_error(output[stated.end() : end.start()])
        if wrong:
            yield Tried(mutation, item, problem=f"the changed statement has no meaning: {wrong}")
        elif not refused:
            yield Tried(mutation, item, problem="the proof still holds")
        elif "Timeout" in refused:
            yield Tried(mutation, item, problem=f"undecided after {PATIENCE} seconds")
        else:
            yield Tried(mutation, item, refused=refused)


def _first_error(output: str) -> str:
    error = FAILED.search(output)
    return " ".join(error["words"].split())[:200] or "an error" if error else ""
