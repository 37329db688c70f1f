"""Paired rounds: a case and its floor alternate, and the result is the median of their ratios.

Noise that lasts longer than a round slows both and does not change the ratio. The rest of the noise
shows in the quartiles.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

LEAST_SECONDS = 0.002  # of a sample, so that reading the clock does not matter
ROUNDS = 41
FEWEST = 7  # rounds, even if they are slow
PATIENCE = 10.0  # seconds per case, after which no round begins

Work = Callable[[], Any]


class Pair(NamedTuple):
    """Two functions to time in turn, and one that returns the error of the first's result."""

    subject: Work
    floor: Work
    off: Callable[[Any], float] | None = None


@dataclass(frozen=True)
class Case:
    """Something to measure, its description and its floor's; `make` is called right before."""

    name: str
    what: str
    against: str
    make: Callable[[], Pair]
    target: float | None = None


@dataclass(frozen=True)
class Result:
    """The result of a case: the ratio and its quartiles, or why it was skipped.

    `floor_spread` is the interquartile range of the floor's times, divided by their median. `error`
    is the largest error of the timed result against the definition.
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


def ratio_to_floor(
    group: str, case: Case, *, rounds: int = ROUNDS, patience: float = PATIENCE
) -> Result:
    """Return a case's time as a multiple of its floor's; skip a library that is not installed."""
    about = (group, case.name, case.what, case.against, case.target)
    try:
        pair = case.make()
    except ImportError as missing:
        package = (missing.name or str(missing)).partition(".")[0]
        absent = isinstance(missing, ModuleNotFoundError)
        return Result(
            *about, skipped=f"{package} {'is not installed' if absent else 'has changed'}"
        )
    # Check the very function that is timed, since writing to the wrong place is an error too.
    error = pair.off(pair.subject()) if pair.off else None
    times = paired_seconds(pair.subject, pair.floor, rounds=rounds, patience=patience)
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


def paired_seconds(
    subject: Work, floor: Work, *, rounds: int = ROUNDS, patience: float = PATIENCE
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return the seconds of subject and floor, one row per round; they take turns going first."""
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
    """Return the seconds of one call; if it returns a float, that is the time it took."""
    result = None
    began = time.perf_counter()
    for _ in range(repeats):
        result = work()
    took = time.perf_counter() - began  # excludes freeing the last result
    return result if isinstance(result, float) else took / repeats
