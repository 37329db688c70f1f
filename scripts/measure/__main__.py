"""Train and evaluate the runs without a result. `make measure` is this command without options."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeAlias

from scripts import ROOT
from scripts.measure import far, further, reevaluate, renumbered, result_files
from scripts.measure.corpus import BOOK, TOPICS, AnotherTextError, recorded_text
from scripts.measure.kinds import READ
from scripts.measure.methods import TRAINED
from scripts.measure.order import ENCODER
from scripts.measure.schemes import FURTHER
from scripts.measure.training import Settings

TASKS = {
    "language": (Settings(), (64, 128, 256, 512)),
    "again": (Settings(), (64, 128, 256, 512)),
    "renumbered": (Settings(), (64, 128, 256, 512)),
    "further": (Settings(), (64, 128, 512)),
    "order": (Settings(width=64, layers=2, length=16, batch=64, steps=1000), (16, 32, 64, 128)),
    "retrieval": (
        Settings(width=64, layers=2, length=32, batch=64, steps=1000),
        (32, 64, 128, 256),
    ),
    "further_retrieval": (
        Settings(width=64, layers=2, length=32, batch=64, steps=1000),
        (32, 64, 256),
    ),
    "far": (
        Settings(width=64, layers=2, length=32, batch=64, steps=1000),
        (32, 256, 1024, 4096),
    ),
}
METHODS = {
    "language": (*TRAINED, *FURTHER),
    "again": reevaluate.METHODS,
    "renumbered": renumbered.METHODS,
    "further": further.METHODS,
    "order": (*TRAINED, *FURTHER, ENCODER),
    "retrieval": (*TRAINED, *FURTHER),
    "further_retrieval": further.METHODS,
    "far": far.METHODS,
}
SEEDS = (0, 1, 2)
CHECKPOINTS = ROOT / "build" / "measure"
CLOSE_TIMEOUT = 120  # seconds for a Dask process to exit


@dataclass(frozen=True)
class Run:
    """One model to train and evaluate, and where to write its result."""

    task: str
    method: str
    seed: int
    settings: Settings
    lengths: tuple[int, ...]
    device: str
    into: Path
    checkpoints: Path
    text: str = BOOK  # the name of the text that it is trained on

    @property
    def name(self) -> str:
        """The stem of its file names."""
        return result_files.name(self.task, self.method, self.seed)

    @property
    def path(self) -> Path:
        """The path of its result file."""
        return self.into / f"{self.name}.json"

    @property
    def checkpoint(self) -> Path:
        """The path of its checkpoint, which is deleted once it has a result."""
        return self.checkpoints / f"{self.name}.pt"


def perform(run: Run) -> str:
    """Train, evaluate and write the result in the current process; return the run's name."""
    import torch

    from scripts.measure import tasks

    torch.set_num_threads(1)  # runs are parallel, and independent of the number of cores
    start = time.monotonic()
    found = tasks.result(run.task, run.method, run.seed, run.settings, run.lengths, run.device,
                         run.checkpoint, run.text)  # fmt: skip
    seconds = round(time.monotonic() - start, 1)
    result_files.write(run.path, result_files.with_provenance({**found, "seconds": seconds}))
    run.checkpoint.unlink(missing_ok=True)
    return run.name


def main(arguments: Sequence[str]) -> None:
    """Perform the missing runs among those given on the command line."""
    options = parser().parse_args(arguments)
    try:
        requested = list(runs(options))
        missing = [run for run in requested if not is_done(run)]
        if any(run.task in READ for run in missing):  # the other tasks have no text
            text = text_of(options.into, options.text)
            missing = [replace(run, text=text) for run in missing]
    except (ValueError, result_files.UnreadableError, AnotherTextError) as error:
        sys.exit(str(error))
    print(f"{len(requested) - len(missing)} of {len(requested)} results exist", file=sys.stderr)
    if missing:
        perform_all(missing, options)


def perform_all(missing: Sequence[Run], options: argparse.Namespace) -> None:
    """Perform runs in parallel, with a progress bar of training steps."""
    from tqdm import tqdm

    steps = {run.name: run.settings.steps for run in missing}
    names = ENGINES[options.scheduler](missing, options.workers, options.address)
    try:
        with tqdm(total=sum(steps.values()), unit="step", smoothing=0) as bar:
            for name in names:
                bar.update(steps[name])
                bar.set_postfix_str(name)
    except OSError as error:
        sys.exit(f"{error}; finished results are kept. Run the same command to continue")
    except KeyboardInterrupt:
        sys.exit("stopped. Run the same command to continue")


# Performs the runs, and yields the name of each when it is done.
Engine: TypeAlias = Callable[[Sequence[Run], int, str | None], Iterator[str]]


def engine(scheduler: str, module: str) -> Any:
    """Return the module of an engine; exit with the install command if it is missing."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        sys.exit(f"{scheduler} is not installed: {error}; pip install '.[cluster]'")


def on_loky(missing: Sequence[Run], workers: int, address: str | None) -> Iterator[str]:
    """Perform the runs in processes on this machine."""
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=workers, return_as="generator_unordered")
    yield from parallel(delayed(perform)(run) for run in missing)


def on_dask(missing: Sequence[Run], workers: int, address: str | None) -> Iterator[str]:
    """Perform the runs on a Dask cluster; if a worker dies, another restarts its run."""
    dask = engine("dask", "distributed")
    count = None if workers < 1 else workers
    local = {"n_workers": count, "threads_per_worker": 1, "dashboard_address": None}
    with dask.Client(address, **({} if address else local)) as client:
        if any(threads > 1 for threads in client.nthreads().values()):
            # Two runs in one process would share torch's random number generator.
            sys.exit("every Dask worker must have one thread: dask worker --nthreads 1")
        done = dask.as_completed(client.map(perform, missing, pure=False))
        yield from (future.result() for future in done)
        if not address:  # a process with torch takes longer to exit than Dask waits by default
            client.cluster.sync(_close, client.cluster.workers.values())


async def _close(nannies: Iterable[Any]) -> None:
    """Wait until the processes of a local Dask cluster have exited."""
    await asyncio.gather(*(nanny.close(timeout=CLOSE_TIMEOUT) for nanny in nannies))


def on_ray(missing: Sequence[Run], workers: int, address: str | None) -> Iterator[str]:
    """Perform the runs on a Ray cluster; if a worker dies, another restarts its run."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # send no usage statistics
    ray = engine("ray", "ray")
    count = None if workers < 1 else workers
    local = {"num_cpus": count, "include_dashboard": False}
    with ray.init(address, **({} if address else local)):
        begin = ray.remote(perform).remote
        waiting = [begin(run) for run in missing]
        while waiting:
            done, waiting = ray.wait(waiting)
            yield from ray.get(done)


ENGINES: dict[str, Engine] = {"loky": on_loky, "dask": on_dask, "ray": on_ray}


def runs(options: argparse.Namespace) -> Iterator[Run]:
    """Yield the runs given on the command line.

    Without a choice of tasks, a method is left out of those that do not have it.

    Raises:
        ValueError: An option does not fit the task, or no task has a method.
    """
    everywhere = tuple(dict.fromkeys(name for names in METHODS.values() for name in names))
    for method in options.methods or ():
        if method not in everywhere:
            raise ValueError(f"no method {method!r}; there are {', '.join(everywhere)}")
    ours = options.into == result_files.RESULTS
    unfinished = CHECKPOINTS if ours else options.into / "unfinished"
    for task in options.tasks or TASKS:
        settings, lengths = TASKS[task]
        values = {f.name: getattr(options, f.name) for f in fields(Settings)}
        changed = {name: value for name, value in values.items() if value is not None}
        settings = Settings(**{**asdict(settings), **changed})
        lengths = tuple(sorted(options.lengths or lengths))
        if lengths[0] < settings.length:
            raise ValueError(
                f"lengths must be at least the trained length, {settings.length}; got {lengths[0]}"
            )
        if (changed or options.lengths) and ours:
            raise ValueError("other settings need another folder: --into build/measured")
        known = METHODS[task]
        for method in options.methods or known:
            if method not in known:
                if not options.tasks:
                    continue
                raise ValueError(f"no method {method!r} for {task}; there are {', '.join(known)}")
            for seed in options.seeds:
                yield Run(
                    task, method, seed, settings, lengths, options.device, options.into, unfinished
                )


def is_done(run: Run) -> bool:
    """Return whether a run has its result.

    Raises:
        UnreadableError: The result cannot be read or has other settings.
    """
    if not run.path.exists():
        return False
    found = result_files.read(run.path)
    requested = {"settings": asdict(run.settings), "lengths": list(run.lengths)}
    if any(found[key] != value for key, value in requested.items()):
        raise result_files.UnreadableError(
            f"{run.path} has other settings; delete it, or name another folder with --into"
        )
    return True


def text_of(folder: Path, corpus_name: str | None) -> str:
    """Return the name of the text for runs whose results go to a folder: that of those it has.

    Raises:
        AnotherTextError: Another text is wanted, or this Python does not have that text.
        UnreadableError: A result cannot be read.
    """
    described = [
        (path, result_files.read(path)["corpus"]) for path in sorted(folder.glob("*.json"))
    ]
    for path, facts in described:
        if "sha256" in facts:
            try:
                text = recorded_text(facts)
            except AnotherTextError as error:
                raise AnotherTextError(f"{path}: {error}, or another folder with --into") from None
            if corpus_name not in (None, text.name):
                raise AnotherTextError(
                    f"{path} was trained on {text.name}, not on {corpus_name}; name another folder"
                    " with --into"
                )
    names = {facts["text"]: path for path, facts in described if "sha256" in facts}
    if len(names) > 1:
        raise AnotherTextError(f"{' and '.join(map(str, names.values()))} have different texts")
    return next(iter(names), corpus_name or BOOK)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="python -m scripts.measure", description=__doc__)
    add = parser.add_argument
    add("--tasks", nargs="+", choices=TASKS, help="without: all that have the methods")
    add(
        "--methods",
        nargs="+",
        metavar="METHOD",
        help=f"{', '.join((*TRAINED, *FURTHER))}, {ENCODER!r}",
    )
    add("--seeds", nargs="+", type=int, default=SEEDS)
    add("--workers", type=int, default=-1, help="number of parallel runs; -1: one per core")
    add("--scheduler", choices=ENGINES, default="loky", help="where the runs are performed")
    add(
        "--address", help="of the Dask scheduler or Ray cluster; its workers must share this folder"
    )
    add("--device", default="cpu", help="cpu, or cuda")
    add("--text", choices=(BOOK, TOPICS), help="without: that of the folder's results, or the book")
    add("--into", type=Path, default=result_files.RESULTS, help="folder of the results")
    add("--lengths", nargs="+", type=int, help="lengths at which to evaluate")
    for field in fields(Settings):
        add(f"--{field.name.replace('_', '-')}", type=float if field.name == "rate" else int)
    return parser


if __name__ == "__main__":
    main(sys.argv[1:])
