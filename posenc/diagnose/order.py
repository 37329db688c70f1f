"""Does it see order? `sees_order` permutes the tokens and compares what the model makes of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from posenc.diagnose.answers import HEALTHY, ILL, UNDETERMINED, CannotTellError, Diagnosis, answer
from posenc.diagnose.ask import ask
from posenc.diagnose.operations import Watcher
from posenc.diagnose.outputs import comparable
from posenc.diagnose.parts import Part, first_call_arguments, may_mix, mixing_parts
from posenc.diagnose.trial import SURE, Example, Trial

# A token that attends to nothing but itself shows nothing, but of 32 sequences some have tokens
# that look around. Fewer are drawn if their outputs would be more than `MOST` numbers.
FEWEST, SEQUENCES, MOST = 8, 32, 2**23
SCALE = 4 / 127  # of the largest output: four steps of eight bits

SEES, MIRRORED = "it sees order", "it does not tell before from after"
SEEING = (SEES, MIRRORED)  # verdicts on models whose outputs depend on order
NO_POSITIONS = "give it positions, and check that what computes them is called in forward."
NO_DIRECTION = (
    "give keys before a query different positions from keys after it: the sign of the distance is"
    " lost; a model meant to see distances alone, as an encoder with ALiBi, is not ill."
)
MASK_ALONE = (
    "where positions were meant, check that what computes them is called in forward; a model"
    " meant to have none (NoPE) is not ill."
)


def sees_order(model: nn.Module, example: Example = None, *, axis: int | None = None) -> Diagnosis:
    """Return whether the order of the tokens makes any difference to what the model says.

    The tokens are permuted, and the outputs compared with what they were. Without positions an
    encoder's outputs are permuted along and otherwise unchanged. Under a causal mask the last token
    sees all others; with one layer and no positions its output does not depend on their order.
    With two layers it does, because a token further back has itself seen less. So then each
    smallest part of the model that mixes tokens is run on its own. If none reacts to the order of
    its input, and a sequence of one token repeated has the same output everywhere, then order
    reaches the model through the mask alone, and positions do not. Where there is one output for a
    whole sequence, the parts have to be causal as well, and that output the same at another length.

    A model that looks both ways and sees distances without their sign makes of the reversed tokens
    the same outputs in reverse: it sees order, but does not tell before from after.

    The copy computes in float64 where the model can. What counts as a change of an entry is
    measured: ten times what changing the last digit of every weight does to it, in the narrowest
    type of the model, float32 at most. A model that is ill reacts to other tokens a hundred times
    as much as to that rounding; where they change nothing, or too little, the answer is
    undetermined.

    Args:
        model: see `diagnose`.
        example: see `diagnose`.
        axis: see `diagnose`.

    Returns:
        A `Diagnosis`. Verdicts: "it sees order", undetermined where no part shows whether positions
        or a causal mask told it; "only through the causal mask", "it does not tell before from
        after" and "it does not see order", all ill. Measured: `change` of an entry of the output,
        where it is clear, and its `noise`; and where there is an output for each token, `causal`, 1
        or 0.

    Raises:
        TypeError: see `diagnose`.
        ValueError: see `diagnose`.

    Source:
        Lee et al., "Set Transformer" (2019), section 2, for the equivariance; Haviv et al.,
        "Transformer Language Models without Positional Encodings Still Learn Positional
        Information" (2022), for the mask.

    Examples:
        >>> import torch
        >>> from posenc import nn
        >>> config = dict(vocab_size=50, max_len=20, d_model=16, heads=2, layers=1)
        >>> nn.sees_order(nn.GPTModel(**config, pos_type="alibi")).verdict
        'it sees order'
        >>> nn.sees_order(nn.GPTModel(**config, pos_type="none")).ill
        True
    """
    return ask("Does it see order?", judge_order, model, example, axis=axis)


class _Change(NamedTuple):
    """How much an entry of an output changed, and how much of that rounding may explain."""

    size: float
    noise: float

    @property
    def clear(self) -> float:
        """The change as a multiple of the rounding."""
        return self.size / self.noise


class _Runs(NamedTuple):
    """Sequences, the output for them, and how to compare it with that for others."""

    trial: Trial
    tokens: Tensor
    other: Tensor  # as many, with another token in every place
    output: Tensor
    noise: Tensor
    axes: list[int]  # the axes of the output that count tokens

    def with_other_tokens(self, start: int, stop: int) -> Tensor:
        """Return the tokens, with other ones from `start` to before `stop`."""
        rows = [self.tokens[:, :start], self.other[:, start:stop], self.tokens[:, stop:]]
        return torch.cat(rows, dim=1)

    def change(self, tokens: Tensor, places: slice = slice(None)) -> _Change:
        """Return the clearest change of the output, at these places, when it reads `tokens`."""
        moved = self.trial.run(tokens) - self.output
        return _clearest(
            _entries_at(moved, places, self.axes), _entries_at(self.noise, places, self.axes)
        )


def judge_order(trial: Trial) -> Diagnosis:
    """Return the answer to whether a model sees order, without the question.

    Raises:
        CannotTellError: there is no answer.
    """
    if trial.pool is not None and len(trial.pool) < 2:
        raise CannotTellError("all tokens that it can be given are the same one")
    trial.demand_three_tokens()
    shape = trial.shape(trial.length)
    tokens = trial.tokens(max(FEWEST, min(SEQUENCES, MOST // math.prod(shape))), trial.length)
    output = trial.run(tokens)
    other, noise = trial.other(tokens), trial.noise(tokens, output)
    ignored = "its output does not depend on the tokens"
    _demand(_clearest(trial.run(other) - output, noise), SURE, ignored)
    runs = _Runs(trial, tokens, other, output, noise, _token_axes(trial, shape))
    if not runs.axes:
        return _judge_pooled(runs)
    _demand_more_than_a_scale(runs)
    last = trial.length - 1
    before = runs.change(runs.with_other_tokens(last, trial.length), slice(last))
    return _judge_causal(runs) if before.clear <= SURE else _judge_bidirectional(runs)


def _token_axes(trial: Trial, shape: tuple[int, ...]) -> list[int]:
    """Return the axes of an output of this shape, without batch, that shrink with the sequence."""
    try:
        shorter = trial.shape(trial.length - 1)
    except CannotTellError:  # it reads this length alone
        return [axis for axis, size in enumerate(shape, 1) if size == trial.length]
    if len(shape) != len(shorter):
        raise CannotTellError(f"the shape of its output, {shape}, has no fixed number of axes")
    axes = [axis for axis in range(len(shape)) if shape[axis] != shorter[axis]]
    if any((shape[axis], shorter[axis]) != (trial.length, trial.length - 1) for axis in axes):
        raise CannotTellError(
            f"for {trial.length} tokens its output has shape {shape}, for one fewer {shorter}: it"
            " grows with the sequence, but has no row for each token"
        )
    return [axis + 1 for axis in axes]


def _judge_pooled(runs: _Runs) -> Diagnosis:
    """Return the answer about a model with one output for a whole sequence."""
    length = runs.trial.length
    what = "the tokens between the first and the last permuted, outputs"
    permuted = (runs.change(runs.tokens[:, order]) for order in _orders(length, 1, 1))
    found = _order_answer(
        what, permuted, lambda: runs.change(runs.with_other_tokens(1, length - 1))
    )
    found = found if found.ill else _mask_alone_answer(runs, found)
    return (
        found
        if found.ill
        else _direction_answer(found, runs.change(runs.tokens.flip(1)), "the same output")
    )


def _judge_causal(runs: _Runs) -> Diagnosis:
    """Return the answer about a model in which the last token changes the last output alone."""
    length = runs.trial.length
    last = slice(length - 1, None)
    what = "the tokens before the last permuted, the last output"
    permuted = (runs.change(runs.tokens[:, order], last) for order in _orders(length, 0, 1))

    def replaced() -> _Change:
        return runs.change(runs.with_other_tokens(0, length - 1), last)

    found = _order_answer(what, permuted, replaced, causal=1)
    return found if found.ill else _mask_alone_answer(runs, found)


def _judge_bidirectional(runs: _Runs) -> Diagnosis:
    """Return the answer about a model in which tokens see later ones, too."""
    length = runs.trial.length

    def permuted(order: Tensor) -> _Change:
        output, noise = (_permuted_output(x, order, runs.axes) for x in (runs.output, runs.noise))
        return _clearest(runs.trial.run(runs.tokens[:, order]) - output, noise)

    def replaced() -> _Change:
        return runs.change(runs.with_other_tokens(1, length), slice(1))

    what = "all tokens permuted, outputs"
    found = _order_answer(what, map(permuted, _orders(length)), replaced, causal=0)
    if found.ill:
        return found
    backwards = permuted(torch.arange(length).flip(0))
    return _direction_answer(found, backwards, "the same outputs in reverse")


def _direction_answer(found: Diagnosis, reversed_: _Change, same: str) -> Diagnosis:
    """Return an answer that order is seen, unless reversing all tokens shows no direction."""
    clear = found.measured["change"] / found.measured["noise"]
    if reversed_.clear > SURE or clear <= SURE**3:  # rounding might hide a small difference
        return found
    why = f"{found.why} But the tokens in reverse have {same}."
    return answer(ILL, MIRRORED, why, found.measured, NO_DIRECTION)


def _order_answer(
    what: str, permuted: Iterable[_Change], replaced: Callable[[], _Change], **numbers: float
) -> Diagnosis:
    """Return the answer, given what changes if tokens are permuted or replaced by others."""
    change = _first_clear(permuted)
    numbers |= {"change": change.size, "noise": change.noise}
    why = (
        f"With {what} changed by {change.size:.1g}; rounding alone accounts for {change.noise:.1g}."
    )
    if change.clear > SURE:
        return answer(HEALTHY, SEES, why, numbers)
    # To be called ill, a model has to react to other tokens far more clearly than rounding.
    _demand(replaced(), SURE**2, "no token's output depends on another token")
    return answer(ILL, "it does not see order", why, numbers, NO_POSITIONS)


def _mask_alone_answer(runs: _Runs, found: Diagnosis) -> Diagnosis:
    """Return the answer "it sees order", unless a causal mask alone is what shows order."""
    knows = _knows_positions(runs)
    if knows:
        return found
    if knows is None:
        why = f"{found.why} No part shows whether it does so by positions or only by a causal mask."
        return replace(found, status=UNDETERMINED, why=why)
    where = "everywhere" if runs.axes else "at every length"
    why = (
        f"{found.why} But one token repeated has the same output {where}, and no part that mixes"
        " tokens depends on the order of the tokens before the last: only the mask reveals order."
    )
    return answer(ILL, "only through the causal mask", why, found.measured, MASK_ALONE)


def _knows_positions(runs: _Runs) -> bool | None:
    """Return whether some part knows positions; None if no part can be run, or none can tell."""
    trial = runs.trial
    same = runs.tokens[:, :1].repeat_interleave(trial.length, dim=1)
    equal, output = first_call_arguments(trial, same, may_mix(trial.model))
    if runs.axes and _varies_along(comparable(same, output), runs.noise, runs.axes):
        return True
    tolerance = SURE * trial.epsilon()
    parts = mixing_parts(trial, runs.tokens, equal)
    order = next(_orders(trial.length, 0, 1))
    if any(part.receives_positions(tolerance) or part.sees(order, tolerance) for part in parts):
        return True
    # That a part ignores order counts only if it reacts to other tokens far above rounding.
    if not parts or min(part.mixes for part in parts) <= SURE * tolerance:
        return None
    if not any(part.is_causal(tolerance) for part in parts):  # so no mask could show order
        return True
    return False if runs.axes or _is_all_causal(runs, same, parts) else None


def _varies_along(output: Tensor, noise: Tensor, axes: list[int]) -> bool:
    """Say whether an output differs from place to place along an axis that counts tokens."""
    return any(
        _clearest(output - output.narrow(axis, 0, 1), noise.amax(axis, keepdim=True)).clear > SURE
        for axis in axes
    )


def _is_all_causal(runs: _Runs, same: Tensor, parts: list[Part]) -> bool:
    """Say whether all parts are causal, and nothing after them knows positions.

    It does not if one token repeated has the same output at any length.
    """
    trial = runs.trial
    if not all(part.is_causal(SURE * trial.epsilon()) for part in parts):
        return False
    try:
        shorter = trial.run(same[:, 1:])
    except CannotTellError:  # it reads this length alone
        return False
    return _clearest(shorter - trial.run(same), runs.noise).clear <= SURE


def _demand_more_than_a_scale(runs: _Runs) -> None:
    """Raise if tokens depend on one another only as those do that are quantised by one scale."""
    length = runs.trial.length
    with Quantising() as quantising:
        runs.trial.call(runs.tokens[:1])
    if not quantising.found:
        return
    size = SCALE * float(runs.output.abs().max())
    ends = ((1, length, slice(1)), (0, length - 1, slice(length - 1, None)))
    for start, stop, places in ends:
        moved = runs.trial.run(runs.with_other_tokens(start, stop)) - runs.output
        if float(_entries_at(moved, places, runs.axes).abs().max()) > size:
            return
    raise CannotTellError(
        "it quantises what it computes, and other tokens change a token's output only through"
        " a scale that they share"
    )


class Quantising(Watcher, TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes whether an operation rounds numbers to fewer digits than their type has."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.found = False

    def see(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Note the operation, and run it."""
        name = func._schema.name
        self.found |= name == "aten::round" or "quantize" in name
        return func(*args, **kwargs)


def _entries_at(x: Tensor, places: slice, axes: list[int]) -> Tensor:
    """Return the entries at these places along all axes that count tokens."""
    return x[tuple(places if axis in axes else slice(None) for axis in range(x.ndim))]


def _permuted_output(x: Tensor, order: Tensor, axes: list[int]) -> Tensor:
    """Return an output permuted along all axes that count tokens."""
    for axis in axes:
        x = x.index_select(axis, order)
    return x


def _orders(length: int, first: int = 0, last: int = 0) -> Iterator[Tensor]:
    """Yield three permutations: reversed, rolled by one, and rolled by half.

    The `first` and the `last` positions stay in place.
    """
    places = torch.arange(length)
    middle = places[first : length - last]
    if len(middle) < 2:
        raise CannotTellError(f"it reads sequences of {length} tokens, too few to permute")
    for order in (middle.flip(0), middle.roll(1), middle.roll(len(middle) // 2)):
        yield torch.cat([places[:first], order, places[length - last :]])


def _clearest(change: Tensor, noise: Tensor) -> _Change:
    """Return the change of the entry that exceeds its rounding the most."""
    place = int((change.abs() / noise).argmax())
    return _Change(
        float(change.abs().flatten()[place]), float(noise.expand_as(change).flatten()[place])
    )


def _first_clear(changes: Iterable[_Change]) -> _Change:
    """Return the first change that exceeds rounding clearly, or else the clearest of all."""
    seen = []
    for change in changes:
        if change.clear > SURE:
            return change
        seen.append(change)
    return max(seen, key=lambda one: one.clear)


def _demand(change: _Change, least: float, reason: str) -> None:
    """Raise if replacing tokens changes nothing, or not clearly more than rounding does."""
    if change.size == 0:
        raise CannotTellError(reason)
    if change.clear <= least:
        raise CannotTellError(
            f"other tokens change an output by {change.size:.1g}, and its rounding, which accounts"
            f" for {change.noise:.1g}, hides the effect of their order"
        )
