"""Ask the libraries without a result of today. `make matrix` is this command without names.

A result holds if the library's adapter, its pins, its smallest programs and the test vectors are
still those that it was made with. To make one again, delete its file in docs/data/matrix/results/.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from scripts import ROOT
from scripts.matrix.record import ADAPTERS, FOLDER, Library, libraries, result
from scripts.matrix.trial import SECONDS, AdapterError, library_result

ENVIRONMENTS = ROOT / "build" / "matrix"


def main(arguments: Sequence[str]) -> int:
    """Ask the libraries named, or all, that have no result; return the exit status."""
    options = parser().parse_args(arguments)
    try:
        selected = list(chosen(libraries(options.folder, options.adapters), options.names))
    except ValueError as error:
        sys.exit(f"make matrix: {error}")
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
    add("--keep", action="store_true", help="keep the environments")
    add("--seconds", type=float, default=SECONDS, help="for an answer")
    add("--folder", type=Path, default=FOLDER, help="of libraries, programs and results")
    add("--adapters", type=Path, default=ADAPTERS, help="the programs that answer")
    add("--environments", type=Path, default=ENVIRONMENTS, help="where they are made")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
