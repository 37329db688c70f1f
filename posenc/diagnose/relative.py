"""Do scores depend on key − query alone? `relative_scores` compares those at equal distances."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import NamedTuple

import torch
from torch import Tensor, nn

from posenc._arguments import _shown, as_integer
from posenc.diagnose.answers import ABSENT, HEALTHY, ILL, CannotTellError, Diagnosis, answer
from posenc.diagnose.ask import ask
from posenc.diagnose.axes import axes_of_text, judge_axes
from posenc.diagnose.cached import (
    AHEAD,
    EVICTED,
    KEPT,
    LOST,
    OTHER,
    REFUSED,
    TURN,
    UNTRIED,
    Cached,
    Caches,
    read_with_cache,
    taken_by,
    widest,
)
from posenc.diagnose.meetings import BIAS, PLACES, meetings
from posenc.diagnose.rotation import Rotated, find_rotated, pairs, wrapped
from posenc.diagnose.scores import ScoreRun, Scores, find_scores_of
from posenc.diagnose.trial import SURE, Example, Trial
from posenc.scores.alibi import alibi_slopes

RELATIVE = "scores depend on key − query alone"

# Where queries are rotated by a times their position, and keys by b times theirs, scores depend on
# a·query − b·key. Of each (a, b): what that is, the mistake, and what helps.
FAULTS: dict[tuple[int, int], tuple[str, str, str]] = {
    (0, 1): (
        "the key's position",
        "keys alone are rotated",
        "rotate the queries as well, by the angles of their positions.",
    ),
    (1, 0): (
        "the query's position",
        "queries alone are rotated",
        "rotate the keys as well, by the angles of their positions.",
    ),
    (1, -1): (
        "query + key",
        "queries and keys are rotated in opposite ways",
        "rotate both with the same function; a sine has the wrong sign.",
    ),
    (2, 1): ("2·query − key", "queries are rotated twice", "rotate queries once."),
    (1, 2): ("query − 2·key", "keys are rotated twice", "rotate keys once."),
}
TWICE = "queries and keys are rotated twice"
DOUBLED = "queries and keys are rotated twice, or their positions doubled"
HALVE = (
    "rotate them once, in the layer or in what calls it; or, if positions are multiplied by 2 by"
    " mistake, do not multiply them."
)
ONCE = "rotate them once: in the layer, or in what calls it, but not in both."
COUNT = "with a cache, continue the positions after the tokens in it, as offset=cache.length does."
# What may be wrong with a cache: the verdict, what was seen, and what helps.
CACHED: dict[str, tuple[str, str, str]] = {
    LOST: (
        "the offset of cached tokens is lost",
        "They all have the same position, unlike in a single call.",
        COUNT,
    ),
    AHEAD: (
        "steps stand one position too far",
        "At each position p they have the scores or rows that a single call has at p + 1.",
        "the offset of a step is the number of tokens before it, not counting its own.",
    ),
    EVICTED: (
        "positions restart where the cache drops keys",
        "With a window of {window} keys they have the scores of a single call until the cache drops"
        " a key, and different ones after that.",
        "count the tokens that were read, not the keys that the cache still holds.",
    ),
    TURN: (
        "a second call of several tokens goes wrong",
        "They have the outputs of a single call. Read in a second call of several tokens, as the"
        " second turn of a chat is, they have not: token {token}, counted from 0, is the first to"
        " differ, and outputs differ by up to {change:.2g}.",
        "continue the positions after the tokens in the cache in a call of several tokens, too, and"
        " let its mask hide none of them.",
    ),
}
FAR = "far keys are favoured"
SHARD = "slopes repeat from head to head"
OTHERS = "its slopes are those of other heads"
OWN_HEADS = (
    "give each rank the slopes of its own heads, cut from the slopes of all heads:"
    " alibi_slopes(heads)[rank * local : (rank + 1) * local]."
)
SIGN = "make its biases fall with the distance, as −slope·|query − key| does."


def relative_scores(
    model: nn.Module,
    example: Example = None,
    *,
    cache: Caches = None,
    length: int | None = None,
    heads: int | None = None,
    rank: int | None = None,
    axis: int | None = None,
) -> Diagnosis:
    """Return whether the scores of attention depend on positions by key − query alone.

    On a sequence of one token repeated, all queries are the same except for their positions, and so
    are all keys. Shifting both by one position must leave their score as it was, so all scores at
    one distance are compared. Where they differ, what they do depend on tells the mistake: the key
    alone, the query alone, their sum, or one of them twice.

    Rotating both twice leaves scores relative, at twice the frequencies. It shows where heads that
    are rotated already are rotated again, by the same angles, or where heads rotate by twice the
    frequencies that the model holds; the latter may also come from positions that are doubled.

    The last tokens are also read one by one, if the model returns a cache under the name of an
    argument of `forward`, or if `cache` says how to make one. Their scores must be those of one
    call, and a second call of several tokens must have the outputs of one call. Where a layer has a
    window, or a cache drops keys, within 512 tokens or within `length`, tokens are also read one by
    one until there are more than it holds, and beyond.

    What all scores of a query have in common has no effect on its attention, and biases may differ
    in it. Biases that change evenly with the distance must fall with it, so that near keys are
    favoured; of others, which are learned, nothing is said. Slopes that begin again within a layer
    are those of a part of its heads, as where each rank of a parallel model counts its own from 0.
    Of a model that is itself the part of one rank, `heads` and `rank` say which slopes are right.

    Where the example has positions on several axes, integers (axes, batch, length), as M-RoPE has,
    scores must stay when all tokens are shifted alike along any axis, and change with each axis.
    Of a text alone the axes are alike, and the answer says that they were not tried.

    Args:
        model: see `diagnose`.
        example: see `diagnose`.
        cache: for each keyword of `forward` that takes a cache, a function that returns an empty
            one, as in `{"cache": nn.Cache}`; the model adds to it, or leaves it as it is and
            returns another, as (logits, cache). None for a cache that the model
            returns under that name.
        length: how many tokens it has to read: a larger window is not looked for. None for 512.
        heads: how many heads a layer has on all ranks together, where the model is the part of one
            rank; its slopes are then compared with those of `posenc.alibi_slopes`.
        rank: which rank the model is of, counted from 0. Given where `heads` is.
        axis: see `diagnose`.

    Returns:
        A `Diagnosis`. Verdicts: "scores depend on key − query alone"; "keys alone are rotated",
        "queries alone are rotated", "queries and keys are rotated in opposite ways", "queries are
        rotated twice", "keys are rotated twice", "queries and keys are rotated twice", "queries and
        keys are rotated twice, or their positions doubled", "the offset of cached tokens is lost",
        "steps stand one position too far", "positions restart where the cache drops keys", "a
        second call of several tokens goes wrong", "slopes
        repeat from head to head", "its slopes are those of other heads", "far keys are
        favoured", and, of positions on several axes, "scores change where an axis is shifted", "an
        axis of its positions is not read" and "a step ignores the positions that it is given", all
        ill; "scores depend on key − query along each axis"; "its positions are absolute"
        and "its scores tell no positions apart", absent.
        Measured: `heads`, how many see positions, of all layers; `apart`, by how much scores at one
        distance differ at most, relative to how much all of a head do; `cached`, 1 if tokens were
        read one by one, and `window`, the largest beyond which they were; of a second call that
        goes wrong `token`, the first that differs, and `change`, by how much outputs do; and of
        biases `near`, in how many heads they favour near keys.

    Raises:
        TypeError: see `diagnose`; `cache` is not a mapping of names to functions.
        ValueError: see `diagnose`; `length` or `heads` is below 1, or `rank` below 0; one of
            `heads` and `rank` is given without the other.

    Source:
        Su et al., "RoFormer" (2021), section 3.1, for the property; Press et al., "Train Short,
        Test Long" (2022), section 3, for biases that fall with the distance.

    Examples:
        >>> from posenc import nn
        >>> model = nn.GPTModel(50, 20, 16, heads=2, layers=1, pos_type="rope")
        >>> nn.relative_scores(model, cache={"cache": nn.Cache}).verdict
        'scores depend on key − query alone'
    """
    length = None if length is None else as_integer("length", length, least=1)
    part = as_part(heads, rank)
    judge = partial(_judge, caches=as_caches(cache), length=length, part=part)
    question = "Do scores depend on key − query alone?"
    return ask(question, judge, model, example, axis=axis)


def as_caches(value: object) -> Caches:
    """Return what makes empty caches, which must be a mapping of names to functions, or None."""
    if value is None:
        return None
    named = value.items() if isinstance(value, Mapping) else ()
    if named and all(isinstance(name, str) and callable(make) for name, make in named):
        return dict(named)
    raise TypeError(
        "cache must be a mapping of keywords to functions that return an empty cache; got"
        f" {_shown(value)}"
    )


class Part(NamedTuple):
    """Which of all heads of a layer a model has: those of one rank."""

    heads: int
    rank: int

    def first(self, local: int) -> int:
        """Return which of all heads is the first of so many on this rank."""
        if self.heads % local or (self.rank + 1) * local > self.heads:
            raise CannotTellError(
                f"rank {self.rank} of layers of {self.heads} heads is not {local} of them"
            )
        return self.rank * local


def as_part(heads: object, rank: object) -> Part | None:
    """Return which heads a model has, given how many there are and its rank, or None of both."""
    whole = None if heads is None else as_integer("heads", heads, least=1)
    own = None if rank is None else as_integer("rank", rank, least=0)
    if whole is not None and own is not None:
        return Part(whole, own)
    if whole is not None or own is not None:
        missing, given = ("rank", "heads") if own is None else ("heads", "rank")
        raise ValueError(f"{missing} must be given where {given} is; got None")
    return None


class _Heads(NamedTuple):
    """All heads that see positions: their scores, and what two of them may differ by."""

    scores: Scores  # (heads, queries, keys)
    spread: Tensor  # (heads,), how much the scores of a head differ
    noise: Tensor  # (heads,), of that, how much may be rounding
    layers: list[int]  # how many heads each layer has

    def apart(self, query: int, key: int) -> Tensor:
        """Return by how much scores with one value of query·i − key·j differ, (heads,)."""
        return _toeplitz_deviation(self.scores, query, key) / self.spread

    def depend_on(self, query: int, key: int) -> Tensor:
        """Say of each head whether its scores depend on query·i − key·j alone, (heads,)."""
        return _toeplitz_deviation(self.scores, query, key) <= self.noise


def _judge(trial: Trial, *, caches: Caches, length: int | None, part: Part | None) -> Diagnosis:
    trial.demand_three_tokens()
    tokens, run = find_scores_of(trial, trial.length)
    read = read_with_cache(trial, tokens, run, caches, length)
    if read.offset in CACHED:
        return _cached_answer(read, read.offset)
    turns = read.second.found == TURN
    if not run.found:
        found = _judge_without_scores(trial, run)
        if turns and found.status == ABSENT:  # not of a model whose states look like positions
            return _cached_answer(read, TURN)
        return replace(found, why=f"{found.why} {_read_in_words(trial, read, length, 'rows')}")
    rotated = find_rotated(trial, tokens)
    heads = _heads(trial, run.found, less_own=not rotated)
    if trial.axes:
        found = judge_axes(trial, tokens, run, read.offset)
    elif len(heads.spread):
        found = _judge_heads(trial.model, heads, rotated, part)
    else:
        why = "One token repeated has the same score with every key that it sees."
        found = answer(ABSENT, "its scores tell no positions apart", why)
    if found.status == HEALTHY and rotated and not trial.axes:
        found = replace(found, why=found.why + _axes_in_words(axes_of_text(trial, tokens)))
    if not found.ill:
        _demand_all(run, read.offset)
    if turns and found.status == HEALTHY:
        return _cached_answer(read, TURN)
    why = (
        f"{found.why} {_read_in_words(trial, read, length)}"
        if found.status == HEALTHY
        else found.why
    )
    return replace(found, why=why, measured={**found.measured, **_cached_numbers(read)})


def _cached_answer(read: Cached, found: str) -> Diagnosis:
    """Return what is wrong where tokens are cached."""
    verdict, seen, helps = CACHED[found]
    why = f"After some tokens in one call, the next were read one by one with a cache. {seen}"
    numbers = _cached_numbers(read)
    return answer(ILL, verdict, why.format(**numbers), numbers, helps)


def _cached_numbers(read: Cached) -> dict[str, float]:
    """Return what is measured with a cache."""
    cached: float = int(read.offset not in (UNTRIED, OTHER))
    numbers = {"cached": cached, **({"window": max(read.windows)} if read.windows else {})}
    if read.second.found == TURN:
        numbers |= {"token": read.second.token, "change": read.second.change}
    return numbers


def _axes_in_words(axes: int) -> str:
    """Return in a sentence that positions on so many axes were not tried, or "" for 0."""
    if not axes:
        return ""
    return (
        f" Its positions are on {axes} axes, which are alike here: what an image changes was not"
        f" tried. An example with positions, ({axes}, batch, length), tries it."
    )


SECOND = {
    KEPT: "A second call of several tokens has the outputs of a single call.",
    REFUSED: "The model refuses a second call of several tokens.",
    UNTRIED: "A second call of several tokens was not compared.",
}


def _read_in_words(trial: Trial, read: Cached, length: int | None, what: str = "scores") -> str:
    """Return in words what was tried with a cache, and which windows were not."""
    if not read.tried and len(taken_by(trial)) < 2:
        return "No cache was tried."
    if not read.tried:
        return "No cache was tried; cache= or --cache NAME=MODULE:CLASS tries one."
    second = SECOND[read.second.found]
    if read.offset != KEPT and read.second.found == KEPT:
        return f"With a cache {what} show nothing. {second}"
    if read.offset != KEPT:
        return "A cache was tried, and shows nothing."
    same = f"{second} Read one by one with a cache, tokens have the same {what}"
    if read.windows:
        sizes = " and ".join(map(str, read.windows))
        same += f", also beyond its window{'s' * (len(read.windows) > 1)} of {sizes} keys"
    elif read.reach:
        same += f"; in {read.reach} tokens no key drops out"
    if not read.reach:
        return f"{same}. No window was tried."
    if (length or math.inf) <= widest(read.reach):
        return f"{same}."
    further = "" if length else "; length= or --length reads further"
    return f"{same}. No window of more than {widest(read.reach)} keys was tried{further}."


def _judge_without_scores(trial: Trial, run: ScoreRun) -> Diagnosis:
    """Return the answer where rows differ before there are scores, or none are seen."""
    where = {meeting.where for meeting in meetings(trial, trial.length)}
    if where and not where & {BIAS, PLACES["mul"]}:
        why = (
            f"They enter {' and '.join(sorted(where))}. Scores of such tokens may depend on either"
            " position, and promise nothing about their difference."
        )
        return answer(ABSENT, "its positions are absolute", why)
    if run.rows is None:
        raise CannotTellError(
            "no scores are seen: it has no attention, or its attention hides them"
        )
    raise CannotTellError(
        "its tokens differ from place to place before there are scores, so that scores at one"
        " distance may differ for that reason"
    )


def _demand_all(run: ScoreRun, offset: str) -> None:
    """Raise if what was found is not all that there is."""
    if run.rows is not None:
        raise CannotTellError(
            "one token repeated differs from place to place after the first scores, and later"
            " scores cannot be compared"
        )
    if run.hidden:
        raise CannotTellError("a part of its attention hides its scores")
    if offset == OTHER:
        raise CannotTellError(
            "tokens that are read one by one with a cache have different scores from those in one"
            " call, though not those of one position"
        )


def _heads(trial: Trial, found: list[Scores], *, less_own: bool) -> _Heads:
    """Return all heads of all layers whose scores differ from place to place.

    `less_own` subtracts from all scores of a query that of its own key.
    """
    seen = torch.cat([one.seen for one in found])
    values = torch.cat([one.values for one in found]).masked_fill(~seen, 0)
    noise = SURE * trial.epsilon() * values.abs().amax(dim=(1, 2))
    if less_own:
        values = values - values.diagonal(dim1=1, dim2=2)[:, :, None]
    spread = _highest(values, seen) + _highest(-values, seen)
    clear = spread > noise
    if (spread[clear] < 100 * noise[clear]).any():
        raise CannotTellError("positions change its scores hardly more than rounding does")
    far = noise.maximum(1e-4 * spread)
    layers = [int(part.sum()) for part in torch.split(clear, [len(one.values) for one in found])]
    return _Heads(Scores(values[clear], seen[clear]), spread[clear], far[clear], layers)


def _highest(values: Tensor, seen: Tensor) -> Tensor:
    return values.masked_fill(~seen, -torch.inf).amax(dim=(1, 2))


def _toeplitz_deviation(scores: Scores, query: int, key: int) -> Tensor:
    """Return by how much scores with one value of query·i − key·j differ at most, (heads,)."""
    places = torch.arange(scores.values.shape[-1])
    kinds = torch.unique(query * places[:, None] - key * places, return_inverse=True)[1].flatten()
    shape = (len(scores.values), int(kinds.max()) + 1)
    flat = scores.values.masked_fill(~scores.seen, torch.nan).flatten(1)
    ends = [
        torch.full(shape, -torch.inf, dtype=flat.dtype).scatter_reduce(
            1, kinds.expand(len(flat), -1), sign * flat.nan_to_num(nan=-sign * torch.inf), "amax"
        )
        for sign in (1, -1)
    ]
    return (ends[0] + ends[1]).amax(dim=1)


def _judge_heads(
    model: nn.Module, heads: _Heads, rotated: list[Rotated], part: Part | None
) -> Diagnosis:
    """Return the answer about heads that see positions."""
    relative = heads.depend_on(1, 1)
    apart = float(heads.apart(1, 1).max())
    numbers: dict[str, float] = {"heads": len(relative), "apart": apart}
    if relative.all():
        if rotated:
            return _judge_rotations(model, heads, rotated, numbers)
        return _judge_biases(heads, numbers, part)
    for (query, key), (depends, verdict, helps) in FAULTS.items():
        others = heads.depend_on(query, key)
        if (
            rotated
            and (relative | others).all()
            and not ((query, key) == (1, 0) and _may_be_scaled(heads.scores.values[~relative]))
        ):
            why = (
                f"For one token repeated, scores at one relative position differ by {apart:.0%} of"
                f" the range of all scores of a head. They depend on {depends} alone."
            )
            return answer(ILL, verdict, why, numbers, helps)
    raise CannotTellError(
        f"scores at one relative position differ by {apart:.1%} of the range of all scores of a"
        " head, but not as by any mistake that is known here"
    )


def _may_be_scaled(values: Tensor) -> bool:
    """Say whether scores, (heads, queries, keys), of queries alone are all in proportion.

    Some models scale queries by the logarithm of how many keys there are.
    """
    sizes = torch.linalg.svdvals(values.diagonal(dim1=1, dim2=2))
    return bool(len(sizes) < 2 or sizes[1] <= 1e-3 * sizes[0])


def _judge_rotations(
    model: nn.Module, heads: _Heads, rotated: list[Rotated], numbers: dict[str, float]
) -> Diagnosis:
    """Return the answer about heads whose scores are relative, and that are rotated."""
    if any(_is_second_rotation(*two) for two in combinations(rotated, 2)):
        why = "Heads that are rotated already are rotated again, by the same angles."
        return answer(ILL, TWICE, why, numbers, ONCE)
    held = _halved_frequencies(model, rotated)
    if held:
        why = f"Per position they rotate by twice the frequencies in {held}."
        return answer(ILL, DOUBLED, why, numbers, HALVE)
    why = (
        "Of one token repeated, all scores at one relative position are equal, in"
        f" {_heads_in_words(heads)}."
    )
    return answer(HEALTHY, RELATIVE, why, numbers)


def _is_second_rotation(first: Rotated, second: Rotated) -> bool:
    """Say whether the second are the heads of the first, rotated by the same angles again."""
    if first.layout != second.layout or len(first.heads) != len(second.heads):
        return False
    count = min(first.rotary_d, second.rotary_d) // 2
    moved = first.angles[:, :count]
    again = wrapped(second.angles[:, :count] - 2 * moved).abs().max() < 1e-3
    return bool(
        again
        and moved.abs().max() > 1e-2
        and torch.allclose(
            _pair_lengths(first)[:, :count], _pair_lengths(second)[:, :count], rtol=1e-3
        )
    )


def _halved_frequencies(model: nn.Module, rotated: list[Rotated]) -> str:
    """Return the name of frequencies that the model holds and rotates by twice, or ""."""
    held = [*_held_sequences(model)]
    for one in rotated:
        step = one.angles[1].abs()  # from position 0 to 1
        if any(_fits(step, omega) for _, omega in held):
            continue
        for name, omega in held:
            if _fits(step, 2 * omega):
                return name
    return ""


def _fits(step: Tensor, omega: Tensor) -> bool:
    return step.shape == omega.shape and torch.allclose(step, omega, rtol=1e-3, atol=1e-5)


def _held_sequences(model: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """Yield every sequence of numbers that a part of a model holds, with its name."""
    for name, part in model.named_modules():
        own = {**vars(part), **part._parameters, **part._buffers}
        for key, value in own.items():
            if isinstance(value, tuple | list) and all(isinstance(x, float) for x in value):
                value = torch.tensor(value)
            if isinstance(value, Tensor) and value.ndim == 1 and value.is_floating_point():
                yield f"{name}.{key}".strip("."), value.cpu().double()


def _pair_lengths(rotated: Rotated) -> Tensor:
    """Return the length of each pair, (heads, pairs), which rotation keeps."""
    first, second = pairs(rotated.heads[:, : rotated.rotary_d], rotated.layout)
    return torch.hypot(first, second)


def _judge_biases(heads: _Heads, numbers: dict[str, float], part: Part | None) -> Diagnosis:
    """Return the answer about heads whose scores are relative, and that are not rotated."""
    slopes = [_slopes(*one) for one in zip(*heads.scores, strict=True)]
    why = (
        "Of one token repeated, all scores at one relative position are equal, in"
        f" {_heads_in_words(heads)}."
    )
    if not all(slopes):
        why += " They do not change evenly with the distance: which keys they favour is learned."
        return answer(HEALTHY, RELATIVE, why, numbers)
    near = sum(max(one) < 0 for one in slopes)
    numbers |= {"near": near}
    if near == len(slopes):
        steps = torch.split(torch.tensor([max(one) for one in slopes]), heads.layers)
        of = next(filter(None, map(_repeated_slopes, steps)), 0)
        if of:
            why = f"{why} The slopes of {of} heads are repeated in other heads of their layer, as"
            why += " where each rank counts its heads from 0."
            return answer(ILL, SHARD, why, numbers, OWN_HEADS)
        why += " They fall evenly with it: near keys are favoured."
        if part is None:
            why += " If it is the part of one rank, heads= and rank= (--heads, --rank) compare its"
            why += " slopes with those of its own heads."
            return answer(HEALTHY, RELATIVE, why, numbers)
        return _judge_part(steps, part, why, numbers)
    if near:
        raise CannotTellError(
            f"{near} of {len(slopes)} heads favour near keys, the others far ones"
        )
    return answer(ILL, FAR, f"{why} They rise evenly with it.", numbers, SIGN)


def _judge_part(
    steps: Sequence[Tensor], part: Part, why: str, numbers: dict[str, float]
) -> Diagnosis:
    """Return whether the slopes of each layer are those of the heads that it has."""
    seeing = [one for one in steps if len(one)]
    local = len(seeing[0])
    own = part.first(local), part.heads
    others = [(first, part.heads) for first in range(0, part.heads, local)]
    for first, of in (own, *others, (0, local)):
        slopes = -torch.tensor(alibi_slopes(of)[first : first + local], dtype=seeing[0].dtype)
        if all(_fits(one, slopes) for one in seeing):
            why += f" The slopes are those of heads {first} to {first + local - 1} of {of}."
            if (first, of) == own:
                return answer(HEALTHY, RELATIVE, why, numbers)
            return answer(ILL, OTHERS, why, numbers, OWN_HEADS)
    raise CannotTellError(f"its slopes are those of no rank in alibi_slopes({part.heads})")


def _repeated_slopes(slopes: Tensor) -> int:
    """Return after how many heads of a layer slopes that differ begin again, or 0."""
    for count in range(2, len(slopes) // 2 + 1):
        blocks = slopes.reshape(-1, count) if len(slopes) % count == 0 else slopes[None]
        alike = len(blocks) > 1 and torch.allclose(blocks, blocks[:1].expand_as(blocks), rtol=1e-3)
        if alike and not torch.allclose(blocks[0], blocks[0, :1], rtol=1e-3):
            return count
    return 0


def _slopes(values: Tensor, seen: Tensor) -> list[float]:
    """Return by how much scores change with each token of distance, to keys before and after.

    The list is empty if they do not change evenly; a side without keys is left out.
    """
    found = []
    for square, mask in ((values, seen), (values.T, seen.T)):
        line = [square.diagonal(-d)[mask.diagonal(-d)][:1] for d in range(len(values))]
        steps = torch.cat(line).diff()
        if len(steps) and (steps - steps[0]).abs().max() > 1e-3 * steps.abs().max():
            return []
        found += [float(steps[0])] if len(steps) else []
    return found


def _heads_in_words(heads: _Heads) -> str:
    """Return in words how many heads there are, and in how many layers."""
    count, layers = len(heads.spread), [one for one in heads.layers if one]
    if len(layers) > 1 and len(set(layers)) == 1:
        return f"{len(layers)} layers with {layers[0]} head{'s' if layers[0] > 1 else ''} each"
    of = f" of {len(layers)} layers" if len(layers) > 1 else ""
    return f"{count} head{'s' if count > 1 else ''}{of}"
