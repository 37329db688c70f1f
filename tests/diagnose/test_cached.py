"""Where positions go on from the cache, judged by made-up scores."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from torch import Tensor

from posenc.diagnose import cached
from posenc.diagnose.cached import AHEAD, EVICTED, KEPT, LOST, OTHER, UNTRIED
from posenc.diagnose.scores import ScoreRun, Scores
from posenc.diagnose.trial import Trial

TRIAL = cast(Trial, SimpleNamespace(epsilon=lambda: 1e-7))
PLACES = range(6, 9)


def shown(values: Tensor) -> Scores:
    return Scores(values, torch.ones_like(values, dtype=torch.bool).tril(values.shape[-1] - 1))


def by_places(query: int, keys: range) -> Scores:
    """Return the scores of one query, which tell both positions."""
    places = torch.tensor([[[float(query * key) for key in keys]]], dtype=torch.float64)
    return shown((0.7 * places).cos())


def in_one_call(length: int) -> Scores:
    rows = [by_places(query, range(length)).values for query in range(length)]
    return Scores(torch.cat(rows, 1), torch.ones(1, length, length, dtype=torch.bool).tril())


@pytest.mark.parametrize(
    ("query", "keys", "expected"),
    [
        (lambda place: place, lambda place: range(place + 1), KEPT),
        (lambda place: place + 1, lambda place: range(1, place + 2), AHEAD),
        (lambda place: place + 3, lambda place: range(place + 1), OTHER),
        (lambda place: place + 3 * (place > 6), lambda place: range(place + 1), EVICTED),
    ],
)
def test_positions_past_a_window_are_told_by_scores(query: Any, keys: Any, expected: str) -> None:
    steps = {place: by_places(query(place), keys(place)) for place in PLACES}
    assert cached._offset_past_window(TRIAL, in_one_call(12), steps, steps) == expected


def test_equal_scores_say_nothing_past_a_window() -> None:
    whole = shown(torch.zeros(1, 12, 12, dtype=torch.float64))
    steps = {place: shown(torch.zeros(1, 1, place + 1, dtype=torch.float64)) for place in PLACES}
    assert cached._offset_past_window(TRIAL, whole, steps, steps) == UNTRIED


def test_a_model_that_reads_no_long_text_has_no_window_found() -> None:
    def refuse(rows: int, length: int) -> Tensor:
        raise RuntimeError("too long")

    assert cached._windows(cast(Trial, SimpleNamespace(tokens=refuse)), None, 600) == (0, ())


@pytest.mark.parametrize(
    ("singles", "expected"),
    [([2, 3], KEPT), ([0, 0], LOST), ([3, 4], AHEAD), ([7, 7], UNTRIED)],
)
def test_rows_are_told_by_their_positions(singles: list[int], expected: str) -> None:
    rows = torch.arange(8.0)[:, None] * torch.ones(1, 4)
    steps = [SimpleNamespace(single=[rows[place]]) for place in singles]
    whole = SimpleNamespace(rows=rows[:6])
    found = cached._offset_of_rows(cast(ScoreRun, whole), cast(list[ScoreRun], steps), 2)
    assert found == expected


def test_attention_of_other_heads_in_a_step_is_not_compared() -> None:
    def run(heads: int) -> ScoreRun:
        found = [shown(torch.zeros(heads, 1, 4))]
        return cast(ScoreRun, SimpleNamespace(attentions=1, places=[1], found=found))

    assert [*cached._paired(run(2), [run(3), run(3)])] == []
    assert len([*cached._paired(run(2), [run(2), run(2)])]) == 1


class Memory:
    """A cache whose layers may know it."""

    def __init__(self, *held: Any) -> None:
        self.held = held


def test_a_cache_as_it_was_made_is_told_from_one_that_is_filled() -> None:
    def made() -> Any:
        return Memory([], {"keys": torch.zeros(2), "count": 0})

    def stays_empty(*held: Any) -> bool:
        return cached._stay_empty({"memory": Memory(*held)}, {"memory": made})

    assert stays_empty([], {"keys": torch.zeros(2), "count": 0})
    assert not stays_empty([], {"keys": torch.ones(2), "count": 0})
    assert not stays_empty([], {"keys": torch.zeros(2), "count": 1})
    assert not stays_empty([torch.ones(1)], {"keys": torch.zeros(2), "count": 0})
    assert not stays_empty([], {})
    assert not stays_empty((), {})


def test_a_cache_that_knows_itself_is_not_taken_for_empty() -> None:
    def made() -> Memory:
        memory = Memory([])
        memory.held[0].append(memory)
        return memory

    assert not cached._stay_empty({"memory": made()}, {"memory": made})


def test_a_forward_without_a_signature_has_no_known_arguments() -> None:
    model = SimpleNamespace(forward=dict)  # not written in Python
    assert cached.taken_by(cast(Trial, SimpleNamespace(model=model))) == []
