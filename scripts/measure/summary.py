"""Medians and spreads over the seeds, computed from the result files for pages and figures.

`python -m scripts.measure.summary build/measured` prints the results in a folder, each above the
committed result of the same name.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scripts.measure import result_files

# What tables and figures call each variant, by its name in the result files, in their order.
SHOWN = {
    "none": "no positions",
    "sinusoidal": "sinusoidal",
    "learned": "learned",
    "learned, interpolated": "learned, interpolated",
    "rope": "RoPE",
    "rope, interpolated": "RoPE, interpolated",
    "rope, NTK-aware": "RoPE, NTK-aware",
    "rope, dynamic NTK": "RoPE, dynamic NTK",
    "rope, Llama 3's rule": "RoPE, Llama 3's rule",
    "rope, Llama 3's rule with fitted limits": "RoPE, Llama 3's, fitted",
    "rope, YaRN with fitted limits": "YaRN, fitted limits",
    "rope, YaRN with Llama's limits": "YaRN, Llama's limits",
    "rope, YaRN as released": "YaRN as released",
    "rope, YaRN without truncation": "YaRN, not truncated",
    "rope, LongRoPE": "RoPE, LongRoPE",
    "alibi": "ALiBi",
    "t5": "T5",
    "shaw": "Shaw, keys only",
    "none, encoder": "no positions, encoder",
}
LANGUAGE = tuple(name for name in SHOWN if name != "none, encoder")
# Schemes of models that are built for the measurement, in the order of their pages.
FURTHER = {
    "kerple": "KERPLE, logarithm",
    "kerple_power": "KERPLE, power",
    "sandwich": "Sandwich",
    "fire": "FIRE",
    "xpos": "xPos",
    "transformer_xl": "Transformer-XL",
    "deberta": "DeBERTa",
    "tupe": "TUPE",
    "cope": "CoPE",
    "forgetting": "forgetting gate",
    "path": "PaTH",
    "dape": "DAPE on KERPLE",
    "rope_random": "RoPE, random positions",
    "rope_pose": "RoPE, PoSE",
    "rope_then_none": "RoPE, all but last",
}
# Models with windows, and with one layer that sees every key, beside RoPE without windows.
WINDOWS = {
    "rope": "RoPE, no window",
    "windows": "windows alone",
    "windows_rope": "open with RoPE",
    "windows_rope, Llama 3's rule": "with Llama 3's rule",
    "windows_rope, YaRN as released": "with YaRN",
    "windows_none": "open without",
    "windows_none, log n": "with log n",
}
# The rules under which the model with RoPE was trained further, by their names in the results.
FURTHER_TRAINED = {
    "rope": "frequencies unchanged",
    "rope, interpolated": "interpolation",
    "rope, NTK-aware": "NTK-aware",
    "rope, larger base": "base 500,000",
    "rope, Llama 3's rule": "Llama 3's rule",
    "rope, YaRN as released": "YaRN as released",
    "rope, dropped": "no positions",
}
# Those of them that leave the frequency of the fastest pair as it is.
FASTEST_KEPT = (
    *("rope", "rope, NTK-aware", "rope, larger base"),
    *("rope, Llama 3's rule", "rope, YaRN as released"),
)
# The models that were asked for very far keys.
FAR = {
    "rope_pose": "RoPE, PoSE",
    "t5_fitted": "T5, fitted",
    "alibi": "ALiBi",
    "kerple": "KERPLE, logarithm",
    "fire": "FIRE",
    "fire_fitted": "FIRE, fitted",
    "windows_rope": "open with RoPE",
    "windows_rope, Llama 3's rule": "with Llama 3's rule",
    "windows_rope, YaRN as released": "with YaRN",
    "windows_none": "open without",
    "windows_none, log n": "with log n",
}
# The model with RoPE that was asked for them: under rules, also trained further, and read at other
# distances.
FAR_ROPE = {
    "rope": "frequencies unchanged",
    "rope, further": "and trained further",
    "rope, interpolated": "interpolation",
    "rope, interpolated, further": "and trained further",
    "rope, YaRN as released": "YaRN as released",
    "rope, YaRN as released, further": "and trained further",
    "rope, self-extend": "self-extend",
    "rope, ReRoPE and log n": "ReRoPE and log n",
}
OPEN_WITHOUT = ("windows_none", "windows_none, log n")
# Beside each other in the table of perplexities.
WITH_WINDOWS = ("rope", "alibi", *tuple(WINDOWS)[1:])
AS_TRAINED = ("none", "sinusoidal", "learned", "rope", "alibi", "t5", "shaw")
ALL = (*AS_TRAINED, *FURTHER)
# The model with RoPE, read at other distances: `renumbered.READINGS`.
READINGS = {
    "rope": "as trained",
    "rope, self-extend": "self-extend",
    "rope, ReRoPE": "ReRoPE",
    "rope, leaky ReRoPE": "leaky ReRoPE",
    "rope, log n": "log n",
    "rope, ReRoPE and log n": "ReRoPE and log n",
    "rope, sinks": "sinks and a window",
}
# The peak learning rates that each scheme was tried with; it was trained in full with 0.002 and
# with the best of them.
RATES = ("0.001", "0.002", "0.004", "0.008")
TRIED = dict.fromkeys(AS_TRAINED, RATES) | dict.fromkeys(FURTHER, RATES[1:])
FURTHER_BACK = 256  # bytes, `language.APART`: after as many, the next window has the same bytes
FAST = (4, 8, 16, 32)  # `reevaluate.FAST`
ORDER = ("none, encoder", "none", "sinusoidal", "learned", "rope", "alibi", "t5", "shaw")


@dataclass(frozen=True)
class Measured:
    """All results in a folder."""

    results: tuple[dict[str, Any], ...]

    def of(self, task: str) -> list[dict[str, Any]]:
        """Return the results of a task."""
        return [result for result in self.results if result["task"] == task]

    def with_seeds(self, seeds: Collection[int]) -> Measured:
        """Return the results with these seeds alone."""
        return Measured(tuple(result for result in self.results if result["seed"] in seeds))

    def found(self, task: str, name: str) -> list[dict[str, Any]]:
        """Return the results of a variant, one per seed."""
        return [r["found"][name] for r in self.of(task) if name in r["found"]]

    def perplexities(self, name: str, length: int, task: str = "language") -> list[float]:
        """Return the perplexity per byte over the last bytes of a text, one per seed."""
        return [math.exp(f["by_length"][str(length)]) for f in self.found(task, name)]

    def perplexity(self, name: str, length: int, task: str = "language") -> float:
        """Return the median perplexity over the seeds."""
        return median(self.perplexities(name, length, task))

    def accuracies(self, name: str, length: int, task: str = "order") -> list[float]:
        """Return the fraction of right answers, one per seed."""
        return [f["by_length"][str(length)] for f in self.found(task, name)]

    def accuracy(self, name: str, length: int, task: str = "order") -> float:
        """Return the median accuracy over the seeds."""
        return median(self.accuracies(name, length, task))

    def retrieval_accuracy(
        self, name: str, length: int, distance: int, task: str = "retrieval"
    ) -> list[float]:
        """Return the fraction of right answers with a key at a distance, one per seed."""
        found = self.found(task, name)
        return [f["by_distance"][str(length)][str(distance)] for f in found]

    def language(self, names: Iterable[str] = LANGUAGE) -> dict[str, NDArray[np.float64]]:
        """Return columns of perplexities, one row per variant: median and spread at each length."""
        return self._table("language", names, self.perplexities)

    def order(self, names: Iterable[str] = ORDER) -> dict[str, NDArray[np.float64]]:
        """Return columns of accuracies, one row per variant: median and spread at each length."""
        return self._table("order", names, self.accuracies)

    def renumbered(self, names: Iterable[str] = READINGS) -> dict[str, NDArray[np.float64]]:
        """Return columns of perplexities, as `language` does, of RoPE read at other distances."""
        task = "renumbered"
        return self._table(task, names, lambda name, n: self.perplexities(name, n, task))

    def retrieval(
        self, names: Iterable[str] = ALL, task: str = "retrieval"
    ) -> dict[str, NDArray[np.float64]]:
        """Return columns of median accuracies by length, and of the spread at the longest."""
        found = self._table(task, names, lambda name, n: self.accuracies(name, n, task))
        lengths = self.lengths(task)
        medians = {str(n): found[f"{n} / median"] for n in lengths}
        return medians | {"spread": found[f"{lengths[-1]} / spread"]}

    def far(self, names: Collection[str] = tuple(FAR)) -> dict[str, NDArray[np.float64]]:
        """Return columns of median accuracies beyond the trained length, one row per model.

        The key is anywhere; then, in the longest texts, 32 letters back, and the first letter.
        """
        short, *lengths = self.lengths("far")
        longest = lengths[-1]

        def at(distance: int) -> NDArray[np.float64]:
            found = [self.retrieval_accuracy(name, longest, distance, "far") for name in names]
            return np.median(found, axis=1)

        table = self.retrieval(names, "far")
        return {name: column for name, column in table.items() if name != str(short)} | {
            f"{longest} / near": at(short),
            f"{longest} / first": at(longest),
        }

    def first_perplexities(self, name: str, task: str = "further") -> list[float]:
        """Return the perplexity over the first bytes of the longest texts, one per seed.

        They are as many as a training text has, so it is that of short texts for a model that is
        set for long ones.
        """
        few = int(self.setting("length", task)) * len(self.found(task, name)[0]["by_position"])
        few //= self.lengths(task)[-1]
        return [math.exp(np.mean(f["by_position"][:few])) for f in self.found(task, name)]

    def further(self, task: str = "further") -> dict[str, NDArray[np.float64]]:
        """Return columns of medians under each rule, before and after the further training.

        They are perplexities, or accuracies of the task `further_retrieval`; at the longest length
        the spread after the training follows.
        """
        ends = {"before": "", "after": ", further"}
        values = self.perplexities if task == "further" else self.accuracies
        seeds = {
            f"{n} / {when}": [values(f"{name}{end}", n, task) for name in FURTHER_TRAINED]
            for n in self.lengths(task)[1:]
            for when, end in ends.items()
        }
        found = {column: np.median(rows, axis=1) for column, rows in seeds.items()}
        longest = self.lengths(task)[-1]
        found[f"{longest} / spread"] = np.ptp(seeds[f"{longest} / after"], axis=1)
        return found

    def largest_ratio(self) -> float:
        """Return how many times as high as another one of `FASTEST_KEPT` is after the training.

        It is that of the perplexities in the longest texts, with the same seed; the largest.
        """
        longest = self.lengths("further")[-1]
        rows = np.array(
            [self.perplexities(f"{name}, further", longest, "further") for name in FASTEST_KEPT]
        )
        return float((rows.max(axis=0) / rows.min(axis=0)).max())

    def windows(self) -> dict[str, list[float]]:
        """Return the median perplexity of the same bytes after few bytes and after many.

        The few are those that a training text has before its last bytes; the many are
        `FURTHER_BACK` more. So the first column is also what a plain window gives.
        """
        stretch = self.lengths()[-1] // self.by_position("rope").shape[1]
        few = int(self.setting("length")) // stretch - 1
        many = few + FURTHER_BACK // stretch
        found = {name: self.curve(name) for name in AS_TRAINED}
        return {
            "few": [float(at[few]) for at in found.values()],
            "many": [float(at[many]) for at in found.values()],
        }

    def limits(self, length: int) -> dict[str, list[float]]:
        """Return columns of median perplexities of YaRN, one row per β, and the last of them."""
        names = {"α = 1/2": "0.5 to {}", "α = 1": "1 to {}", "α = 2": "2 to {}"}
        names["α = 1, no temperature"] = "1 to {}, mscale 0"
        return {"β": [*map(float, FAST)]} | {
            column: [
                self.perplexity(f"rope, YaRN {name.format(fast)}", length, "again") for fast in FAST
            ]
            for column, name in names.items()
        }

    def by_position(self, name: str) -> NDArray[np.float64]:
        """Return the perplexity by position in the longest text, one row per seed."""
        return np.exp([found["by_position"] for found in self.found("language", name)])

    def curve(self, name: str) -> NDArray[np.float64]:
        """Return the median perplexity by position in the longest text."""
        found: NDArray[np.float64] = np.median(self.by_position(name), axis=0)
        return found

    def lengths(self, task: str = "language") -> list[int]:
        """Return the lengths at which a task was evaluated."""
        lengths: list[int] = self.of(task)[0]["lengths"]
        return lengths

    def setting(self, name: str, task: str = "language") -> float:
        """Return a setting, which is the same in all results of a task."""
        (value,) = {result["settings"][name] for result in self.of(task)}
        return float(value)

    def corpus(self) -> dict[str, Any]:
        """Return the description of the text, which is the same in all results."""
        first, *others = [result["corpus"] for result in self.of("language")]
        assert all(other == first for other in others)
        found: dict[str, Any] = first
        return found

    def seeds(self) -> int:
        """Return the number of seeds that every method has in every task."""
        names = {(r["task"], name) for r in self.results for name in r["found"]}
        return min(len(self.found(*name)) for name in names)

    def minutes(self, task: str) -> list[float]:
        """Return the wall-clock minutes of each run of a task."""
        return [result["seconds"] / 60 for result in self.of(task)]

    def distinct(self, key: str) -> list[str]:
        """Return the distinct values of a key, such as "machine", over all results."""
        return sorted({_as_words(result[key]) for result in self.results})

    def outdated(self) -> list[str]:
        """Return the names of runs whose probe today's code does not reproduce."""
        return result_files.irreproducible_runs(self.results)

    def _table(
        self, task: str, names: Iterable[str], values: Callable[[str, int], list[float]]
    ) -> dict[str, NDArray[np.float64]]:
        found = {n: np.array([values(name, n) for name in names]) for n in self.lengths(task)}
        return {
            f"{n} / {what}": column
            for n, x in found.items()
            for what, column in (("median", np.median(x, -1)), ("spread", np.ptp(x, -1)))
        }


def read(folder: Path = result_files.RESULTS) -> Measured:
    """Return the results in a folder."""
    return Measured(tuple(result_files.read_all(folder)))


@cache
def measurement() -> Measured:
    """Return the committed results, for pages."""
    return read()


@cache
def trials() -> dict[str, dict[str, float]]:
    """Return the perplexity at the trained length of each scheme by the rate it was tried with."""
    found = {rate: read(result_files.RESULTS / "rates" / rate) for rate in RATES}
    return {
        name: {rate: found[rate].perplexity(name, found[rate].lengths()[0]) for rate in tried}
        for name, tried in TRIED.items()
    }


def rates(names: Iterable[str] = AS_TRAINED) -> dict[str, list[float]]:
    """Return columns of perplexities of the trials, by learning rate, one row per scheme."""
    rows = [trials()[name] for name in names]
    return {rate: [row[rate] for row in rows] for rate in rows[0]}


def best_rate(name: str) -> str:
    """Return the rate that a scheme did best with in the trial."""
    found = trials()[name]
    return min(found, key=lambda rate: found[rate])


@cache
def results_at_best_rate() -> Measured:
    """Return the results of each scheme with its best rate, with three seeds or with one."""
    return read(result_files.RESULTS / "tuned")


def tuned_seeds(name: str) -> set[int]:
    """Return the seeds that a scheme was trained with at its best rate."""
    return {result["seed"] for result in results_at_best_rate().results if result["method"] == name}


def tuning(names: Iterable[str] = ALL) -> dict[str, list[Any]]:
    """Return columns of median perplexities at the common rate and at each scheme's own.

    Both medians are over the seeds that the scheme has at its own rate.
    """
    found: list[dict[str, Any]] = []
    for name in names:
        seeds = tuned_seeds(name)
        row = {"scheme": (SHOWN | FURTHER)[name], "rate": float(best_rate(name))}
        for length in (measurement().lengths()[0], measurement().lengths()[-1]):
            row[f"{length} / common"] = measurement().with_seeds(seeds).perplexity(name, length)
            row[f"{length} / own"] = results_at_best_rate().perplexity(name, length)
        found.append(row)
    return {column: [row[column] for row in found] for column in found[0]}


def pairs_of_results(here: Measured, committed: Measured) -> Iterator[str]:
    """Yield each result, with the other result of the same name below it."""
    others = {key: (line, text) for key, line, text in _lines(committed)}
    for (name, variant), line, text in _lines(here):
        other, its_text = others.get((name, variant), ("nothing", text))
        yield f"{name}: {variant}"
        yield f"{'here':>10}  {line}"
        yield f"{'committed':>10}  {other}{'' if its_text == text else ', another text'}"


def _lines(measured: Measured) -> Iterator[tuple[tuple[str, str], str, str | None]]:
    """Yield the name of each run and variant, its result at each length and its text's digest."""
    for r in measured.results:
        shown = math.exp if r["task"] == "language" else float
        for variant, found in r["found"].items():
            values = (f"{n}: {shown(value):.3f}" for n, value in found["by_length"].items())
            name = result_files.name(r["task"], r["method"], r["seed"])
            yield (name, variant), "  ".join(values), r["corpus"].get("sha256")


def _as_words(value: object) -> str:
    """Return a value on one line, a mapping as `name value, name value`."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {version}" for name, version in value.items())
    return str(value)


def main() -> None:
    """Print the results in the folders on the command line."""
    for folder in sys.argv[1:]:
        print(*pairs_of_results(read(Path(folder)), measurement()), sep="\n")


if __name__ == "__main__":
    main()
