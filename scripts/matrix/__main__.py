"""Ask the libraries without a result of today. `make matrix` is this command without names.

A result holds if the library's adapter, its pins, its smallest programs and the test vectors are
still those that it was made with. To make one again, delete its file in docs/data/matrix/results/.

`--outdated` asks nothing: it lists the results that do not hold, with how many cases were added
since, and the libraries of which the package index has a newer version.

`--report` asks nothing either: it prints, of the libraries named, a report ready to be sent of each
fault that has no thread of its own upstream.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from scripts import ROOT
from scripts.matrix import record
from scripts.matrix.record import ADAPTERS, FOLDER, Library, libraries, result
from scripts.matrix.trial import SECONDS, AdapterError, library_result

ENVIRONMENTS = ROOT / "build" / "matrix"
INDEX_SECONDS = 20


def main(arguments: Sequence[str]) -> int:
    """Ask the libraries named, or all, that have no result; return the exit status."""
    options = parser().parse_args(arguments)
    try:
        selected = list(chosen(libraries(options.folder, options.adapters), options.names))
    except ValueError as error:
        sys.exit(f"make matrix: {error}")
    if options.outdated:
        print("\n".join(filter(None, map(outdated, selected))) or "nothing is out of date")
        return 0
    if options.report:
        print("\n\n\n".join(text for library in selected for text in reports(library)))
        return 0
    missing = [library for library in selected if not holds(library)]
    print(f"{len(selected) - len(missing)} of {len(selected)} results hold", file=sys.stderr)
    try:
        return int(not all(list(performed_libraries(missing, options))))
    except KeyboardInterrupt:
        sys.exit("stopped; results so far are kept. Run the same command to continue")


def chosen(found: Iterable[Library], names: Sequence[str]) -> Iterable[Library]:
    """Return the libraries of these names, or all.

    Raises:
        ValueError: a name is unknown.
    """
    by_name = {library.name: library for library in found}
    if unknown := [name for name in names if name not in by_name]:
        raise ValueError(f"no library {unknown[0]!r}; there are {', '.join(by_name)}")
    return [by_name[name] for name in names] if names else by_name.values()


def holds(library: Library) -> bool:
    """Return whether a library has a result of today's adapter, pins, programs and vectors."""
    try:
        return bool(result(library)["digests"] == library.digests())
    except FileNotFoundError:
        return False
    except ValueError as error:
        print(f"{error}; it is made again", file=sys.stderr)
        return False


def outdated(library: Library) -> str:
    """Return what is out of date about a result, in a line; nothing if it is not."""
    told = []
    if not holds(library):
        told = ["its adapter, pins or programs have changed"]
        if library.result.is_file() and record.is_known(library):
            then, now = record.case_counts(library)
            told = [f"asked with the cases of {record.release(library)}, {then} of {now}"]
    if library.result.is_file() and "versions" in (found := result(library)):
        name = record.normal(library.version)
        own, newest = found["versions"][name].partition("+")[0], newest_version(name)
        told += [f"{own} was asked, and {newest} is there"] if newest not in ("", own) else []
    return f"{library.name}: {'; '.join(told)}" if told else ""


def reports(library: Library) -> Iterable[str]:
    """Yield the text of a report of each fault of a library that has no thread of its own."""
    found = result(library)
    versions = ", ".join(f"{name} {one}" for name, one in found["versions"].items())
    for one in library.differences:
        if one.report:
            path = library.folder / "programs" / one.program
            yield "\n\n".join(
                [
                    f"# {library.title}: {one.report}",
                    one.what,
                    f"```python\n{path.read_text('utf-8').strip()}\n```",
                    f"It prints\n\n```text\n{found['programs'][path.name]['output']}\n```",
                    f"with {versions}, Python {found['python']}.",
                    *(
                        [f"What is expected is defined in {one.definition}."]
                        if "//" in one.definition
                        else []
                    ),
                    *(f"{at} is {role}." for at, role in one.threads),
                ]
            )


def newest_version(package: str) -> str:
    """Return the newest version of a package that the index has, or nothing if it says none."""
    command = [sys.executable, "-m", "pip", "index", "versions", package]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INDEX_SECONDS)
    except subprocess.TimeoutExpired:
        return ""
    found = re.match(r"\S+ \((\S+)\)", done.stdout)
    return found[1] if found else ""


def performed_libraries(missing: Sequence[Library], options: argparse.Namespace) -> Iterable[bool]:
    """Ask the libraries one after the other, with a bar; yield whether each was kept."""
    from tqdm import tqdm

    with tqdm(missing, unit="library", disable=not missing) as bar:
        for library in bar:
            yield perform(
                library,
                options,
                lambda now, name=library.name: bar.set_postfix_str(f"{name}: {now}"),
                bar.write,
            )


def perform(library: Library, options: argparse.Namespace, tell: Any, say: Any) -> bool:
    """Ask a library and write its result; return whether it has one that holds."""
    try:
        found = library_result(
            library,
            options.environments / library.name,
            tell,
            keep=options.keep,
            seconds=options.seconds,
        )
    except AdapterError as error:
        say(f"{library.name}: no result, since its adapter has a mistake: {error}")
        return False
    if "failed" in found:
        step, message = found["failed"]["step"], found["failed"]["said"]
        say(f"{library.name}: could not be {STEPS[step]}: {message}")
        if has_answers(library):
            say(f"{library.name}: its last result is kept")
            return False
    write(library.result, found)
    return True


STEPS = {"install": "installed", "start": "started"}


def has_answers(library: Library) -> bool:
    """Return whether a library has a result with answers, of whatever day."""
    try:
        return "ways" in result(library)
    except (FileNotFoundError, ValueError):
        return False


def write(path: Path, found: dict[str, Any]) -> None:
    """Write a result, or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".new")
    try:
        text = json.dumps(found, indent=1, ensure_ascii=False)
        beside.write_text(f"{text}\n", encoding="utf-8")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="python -m scripts.matrix", description=__doc__)
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help="of a library; all if none is named")
    add("--outdated", action="store_true", help="list what is out of date, and ask nothing")
    add("--report", action="store_true", help="print reports of faults, and ask nothing")
    add("--keep", action="store_true", help="keep the environments")
    add("--seconds", type=float, default=SECONDS, help="for an answer")
    add("--folder", type=Path, default=FOLDER, help="of libraries, programs and results")
    add("--adapters", type=Path, default=ADAPTERS, help="the programs that answer")
    add("--environments", type=Path, default=ENVIRONMENTS, help="where they are made")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
