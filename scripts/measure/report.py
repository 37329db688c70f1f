"""What the result files say, for pages and figures: medians and spreads over the seeds.

`python -m scripts.measure.report build/measured` prints the results of a folder, each above the
committed one of the same name.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scripts.measure import results

# Every variant that is shown, under the name it has in a result, in the order of the tables.
LANGUAGE = (
    "none",
    "sinusoidal",
    "learned",
    "learned, interpolated",
    "rope",
    "rope, interpolated",
    "rope, NTK-aware",
    "rope, YaRN with fitted limits",
    "rope, YaRN with Llama's limits",
    "rope, YaRN as released",
    "alibi",
    "t5",
    "shaw",
)
RATES = ("0.001", "0.002", "0.004")
ORDER = ("none, encoder", "none", "sinusoidal", "learned", "rope", "alibi", "t5", "shaw")


@dataclass(frozen=True)
class Measured:
    """All results of a folder."""

    results: tuple[dict[str, Any], ...]

    def of(self, task: str) -> list[dict[str, Any]]:
        """Return the results of a task."""
        return [result for result in self.results if result["task"] == task]

    def found(self, task: str, name: str) -> list[dict[str, Any]]:
        """Return what every seed found of a variant."""
        return [r["found"][name] for r in self.of(task) if name in r["found"]]

    def perplexities(self, name: str, length: int) -> list[float]:
        """Return the perplexity per byte of each seed, over the last bytes of a text."""
        return [math.exp(f["by_length"][str(length)]) for f in self.found("language", name)]

    def perplexity(self, name: str, length: int) -> float:
        """Return the median over the seeds."""
        return median(self.perplexities(name, length))

    def accuracies(self, name: str, length: int) -> list[float]:
        """Return the share of right answers of each seed."""
        return [f["by_length"][str(length)] for f in self.found("order", name)]

    def accuracy(self, name: str, length: int) -> float:
        """Return the median over the seeds."""
        return median(self.accuracies(name, length))

    def language(self) -> dict[str, NDArray[np.float64]]:
        """Return the columns of perplexities, a row a variant: median and spread at each length."""
        return self._table("language", LANGUAGE, self.perplexities)

    def order(self) -> dict[str, NDArray[np.float64]]:
        """Return the columns of shares of right answers, likewise."""
        return self._table("order", ORDER, self.accuracies)

    def by_position(self, name: str) -> NDArray[np.float64]:
        """Return the perplexity by position in the longest text, a row a seed."""
        return np.exp([found["by_position"] for found in self.found("language", name)])

    def lengths(self, task: str = "language") -> list[int]:
        """Return the lengths at which a task was evaluated."""
        lengths: list[int] = self.of(task)[0]["lengths"]
        return lengths

    def setting(self, name: str, task: str = "language") -> float:
        """Return a setting, which is the same in all results of a task."""
        (value,) = {result["settings"][name] for result in self.of(task)}
        return float(value)

    def corpus(self) -> dict[str, Any]:
        """Return what all results say of the text that was read."""
        first, *others = [result["corpus"] for result in self.of("language")]
        assert all(other == first for other in others)
        found: dict[str, Any] = first
        return found

    def seeds(self) -> int:
        """Return how many seeds there are of every method."""
        counts = {name: len(self.found("language", name)) for name in LANGUAGE}
        counts |= {f"{name} (order)": len(self.found("order", name)) for name in ORDER}
        return min(counts.values())

    def minutes(self, task: str) -> list[float]:
        """Return what each run of a task took by the clock, whatever else the machine did."""
        return [result["seconds"] / 60 for result in self.of(task)]

    def told(self, key: str) -> list[str]:
        """Return what all results say of themselves under a key, each answer once."""
        return sorted({_as_words(result[key]) for result in self.results})

    def outdated(self) -> list[str]:
        """Return the runs whose code has changed since."""
        return results.outdated(self.results)

    def _table(
        self, task: str, names: Iterable[str], values: Callable[[str, int], list[float]]
    ) -> dict[str, NDArray[np.float64]]:
        found = {n: np.array([values(name, n) for name in names]) for n in self.lengths(task)}
        return {
            f"{n} / {what}": column
            for n, x in found.items()
            for what, column in (("median", np.median(x, -1)), ("spread", np.ptp(x, -1)))
        }


def read(folder: Path = results.RESULTS) -> Measured:
    """Return what was measured."""
    return Measured(tuple(results.read_all(folder)))


@cache
def measurement() -> Measured:
    """Return what is committed: the name under which pages have it."""
    return read()


def rates(folder: Path = results.RESULTS / "rates") -> NDArray[np.float64]:
    """Return perplexities at the trained length by scheme, a row, and learning rate, a column."""
    trials = [read(folder / rate) for rate in RATES]
    trained = [name for name in LANGUAGE if "," not in name]  # the others are made of these
    return np.array(
        [[trial.perplexity(name, trial.lengths()[0]) for trial in trials] for name in trained]
    )


def beside(ours: Measured, theirs: Measured) -> Iterator[str]:
    """Yield a line for each result, and below it the other's of the same name."""
    others = dict(_lines(theirs))
    for (name, variant), line in _lines(ours):
        yield f"{name}: {variant}"
        yield f"{'here':>10}  {line}"
        yield f"{'committed':>10}  {others.get((name, variant), 'nothing')}"


def _lines(measured: Measured) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the name of each run and variant, and what it found at each length."""
    for r in measured.results:
        shown = math.exp if r["task"] == "language" else float
        for variant, found in r["found"].items():
            values = (f"{n}: {shown(value):.3f}" for n, value in found["by_length"].items())
            yield (results.name(r["task"], r["method"], r["seed"]), variant), "  ".join(values)


def _as_words(value: object) -> str:
    """Return versions and the like on one line."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {version}" for name, version in value.items())
    return str(value)


def main() -> None:
    """Print the results of the folders that are named."""
    for folder in sys.argv[1:]:
        print(*beside(read(Path(folder)), measurement()), sep="\n")


if __name__ == "__main__":
    main()
