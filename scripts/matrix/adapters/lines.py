"""What the adapters share: read questions as lines of JSON, answer each with a line.

An adapter is run by the Python of its library's own environment, so it imports the library, numpy
and this file, of which there is a copy among the library's packages, and nothing else of the
repository. It ends with

    if __name__ == "__main__":
        answer_lines({"rotation": rotation, "alibi": alibi})

or, for a library whose functions or models answer the same suite differently, with

    if __name__ == "__main__":
        answer_lines(ways={"Llama": {"rotation": llama}, "Phi": {"rotation": phi}})

and is then run with `--way Llama`. A function gets the input of a case by name; an input that it
has no parameter for is something that the library does not offer. It returns the answer, raises
`Unsupported` for what else the library does not offer, and calls the library inside of `library()`:

    def rotation(x, positions, layout, base=None, rotary_d=None, frequencies=None):
        if layout != "half":
            raise Unsupported("pairs of neighbours")
        with library():
            return apply_rope(tensor(x), tensor(positions), base)

An error raised there is the library's own, and means that it refuses the input. An error raised
anywhere else is a mistake in the adapter: it ends with status `BROKEN`, and no result is written.
"""

from __future__ import annotations

import argparse
import contextlib
import inspect
import json
import math
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import Any

BROKEN = 70  # exit status of an adapter that has a mistake itself
CONTRACT = "float32 angle"
MISCALLED = re.compile(r"positional argument|keyword argument|missing \d+ required")

Answers = Mapping[str, Callable[..., Any]]


class Unsupported(Exception):  # noqa: N818
    """The library does not offer what is asked; says what."""


class Refused(Exception):  # noqa: N818
    """The library raised an error; says which."""


@contextlib.contextmanager
def library() -> Iterator[None]:
    """Take errors of the library for refusals."""
    try:
        yield
    except (Unsupported, Refused):
        raise
    except NotImplementedError as error:
        raise Unsupported(f"the library says: {worded(error)}") from error
    except Exception as error:
        if miscalled(error):
            raise
        raise Refused(worded(error)) from error


def miscalled(error: Exception) -> bool:
    """Return whether an adapter has called a function with arguments that it does not have."""
    frames = traceback.extract_tb(error.__traceback__)
    raised_here = frames[-1].filename == sys.modules["__main__"].__file__
    return raised_here and isinstance(error, TypeError) and bool(MISCALLED.search(str(error)))


def called(function: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """Return what a function of an adapter answers.

    Raises:
        Unsupported: it has no parameter for something that is given.
    """
    try:
        inspect.signature(function).bind(**given)
    except TypeError as error:
        raise Unsupported(str(error)) from None
    return function(**given)


def worded(error: BaseException) -> str:
    """Return the kind of an error and the first of what it says."""
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said}"[:200].rstrip(": ")


def objects(factory: Callable[..., Any]) -> Callable[..., list[Any]]:
    """Return the answer to suite sequences of objects that a factory makes from their settings.

    Their methods are named like the calls: rotate, extend, restart, frequencies, cast, shift.
    """

    def sequences(objects: list[dict[str, Any]], calls: list[dict[str, Any]]) -> list[Any]:
        made: dict[int, Any] = {}
        answers = []
        for call in calls:
            given = dict(call)
            number, name = given.pop("object"), given.pop("do")
            if number not in made:
                made[number] = called(factory, objects[number])
            method = getattr(made[number], name, None)
            if method is None:
                raise Unsupported(f"{name} is not offered")
            answers.append(called(method, given))
        return answers

    return sequences


class CountedByCaller:
    """An object for suite sequences whose library is told where a text goes on."""

    seen = 0

    def extend(self, x: list[Any]) -> Any:
        """Return vectors rotated at the positions that follow."""
        places = [*range(self.seen, self.seen + len(x))]
        self.seen += len(x)
        return self.rotate(x, places)  # type: ignore[attr-defined]

    def restart(self) -> None:
        """Begin another text."""
        self.seen = 0


def plain(value: Any) -> Any:
    """Return arrays as lists, and numbers that JSON does not have as words."""
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def answer(answers: Answers, contract: str, question: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a question."""
    if question.get("request") == "capabilities":
        return {"suites": list(answers), "contract": contract}
    try:
        return {"ok": plain(called(answers[question["suite"]], question["input"]))}
    except Unsupported as error:
        return {"unsupported": str(error)}
    except Refused as error:
        return {"refused": str(error)}


def answer_lines(
    answers: Answers | None = None,
    *,
    ways: Mapping[str, Answers] | None = None,
    contract: str | Mapping[str, str] = CONTRACT,
) -> None:
    """Answer each line of standard input.

    Args:
        answers: the function for each suite that the library offers.
        ways: the same for each of several ways; the argument `--way` of the program chooses.
        contract: how exact answers are meant to be; of ways that differ, for each that is not
            `CONTRACT`.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--way", choices=list(ways) if ways else None, required=bool(ways))
    way = parser.parse_args().way
    chosen = ways[way] if ways else (answers or {})
    promised = contract if isinstance(contract, str) else contract.get(way, CONTRACT)
    # What the library prints must not stand between the answers.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        question = json.loads(line)
        try:
            told = answer(chosen, promised, question)
        except Exception as error:
            traceback.print_exc()
            print(f"adapter: {worded(error)}", file=sys.stderr, flush=True)
            sys.exit(BROKEN)
        line = {"id": question.get("id")} | told
        print(json.dumps(line, default=str), file=out, flush=True)  # str: of complex numbers
