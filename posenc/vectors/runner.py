"""Test any program: it reads questions as lines of JSON, and writes answers as lines of JSON."""

from __future__ import annotations

import json
import math
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import takewhile
from pathlib import Path
from typing import IO, Any

from posenc._arguments import as_choice
from posenc.vectors.check import crash, describe_suite, refusal, unasked
from posenc.vectors.compare import CONTRACTS, SINGLE, judge_answer
from posenc.vectors.known import (
    Known,
    as_patterns,
    read_known,
    unmatched_patterns,
    with_known,
)
from posenc.vectors.report import ABSENT, LONGEST, Outcome, Report, joined_report, shortened
from posenc.vectors.suite import Case, Suite, load, suites

POSIX = os.name == "posix"
SECONDS = 10.0  # for an answer
MEGABYTES: int | None = 2048 if sys.platform == "linux" else None  # of data
DAY, MOST = 86400, 2**30  # seconds and megabytes that may be allowed
LINE = 2**20  # characters of a line
TOO_LONG = "longer than 1 MB"
HELD = 4  # lines that wait to be looked at; a program that writes more has to wait
WAITING = 0.1  # seconds between looks whether there is room for a line
MARK = "POSENC_VECTORS_RUN"  # a variable that tells which processes a program has started
SWEEPS = 10  # rounds of ending processes, which may start others meanwhile
TAIL = 4096  # bytes of standard error that are read
CLOSING = 0.2  # seconds for closing a pipe
STRAY = 100  # lines of a case that are no answers
ANSWERS = ("ok", "refused", "unsupported")
RESTARTS = 20  # of a suite
INTERRUPTED = "not asked: interrupted"
UNTRIED = f"not asked: the program had to be started again {RESTARTS} times"

# Sets the limit of memory in the new process, which then becomes the program.
LIMITED = """\
import os, resource, sys
limit = int(sys.argv[1]) << 20
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
os.execvp(sys.argv[2], sys.argv[2:])
"""


class ProgramError(Exception):
    """What went wrong with a program, in words; it has to be started again."""


class UnreadableError(Exception):
    """An answer is not JSON, or too long; the program goes on."""


class Program:
    """A program that answers lines, started when it is first asked.

    Args:
        command: the program and its arguments.
        seconds: how long it may take for an answer.
        megabytes: how much memory it may use for data; None for any.
    """

    def __init__(self, command: Sequence[str], seconds: float, megabytes: int | None) -> None:
        self.command, self.seconds = list(command), seconds
        if megabytes is not None:
            python = [sys.executable, "-I", "-S", "-c", LIMITED, str(megabytes)]
            self.command = [*python, *self.command]
        self.remarks: Counter[str] = Counter()
        self.starts = 0
        self.interrupted = False
        self.process: subprocess.Popen[str] | None = None
        self.open = ExitStack()
        self.errors = Path()
        self.lines: queue.Queue[str | None] = queue.Queue()

    def ask(self, question: dict[str, Any], fits: Callable[[dict[str, Any]], bool]) -> Any:
        """Return the answer to a question, a JSON object that fits.

        Raises:
            ProgramError: there is none. The program has been ended.
            UnreadableError: there is one, which names the question and is not JSON, or is too long.
        """
        try:
            process = self.process or self._start()
            self._write(process, json.dumps(question))
            return self._answer(process, fits, json.dumps(question.get("id", "")))
        except ProgramError:
            self.stop()
            raise

    def _start(self) -> subprocess.Popen[str]:
        self.starts += 1
        files = self.open.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        self.errors = Path(files, "errors")
        self.lines = queue.Queue(HELD)
        mark = str(uuid.uuid4())
        try:
            with self.errors.open("wb") as errors:
                process = subprocess.Popen(
                    self.command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    encoding="utf-8",
                    errors="replace",
                    start_new_session=POSIX,
                    env=os.environ | {MARK: mark},
                )
        except OSError as error:
            raise ProgramError(f"could not be started: {error}") from None
        self.open.callback(_end, process, mark)
        threading.Thread(target=_read, args=(process, self.lines), daemon=True).start()
        self.process = process
        return process

    def _write(self, process: subprocess.Popen[str], line: str) -> None:
        """Write a line; in a thread, since a program that does not read would block it."""
        threading.Thread(target=_write_line, args=(process.stdin, f"{line}\n"), daemon=True).start()

    def _answer(
        self, process: subprocess.Popen[str], fits: Callable[[dict[str, Any]], bool], name: str
    ) -> dict[str, Any]:
        """Return the next line that is an answer."""
        end = time.monotonic() + self.seconds
        for _ in range(STRAY):
            line = self._line(end)
            if line is None:
                raise ProgramError(self._ending(process))
            is_object = line.lstrip().startswith("{")
            if len(line) >= LINE and is_object:
                raise UnreadableError(f"its answer is {TOO_LONG}: {line.strip()[:60]}")
            found = _parsed_line(line)
            if isinstance(found, dict) and fits(found):
                return found
            if isinstance(found, dict):
                raise ProgramError(f"answered a different question: {line.strip()[:60]}")
            if is_object and name in line:  # as with nan from C's printf
                raise UnreadableError(f"its answer is not JSON: {line.strip()[:60]}")
            shown = line.strip()[:LONGEST]
            self.remarks[shortened(f"printed something that is not an answer: {shown!r}")] += 1
        raise ProgramError(f"printed {STRAY} lines that are not answers")

    def _line(self, end: float) -> str | None:
        """Return the next line that the program writes, or None if it writes no more."""
        left = end - time.monotonic()  # also while there are lines: to look at them takes time
        if left > 0:
            with suppress(queue.Empty):
                return self.lines.get(timeout=left)
        raise ProgramError(f"no answer within {self.seconds:g} s")

    def _ending(self, process: subprocess.Popen[str]) -> str:
        """Return how the program ended, with the last line that it wrote to standard error."""
        try:
            status = process.wait(self.seconds)
        except subprocess.TimeoutExpired:
            return "closed its output without an answer"
        ended = f"ended with status {status}"
        if status < 0:
            ended = f"was terminated by signal {-status}, {signal.strsignal(-status)}"
        with self.errors.open("rb") as errors:
            errors.seek(max(self.errors.stat().st_size - TAIL, 0))
            last = errors.read(TAIL).decode("utf-8", "replace").strip().splitlines()
        return f"{ended}: {last[-1].strip()}" if last else ended

    def stop(self) -> None:
        """End the program with what it started, as far as that can be found: see `_end`."""
        self.process = None
        self.open.close()


def _end(process: subprocess.Popen[str], mark: str) -> None:
    """End a process and its group; on Linux also what has left the group and kept the mark.

    On Windows, which has no groups, the process alone is ended.
    """
    with suppress(ProcessLookupError):  # all have ended
        os.killpg(process.pid, signal.SIGKILL) if POSIX else process.kill()
    process.wait()
    sweeps = ([*_marked_processes(mark)] for _ in range(SWEEPS))
    for marked in takewhile(bool, sweeps):  # one that is ended may have started another
        for one in marked:
            with suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
    # Where a process that left the group holds the pipe, a write blocks, and closing waits for it.
    closing = threading.Thread(target=_shut, args=(process.stdin,), daemon=True)
    closing.start()
    closing.join(CLOSING)


def _marked_processes(mark: str) -> Iterator[int]:
    """Yield the processes with a mark in their environment, which a child inherits; on Linux."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or is another user's
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                yield int(folder.name)


def _shut(stream: IO[str]) -> None:
    """Close a stream; what has not been read is lost."""
    with suppress(OSError):
        stream.close()


def _read(process: subprocess.Popen[str], lines: queue.Queue[str | None]) -> None:
    """Put the lines that a program writes into a queue, each up to `LINE`, and None at the end."""
    assert process.stdout is not None
    with process.stdout as stream:
        while line := stream.readline(LINE):
            _queue(process, lines, line)
            while len(line) == LINE and not line.endswith("\n"):  # the rest is not kept
                line = stream.readline(LINE)
    _queue(process, lines, None)


def _queue(
    process: subprocess.Popen[str], lines: queue.Queue[str | None], line: str | None
) -> None:
    """Put a line into a queue once there is room, unless the program has been ended meanwhile."""
    while process.returncode is None:
        with suppress(queue.Full):
            lines.put(line, timeout=WAITING)
            break


def _write_line(stream: IO[str], text: str) -> None:
    """Write to a program that may have ended."""
    with suppress(OSError, ValueError):  # how it ended is seen where its answer is read
        stream.write(text)
        stream.flush()


def _parsed_line(line: str) -> Any:
    """Return what a line of JSON says; None if it says nothing."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def run(
    command: Sequence[str],
    *,
    suite: str | None = None,
    contract: str | None = None,
    seconds: float = SECONDS,
    megabytes: int | None = MEGABYTES,
    folder: str | Path | None = None,
    known: Known = None,
    skip: Iterable[str] = (),
    strict: bool = False,
) -> Report:
    """Return how a program answers the cases of a suite, or of all that it offers.

    The program reads one JSON object per line and answers each with one: first
    `{"request": "capabilities"}` with `{"suites": [...], "contract": "..."}`, then cases
    `{"id": …, "suite": …, "input": {…}}` with `{"id": …, "ok": …}`, `{"id": …, "refused": "why"}`
    or `{"id": …, "unsupported": "why"}`. A case is written when the one before it has been
    answered. A program that ends, takes too long, or answers another question is started again and
    given the next case; other lines that it prints are reported. An answer has at most 1 MB.

    At the end the program is ended, with the processes that it started: on Linux all that have kept
    its environment, on macOS those of its group, on Windows none.

    Args:
        command: the program and its arguments.
        suite: a name that `suites` returns; None for all that the program offers.
        contract: how exact answers must be; None for the contract that the program states.
        seconds: how long an answer may take.
        megabytes: how much memory the program may use for data; None for any. Linux only.
        folder: where the files are; None for those of this package.
        known: which cases are known to fail, as for `check`.
        skip: ids or patterns of cases that are not asked.
        strict: whether an answer to nonsense is a failure.

    Returns:
        A `Report`. If all suites are run, one whose file is torn is named in it, and the others
        are run.

    Raises:
        TypeError: `contract` is not a string.
        ValueError: the suite or the contract is unknown, a limit is not positive or too large, or
            the file of the suite is torn, or a known difference has no reason.
        OSError: the program could not be started, or does not tell its capabilities; or the file
            of known differences cannot be read.

    Examples:
        `print(run(["node", "docs/vectors/adapters/book.mjs"]))`

        >>> import sys
        >>> offers_nothing = "print('{\\\"suites\\\": []}')"
        >>> run([sys.executable, "-c", offers_nothing], suite="swin").status
        2
    """
    if contract is not None:
        contract = as_choice("contract", contract, CONTRACTS)
    if not 0 < seconds <= DAY:
        raise ValueError(f"seconds must be above 0 and at most {DAY}; got {seconds:g}")
    if megabytes is not None and not 0 < megabytes <= MOST:
        raise ValueError(f"megabytes must be from 1 to {MOST}; got {megabytes}")
    reasons, skip = read_known(known), as_patterns(skip)
    unmatched = unmatched_patterns([*reasons, *skip], folder)
    found, torn = _loaded_suites(folder) if suite is None else ([load(suite, folder=folder)], ())
    program = Program(command, seconds, megabytes)
    try:
        told = program.ask({"request": "capabilities"}, lambda answer: "suites" in answer)
        contract = contract or as_choice("contract", told.get("contract", SINGLE), CONTRACTS)
        offered = _offered_suites(told)
        reports = [_suite(program, one, offered, contract, reasons, skip) for one in found]
    except (ProgramError, UnreadableError) as trouble:
        printed = "".join(f"; it {remark}" for remark in [*program.remarks][:1])
        told = f"{command[0]}, asked for its capabilities: {trouble}{printed}"
        raise OSError(told) from None
    finally:
        program.stop()
    remarks = _remark_counts(program.remarks)
    return joined_report(
        [*reports, Report((), contract, {}, remarks, torn, strict=strict, unmatched=unmatched)]
    )


def _loaded_suites(folder: str | Path | None) -> tuple[list[Suite], tuple[str, ...]]:
    """Return all suites that can be read, and what is wrong with the others."""
    found, torn = [], []
    for name in suites(folder=folder):
        try:
            found.append(load(name, folder=folder))
        except (OSError, ValueError) as error:
            torn.append(f"{name}: {error}")
    return found, tuple(torn)


def _offered_suites(told: dict[str, Any]) -> tuple[str, ...]:
    """Return the suites that a program offers."""
    names = told["suites"]
    return tuple(names) if isinstance(names, list) else ()


def _remark_counts(remarks: Counter[str]) -> tuple[str, ...]:
    return tuple(f"{count} × {remark}" for remark, count in remarks.most_common())


def _suite(
    program: Program,
    suite: Suite,
    offered: tuple[str, ...],
    contract: str,
    known: Mapping[str, str],
    skip: Iterable[str],
) -> Report:
    """Return how a program answers a suite."""
    allowed = program.starts + RESTARTS
    outcomes: list[Outcome] = []
    for case in suite.cases:
        if suite.name not in offered:
            outcomes.append(Outcome(case, "unsupported", ABSENT))
        elif left_out := unasked(case, skip):
            outcomes.append(left_out)
        elif program.interrupted:
            outcomes.append(Outcome(case, "crashed", INTERRUPTED))
        elif program.starts >= allowed:
            outcomes.append(Outcome(case, "crashed", UNTRIED))
        else:
            outcomes.append(with_known(_case(program, case, contract), known))
            allowed += outcomes[-1].status == "unrefused"  # its crash does not count
    return Report(tuple(outcomes), contract, describe_suite(suite))


def _case(program: Program, case: Case, contract: str) -> Outcome:
    """Return how a program answers a case."""
    question = {"id": case.id, "suite": case.suite, "input": case.input}
    try:
        told = program.ask(question, lambda answer: answer.get("id") == case.id)
    except ProgramError as trouble:
        return crash(case, str(trouble))
    except UnreadableError as trouble:
        if case.expected is None:
            return Outcome(case, "unrefused", str(trouble))
        return Outcome(case, "failed", str(trouble), math.inf)
    except KeyboardInterrupt:
        program.interrupted = True
        return Outcome(case, "crashed", INTERRUPTED)
    try:
        return _outcome(case, told, contract)
    except (OverflowError, RecursionError) as error:
        return Outcome(case, "crashed", f"its answer cannot be read: {error}")


def _outcome(case: Case, told: dict[str, Any], contract: str) -> Outcome:
    """Return what an answer to a case is."""
    said = {key: told[key] for key in ANSWERS if told.get(key) is not None}  # some write null
    if len(said) != 1:
        found = " and ".join(said) or f"none: {json.dumps(told)[:60]}"
        return Outcome(
            case, "crashed", f"must answer with one of {', '.join(ANSWERS)}; got {found}"
        )
    if "refused" in said:
        return refusal(case, str(said["refused"]))
    if "unsupported" in said:
        return Outcome(case, "unsupported", str(said["unsupported"]))
    return Outcome(case, **vars(judge_answer(case, said["ok"], contract)))
