"""What is wrong with this model? Five questions, each answered by running it, not by its names.

    Does it see order?                       `sees_order`
    Do positions drown the tokens?           `drowned_tokens`
    Do two positions collide in this dtype?  `colliding_positions`
    Is a table shorter than the input?       `longest_input`
    Which layout do its rotary heads have?   `rope_layout`, and `trained_layout` of weights alone

`diagnose` asks all five. Each answer is a `Diagnosis`, to be read or to be asserted on. A model is
run on a copy, in evaluation mode and without gradients, so that its mode, its weights, buffers and
caches, and all generators of random numbers are afterwards as they were; but hooks run with it, and
what they write elsewhere stays written. All threads share the generators: beside other threads,
those of NumPy and Python that a model draws from are left as they are, and where it draws from one
of PyTorch's, what other threads draw meanwhile is put back with it. The copy is widened to float64
for most questions: it takes as much memory as the model's weights twice if they are float32, four
times if they are narrower, and what its outputs need.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, groupby
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from posenc._arguments import _shown, as_integer, as_reals
from posenc.nn._arguments import ACTIVATIONS, INTEGERS, check_range
from posenc.nn._observe import (
    by_position,
    entered,
    meetings,
    repeated,
    stepwise,
    together,
    twice,
    varies,
    weighted,
    widths,
    windowed,
)
from posenc.nn._parts import Part, called_with, may_mix, mixing_parts
from posenc.nn._trial import (
    SURE,
    CannotTellError,
    ForwardError,
    Reads,
    Trial,
    short,
    suppressed,
    undisturbed,
)

HEALTHY, ILL, UNDETERMINED, ABSENT = "healthy", "ill", "undetermined", "absent"
MARKS = {HEALTHY: "[ ok ]", ILL: "[ ILL]", UNDETERMINED: "[  ? ]", ABSENT: "[  - ]"}

Example = Tensor | Mapping[str, Any] | None

TEXTS = 32  # a token that attends to itself alone shows nothing: of so many some look around
FEWEST, MOST = 8, 2**23  # but of a large vocabulary fewer, for no more numbers at once
LONGEST = 1024  # tokens that are tried where no number is asked for
PAIRS = {"interleaved": "dimensions 2i and 2i + 1", "half": "dimensions i and i + d/2"}
# Chance would put a pairing of random weights so far from the others once in three million.
DEVIATIONS = 5


@dataclass(frozen=True)
class Diagnosis:
    """The answer to one question about a model.

    Attributes:
        question: what was asked.
        status: "healthy", "ill", "undetermined", or "absent" where there is nothing to judge.
        verdict: the answer in a few words, one of those that the function documents.
        why: one sentence: what was measured, or why nothing could be.
        measured: the numbers, by name.
        remedy: what helps; empty unless ill.
    """

    question: str
    status: str
    verdict: str
    why: str
    measured: Mapping[str, float] = field(default_factory=dict)
    remedy: str = ""

    @property
    def ill(self) -> bool:
        """Whether something is wrong: not that all is well, which may be undetermined."""
        return self.status == ILL

    def __str__(self) -> str:
        answer = f"{self.verdict[0].upper()}{self.verdict[1:]}. {self.why}"
        lines = [f"{MARKS[self.status]} {self.question}", *_indented(answer)]
        return "\n".join(lines + (_indented(f"What helps: {self.remedy}") if self.remedy else []))


@dataclass(frozen=True)
class Report:
    """All answers about one model.

    Attributes:
        subject: the model, in words.
        diagnoses: the answers, a `Diagnosis` each, in the order of the module's list.
    """

    subject: str
    diagnoses: tuple[Diagnosis, ...]

    @property
    def ill(self) -> bool:
        """Whether at least one answer is ill."""
        return any(diagnosis.ill for diagnosis in self.diagnoses)

    @property
    def status(self) -> str:
        """Ill if one answer is, or else undetermined if one is, healthy otherwise."""
        found = {diagnosis.status for diagnosis in self.diagnoses}
        return next((status for status in (ILL, UNDETERMINED) if status in found), HEALTHY)

    def __str__(self) -> str:
        ill = sum(diagnosis.ill for diagnosis in self.diagnoses)
        open_ = sum(diagnosis.status == UNDETERMINED for diagnosis in self.diagnoses)
        summary = f"{ill} ill, {open_} undetermined, of {len(self.diagnoses)} questions."
        return "\n\n".join([self.subject, *map(str, self.diagnoses), summary])


class _Change(NamedTuple):
    """How much of an output changed, where that is clearest, and what rounding does there."""

    size: float
    noise: float

    @property
    def clear(self) -> float:
        """How many times as much as rounding."""
        return self.size / self.noise


class _Lengths(NamedTuple):
    """How long the rows of tokens and of positions are that are added, and how wide."""

    tokens: float
    positions: float
    width: float

    @property
    def ratio(self) -> float:
        """How many times as long those of positions are."""
        return self.positions / max(self.tokens, torch.finfo(torch.float64).tiny)


class _Turned(NamedTuple):
    """Something that turns: in which layout, how many dimensions, and the heads at position 0."""

    layout: str
    rotary_d: int
    heads: Tensor  # (heads, d)


REMEDIES = {
    "order": "give it positions, and check that what computes them is called in forward.",
    "mask": (
        "where positions were meant, check that what computes them is called in forward; a model"
        " meant to have none (NoPE) is not ill."
    ),
    "collisions": (
        "compute positions and angles in float32 or wider, and cast what comes out; a table that"
        " repeats its rows has to be longer."
    ),
    "length": "a longer table (LearnedPositionalEmbedding.resized), shorter texts, or a formula.",
    "layout": "convert the projections of queries and keys: posenc.convert_projection.",
}


def diagnose(
    model: nn.Module,
    example: Example = None,
    *,
    length: int | None = None,
    axis: int | None = None,
) -> Report:
    """Return the answers to all five questions about a model.

    Args:
        model: any module that maps token ids, (batch, length), to a floating tensor or to
            something that contains one, as the models of transformers do. It may be on any device,
            in any dtype, and in training mode.
        example: what the model reads, if it is not token ids, or ids of few values: a tensor of
            integers, (batch, length), or of reals, (batch, length) or (batch, length, width). Or
            a mapping of keywords to arguments of `forward`, the first of them the tokens; the
            others stay as they are whatever the tokens, but of a tensor with a row for each text
            of the example all texts are given the first. One that is as long as the example
            leaves no other length to try.
        length: how many tokens you mean to feed it; without it, the last question only finds out
            how many it can take.
        axis: which axis of the example counts tokens, 1 or 2; None for 1. Of an example of three
            axes it has to be said where the model reads no other size of axis 1, and nothing else
            it is given is as long: then the length may be axis 2, as where channels come first.

    Returns:
        A `Report`: `report.ill`, `report.status`, `report.diagnoses`, and the text of it, `str`.
        All are undetermined where the same text, run twice, has two outputs.

    Raises:
        TypeError: `model` is not a module, `example` no tensor or mapping with one in front,
            `length` not an integer.
        ValueError: the example is empty or not finite, or has no such axis for the length; `length`
            is below 1.

    Source:
        Each question has its own.

    Examples:
        >>> import torch
        >>> from posenc import nn
        >>> model = nn.GPTModel(vocab_size=50, max_len=20, d_model=16, heads=2, layers=2)
        >>> report = nn.diagnose(model, length=30)
        >>> report.ill, [diagnosis.verdict for diagnosis in report.diagnoses if diagnosis.ill]
        (True, ['it ends at 20 tokens, and 30 are asked for'])
    """
    model, example = _as_model(model), _as_example(example)
    length = None if length is None else as_integer("length", length, least=1)
    return Report(
        _subject(model),
        (
            sees_order(model, example, axis=axis),
            drowned_tokens(model, example, axis=axis),
            colliding_positions(model, example, axis=axis),
            longest_input(model, example, length=length, axis=axis),
            rope_layout(model, example, axis=axis),
        ),
    )


def sees_order(model: nn.Module, example: Example = None, *, axis: int | None = None) -> Diagnosis:
    """Return whether the order of the tokens makes any difference to what the model says.

    The tokens are permuted, and the outputs compared with what they were. Without positions an
    encoder's outputs are permuted with them and otherwise unchanged. Under a causal mask the last
    token sees all others; with one layer and no positions its output does not know their order.
    With two it does, because a token further back has itself seen less: so then each smallest part
    of the model that mixes tokens is tried on its own. If none minds the order of what it is given,
    and a text of one token repeated has the same output everywhere, order reaches the model through
    the mask alone, and positions do not. Where there is one output a text, the parts have to be
    causal as well, and that output the same at another length.

    The copy computes in float64 where the model can. What counts as a change of an entry is
    measured: ten times what changing the last digit of every weight does to it, in the narrowest
    type of the model, float32 at most. A model that is ill minds other tokens a hundred times as
    much as that rounding; where they change nothing, or too little, the answer is undetermined.

    Args:
        model: see `diagnose`.
        example: see `diagnose`.
        axis: see `diagnose`.

    Returns:
        A `Diagnosis`. Verdicts: "it sees order", undetermined where no part shows whether positions
        or a causal mask told it; "only through the causal mask" and "it does not see order", both
        ill. Measured: `change` of an entry of the output, where it is clear, and
        its `noise`; and where there is an output for each token, `causal`, 1 or 0.

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
    return _asked("Does it see order?", _sees_order, model, example, axis=axis)


def drowned_tokens(
    model: nn.Module, example: Example = None, *, limit: float = 10.0, axis: int | None = None
) -> Diagnosis:
    """Return whether the rows of the positions are too long beside those of the tokens.

    Where what depends on tokens alone is added to what depends on positions alone, the lengths of
    both are measured; of several such sums, the worst is judged. Nothing is assumed about the kind
    of either. At a ratio of 10 the tokens make 1/(1 + 10²), about one per cent, of the sum's
    squared length.

    Args:
        model: see `diagnose`.
        example: see `diagnose`.
        limit: the largest ratio that is healthy, above 0.
        axis: see `diagnose`.

    Returns:
        A `Diagnosis`. Verdicts: "positions do not drown the tokens"; "positions drown the tokens",
        ill; "no positions are added to tokens", absent. Measured: `ratio`, the mean length of a
        position's row over that of a token's, `tokens` and `positions`, these lengths, and
        `scaled`, the ratio if tokens were multiplied by √d_model.

    Raises:
        TypeError: see `diagnose`; `limit` is not a number.
        ValueError: see `diagnose`; `limit` is not above 0.

    Source:
        Vaswani et al. (2017), section 3.4, for the factor √d_model.

    Examples:
        >>> import torch
        >>> from posenc import nn
        >>> layer = nn.PositionalEmbedding(1000, 64, 32, pos_type="sinusoidal")
        >>> nn.drowned_tokens(layer).verdict  # rows of length 4, beside tokens of 0.02·√32
        'positions drown the tokens'
    """
    limit = _as_limit(limit)
    work = partial(_drowned_tokens, limit=limit)
    return _asked("Do positions drown the tokens?", work, model, example, axis=axis)


def colliding_positions(
    model: nn.Module, example: Example = None, *, length: int = 512, axis: int | None = None
) -> Diagnosis:
    """Return which positions the model cannot tell apart in its own dtype.

    A text of one token repeated is run, and every operation watched in which something that depends
    on positions alone meets something that depends on tokens: the rows added to tokens (their sum
    is what counts, after rounding), the cosines and sines that turn queries, the biases of the last
    token's scores. Two positions collide if they are equal in all of them, to the last bit. Where
    there is no such operation, the scores are compared, in which positions may be mingled with the
    tokens, but for their last digits; where that shows nothing, order is seen, and neither a mask
    nor a recurrence explains it, the answer is undetermined.
    Distances that a scheme puts together on purpose, the nearest not, the farther the more, and in
    float64 too, as T5's buckets do, are no collision; to write such by mistake is not noticed.

    Args:
        model: see `diagnose`.
        example: see `diagnose`.
        length: how many positions to compare; if the model reads fewer, as many as it does, and
            fewer by one where so many are something else's size, which would be taken for rows.
        axis: see `diagnose`.

    Returns:
        A `Diagnosis`. Verdicts: "all positions differ"; "positions collide", ill; "far positions
        share a bias, in float64 too"; "no positions reach the model", absent. Measured: `length`,
        `colliding`, how many positions equal an earlier one, and `first` and `second`, a pair.

    Raises:
        TypeError: see `diagnose`; `length` is not an integer.
        ValueError: see `diagnose`; `length` is below 2.

    Source:
        In bfloat16, with 8 bits, 256 and 257 are one number: see the page *Rotary positions*.

    Examples:
        >>> import torch
        >>> from posenc import nn
        >>> layer = nn.PositionalEmbedding(1000, 2048, 32, pos_type="counting")
        >>> found = nn.colliding_positions(layer.to(torch.bfloat16))
        >>> found.verdict, found.measured["first"], found.measured["second"]
        ('positions collide', 256, 257)
    """
    length = as_integer("length", length, least=2)
    work = partial(_colliding_positions, length=length)
    return _asked("Do positions collide?", work, model, example, exact=False, axis=axis)


def longest_input(
    model: nn.Module,
    example: Example = None,
    *,
    length: int | None = None,
    axis: int | None = None,
) -> Diagnosis:
    """Return how many tokens the model reads before its forward fails, and which table ends there.

    It is run on longer and longer texts, on the CPU, where an index beyond a table is an error like
    any other. The table is the one whose reading fails, or, where the model complains before it
    reads, one of as many rows that does not hold the tokens. A table that wraps around or clamps
    does not fail: `colliding_positions` sees that.

    Args:
        model: see `diagnose`.
        example: see `diagnose`.
        length: how many tokens it has to read; None to find out, up to 1024.
        axis: see `diagnose`.

    Returns:
        A `Diagnosis`. Verdicts: "it reads … tokens"; "it ends at … tokens", healthy where no
        length is asked for; "it ends at … tokens, and … are asked for", ill. Measured: `longest`,
        a length that it reads, and `length`, what was tried.

    Raises:
        TypeError: see `diagnose`; `length` is not an integer.
        ValueError: see `diagnose`; `length` is below 1.

    Source:
        Our own; that a table of rows ends is the price of learned positions.

    Examples:
        >>> import torch
        >>> from posenc import nn
        >>> model = nn.GPTModel(vocab_size=50, max_len=20, d_model=16, heads=2, layers=1)
        >>> nn.longest_input(model).measured["longest"]
        20
    """
    length = None if length is None else as_integer("length", length, least=1)
    work = partial(_longest_input, asked=length)
    question = "Is a table shorter than the input?"
    return _asked(question, work, model, example, exact=False, cpu=True, axis=axis)


def rope_layout(model: nn.Module, example: Example = None, *, axis: int | None = None) -> Diagnosis:
    """Return which dimensions the model turns together, and whether its weights agree.

    On a text of one token repeated a query is the same everywhere but for its rotation. The pairs
    are those dimensions whose length together stays, whatever the position; only one pairing has
    that property. That is the layout that the *code* applies.

    What the weights were trained with is another matter, and the code cannot tell. Where the
    projections can be found in the model, `trained_layout` is asked about them; its answer may be
    that they do not tell either. Nothing is said of a length that falls with the position as well,
    as in xPos; where one factor does both, the answer is undetermined.

    Args:
        model: see `diagnose`.
        example: see `diagnose`.
        axis: see `diagnose`.

    Returns:
        A `Diagnosis`. Verdicts: "interleaved"; "half"; "one pair, the same in either layout";
        "interleaved weights, reordered to turn half" or the reverse, where the model reorders heads
        between projection and rotation; "the code turns …, the weights were trained with …", ill;
        "nothing is turned", absent.
        Measured: `rotary_d`, how many dimensions of a head turn, `d`, of how many, and what
        `trained_layout` measures.

    Raises:
        TypeError: see `diagnose`.
        ValueError: see `diagnose`.

    Source:
        Su et al., "RoFormer" (2021), section 3.4.2, for the rotation.

    Examples:
        >>> import torch
        >>> from posenc import nn
        >>> model = nn.GPTModel(50, 20, 16, heads=2, layers=1, pos_type="rope")
        >>> nn.rope_layout(model).verdict
        'interleaved'
    """
    return _asked("Which layout do its rotary heads have?", _rope_layout, model, example, axis=axis)


def trained_layout(weight: Tensor, *, heads: int) -> Diagnosis:
    """Return what the weights of a query or key projection say about the layout of their training.

    Nothing in the training of a rotary model prefers one dimension of a pair to the other, but
    much prefers one frequency to another. So after training the two rows of a pair have about the
    same length, and those of different pairs have not. Each pairing is compared with random ones,
    and has to be alike by five standard deviations more than they. If the halves are, the layout
    is half: neighbours are then alike as well, since their frequencies are. If only neighbours
    are, and twice as much as the halves, it is interleaved. Weights that were never trained have
    no such pattern, nor need all that were: then this cannot tell, and says so. But rows whose
    length changes along the head for another reason look like either, turned or not.

    Args:
        weight: (heads·d, d_model), the projection of queries, or of keys, as `nn.Linear` has it;
            where only the first dimensions of a head turn, give the rows of those.
        heads: how many heads there are; of keys, where they are grouped.

    Returns:
        A `Diagnosis`. Verdicts: "interleaved", "half", "cannot tell". Measured: `interleaved` and
        `half`, by how many standard deviations the rows of a pair are more alike than those of
        random pairs, and `apart`, how many times less alike they are if half than if interleaved.

    Raises:
        TypeError: `weight` is not a floating tensor, `heads` not an integer.
        ValueError: `weight` is not of two axes, finite, with a multiple of 2·`heads` rows.

    Source:
        Our own; the two layouts are those of `posenc.convert_layout`.

    Examples:
        >>> import torch
        >>> from posenc import nn
        >>> nn.trained_layout(torch.randn(64, 32), heads=2).verdict
        'cannot tell'
    """
    heads = as_integer("heads", heads, least=1)
    with undisturbed():
        return _trained_layout(_as_projection(weight, heads))


# The questions, asked of a copy. Each of these may raise `CannotTellError`.


def _sees_order(trial: Trial) -> Diagnosis:
    if trial.pool is not None and len(trial.pool) < 2:
        raise CannotTellError("all tokens that it can be given are the same one")
    _long_enough(trial)
    shape = trial.shape(trial.length)
    tokens = trial.tokens(max(FEWEST, min(TEXTS, MOST // math.prod(shape))), trial.length)
    output = trial.run(tokens)
    texts = _Texts(tokens, trial.other(tokens), output, trial.noise(tokens, output))
    ignored = "its output does not depend on the tokens"
    _demand(_clearest(trial.run(texts.other) - output, texts.noise), SURE, ignored)
    axes = _growing(trial, shape)
    if not axes:
        return _pooled(trial, texts)
    last = _changed(trial, texts, texts.with_others(trial.length - 1, trial.length))
    causal = _clearest(*(_at(x, slice(trial.length - 1), axes) for x in last))
    return (_causal if causal.clear <= SURE else _both_ways)(trial, texts, axes)


class _Texts(NamedTuple):
    """Texts, the same of other tokens, and of the first what the model makes, and its rounding."""

    tokens: Tensor
    other: Tensor
    output: Tensor
    noise: Tensor

    def with_others(self, start: int, stop: int) -> Tensor:
        """Return the texts with other tokens from `start` to before `stop`."""
        rows = [self.tokens[:, :start], self.other[:, start:stop], self.tokens[:, stop:]]
        return torch.cat(rows, dim=1)


def _changed(trial: Trial, texts: _Texts, changed: Tensor) -> tuple[Tensor, Tensor]:
    """Return how the output on changed texts differs, and the noise."""
    return trial.run(changed) - texts.output, texts.noise


def _pooled(trial: Trial, texts: _Texts) -> Diagnosis:
    """Return the answer of a model with one output a text."""

    def change(changed: Tensor) -> _Change:
        return _clearest(*_changed(trial, texts, changed))

    what = "the tokens between the first and the last permuted, outputs"
    moved = (change(texts.tokens[:, order]) for order in _orders(trial.length, 1, 1))
    found = _order(what, moved, lambda: change(texts.with_others(1, trial.length - 1)))
    return found if found.ill else _through_what(trial, texts, [], found)


def _causal(trial: Trial, texts: _Texts, axes: list[int]) -> Diagnosis:
    """Return the answer of a model whose last output alone depends on the last token."""
    last = trial.length - 1

    def change(changed: Tensor) -> _Change:
        return _clearest(
            *(_at(x, slice(last, None), axes) for x in _changed(trial, texts, changed))
        )

    what = "the tokens before the last permuted, the last output"
    moved = (change(texts.tokens[:, order]) for order in _orders(trial.length, 0, 1))
    found = _order(what, moved, lambda: change(texts.with_others(0, last)), causal=1)
    return found if found.ill else _through_what(trial, texts, axes, found)


def _both_ways(trial: Trial, texts: _Texts, axes: list[int]) -> Diagnosis:
    """Return the answer of a model in which tokens see those behind them as well."""

    def moved(order: Tensor) -> _Change:
        output, noise = (_ordered(x, order, axes) for x in (texts.output, texts.noise))
        return _clearest(trial.run(texts.tokens[:, order]) - output, noise)

    def swapped() -> _Change:
        changed = _changed(trial, texts, texts.with_others(1, trial.length))
        return _clearest(*(_at(x, slice(1), axes) for x in changed))

    what = "all tokens permuted, outputs"
    return _order(what, map(moved, _orders(trial.length)), swapped, causal=0)


def _growing(trial: Trial, shape: tuple[int, ...]) -> list[int]:
    """Return the axes of an output of this shape that count tokens: those that shrink with them."""
    try:
        shorter = trial.shape(trial.length - 1)
    except CannotTellError:  # it reads this length alone
        return [axis for axis, size in enumerate(shape, 1) if size == trial.length]
    if len(shape) != len(shorter):
        raise CannotTellError(f"the shape of its output, {shape}, is of no fixed number of axes")
    axes = [axis for axis in range(len(shape)) if shape[axis] != shorter[axis]]
    if any((shape[axis], shorter[axis]) != (trial.length, trial.length - 1) for axis in axes):
        raise CannotTellError(
            f"of {trial.length} tokens its output is of shape {shape}, of one fewer {shorter}: it"
            " grows with the text, but has no row for each token"
        )
    return [axis + 1 for axis in axes]


def _at(x: Tensor, places: slice, axes: list[int]) -> Tensor:
    """Return what stands at these places of all axes that count tokens."""
    return x[tuple(places if axis in axes else slice(None) for axis in range(x.ndim))]


def _ordered(x: Tensor, order: Tensor, axes: list[int]) -> Tensor:
    """Return an output with all axes that count tokens in this order."""
    for axis in axes:
        x = x.index_select(axis, order)
    return x


def _orders(length: int, first: int = 0, last: int = 0) -> Iterator[Tensor]:
    """Yield positions in the reverse order, rolled by one and by half; those at the ends stay."""
    places = torch.arange(length)
    middle = places[first : length - last]
    if len(middle) < 2:
        raise CannotTellError(f"it reads texts of {length} tokens, too few to permute")
    for order in (middle.flip(0), middle.roll(1), middle.roll(len(middle) // 2)):
        yield torch.cat([places[:first], order, places[length - last :]])


def _clearest(change: Tensor, noise: Tensor) -> _Change:
    """Return the change of that entry which rounding explains least."""
    place = int((change.abs() / noise).argmax())
    return _Change(
        float(change.abs().flatten()[place]), float(noise.expand_as(change).flatten()[place])
    )


def _first_clear(changes: Iterable[_Change]) -> _Change:
    """Return the first change that is clear of the rounding, or the clearest if none is."""
    seen = []
    for change in changes:
        if change.clear > SURE:
            return change
        seen.append(change)
    return max(seen, key=lambda one: one.clear)


def _demand(change: _Change, least: float, reason: str) -> None:
    """Raise if a change that is to be seen, is not there, or is not clear of the rounding."""
    if change.size == 0:
        raise CannotTellError(reason)
    if change.clear <= least:
        raise CannotTellError(
            f"other tokens change an output by {change.size:.1g}, and its rounding, which makes"
            f" {change.noise:.1g}, hides what their order does"
        )


def _order(
    what: str, moved: Iterable[_Change], swapped: Callable[[], _Change], **numbers: float
) -> Diagnosis:
    """Return the answer from what permuting tokens changes, and what other tokens do."""
    change = _first_clear(moved)
    numbers |= {"change": change.size, "noise": change.noise}
    why = f"With {what} changed by {change.size:.1g}; rounding alone makes {change.noise:.1g}."
    if change.clear > SURE:
        return _found(HEALTHY, "it sees order", why, numbers)
    # To be ill, a model has to mind other tokens as far beyond doubt as it does not their order.
    _demand(swapped(), SURE**2, "no token's output depends on another token")
    return _found(ILL, "it does not see order", why, numbers, REMEDIES["order"])


def _through_what(trial: Trial, texts: _Texts, axes: list[int], found: Diagnosis) -> Diagnosis:
    """Return whether a model that sees order has positions, or only a causal mask."""
    knows = _knows_positions(trial, texts, axes)
    if knows:
        return found
    if knows is None:
        why = f"{found.why} Whether positions or a causal mask alone told it, no part shows."
        return replace(found, status=UNDETERMINED, why=why)
    where = "everywhere" if axes else "at every length"
    why = (
        f"{found.why} But one token repeated has the same output {where}, and no part that mixes"
        " tokens minds the order of those before the last: order is told by the mask alone."
    )
    verdict = "only through the causal mask"
    return _found(ILL, verdict, why, found.measured, REMEDIES["mask"])


def _knows_positions(trial: Trial, texts: _Texts, axes: list[int]) -> bool | None:
    """Return whether any part knows positions; None where no part can be run, or none can tell."""
    same = texts.tokens[:, :1].repeat_interleave(trial.length, dim=1)
    equal, output = called_with(trial, same, may_mix(trial.model))
    if axes and _varying(trial.read(same, output), texts.noise, axes):
        return True
    relative = SURE * trial.digit()
    parts = mixing_parts(trial, texts.tokens, equal)
    order = next(_orders(trial.length, 0, 1))
    if any(part.told(relative) or part.minds(order, relative) for part in parts):
        return True
    # What a part does not mind counts only where rounding is far below what it does mind.
    if not parts or min(part.mixes for part in parts) <= SURE * relative:
        return None
    if not any(part.causal(relative) for part in parts):  # and so there is no mask to tell it
        return True
    return False if axes or _by_causal_parts(trial, same, texts.noise, parts) else None


def _varying(output: Tensor, noise: Tensor, axes: list[int]) -> bool:
    """Say whether an output is not the same at every place of an axis that counts tokens."""
    return any(
        _clearest(output - output.narrow(axis, 0, 1), noise.amax(axis, keepdim=True)).clear > SURE
        for axis in axes
    )


def _by_causal_parts(trial: Trial, same: Tensor, noise: Tensor, parts: list[Part]) -> bool:
    """Say whether all parts are causal, and one output is made of theirs without positions.

    That is, texts of one token have the same output whatever their length.
    """
    if not all(part.causal(SURE * trial.digit()) for part in parts):
        return False
    try:
        shorter = trial.run(same[:, 1:])
    except CannotTellError:  # it reads this length alone
        return False
    return _clearest(shorter - trial.run(same), noise).clear <= SURE


def _drowned_tokens(trial: Trial, *, limit: float) -> Diagnosis:
    _long_enough(trial)
    lengths = [_Lengths(_mean_length(x), _mean_length(y), x.shape[1]) for x, y in _sums(trial)]
    if not lengths:
        why = "Nothing that depends on positions alone is added to what depends on one token alone."
        return _found(ABSENT, "no positions are added to tokens", why)
    worst = max(lengths, key=lambda one: one.ratio)
    (tokens, positions, width), ratio = worst, worst.ratio
    root = math.sqrt(width)
    scaled = ratio / root
    numbers = {"ratio": ratio, "tokens": tokens, "positions": positions, "scaled": scaled}
    why = (
        f"Rows of positions are {positions:.3g} long on average, those of tokens {tokens:.3g}:"
        f" {ratio:.3g} times, where {limit:.3g} is the limit."
    )
    if ratio <= limit:
        return _found(HEALTHY, "positions do not drown the tokens", why, numbers)
    remedy = (
        f"make the tokens' rows √d_model = {root:.3g} times as long, by that factor or by their"
        f" first deviation, which leaves {scaled:.3g} times."
    )
    if scaled > limit:
        remedy = (
            f"make the rows of positions shorter: bounded ones, or the same times a factor. Tokens"
            f" √d_model = {root:.3g} times as long are not enough, and leave {scaled:.3g} times."
        )
    return _found(ILL, "positions drown the tokens", why, numbers, remedy)


def _sums(trial: Trial) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield (length, width) tokens and positions, wherever one is added to the other."""
    text = trial.tokens(1, trial.length)
    other, place = text.clone(), trial.length // 2
    other[:, place] = trial.other(text)[:, place]
    here = torch.arange(trial.length) == place
    for _, given, changed in twice(trial, text, other, partial(_added, trial.length)):
        rows = [by_position(x, trial.length) for x in given]
        moved = [
            (by_position(y, trial.length) != x).any(dim=1)
            for x, y in zip(rows, changed, strict=True)
        ]
        for tokens, positions in ((0, 1), (1, 0)):
            alone = torch.equal(moved[tokens], here) and not moved[positions].any()
            if alone and varies(rows[positions]):
                yield rows[tokens], rows[positions]


def _added(length: int, name: str, given: list[Tensor]) -> list[Tensor]:
    """Return the two tensors that are added, if they have rows and each row a position."""
    rows = all(x.shape.count(length) == 1 and x.shape[-1] != length for x in given)
    return given if name == "add" and len(given) == 2 and rows else []


def _colliding_positions(trial: Trial, *, length: int) -> Diagnosis:
    _long_enough(trial)
    longest, _ = _longest(trial, length)
    # A length that is nothing else's size, so that no weight is taken for rows of positions.
    taken = widths(trial) if longest in trial.sizes else set()
    longest = next(n for n in range(longest, 0, -1) if n not in taken or n <= trial.length)
    met = meetings(trial, longest)
    if not met:
        return _never_alone(trial, longest)
    groups = together([meeting.labels for meeting in met])
    where = ", ".join(dict.fromkeys(meeting.where for meeting in met))
    found = _collisions(groups, longest, where)
    if found.ill and all(meeting.axes == 2 for meeting in met) and _as_buckets(groups):
        if not trial.widen():
            raise CannotTellError(
                "far positions share a bias, and it does not compute in float64, which would tell"
                " rounding from purpose"
            )
        exact = together([meeting.labels for meeting in meetings(trial, longest)])
        if int(exact.max()) == int(groups.max()):
            return _shared(found)
    return found


def _shared(found: Diagnosis) -> Diagnosis:
    """Return the answer where positions share a bias on purpose."""
    verdict = "far positions share a bias, in float64 too"
    why = f"{found.why} In float64 they do, too, as those of a bucket are meant to."
    return _found(HEALTHY, verdict, why, found.measured)


def _never_alone(trial: Trial, length: int) -> Diagnosis:
    """Return the answer where nothing that depends on positions alone meets the tokens."""
    numbers: dict[str, float] = {"length": length}
    why = f"At {length} positions, nothing that depends on them alone meets the tokens."
    found = entered(trial, trial.length)
    sees = _sees(trial) if found.scores or not found.rows else None
    if found.scores and sees:
        return _mingled(trial, length, entered(trial, length).scores)
    if found.scores and sees is None:
        raise CannotTellError(
            "positions are mingled with tokens in the scores, and whether their order reaches the"
            " outputs cannot be told"
        )
    if stepwise(trial) if found.rows else sees and not windowed(trial):
        raise CannotTellError(
            "order reaches the model, but not where positions meet all tokens at once, and neither"
            " a mask nor a recurrence explains it"
        )
    return _found(ABSENT, "no positions reach the model", why, numbers)


def _sees(trial: Trial) -> bool | None:
    """Say whether the model sees order, and not only through a causal mask; None if none can."""
    try:
        return _sees_order(trial).verdict == "it sees order"
    except CannotTellError:
        return None


def _mingled(trial: Trial, length: int, scores: list[Tensor]) -> Diagnosis:
    """Return the answer from scores in which positions are mingled with tokens."""
    groups = together(scores)
    where = "in scores, mingled with the tokens"
    found = _collisions(groups, length, where, equal="but for its last digits")
    if not found.ill:
        return found
    if _as_buckets(groups) and trial.widen():
        exact = together(entered(trial, length).scores)
        if int(exact.max()) == int(groups.max()):
            return _shared(found)
    raise CannotTellError(
        "positions and tokens are mingled in the scores before they meet anything else, so that"
        " those which look alike need not be"
    )


def _as_buckets(groups: Tensor) -> bool:
    """Say whether positions share as in buckets: the nearest not, and others the farther the more.

    Equal ones lie side by side, the last position alone, and before it never fewer: but for one, by
    which the sizes of buckets differ where they are rounded, and for the first, which may be cut.
    """
    runs = [(kind, len([*run])) for kind, run in groupby(groups.flip(0).tolist())]
    sizes = [size for _, size in runs]
    shrinks = any(
        size < most - 1 for size, most in zip(sizes[:-1], accumulate(sizes, max), strict=False)
    )
    return len({kind for kind, _ in runs}) == len(runs) and sizes[0] == 1 and not shrinks


def _collisions(
    groups: Tensor, length: int, where: str, *, equal: str = "to the last bit"
) -> Diagnosis:
    """Return the answer from a number for each position, equal where positions are."""
    seen: dict[int, int] = {}
    pairs = [
        (seen[group], place)
        for place, group in enumerate(groups.tolist())
        if seen.setdefault(group, place) != place
    ]
    numbers: dict[str, float] = {"length": length, "colliding": len(pairs)}
    if not pairs:
        why = f"{length} positions, {where}, are all different."
        return _found(HEALTHY, "all positions differ", why, numbers)
    numbers |= {"first": pairs[0][0], "second": pairs[0][1]}
    why = (
        f"Of {length} positions, {where}, {len(pairs)} equal an earlier one {equal}; the"
        f" first are {pairs[0][0]} and {pairs[0][1]}."
    )
    return _found(ILL, "positions collide", why, numbers, REMEDIES["collisions"])


def _longest_input(trial: Trial, *, asked: int | None) -> Diagnosis:
    aim = asked or LONGEST
    longest, failed = _longest(trial, aim)
    numbers: dict[str, float] = {"longest": longest, "length": aim}
    if failed is None:
        return _found(HEALTHY, f"it reads {_counted(aim)}", f"A text of {aim} was read.", numbers)
    _demand_any_length(trial, longest, aim)
    why = f"A text of {longest} was read; one more, and it fails: {short(failed)}."
    why += f" {_ending(trial, longest) or 'No table of that many rows was found'}."
    if asked is None:
        return _found(HEALTHY, f"it ends at {_counted(longest)}", why, numbers)
    verdict = f"it ends at {_counted(longest)}, and {asked} are asked for"
    return _found(ILL, verdict, why, numbers, REMEDIES["length"])


def _demand_any_length(trial: Trial, longest: int, aim: int) -> None:
    """Raise if it is not a table that the length is bound to."""
    bound = trial.bound()
    if bound and longest <= trial.length:
        raise CannotTellError(
            f"{bound} has {trial.length} columns, as the example has, and texts of other lengths"
            f" fail: give an example of {aim}"
        )
    for size in (2, 4, 8, 16, 32, 64, 128):
        longer = (longest // size + 1) * size
        if longer > longest + 1 and _fails(trial, longer) is None:
            raise CannotTellError(
                f"it reads {_counted(longest)} and {longer}, but not {longest + 1}: not any length,"
                " whatever its tables"
            )


def _ending(trial: Trial, longest: int) -> str:
    """Return in words which table ends at this length, if any."""
    text = trial.tokens(1, longest + 1)
    with Reads(text) as reads, suppressed():
        trial.call(text)
    tables = [*trial.model.named_parameters(), *trial.model.named_buffers()]
    if reads.failed is not None:
        place = reads.failed.data_ptr()
        names = [name for name, x in tables if x.data_ptr() == place]
        return f"{names[0] if names else 'A table'} has {len(reads.failed)} rows"
    named = [
        f"{name} has {rows} rows"
        for name, x in tables
        if x.data_ptr() != trial.words
        for rows in x.shape[:-1]
        if rows - longest in (0, 1, 2)  # some tables begin with two rows for padding
    ]
    return named[0] if named else ""


def _counted(tokens: int) -> str:
    return f"{tokens} token{'s' if tokens != 1 else ''}"


def _longest(trial: Trial, aim: int) -> tuple[int, BaseException | None]:
    """Return the longest text up to `aim` that is read, and the error of one token more."""
    failed = _fails(trial, aim)
    if failed is None:
        return aim, None
    reads, fails = (trial.length, aim) if trial.length < aim else (0, aim)
    while fails - reads > 1:
        middle = (reads + fails) // 2
        error = _fails(trial, middle)
        reads, fails = (middle, fails) if error is None else (reads, middle)
        failed = error or failed
    return reads, failed


def _fails(trial: Trial, length: int) -> BaseException | None:
    """Return the error of the model on a text of this length, None where it reads it."""
    try:
        trial.call(trial.tokens(1, length))
    except ForwardError as error:
        out_of_memory = isinstance(error.__cause__, MemoryError | torch.OutOfMemoryError)
        if out_of_memory or "DefaultCPUAllocator" in str(error):
            raise CannotTellError(
                f"a text of {length} tokens takes more memory than there is"
            ) from error
        return error.__cause__
    return None


def _rope_layout(trial: Trial) -> Diagnosis:
    _long_enough(trial)
    turned, text = _turned(trial)
    if not turned:
        why = "No query or key is turned from position to position and keeps its length."
        return _found(ABSENT, "nothing is turned", why)
    layouts = {one.layout for one in turned}
    if len(layouts) > 1:
        raise CannotTellError("parts of the model turn in one layout, and parts in the other")
    layout, rotary_d, heads = max(turned, key=lambda one: one.heads.shape[-1])
    numbers: dict[str, float] = {"rotary_d": rotary_d, "d": heads.shape[-1]}
    if rotary_d == 2:
        why = f"Of {heads.shape[-1]} dimensions of a head the first two turn."
        return _found(HEALTHY, "one pair, the same in either layout", why, numbers)
    why = f"Of {heads.shape[-1]} dimensions of a head {rotary_d} turn, {PAIRS[layout]} together."
    rows, reordered = _projections(trial, text, turned), False
    if rows is None:
        rows, reordered = _projections(trial, text, [_reordered(one) for one in turned]), True
    if rows is None:
        return _found(HEALTHY, layout, f"{why} No projection was found to compare.", numbers)
    verdict = layout
    if reordered:
        layout = _other(layout)
        verdict = f"{layout} weights, reordered to turn {verdict}"
        why += f" Before that they are reordered: the rows of the weights are {layout}."
    trained = _trained_layout(rows)
    numbers |= trained.measured
    if trained.verdict in PAIRS and trained.verdict != layout:
        verdict = f"the code turns {layout}, the weights were trained with {trained.verdict}"
        return _found(ILL, verdict, f"{why} {trained.why}", numbers, REMEDIES["layout"])
    said = "do not tell" if trained.status == UNDETERMINED else "agree"
    return _found(HEALTHY, verdict, f"{why} The projections' weights {said}.", numbers)


def _turned(trial: Trial) -> tuple[list[_Turned], Tensor]:
    """Return all that turns from position to position, and the text on which it was found."""
    text = repeated(trial, trial.length)
    other = trial.other(text[:, :1]).repeat_interleave(trial.length, dim=1)
    found: list[_Turned] = []
    unclear = False
    for name, given, changed in twice(trial, text, other, partial(_turning, trial.length)):
        by_token = [not torch.equal(x, y) for x, y in zip(given, changed, strict=True)]
        for x, depends in zip(given, by_token, strict=True):
            if depends:
                found += _as_turned(x, trial)
            elif name == "mul" and any(by_token) and x.shape.count(trial.length) == 1:
                unclear |= varies(by_position(x, trial.length))
    if unclear and not found:
        raise CannotTellError(
            "positions are multiplied into what depends on tokens, but not seen to turn it, as"
            " where they are added to the tokens as well"
        )
    return found, text


def _turning(length: int, name: str, given: list[Tensor]) -> list[Tensor]:
    """Return what may be turned, or be factors that turn."""
    return [x for x in given if name == "mul" or _may_turn(x, length)]


def _may_turn(x: Tensor, length: int) -> bool:
    """Say whether these are heads, (…, length, d), of two pairs or more."""
    return (
        x.ndim >= 3
        and x.shape[-2] == length
        and x.shape[-1] >= 4
        and x.shape[-1] % 2 == 0
        and not x.is_complex()
    )


def _as_turned(x: Tensor, trial: Trial) -> list[_Turned]:
    """Return how a tensor (…, length, d) turns, in a list, or an empty one."""
    if not _may_turn(x, trial.length):
        return []
    heads = x.cpu().double().reshape(-1, trial.length, x.shape[-1])
    size = float(heads.abs().max())
    moved_by = (heads - heads[:, :1]).abs().amax(dim=(0, 1))
    moves = (moved_by > 1e-6 * size).tolist()
    if not any(moves):
        return []
    # What moves by m changes the square of its length by about size·m, unless it turns.
    slack = max(1e-4, SURE * trial.digit()) * size * float(moved_by.max())
    last = max(place for place, moved in enumerate(moves) if moved) // 2 * 2 + 2
    pairings = [("interleaved", last, x.shape[-1])]
    pairings += [("half", rotary_d, rotary_d) for rotary_d in range(x.shape[-1], 3, -2)]
    for layout, rotary_d, width in pairings:
        if any(moves[rotary_d:]):  # what is not turned stays
            continue
        first, second = _pairs(heads[..., :width], layout)
        kept = first**2 + second**2
        if _largest(kept - kept[:, :1]) <= slack:
            return [_Turned(layout, rotary_d, heads[:, 0])]
    return []


def _pairs(x: Tensor, layout: str) -> tuple[Tensor, ...]:
    """Return the first and the second dimension of every pair."""
    return (x[..., 0::2], x[..., 1::2]) if layout == "interleaved" else x.chunk(2, dim=-1)


def _other(layout: str) -> str:
    """Return the layout that this is not."""
    return next(other for other in PAIRS if other != layout)


def _reordered(one: _Turned) -> _Turned:
    """Return the same heads with their pairs where the other layout has them."""
    turned, rest = one.heads[:, : one.rotary_d], one.heads[:, one.rotary_d :]
    pairs = torch.stack(_pairs(turned, one.layout), dim=-1)
    if one.layout == "interleaved":
        pairs = pairs.mT
    return one._replace(heads=torch.cat([pairs.flatten(1), rest], dim=1))


def _projections(trial: Trial, text: Tensor, turned: list[_Turned]) -> Tensor | None:
    """Return the rows of weights, (heads, rotary_d, d_model), that made what turns."""
    found: dict[tuple[int, int], Tensor] = {}
    for weight, output in weighted(trial, text):
        for one in turned:
            width = one.heads.shape[1]
            if weight.shape[0] < width:
                continue
            windows = output.unfold(0, width, 1)  # position 0 is turned by nothing
            for head in one.heads:
                far = (windows - head).abs().amax(dim=1)
                start = int(far.argmin())
                if far[start] <= 1e-5 * head.abs().max() and head.any():
                    rows = weight[start : start + one.rotary_d]
                    found[weight.data_ptr(), start] = rows.cpu().double()
    widest = max((rows.shape for rows in found.values()), default=None)
    if widest is None:
        return None
    return torch.stack([rows for rows in found.values() if rows.shape == widest])


def _trained_layout(rows: Tensor) -> Diagnosis:
    """Return the layout from (heads, d, d_model) rows of projections."""
    lengths = rows.cpu().double().norm(dim=2).clamp(min=torch.finfo(torch.float64).tiny).log()
    generator = torch.Generator().manual_seed(0)
    shuffled = _shuffled(lengths.expand(100, -1, -1), generator)
    by_chance = torch.stack([square.mean() for square in _unlike(shuffled)])
    unlike = {layout: _unlike(lengths, layout).mean() for layout in PAIRS}
    z = {
        layout: float((by_chance.mean() - value) / by_chance.std().clamp(min=1e-300))
        for layout, value in unlike.items()
    }
    apart = float(unlike["half"] / unlike["interleaved"].clamp(min=1e-300))
    why = (
        f"Rows of a pair are more alike than random ones by {z['interleaved']:.1f} deviations if"
        f" interleaved, by {z['half']:.1f} if half."
    )
    numbers = {**z, "apart": apart}
    # Neighbours are alike in either layout: where halves are trained, their frequencies are, too.
    alike = {layout for layout in PAIRS if z[layout] >= DEVIATIONS}
    if "half" in alike and apart < 2:
        return _found(HEALTHY, "half", why, numbers)
    if alike == {"interleaved"} and apart > 2:
        return _found(HEALTHY, "interleaved", why, numbers)
    return _found(UNDETERMINED, "cannot tell", f"{why} That shows neither.", numbers)


def _unlike(lengths: Tensor, layout: str = "interleaved") -> Tensor:
    """Return the squares of the differences within pairs."""
    first, second = _pairs(lengths, layout)
    return (first - second).square()


def _shuffled(x: Tensor, generator: torch.Generator) -> Tensor:
    return x.gather(-1, torch.rand(x.shape, generator=generator).argsort(dim=-1))


def _largest(x: Tensor) -> float:
    return float(x.abs().max()) if x.numel() else 0.0


def _mean_length(rows: Tensor) -> float:
    return float(rows.norm(dim=1).mean())


def _long_enough(trial: Trial) -> None:
    """Raise if texts are so short that a size cannot be told from the length of a text."""
    if trial.length < 3:
        raise CannotTellError(f"it reads {_counted(trial.length)} at most, too few to compare")


# What comes in and goes out


def _asked(
    question: str,
    work: Callable[[Trial], Diagnosis],
    model: object,
    example: object,
    *,
    exact: bool = True,
    cpu: bool = False,
    axis: int | None,
) -> Diagnosis:
    """Return the answer to a question, asked of a copy, or why there is none."""
    patient, input_ = _as_model(model), _as_example(example)
    axis = _as_axis(axis, input_)
    try:
        with undisturbed():
            answer = work(Trial(patient, input_, exact=exact, cpu=cpu, axis=axis))
    except CannotTellError as error:
        answer = _found(UNDETERMINED, "cannot tell", f"Undetermined, because {error}.")
    return replace(answer, question=question)


def _found(
    status: str,
    verdict: str,
    why: str,
    measured: Mapping[str, float] | None = None,
    remedy: str = "",
) -> Diagnosis:
    return Diagnosis("", status, verdict, why, dict(measured or {}), remedy)


def _as_model(model: object) -> nn.Module:
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch.nn.Module; got {_shown(model)}")
    return model


def _as_example(example: object) -> Example:
    """Return the example, if it is one: tokens, or a mapping with tokens in front."""
    if example is None:
        return None
    tokens = next(iter(example.values()), None) if isinstance(example, Mapping) else example
    allowed = "a tensor of integers or reals, (batch, length, …), or a mapping with one in front"
    if not isinstance(tokens, Tensor):
        raise TypeError(f"example must be {allowed}; got {_shown(example)}")
    if tokens.dtype not in INTEGERS + ACTIVATIONS or tokens.layout is not torch.strided:
        raise TypeError(f"example must be {allowed}; got one of {tokens.dtype}")
    if tokens.ndim < 2 or not tokens.numel() or tokens.is_meta:
        got = "one on the meta device" if tokens.is_meta else f"shape {tuple(tokens.shape)}"
        raise ValueError(f"example must be {allowed}, not empty; got {got}")
    check_range("example", tokens.detach(), -math.inf, math.inf, "finite")
    return example if isinstance(example, Mapping) else tokens.detach()


def _as_axis(value: object, example: Example) -> int | None:
    """Return the axis that counts tokens, if one is named and the example has it."""
    if value is None:
        return None
    axis = as_integer("axis", value, least=1)
    given = next(iter(example.values())) if isinstance(example, Mapping) else example
    axes = 2 if given is None else given.ndim
    if axis >= axes:
        raise ValueError(f"axis must be below {axes}, the axes of the example; got {axis}")
    return axis


def _as_limit(value: object) -> float:
    limit = as_reals("limit", value, allowed="a number above 0")
    if limit.ndim:
        raise TypeError(f"limit must be a number above 0; got {_shown(value)}")
    if limit <= 0:
        raise ValueError(f"limit must be a number above 0; got {limit}")
    return float(limit)


def _as_projection(weight: object, heads: int) -> Tensor:
    """Return a weight as (heads, d, d_model)."""
    allowed = "a floating tensor (heads·d, d_model)"
    if not isinstance(weight, Tensor) or weight.dtype not in ACTIVATIONS:
        raise TypeError(f"weight must be {allowed}; got {_shown(weight)}")
    if weight.layout is not torch.strided:
        raise TypeError(f"weight must be {allowed}, dense; got one of {weight.layout}")
    if weight.ndim != 2 or not weight.numel() or weight.shape[0] % (2 * heads) or weight.is_meta:
        raise ValueError(
            f"weight must be {allowed}, with a multiple of 2·heads = {2 * heads} rows; got"
            f" shape {tuple(weight.shape)} on {weight.device}"
        )
    check_range("weight", weight.detach(), -math.inf, math.inf, "finite")
    return weight.detach().reshape(heads, -1, weight.shape[1])


def _subject(model: nn.Module) -> str:
    """Return a model in words."""
    weights = [p for p in model.parameters() if not is_lazy(p)]
    kinds = ", ".join(sorted({f"{p.dtype} on {p.device}".removeprefix("torch.") for p in weights}))
    mode = "training" if model.training else "evaluation"
    count = sum(p.numel() for p in weights)
    return f"{type(model).__name__}: {count:,} weights{kinds and f', {kinds}'}, in {mode} mode"


def _indented(text: str) -> list[str]:
    """Return lines that stand under a question, with what a narrow window shows of a line."""
    margin = " " * len(MARKS[ILL])
    return textwrap.wrap(text, 62, initial_indent=f"{margin} ", subsequent_indent=f"{margin} ")
