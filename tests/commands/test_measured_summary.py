"""What pages say of several seeds: medians and spreads of made-up results, each value known."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scripts.measure import summary
from scripts.measure.renumbered import READINGS
from scripts.measure.summary import ALL, AS_TRAINED, FURTHER, LANGUAGE, RATES, Measured

LENGTHS = [64, 128, 256, 512]
SEEDS = (0.0, 10.0, 2.0)  # what a seed adds: the median is 2 above the least, the mean is not


def results(task: str, names: tuple[str, ...], lengths: list[int]) -> list[dict[str, Any]]:
    """Return a result for each name and seed; a value tells its name, length, place and seed."""

    def found(number: int, added: float) -> dict[str, Any]:
        values = {str(length): 1000.0 * number + length + added for length in lengths}
        if task in ("language", "renumbered"):
            at = [math.log(1000 * number + place + 1 + added) for place in range(32)]
            values = {length: math.log(value) for length, value in values.items()}
            return {"by_length": values, "by_position": at}
        far = {n: {str(d): value + 0.5 * d for d in (4, 8)} for n, value in values.items()}
        return {"by_length": values, "by_distance": far}

    return [
        {
            "task": task,
            "method": name,
            "seed": seed,
            "lengths": lengths,
            "settings": {"length": lengths[0], "rate": 0.001 * (1 + number)},
            "found": {name: found(number, added)},
        }
        for number, name in enumerate(names)
        for seed, added in enumerate(SEEDS)
    ]


def results_of_task(task: str, names: tuple[str, ...], lengths: list[int]) -> Measured:
    """Return made-up results of one task."""
    return Measured(tuple(results(task, names, lengths)))


@pytest.mark.parametrize("names", [LANGUAGE, tuple(FURTHER)])
def test_a_table_has_the_median_and_the_spread_of_each_length(names: tuple[str, ...]) -> None:
    found = results_of_task("language", names, LENGTHS).language(names)
    assert [*found] == [f"{n} / {what}" for n in LENGTHS for what in ("median", "spread")]
    for length in LENGTHS:
        expected = 1000 * np.arange(len(names)) + length + 2
        np.testing.assert_allclose(found[f"{length} / median"], expected)
        np.testing.assert_allclose(found[f"{length} / spread"], 10)


def test_the_table_of_retrieval_has_medians_and_the_spread_at_the_longest() -> None:
    made = results("retrieval", ALL, [32, 64, 128, 256])
    wide = made[1]["found"][ALL[0]]["by_length"]  # the first scheme, the largest of its seeds
    wide["256"] += 5
    found = Measured(tuple(made)).retrieval()
    assert [*found] == ["32", "64", "128", "256", "spread"]
    for length in (32, 64, 128, 256):
        expected = 1000 * np.arange(len(ALL)) + length + 2
        np.testing.assert_allclose(found[str(length)], expected)
    np.testing.assert_allclose(found["spread"], [15] + [10] * (len(ALL) - 1))


def test_other_distances_have_a_table_of_their_own_task() -> None:
    names = ("rope", *READINGS)
    assert tuple(summary.READINGS) == names
    found = results_of_task("renumbered", names, LENGTHS).renumbered()
    for length in LENGTHS:
        np.testing.assert_allclose(found[f"{length} / median"], 1000 * np.arange(7) + length + 2)
        np.testing.assert_allclose(found[f"{length} / spread"], 10)


def test_retrieved_takes_the_length_first_and_then_the_distance() -> None:
    measured = results_of_task("retrieval", ALL, [4, 8])
    assert measured.retrieval_accuracy(ALL[1], 8, 4) == [1008 + 2 + added for added in SEEDS]


def test_windows_compare_the_same_bytes_256_further_on() -> None:
    found = results_of_task("language", AS_TRAINED, LENGTHS).windows()
    numbers = 1000 * np.arange(len(AS_TRAINED)) + 2
    np.testing.assert_allclose(found["few"], numbers + 4)  # the fourth stretch of 16 ends at 64
    np.testing.assert_allclose(found["many"], numbers + 20)  # and the twentieth at 320


def test_trials_are_read_by_scheme_and_rate_and_the_best_is_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def read(folder: Path) -> Measured:
        made = results("language", AS_TRAINED if folder.name == "0.001" else ALL, LENGTHS)
        for result in made:
            by_length = result["found"][result["method"]]["by_length"]
            by_length["64"] += abs(float(folder.name) - (0.002 if result["method"] == "t5" else 1))
        return Measured(tuple(made))

    monkeypatch.setattr(summary, "read", read)
    found = summary.trials.__wrapped__()
    assert list(found) == list(ALL)
    assert list(found["t5"]) == list(RATES)
    assert list(found["fire"]) == ["0.002", "0.004", "0.008"]
    assert np.log(list(found["t5"].values())) == pytest.approx(
        np.log(1000 * AS_TRAINED.index("t5") + 66) + np.array([0.001, 0, 0.002, 0.006])
    )
    monkeypatch.setattr(summary, "trials", lambda: found)
    assert (summary.best_rate("t5"), summary.best_rate("fire")) == ("0.002", "0.008")
    assert list(summary.rates()) == list(RATES)
    assert list(summary.rates(FURTHER)) == list(RATES[1:])
    assert summary.rates(["fire", "t5"])["0.004"] == [found["fire"]["0.004"], found["t5"]["0.004"]]


def test_tuning_compares_both_rates_over_the_same_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    some = ("alibi", "t5", "fire")
    common, own = (
        results_of_task("language", ("x", *some), LENGTHS),
        results_of_task("language", some, LENGTHS),
    )
    once = [r for r in own.results if r["method"] != "fire" or r["seed"] == 1]
    tried = {"alibi": {"0.002": 1, "0.004": 2}, "t5": {"0.002": 2, "0.008": 1}, "fire": {"0.1": 3}}
    monkeypatch.setattr(summary, "measurement", lambda: common)
    monkeypatch.setattr(summary, "results_at_best_rate", lambda: Measured(tuple(once)))
    monkeypatch.setattr(summary, "trials", lambda: tried)
    found = summary.tuning(some)
    assert found.pop("scheme") == ["ALiBi", "T5", "FIRE"]
    assert found.pop("rate") == pytest.approx([0.002, 0.008, 0.1])
    assert [*found] == ["64 / common", "64 / own", "512 / common", "512 / own"]
    for column, values in found.items():
        length, rate = column.split(" / ")
        before = 1000 if rate == "common" else 0  # there a scheme comes first
        numbers = np.array([2, 1002, 2010])  # the median of all seeds, or the value of the second
        np.testing.assert_allclose(values, before + int(length) + numbers)


def test_a_result_of_one_name_holds_one_value_for_each_seed() -> None:
    made = results_of_task("language", AS_TRAINED, LENGTHS)
    assert made.seeds() == len(SEEDS)
    json.dumps(made.results)  # as in a file
    assert made.perplexities("rope", 128) == pytest.approx([3128, 3138, 3130])
    assert made.perplexity("rope", 128) == pytest.approx(3130)
