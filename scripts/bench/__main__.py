"""Measure, a process for each group, and write what came out.

python -m scripts.bench                  all groups, into the data file and the page
python -m scripts.bench table import     these alone, printed and not written
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from dataclasses import asdict
from typing import Any

from scripts import ROOT
from scripts.bench import report
from scripts.bench.measure import ROUNDS, Result, measured

# A group, the module that has it, the function there, and its arguments.
GROUPS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "table": ("table", "cases", {}),
    "rotary": ("rotary", "cases", {}),
    "bias": ("bias", "cases", {}),
    "attention": ("bias", "attention_cases", {}),
    "import": ("importing", "cases", {}),
    "cuda": ("rotary", "cases", {"device": "cuda"}),
}
WITH_ERROR = ("table", "rotary", "bias", "attention", "cuda")
PINNED = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def main(arguments: list[str]) -> None:
    """Measure the groups that are named, or all, and print their tables."""
    if arguments[:1] == ["--in-this-process"]:
        print(json.dumps(in_this_process(arguments[1], rounds=int(arguments[2]))))
        return
    unknown = [name for name in arguments if name not in GROUPS]
    if unknown:
        sys.exit(f"no group {unknown[0]}; there are {', '.join(GROUPS)}")
    gpu = graphics()
    names = arguments or [name for name in GROUPS if gpu or name != "cuda"]
    found = [in_a_process(name) for name in names]
    results = [Result(**result) for group in found for result in group["results"]]
    threads = ", ".join(sorted({group["threads"] for group in found}))
    said = report.report(results, threads=threads, gpu=gpu or "no GPU here, so none was measured")
    show(said, names)
    if not arguments:
        report.write(said)
        write_page(said)


def in_a_process(group: str, *, rounds: int = ROUNDS) -> dict[str, Any]:
    """Measure a group in a new process, whose threads are pinned to one before anything starts."""
    print(f"measuring: {group}", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "scripts.bench", "--in-this-process", group, str(rounds)]
    environment = os.environ | dict.fromkeys(PINNED, "1")
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def in_this_process(group: str, *, rounds: int = ROUNDS) -> dict[str, Any]:
    """Measure a group here."""
    module, function, keywords = GROUPS[group]
    cases = getattr(importlib.import_module(f"scripts.bench.{module}"), function)
    threads = pin()
    results = [measured(group, case, rounds=rounds) for case in cases(**keywords)]
    return {"threads": threads, "results": [asdict(result) for result in results]}


def pin() -> str:
    """Let torch, if it is here, use one thread; say how many are used."""
    try:
        import torch
    except ImportError:
        return "one thread"
    torch.set_num_threads(1)
    count = torch.get_num_threads()
    return "one thread" if count == 1 else f"{count} threads, which could not be pinned to one"


def graphics() -> str:
    """Return the name of the GPU, or nothing."""
    try:
        import torch
    except ImportError:
        return ""
    return torch.cuda.get_device_name() if torch.cuda.is_available() else ""


def show(said: report.Report, names: list[str]) -> None:
    """Print what came out."""
    print(f"{said.machine}; {said.threads}\n{said.gpu}")
    print(f"half of the rounds of the worst floor lie within: {said.noise()}")
    for name in names:
        print(f"\n{name}\n\n{report.markdown(said, name, error=name in WITH_ERROR)}")
    for line in said.skipped():
        print(f"\nleft out: {line}")
    for line in said.missed():
        print(f"\nabove its target: {line}")
    for line in said.undecided():
        print(f"\nits target lies between its quartiles: {line}")


def write_page(said: report.Report) -> None:
    """Write the tables into the page, and then all else that the page says of them."""
    from scripts.book.update import update

    page = report.PAGE.read_text(encoding="utf-8")
    report.PAGE.write_text(report.rewritten(page, said), encoding="utf-8")
    for change in update(report.PAGE):
        print(f"\n{change}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
