"""Tokens read one by one: do their positions go on from those that are cached?"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import torch
from torch import Tensor

from posenc.diagnose.answers import ForwardError
from posenc.diagnose.operations import suppressed
from posenc.diagnose.scores import ScoreRun, Scores
from posenc.diagnose.trial import SURE, Trial

# For each keyword of `forward` that takes a cache, what makes an empty one. None: the model makes
# its own, and returns it.
Caches: TypeAlias = Mapping[str, Callable[[], Any]] | None

STEPS = 2  # so many tokens are read one by one, after those before them in one call
FEWEST = 5  # of shorter sequences too little is cached to tell where positions begin

KEPT, LOST, OTHER, UNTRIED = "kept", "lost", "other", "untried"


def offset_of(trial: Trial, tokens: Tensor, whole: ScoreRun, caches: Caches) -> str:
    """Return whether positions go on where some tokens are cached, in one token repeated.

    They are `KEPT`, `LOST` if all new tokens stand at one position, `OTHER` than in one call in
    another way, or `UNTRIED` if no cache could be used, or shows nothing.

    Raises:
        ForwardError: the model does not take the caches that are given.
    """
    if tokens.shape[1] < FEWEST:
        return UNTRIED
    try:
        steps = [*_steps(trial, tokens, caches)]
    except ForwardError:
        if caches:
            raise
        return UNTRIED
    if not steps:
        return UNTRIED
    found = {_offset_of_rows(whole, steps), *_offsets_of_scores(trial, whole, steps)}
    return next((one for one in (LOST, OTHER, KEPT) if one in found), UNTRIED)


def _steps(trial: Trial, tokens: Tensor, caches: Caches) -> Iterator[ScoreRun]:
    """Yield the run of each of the last tokens, read one by one."""
    length = tokens.shape[1]
    given = {name: make() for name, make in (caches or {}).items()}
    said = trial.call(tokens[:, : length - STEPS], **given)
    for place in range(length - STEPS, length):
        given |= _returned_cache(trial, said)
        if not given:
            return
        with ScoreRun(1, place + 1, ()) as step:
            said = trial.call(tokens[:, place : place + 1], **given)
        yield step


def _returned_cache(trial: Trial, output: Any) -> dict[str, Any]:
    """Return what a model returns under the name of one of its arguments, to be given back."""
    named = output if isinstance(output, Mapping) else getattr(output, "__dict__", {})
    taken: list[str] = []
    with suppressed():  # what is not written in Python may have no signature
        taken += inspect.signature(trial.model.forward).parameters
    own = {trial.keyword, *taken[:1]}
    return {
        name: value
        for name, value in named.items()
        if name in taken and name not in own and value is not None
    }


def _offset_of_rows(whole: ScoreRun, steps: list[ScoreRun]) -> str:
    """Return where rows of positions begin that are added to tokens."""
    if whole.rows is None:
        return UNTRIED
    rows, far = whole.rows, 1e-5 * float(whole.rows.abs().max())
    places = range(len(rows) - STEPS, len(rows))
    if any(_near(rows[place], rows[0], far) for place in places):
        return UNTRIED
    for offset, expected in ((KEPT, rows[places.start :]), (LOST, rows[:1].expand(STEPS, -1))):
        seen = zip(expected, steps, strict=True)
        if all(_is_among(row, step.single, far) for row, step in seen):
            return offset
    return UNTRIED


def _is_among(row: Tensor, others: list[Tensor], far: float) -> bool:
    return any(row.shape == other.shape and _near(row, other, far) for other in others)


def _near(x: Tensor, y: Tensor, far: float) -> bool:
    return float((x - y).abs().max()) <= far


def _offsets_of_scores(trial: Trial, whole: ScoreRun, steps: list[ScoreRun]) -> Iterator[str]:
    """Yield for each attention where the positions of its queries begin."""
    heads = [len(scores.values) for scores in whole.found]
    if any([len(scores.values) for scores in step.found] != heads for step in steps):
        return
    for scores, *single in zip(whole.found, *(step.found for step in steps), strict=True):
        yield _offset_of_scores(trial, scores, single)


def _offset_of_scores(trial: Trial, whole: Scores, steps: list[Scores]) -> str:
    """Return where the positions of queries begin, given the scores of the last of them."""
    length = whole.values.shape[-1]
    first = length - STEPS
    rows = torch.stack([_relative_to_first(one, 0)[..., :first] for one in steps])
    expected = [_relative_to_first(whole, place)[..., :first] for place in range(first, length)]
    spread = float(torch.cat([rows[-1], expected[-1]]).nan_to_num().abs().max())
    size = float(whole.values.masked_fill(~whole.seen, 0).abs().max())
    if not rows.isfinite().all() or spread <= 100 * SURE * trial.epsilon() * size:
        return UNTRIED
    far = 1e-3 * spread
    if _near(rows, torch.stack(expected), far):
        return KEPT
    return LOST if _near(rows[0], rows[-1], far) else OTHER


def _relative_to_first(scores: Scores, query: int) -> Tensor:
    """Return the scores of a query, (heads, keys), less that of the first key.

    What all scores of a query have in common has no effect on its attention.
    """
    row = scores.values[:, query].masked_fill(~scores.seen[:, query], torch.nan)
    return row - row[:, :1]
