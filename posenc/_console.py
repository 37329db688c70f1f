"""What a command writes: text that cannot steer a terminal, and no traceback if nobody reads it."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

# The last line of an answer and of a refusal. The source of a release names no tracker, since each
# copy has its own.
REPORT = (
    "Is this wrong? Open an issue as described in CONTRIBUTING.md, in the source of posenc, under"
    ' "Report something wrong".'
)
FAILED = 2  # the exit status of a command that could not do what it was told
UNREAD = 141  # that of a command whose reader has gone, as a shell has it: 128 + SIGPIPE


def printable(text: str) -> str:
    """Return a text in one line, with escapes for what would move the cursor or spoil XML."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text
    )


def one_line(error: BaseException | str, longest: int = 1000) -> str:
    """Return what an error says as one line to print, cut if it is long."""
    line = printable(" ".join(str(error).split()))
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def refused(command: str, error: BaseException | str) -> int:
    """Print why a command does not do what it was told; return its exit status."""
    print(f"{printable(command)}: {one_line(error)}\n{REPORT}", file=sys.stderr)
    return FAILED


class Parser(argparse.ArgumentParser):
    """A parser whose errors quote arguments without what would move the cursor."""

    def error(self, message: str) -> NoReturn:
        """Print how to use the command, and what is wrong; exit with status 2."""
        self.print_usage(sys.stderr)
        sys.exit(refused(f"{self.prog}: error", message))


def status_after_flush(command: Callable[[], int]) -> int:
    """Return the exit status of a command once all that it prints has been written.

    A character that the console does not have is printed as a question mark. If the reader has
    gone, as with `| head -1`, the command ends without a word.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):  # standard error replaces what it lacks anyway
        sys.stdout.reconfigure(errors="replace")
    try:
        try:
            return command()
        finally:
            if sys.stdout is not None:  # as it is where the shell has closed it
                sys.stdout.flush()
    except BrokenPipeError:
        _discard()
        return UNREAD
    except OSError as error:  # as on a full disk
        _discard()
        return refused("posenc", error)


def _discard() -> None:
    """Let what is still to be written go nowhere: Python writes it at its end, and would fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in filter(None, (sys.stdout, sys.stderr)):
        with suppress(ValueError):  # closed, or without a descriptor
            try:
                stream.flush()
            except OSError:
                os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
