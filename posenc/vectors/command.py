"""`python -m posenc vectors`: list the suites, show a case, or test a program."""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

from posenc._console import REPORT, printable, refused
from posenc.vectors.compare import CONTRACTS
from posenc.vectors.known import known_text
from posenc.vectors.report import NOT_RUN
from posenc.vectors.runner import MEGABYTES, SECONDS, run
from posenc.vectors.suite import Case, Suite, load, suites

FORMATS = ("text", "json", "junit")
DESCRIBED = "Test any implementation of positions against cases with known answers."
EXITS = (
    "Exit status of run: 0 if every failure is a known one; 1 if one is not, or if a known"
    " difference passes (with --strict also if an invalid input was answered); 2 if nothing could"
    " be tested."
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.description, command.epilog = DESCRIBED, EXITS
    actions = command.add_subparsers(dest="action", required=True, metavar="list | show | run")
    listed = actions.add_parser("list", help="list the suites")
    shown = actions.add_parser("show", help="show a case, or the inputs of a suite")
    shown.add_argument("id", metavar="ID", help="of a case, or the name of a suite")
    tried = actions.add_parser("run", help="test a program", epilog=EXITS)
    tried.add_argument("--suite", help="one suite only")
    tried.add_argument("--contract", choices=CONTRACTS, help="how exact answers must be")
    tried.add_argument("--seconds", type=float, default=SECONDS, help="for an answer (%(default)g)")
    tried.add_argument(
        "--megabytes", type=int, default=MEGABYTES, help="of memory, on Linux (%(default)s)"
    )
    tried.add_argument("--format", choices=FORMATS, default="text", help="of the report")
    tried.add_argument("--all", action="store_true", help="print every wrong case")
    tried.add_argument(
        "--known", type=Path, metavar="FILE", help="known differences: ID or pattern # reason"
    )
    tried.add_argument(
        "--skip", action="append", default=[], metavar="PATTERN", help="cases to leave out"
    )
    tried.add_argument(
        "--strict", action="store_true", help="fail if an invalid input is not refused"
    )
    tried.add_argument(
        "--write-known",
        type=Path,
        metavar="FILE",
        help="write the failures of this run, for you to add reasons",
    )
    tried.add_argument("--junit", type=Path, metavar="FILE", help="write the report as JUnit, too")
    tried.add_argument(
        "--badge",
        type=Path,
        metavar="FILE",
        help="write a badge in the format that shields.io reads",
    )
    tried.add_argument("program", nargs="+", metavar="COMMAND", help="the program, after --")
    for action in (listed, shown, tried):
        action.add_argument(
            "--folder", type=Path, help="of vector files other than the installed ones"
        )


def main(asked: argparse.Namespace) -> int:
    """Do what was asked for; return the exit status."""
    do = {"list": listing, "show": showing, "run": run_program}[asked.action]
    try:
        return do(asked)
    except BrokenPipeError:  # nobody reads on
        raise
    except (OSError, TypeError, ValueError) as error:
        return refused(f"posenc vectors {asked.action}", error)
    except KeyboardInterrupt:
        print(f"posenc vectors {asked.action}: interrupted", file=sys.stderr)
        return NOT_RUN


def listing(asked: argparse.Namespace) -> int:
    """Print the suites with their counts."""
    total, names = 0, suites(folder=asked.folder)
    width = max(map(len, names), default=0)
    for name in names:
        suite = load(name, folder=asked.folder)
        total += len(suite.cases)
        print(printable(f"{name:{width}} {len(suite.cases):5}  {suite.about.partition('.')[0]}."))
    print(f"{'':{width}} {total:5}")
    return 0


def showing(asked: argparse.Namespace) -> int:
    """Print a case, or what a suite asks."""
    name = asked.id.partition("/")[0]
    suite = load(name, folder=asked.folder)
    if name == asked.id:
        first = suite.cases[0]
        lines = [f"{suite.name}: {suite.about}", f"Answer: {suite.answer}", "", first.id]
        lines += [f"  {json.dumps(told)}" for told in (dict(first.input), first.expected)]
        lines += ["", "Inputs", *input_lines(suite)]
        lines += ["", "Known bugs", *(f"  {bug}: {said}" for bug, said in suite.bugs.items())]
        print("\n".join(map(printable, lines)))
        return 0
    found = [case for case in suite.cases if case.id == asked.id]
    if not found:
        raise ValueError(f"ID must be the id of a case in suite {name}; got {asked.id!r}")
    print(json.dumps(_case_json(found[0]), indent=1))
    return 0


def input_lines(suite: Suite) -> list[str]:
    """Return the table of a suite's inputs."""
    shapes = [one["shape"] + ", optional" * one["optional"] for one in suite.inputs.values()]
    name = max(map(len, suite.inputs), default=0)
    width = max(map(len, shapes), default=0)
    return [
        f"  {key:{name}}  {shape:{width}}  {one['about']}"
        for (key, one), shape in zip(suite.inputs.items(), shapes, strict=True)
    ]


def _case_json(case: Case) -> dict[str, Any]:
    """Return a case as JSON tells it."""
    return {key: value for key, value in vars(case).items() if key != "suite"}


def run_program(asked: argparse.Namespace) -> int:
    """Test a program and print the report."""
    report = run(
        asked.program,
        suite=asked.suite,
        contract=asked.contract,
        seconds=asked.seconds,
        megabytes=asked.megabytes,
        folder=asked.folder,
        known=asked.known,
        skip=asked.skip,
        strict=asked.strict,
    )
    if asked.write_known:
        asked.write_known.write_text(known_text(report), "utf-8")
    if asked.junit:
        asked.junit.write_text(report.as_junit(), "utf-8")
    if asked.badge:
        asked.badge.write_text(report.as_badge(), "utf-8")
    text = partial(report.as_text, None) if asked.all else report.as_text
    told = {"text": text, "json": report.as_json, "junit": report.as_junit}
    print(told[asked.format]())
    if asked.format == "text":
        print(f"\n{REPORT}")
    return report.status
