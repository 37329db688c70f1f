"""What the result files say, for the page and its figures: medians and spreads over the seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
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
    "rope, YaRN",
    "alibi",
    "t5",
    "shaw",
)
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

    def language(self) -> NDArray[np.float64]:
        """Return the table of median perplexities, a row a variant, a column a length."""
        return self._table("language", LANGUAGE, self.perplexity)

    def order(self) -> NDArray[np.float64]:
        """Return the table of median shares of right answers."""
        return self._table("order", ORDER, self.accuracy)

    def spread(self) -> float:
        """Return how far apart, at most, the seeds of one perplexity are, as a share of it."""
        found = [self.perplexities(n, length) for n in LANGUAGE for length in self.lengths()]
        return max((max(seeds) - min(seeds)) / median(seeds) for seeds in found)

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

    def seeds(self) -> int:
        """Return how many seeds there are of every method."""
        counts = {name: len(self.found("language", name)) for name in LANGUAGE}
        counts |= {f"{name} (order)": len(self.found("order", name)) for name in ORDER}
        return min(counts.values())

    def hours(self) -> float:
        """Return what all runs took, one after the other."""
        return float(sum(result["seconds"] for result in self.results)) / 3600

    def told(self, key: str) -> list[str]:
        """Return what all results say of themselves under a key, each answer once."""
        return sorted({_as_words(result[key]) for result in self.results})

    def outdated(self) -> list[str]:
        """Return the runs whose code has changed since."""
        return results.outdated(self.results)

    def _table(
        self, task: str, names: Iterable[str], value: Callable[[str, int], float]
    ) -> NDArray[np.float64]:
        return np.array([[value(name, n) for n in self.lengths(task)] for name in names])


def read(folder: Path = results.RESULTS) -> Measured:
    """Return what was measured."""
    return Measured(tuple(results.read_all(folder)))


def _as_words(value: object) -> str:
    """Return versions and the like on one line."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {version}" for name, version in value.items())
    return str(value)
