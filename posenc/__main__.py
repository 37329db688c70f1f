"""The command `posenc`, or `python -m posenc`: shows an encoding of four positions.

`posenc diagnose module:callable` checks how a model handles positions: see `diagnose`.
`posenc config PATH` says what a model configuration means: see `config`.
`posenc vectors` tests any implementation against known answers: see `posenc.vectors`.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from argparse import ArgumentTypeError
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from posenc import PositionalEncoding, __version__, read_config, similarity
from posenc._console import REPORT, Parser, printable, refused, status_after_flush
from posenc.config.entries import load, parsed
from posenc.config.explain import explained, explanation_text
from posenc.config.reading import UNKNOWN
from posenc.config.rule import UNGIVEN
from posenc.config.serving import PROGRAMS, serving
from posenc.vectors import command as vectors

HEALTHY, ILL, COULD_NOT_TELL = range(3)  # exit statuses
# Digits, with commas or without, and a unit.
SPACE = r"[ \u00a0\u2009\u202f]*"  # as typed, or copied from a page
DIGITS = r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+(?:_[0-9]+)*)"
LENGTH = re.compile(rf"(?=.{{1,99}}$){SPACE}({DIGITS}){SPACE}([kKmM]?){SPACE}")
NEEDS_TORCH = "PyTorch is needed, which is not installed: pip install torch"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    return status_after_flush(lambda: run(arguments))


def run(arguments: Sequence[str] | None) -> int:
    """Do what the command line says; return the exit status."""
    parser = Parser(
        "posenc", description="Without a command, show the sinusoidal encoding at work."
    )
    commands = parser.add_subparsers(dest="command", metavar="diagnose | config | vectors")
    command = commands.add_parser(
        "diagnose",
        help="find out what is wrong with a model",
        description="Find out what is wrong with the way a PyTorch model handles positions.",
        epilog="Exit status: 0 if nothing is ill or undetermined, 1 if something is ill, 2 if"
        " nothing is ill but something is undetermined, or if the model could not be run.",
    )
    command.add_argument(
        "model",
        metavar="module:callable",
        help="a callable that returns the model or (model, example input), or the model itself; the"
        " current folder is searched too",
    )
    command.add_argument("--length", type=length, help="how many tokens you plan to feed it")
    command.add_argument("--trained", type=length, help="how many tokens a training sequence had")
    command.add_argument("--base", type=float, help="rotary base in training, if changed since")
    command.add_argument(
        "--heads",
        type=int,
        help="heads of a whole layer, where the model given holds the share of one rank",
    )
    command.add_argument("--rank", type=int, help="that rank, counted from 0; with --heads")
    command.add_argument("--axis", type=int, help="the sequence axis of the example input, 1 or 2")
    command.add_argument(
        "--cache",
        metavar="NAME=module:callable",
        action="append",
        default=[],
        help="a keyword of forward that takes a cache, and a callable that returns an empty cache,"
        " as in cache=posenc.nn:Cache; not needed where the model returns its own",
    )
    command.add_argument(
        "--report",
        metavar="FILE",
        help="also write the answers as JSON, without weights, tokens or paths, to pass on",
    )
    command = commands.add_parser(
        "config",
        help="say what a model configuration means",
        description="Say what a configuration in the format of transformers means for the positions"
        " of a model, and what changes in longer sequences.",
        epilog="Exit status: 0 if nothing is known to be wrong, 1 if the length leads to new"
        " angles, 2 if the configuration cannot be read. With --for: 0 if there is a way to start"
        " the program, 1 if no setting helps.",
    )
    command.add_argument(
        "path",
        metavar="PATH",
        help="config.json, the folder that has it, a GGUF or YAML file, or - for standard input",
    )
    command.add_argument(
        "--length",
        type=length,
        help="how many tokens you plan to feed the model; 128k is 128 times 1024",
    )
    command.add_argument(
        "--trained",
        type=length,
        help="how many tokens a training sequence had, if the file does not say or promises more",
    )
    command.add_argument(
        "--for",
        dest="program",
        choices=PROGRAMS,
        help="print how to start this program so that it serves the model at the length",
    )
    command.add_argument("--json", action="store_true", help="print JSON, with every pair")
    vectors.add_arguments(
        commands.add_parser("vectors", help="test an implementation against known answers")
    )
    asked = parser.parse_args(arguments)
    if not asked.command:
        return show()
    if asked.command == "vectors":
        return vectors.main(asked)
    if asked.command == "config":
        options = {"trained": asked.trained, "program": asked.program, "as_json": asked.json}
        return config(asked.path, asked.length, **options)
    named = ("length", "trained", "base", "heads", "rank", "axis")
    options = {name: getattr(asked, name) for name in named}
    return diagnose(asked.model, caches=asked.cache, report=asked.report, **options)


def length(written: str) -> int:
    """Return a length as it is written: a number, or one of times 1024 or of its square.

    Examples:
        >>> length("128k"), length("1M"), length("8192"), length("32,768")
        (131072, 1048576, 8192, 32768)
    """
    found = LENGTH.fullmatch(written)
    if found is None:
        raise ArgumentTypeError(
            f"a length must be a number of tokens, such as 32768, 32,768 or 32k; got {written!r}"
        )
    return int(found[1].replace(",", "")) * {"": 1, "k": 2**10, "m": 2**20}[found[2].lower()]


def show() -> int:
    """Print the worked example of chapter 1 and the similarities of its last section."""
    rows = PositionalEncoding(max_sequence_length=4, embedding_dimension=8).get_encoding(4)
    print("Sinusoidal encoding, 4 positions, 8 dimensions")
    print(np.array2string(rows, formatter={"float_kind": "{:6.3f}".format}))
    print(f"every entry between {rows.min():.3f} and {rows.max():.3f}")
    print(f"every row of norm {np.linalg.norm(rows, axis=1).max():.3f}")
    print()
    print("Similarity of two positions, 128 dimensions")
    for lag in (1, 5, 9):
        print(f"{lag} apart: {similarity(lag, 128):.3f}")
    return HEALTHY


def diagnose(
    place: str, *, caches: Sequence[str] = (), report: str | None = None, **options: Any
) -> int:
    """Print the report on the model that the callable at `place` returns; return the exit status.

    `place` is written module:callable. The callable may also return a pair of model and example
    input. A cache is written keyword=module:callable. `report` names a file for the answers; the
    options are those of `posenc.nn.diagnose`.
    """
    try:
        importlib.import_module("torch")
    except ModuleNotFoundError:
        return refused("posenc diagnose", NEEDS_TORCH)
    from posenc import nn

    try:
        made = _load_model(place)
        model, example = made if isinstance(made, tuple) and len(made) == 2 else (made, None)
        cache = dict(map(_load_cache, caches)) or None
        found = nn.diagnose(model, example, cache=cache, **options)
        if report is not None:
            data = {"posenc": __version__, **found.as_data(), "asked": options, "report": REPORT}
            Path(report).write_text(f"{json.dumps(data, indent=1)}\n", encoding="utf-8")
    except (Exception, SystemExit) as error:
        return refused(f"posenc diagnose {place}", f"{type(error).__name__}: {error}")
    print("\n".join(map(printable, f"{found}\n\n{REPORT}".split("\n"))))
    return {"ill": ILL, "undetermined": COULD_NOT_TELL}.get(found.status, HEALTHY)


def config(
    path: str,
    length: int | None = None,
    *,
    trained: int | None = None,
    program: str | None = None,
    as_json: bool = False,
) -> int:
    """Print what the configuration at `path` means at a length; return the exit status.

    The length is the one that the configuration promises if none is given, and the trained length
    the one that it says or, without a rule, promises. As JSON every pair is
    printed, in words a few. With a program, what to start it with is printed instead.
    """
    try:
        found = parsed(sys.stdin.buffer.read(), "standard input") if path == "-" else load(path)
        first = read_config(found, trained_length=trained)
        if length is not None:
            first.frequencies(length)
        configs = [
            read_config(found, layer_type=one, trained_length=trained)
            for one in first.layer_types or (None,)
        ]
        layers = [explained(one, length) for one in configs]
        served = None if program is None else serving(program, configs, layers)
    except (OSError, TypeError, ValueError, RecursionError) as error:
        return refused(f"posenc config {path}", error)
    ill = any(layer["wrong"] for layer in layers) if served is None else not served.lines
    status = ILL if ill else HEALTHY
    for note in dict.fromkeys(note for layer in layers for note in layer["notes"]):
        if note.startswith(UNGIVEN) or note.endswith(UNKNOWN):
            print(f"posenc config {printable(path)}: {printable(note)}", file=sys.stderr)
    if as_json:
        data = {"path": path, "status": status, "layers": layers, "report": REPORT}
        more = {} if served is None else {"serving": served._asdict()}
        print(json.dumps(data | more, indent=1))
    elif served is not None:
        print(f"{served.text()}\n\n# {REPORT}")
    else:
        print("\n\n".join([*(explanation_text(path, layer) for layer in layers), REPORT]))
    return status


def _load_model(place: str) -> Any:
    """Return the model at module:name, or the result of calling what is there."""
    from torch.nn import Module

    thing = _load(place, "the model must be given as module:callable")
    if isinstance(thing, Module):
        return thing
    if not callable(thing):
        kind, name = type(thing).__name__, place.partition(":")[2]
        raise TypeError(f"{name} must be a function that returns a model; a {kind} is not callable")
    return thing()


def _load_cache(written: str) -> tuple[str, Any]:
    """Return the keyword of a cache and what makes an empty one, given keyword=module:callable."""
    keyword, _, place = written.partition("=")
    return keyword, _load(place, "a cache must be given as keyword=module:callable", written)


def _load(place: str, allowed: str, written: str | None = None) -> Any:
    """Return what is at module:name; the current folder is searched too."""
    module, colon, name = place.partition(":")
    if not (module and colon and name):
        raise ValueError(f"{allowed}; got {written or place!r}")
    here = str(Path.cwd())
    if not {"", here} & set(sys.path):  # `python -m` searches the current folder, `posenc` does not
        sys.path.insert(0, here)
    thing: Any = importlib.import_module(module)
    for part in name.split("."):
        thing = getattr(thing, part)
    return thing


if __name__ == "__main__":
    if status := main():
        sys.exit(status)
