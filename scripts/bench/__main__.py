"""Run the benchmarks, one process per group, and write the results.

python -m scripts.bench                  run all groups; write the data file and the page
python -m scripts.bench table import     run these groups; print without writing
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
from scripts.bench.measure import ROUNDS, Result, ratio_to_floor

# For each group: its module, its function, and the function's arguments.
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
    """Run the named groups, or all, and print their tables."""
    if arguments[:1] == ["--in-this-process"]:
        print(json.dumps(measure_here(arguments[1], rounds=int(arguments[2]))))
        return
    unknown = [name for name in arguments if name not in GROUPS]
    if unknown:
        sys.exit(f"no group {unknown[0]}; there are {', '.join(GROUPS)}")
    gpu = gpu_name()
    names = arguments or [name for name in GROUPS if gpu or name != "cuda"]
    found = [measure_in_new_process(name) for name in names]
    results = [Result(**result) for group in found for result in group["results"]]
    threads = ", ".join(sorted({group["threads"] for group in found}))
    measured = report.report(
        results, threads=threads, gpu=gpu or "no GPU here, so none was measured"
    )
    show(measured, names)
    if not arguments:
        report.write(measured)
        write_page(measured)


def measure_in_new_process(group: str, *, rounds: int = ROUNDS) -> dict[str, Any]:
    """Measure a group in a new process, limited to one thread from its start."""
    print(f"measuring: {group}", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "scripts.bench", "--in-this-process", group, str(rounds)]
    environment = os.environ | dict.fromkeys(PINNED, "1")
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure_here(group: str, *, rounds: int = ROUNDS) -> dict[str, Any]:
    """Measure a group in this process."""
    module, function, keywords = GROUPS[group]
    cases = getattr(importlib.import_module(f"scripts.bench.{module}"), function)
    threads = use_one_thread()
    results = [ratio_to_floor(group, case, rounds=rounds) for case in cases(**keywords)]
    return {"threads": threads, "results": [asdict(result) for result in results]}


def use_one_thread() -> str:
    """Limit torch, if installed, to one thread; return in words how many are used."""
    try:
        import torch
    except ImportError:
        return "one thread"
    torch.set_num_threads(1)
    count = torch.get_num_threads()
    return "one thread" if count == 1 else f"{count} threads, which could not be pinned to one"


def gpu_name() -> str:
    """Return the name of the GPU, or an empty string."""
    try:
        import torch
    except ImportError:
        return ""
    return torch.cuda.get_device_name() if torch.cuda.is_available() else ""


def show(measured: report.Report, names: list[str]) -> None:
    """Print the results, what was skipped, and which targets were missed."""
    print(f"{measured.machine}; {measured.threads}\n{measured.gpu}")
    print(f"interquartile range of the noisiest floor in each group: {measured.noise()}")
    for name in names:
        print(f"\n{name}\n\n{report.markdown(measured, name, error=name in WITH_ERROR)}")
    for line in measured.skipped():
        print(f"\nskipped: {line}")
    for line in measured.missed_targets():
        print(f"\nmissed its target: {line}")
    for line in measured.undecided_targets():
        print(f"\ntarget within the noise: {line}")


def write_page(measured: report.Report) -> None:
    """Write the tables into the page, then update the numbers that depend on them."""
    from scripts.book.update import update

    page = report.PAGE.read_text(encoding="utf-8")
    report.PAGE.write_text(report.page_with_results(page, measured), encoding="utf-8")
    for change in update(report.PAGE):
        print(f"\n{change}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
