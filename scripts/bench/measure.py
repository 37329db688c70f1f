"""Paired rounds: a case and its floor take turns, and the median of their ratios is what counts.

Noise that lasts longer than a round slows both, and leaves the ratio alone; what is left of it
shows in the quartiles.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

LEAST_SECONDS = 0.002  # what a clock costs is lost in a sample of this length
ROUNDS = 41
FEWEST = 7  # rounds, however slow they are
PATIENCE = 10.0  # seconds a case

Work = Callable[[], Any]


class Pair(NamedTuple):
    """Two things to run in turn, and what says how far the first's result is from the truth."""

    subject: Work
    floor: Work
    off: Callable[[Any], float] | None = None


@dataclass(frozen=True)
class Case:
    """Something to measure, what it is, and what against; made when its turn comes."""

    name: str
    what: str
    against: str
    make: Callable[[], Pair]
    target: float | None = None


@dataclass(frozen=True)
class Result:
    """What came out of a case: the ratio and its quartiles, or why there is none.

    `floor_spread` is how far apart the quartiles of the floor's own times are, of their median;
    `error` how far the result of what was timed is from the definition, at most.
    """

    group: str
    name: str
    what: str
    against: str
    target: float | None
    ratio: float = 0.0
    low: float = 0.0
    high: float = 0.0
    seconds: float = 0.0
    floor_seconds: float = 0.0
    floor_spread: float = 0.0
    rounds: int = 0
    error: float | None = None
    skipped: str = ""


def measured(group: str, case: Case, *, rounds: int = ROUNDS, patience: float = PATIENCE) -> Result:
    """Return how many times its floor a case takes; what is not installed is skipped."""
    about = (group, case.name, case.what, case.against, case.target)
    try:
        pair = case.make()
    except ImportError as missing:
        package = (missing.name or str(missing)).partition(".")[0]
        absent = isinstance(missing, ModuleNotFoundError)
        return Result(
            *about, skipped=f"{package} {'is not installed' if absent else 'has changed'}"
        )
    # The work itself is what is compared: where it writes is a part of what could be wrong.
    error = pair.off(pair.subject()) if pair.off else None
    times = paired(pair.subject, pair.floor, rounds=rounds, patience=patience)
    low, ratio, high = map(float, np.quantile(times[:, 0] / times[:, 1], [0.25, 0.5, 0.75]))
    least, floor, most = map(float, np.quantile(times[:, 1], [0.25, 0.5, 0.75]))
    return Result(
        *about,
        ratio=ratio,
        low=low,
        high=high,
        seconds=float(np.median(times[:, 0])),
        floor_seconds=floor,
        floor_spread=(most - least) / floor,
        rounds=len(times),
        error=error,
    )


def paired(
    subject: Work, floor: Work, *, rounds: int = ROUNDS, patience: float = PATIENCE
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return the seconds of subject and floor, a row a round; who begins changes every round."""
    works = (subject, floor)
    repeats = [max(1, round(LEAST_SECONDS / max(seconds(work), 1e-9))) for work in works]
    times: list[list[float]] = []
    gc.collect()
    began = time.perf_counter()
    while len(times) < rounds:
        row = [0.0, 0.0]
        for which in (0, 1) if len(times) % 2 else (1, 0):
            row[which] = seconds(works[which], repeats[which])
        times.append(row)
        if len(times) >= FEWEST and time.perf_counter() - began > patience:
            break
    return np.array(times)


def seconds(work: Work, repeats: int = 1) -> float:
    """Return the seconds of one call; a work that returns a float has measured itself."""
    result = None
    began = time.perf_counter()
    for _ in range(repeats):
        result = work()
    took = time.perf_counter() - began  # what the last call returned is freed later
    return result if isinstance(result, float) else took / repeats
