"""Positions on several axes, as in M-RoPE: do scores depend on key − query along each of them?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from posenc.diagnose.answers import HEALTHY, ILL, Diagnosis, answer
from posenc.diagnose.cached import OTHER
from posenc.diagnose.operations import Watcher, tensors_in
from posenc.diagnose.rotation import find_rotated, pairs_in_words
from posenc.diagnose.scores import ScoreRun, find_scores_of_token
from posenc.diagnose.trial import SURE, Trial

SHIFT = 7
STRETCH = 1009  # so many positions from token to token, so that slow pairs are seen to rotate
MOST = 4  # axes: transformers puts the places of tokens before time, height and width

SHIFTED = "scores change where an axis is shifted"
UNREAD = "an axis of its positions is not read"
IGNORED = "a step ignores the positions that it is given"
UNTRIED = (
    "Which axis is time, height or width no run can tell: compare the pairs with mrope_section. The"
    " positions that the model itself counts after an image were not tried."
)
SAME_AXES = "rotate queries and keys by one function, each pair by the same axis in both."
EVERY_AXIS = "give each pair of dimensions the angles of its own axis, as mrope_section says."
PASS_ON = "use the positions that a step is given, also with a cache."


def judge_axes(trial: Trial, tokens: Tensor, whole: ScoreRun, offset: str) -> Diagnosis:
    """Return the answer about a model that is given positions on several axes.

    `whole` are the scores at the positions of the example, and `offset` is what a cache has shown.
    """
    assert trial.positions is not None
    axes = range(len(trial.positions))
    counts = torch.arange(tokens.shape[1])
    along = [_rotating(trial, tokens, axis, STRETCH * counts) for axis in axes]
    told = [
        f"along axis {axis} {pairs_in_words(pairs)}"
        for axis, pairs in zip(axes, along, strict=True)
    ]
    why = f"Its positions have {len(axes)} axes. Rotating are {', '.join(told)}."
    numbers: dict[str, float] = {"axes": len(axes)}
    shifted = [axis for axis in axes if _differs(trial, tokens, whole, axis, SHIFT)]
    if shifted:
        why += f" Where all tokens are shifted alike along axis {_named(shifted)}, scores change."
        return answer(ILL, SHIFTED, why, numbers, SAME_AXES)
    unread = [
        axis
        for axis in axes
        if not _differs(trial, tokens, whole, axis, STRETCH * counts)
        and not torch.equal(trial.positions[axis, 0], counts)  # places of tokens, as for a mask
    ]
    if unread:
        why += f" Other positions along axis {_named(unread)} change no score."
        return answer(ILL, UNREAD, why, numbers, EVERY_AXIS)
    if offset == OTHER:
        why += " Read one by one with a cache, at their own positions, tokens have other scores."
        return answer(ILL, IGNORED, why, numbers, PASS_ON)
    why += f" Shifted along any of them, tokens keep their scores. {UNTRIED}"
    return answer(HEALTHY, "scores depend on key − query along each axis", why, numbers)


def _named(axes: list[int]) -> str:
    return " and ".join(map(str, axes))


@contextmanager
def _given(trial: Trial, positions: Tensor) -> Iterator[None]:
    """Run the model at other positions."""
    kept, trial.positions = trial.positions, positions
    try:
        yield
    finally:
        trial.positions = kept


def _rotating(trial: Trial, tokens: Tensor, axis: int, places: Tensor) -> tuple[int, ...]:
    """Return the pairs that rotate where tokens differ in their positions along one axis alone."""
    assert trial.positions is not None
    positions = torch.zeros_like(trial.positions)
    positions[axis] = places
    with _given(trial, positions):
        found = find_rotated(trial, tokens)
    return tuple(sorted({pair for one in found for pair in one.turning}))


def _differs(trial: Trial, tokens: Tensor, whole: ScoreRun, axis: int, more: int | Tensor) -> bool:
    """Say whether scores differ where positions along one axis are larger by so much."""
    assert trial.positions is not None
    positions = trial.positions.clone()
    positions[axis] += more
    with _given(trial, positions):
        moved = find_scores_of_token(trial, tokens)
    slack = max(1e-4, SURE * trial.epsilon())
    return any(
        bool(((x.values - y.values)[x.seen].abs() > slack * x.values[x.seen].abs().max()).any())
        for x, y in zip(whole.found, moved.found, strict=True)
    )


def axes_of_text(trial: Trial, tokens: Tensor) -> int:
    """Return on how many axes a model that is given no positions counts them alike, or 0."""
    with _AlikeAxes(tokens.shape[1]) as seen:
        trial.call(tokens)
    found: int = seen.axes
    return found


class _AlikeAxes(Watcher, TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes on how many axes positions are that count the tokens alike on each.

    Such positions are of shape (axes, 1, length).

    Args:
        length: how many tokens the sequence has.
    """

    def __init__(self, length: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.places, self.axes = torch.arange(length), 0

    def see(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Look at every argument that may be positions, then run the operation."""
        for x in tensors_in(args, kwargs):
            if x.ndim == 3 and x.shape[1:] == (1, len(self.places)) and 1 < len(x) <= MOST:
                self.axes = len(x) if bool((x.cpu() == self.places).all()) else self.axes
        return func(*args, **kwargs)
