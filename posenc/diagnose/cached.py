"""Tokens read after others, with a cache: do their positions go on from those that are cached?"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from itertools import count, pairwise
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor

from posenc.diagnose.answers import CannotTellError, ForwardError
from posenc.diagnose.indirect import one_token
from posenc.diagnose.operations import suppressed
from posenc.diagnose.outputs import comparable, output_tensors
from posenc.diagnose.scores import ScoreRun, Scores
from posenc.diagnose.trial import SURE, Trial

# For each keyword of `forward` that takes a cache, what makes an empty one. None: the model makes
# its own, and returns it.
Caches: TypeAlias = Mapping[str, Callable[[], Any]] | None

STEPS = 2  # so many tokens are read one by one, after those before them in one call
FEWEST = 2  # after fewer, too little is cached to tell where positions begin
REACHES = (512, 128, 32)  # so many tokens are read to see whether a key drops out, or fewer
CROSSING = (range(-2, 5), range(3, 5))  # places that are read one by one, counted from a window

KEPT, LOST, AHEAD, EVICTED, OTHER = "kept", "lost", "ahead", "evicted", "other"
UNTRIED, REFUSED, TURN = "untried", "refused", "turn"
FIRST_FOUND = (LOST, AHEAD, EVICTED, OTHER, KEPT)


class Second(NamedTuple):
    """What a second call of several tokens shows, after a first one."""

    found: str = UNTRIED  # `KEPT`, `TURN`, `REFUSED` or `UNTRIED`: see `_second_call`
    token: int = 0  # the first whose output differs from that in one call
    change: float = 0.0  # by how much, at most


class Cached(NamedTuple):
    """What reading with a cache shows."""

    offset: str  # see `read_with_cache`
    tried: bool = False  # whether a cache took a token
    reach: int = 0  # of so many tokens it was seen whether keys drop out
    windows: tuple[int, ...] = ()  # after how many keys, of a layer or of its cache, some do
    second: Second = Second()


def read_with_cache(
    trial: Trial, tokens: Tensor, whole: ScoreRun, caches: Caches, length: int | None = None
) -> Cached:
    """Return whether positions go on where some tokens are cached, in one token repeated.

    They are `KEPT`; `LOST` if all new tokens stand at one position; `AHEAD` if each stands one
    position too far; `EVICTED` if they are kept until a cache drops keys, and not after that;
    `OTHER` than in one call in another way; or `UNTRIED` if no cache could be used, or shows
    nothing. Windows are sought among so many keys as `length` says, and among 512 at least.

    Raises:
        ForwardError: the model does not take the caches that are given.
        CannotTellError: the model leaves them empty, and returns none.
    """
    # One row more than those of the steps is compared, and none that a window has hidden keys from.
    seen = [int(scores.seen[:, -1].sum(dim=1).min()) for scores in whole.found]
    first = min([tokens.shape[1], *seen]) - STEPS - 1
    if tokens.shape[1] < FEWEST + STEPS + 1:
        return Cached(UNTRIED)
    try:
        steps = [*_steps(trial, tokens, range(first, first + STEPS), caches)] if first > 1 else []
        reach, windows = _windows(trial, caches, length or 0) if whole.found else (0, ())
    except ForwardError:
        if caches:
            raise
        return Cached(UNTRIED)
    found = {_offset_of_rows(whole, steps, first), *_offsets_of_scores(trial, whole, steps, first)}
    if not found & {LOST, AHEAD}:
        found |= {one for window in windows for one in _past_window(trial, window, caches)}
    offset = next((one for one in FIRST_FOUND if one in found), UNTRIED)
    asks = bool(steps) and offset in (KEPT, UNTRIED)
    second = _second_call(trial, tokens.shape[1], first, caches) if asks else Second()
    return Cached(offset, bool(steps or reach), reach, windows, second)


def _steps(
    trial: Trial, tokens: Tensor, places: range, caches: Caches, *, rows: bool = True
) -> Iterator[ScoreRun]:
    """Yield the run of the token at each of these places, after those before them in one call."""
    reading = _read(trial, tokens, [0, *places, places.stop], caches)
    next(reading)
    for _ in places:
        with ScoreRun(1, None, () if rows else None) as step:
            ended = next(reading, reading) is reading
        if ended:
            return
        yield step


def _read(trial: Trial, tokens: Tensor, cuts: list[int], caches: Caches) -> Iterator[Any]:
    """Yield what the model returns for the tokens between each two cuts, given those before them.

    Nothing more is yielded where there is no cache to go on with.
    """
    given = {name: make() for name, make in (caches or {}).items()}
    beside = ""  # the name of the cache that is returned beside the logits
    for start, stop in pairwise(cuts):
        if start and not given:
            return
        said = trial.call(tokens[:, start:stop], **given, **trial.places(start, stop))
        given |= _returned_cache(trial, said)
        if not start and caches and _stay_empty(given, caches):
            beside = next(iter(caches))
        if beside:
            given[beside] = _cache_beside_logits(said, beside)
        yield said


def _stay_empty(given: dict[str, Any], caches: Mapping[str, Callable[[], Any]]) -> bool:
    """Say whether all caches are as they were made, so that the model does not fill them."""
    with suppressed():  # a cache that refers to itself has no end
        return all(_is_as(given[name], make()) for name, make in caches.items())
    return False


def _is_as(used: Any, fresh: Any) -> bool:
    """Say whether a used cache, or a part of one, is equal to a fresh one."""
    if type(used) is not type(fresh):
        return False
    if isinstance(used, Tensor):
        return torch.equal(used, fresh)
    if isinstance(used, Mapping):
        return used.keys() == fresh.keys() and all(_is_as(used[key], fresh[key]) for key in used)
    if isinstance(used, list | tuple):
        return len(used) == len(fresh) and all(map(_is_as, used, fresh))
    if hasattr(used, "__dict__"):
        return _is_as(vars(used), vars(fresh))
    return bool(used == fresh)


def _cache_beside_logits(output: Any, name: str) -> Any:
    """Return the one thing after the logits that holds tensors, as (logits, cache) has it."""
    others = output[1:] if isinstance(output, list | tuple) else ()
    found = [x for x in others if not isinstance(x, Tensor) and output_tensors(x)]
    if len(found) == 1:
        return found[0]
    raise CannotTellError(
        f"the cache that was given stayed empty: the model does not fill what {name} is given, and"
        f" returns no cache as (logits, cache), nor one that is named {name}"
    )


def _returned_cache(trial: Trial, output: Any) -> dict[str, Any]:
    """Return what a model returns under the name of one of its arguments, to be given back."""
    named = output if isinstance(output, Mapping) else getattr(output, "__dict__", {})
    taken = taken_by(trial)
    own = {trial.keyword, *taken[:1]}
    return {
        name: value
        for name, value in named.items()
        if name in taken and name not in own and value is not None
    }


def taken_by(trial: Trial) -> list[str]:
    """Return the names of all arguments of `forward`; none where it has no signature."""
    with suppressed():  # as what is not written in Python
        return [*inspect.signature(trial.model.forward).parameters]
    return []


def _second_call(trial: Trial, length: int, first: int, caches: Caches) -> Second:
    """Return whether several tokens, read in a second call, have the outputs of a single call.

    They are `KEPT`; `REFUSED`; or a `TURN` that is wrong, though the same tokens, read one by one
    after the same first call, have those outputs. Where they do not, nothing is compared.
    """
    stop = first + STEPS + 1
    with suppressed():
        tokens = trial.tokens(1, length)
        whole = _rows_of([trial.call(tokens)], length)[first:stop]
        _, *singles = _read(trial, tokens, [0, *range(first, stop + 1)], caches)
        far = SURE * trial.epsilon() * float(whole.abs().max())
        if not _near(_rows_of(singles, 1), whole, far):
            return Second()
        try:
            _, said = _read(trial, tokens, [0, first, stop], caches)
        except ForwardError:
            return Second(REFUSED)
        apart = (_rows_of([said], stop - first) - whole).abs().amax(dim=1)
        if float(apart.max()) <= far:
            return Second(KEPT)
        if float(apart.max()) > SURE * far:
            return Second(TURN, first + int((apart > far).nonzero()[0]), float(apart.max()))
    return Second()


def _rows_of(outputs: list[Any], tokens: int) -> Tensor:
    """Return a row for each of so many tokens in each output, (tokens, width)."""
    empty = torch.empty(1, tokens)
    return torch.cat([comparable(empty, x)[0].reshape(tokens, -1) for x in outputs])


def _offset_of_rows(whole: ScoreRun, steps: list[ScoreRun], first: int) -> str:
    """Return where rows of positions begin that are added to tokens."""
    if whole.rows is None or not steps:
        return UNTRIED
    rows, far = whole.rows, 1e-5 * float(whole.rows.abs().max())
    if any(_near(row, rows[0], far) for row in rows[first : first + STEPS + 1]):
        return UNTRIED
    for offset, expected in (
        (KEPT, rows[first:]),
        (LOST, rows[:1].expand(STEPS, -1)),
        (AHEAD, rows[first + 1 :]),
    ):
        seen = zip(expected, steps, strict=False)
        if all(_is_among(row, step.single, far) for row, step in seen):
            return offset
    return UNTRIED


def _is_among(row: Tensor, others: list[Tensor], far: float) -> bool:
    return any(row.shape == other.shape and _near(row, other, far) for other in others)


def _near(x: Tensor, y: Tensor, far: float) -> bool:
    return float((x - y).abs().max()) <= far


def _offsets_of_scores(
    trial: Trial, whole: ScoreRun, steps: list[ScoreRun], first: int
) -> Iterator[str]:
    """Yield for each attention where the positions of its queries begin."""
    for scores, single in _paired(whole, steps):
        rows = [_visible(one, 0) for one in single]
        if [row.shape[1] for row in rows] == [*range(first + 1, first + STEPS + 1)]:
            yield _offset_of_scores(trial, scores, [row[:, :first] for row in rows])


def _paired(whole: ScoreRun, steps: list[ScoreRun]) -> Iterator[tuple[Scores, list[Scores]]]:
    """Yield the scores of each attention in one call, and those in each of the steps."""
    if not steps or any(step.attentions != whole.attentions for step in steps):
        return
    found = [dict(zip(step.places, step.found, strict=True)) for step in steps]
    for place, scores in zip(whole.places, whole.found, strict=True):
        single = [one[place] for one in found if place in one]
        if [len(one.values) for one in single] == [len(scores.values)] * len(steps):
            yield scores, single


def _visible(scores: Scores, query: int) -> Tensor:
    """Return the scores of a query with all keys that some head sees, (heads, keys)."""
    return scores.values[:, query, scores.seen[:, query].any(dim=0)]


def _offset_of_scores(trial: Trial, whole: Scores, rows: list[Tensor]) -> str:
    """Return where the positions of queries begin, given the scores of each with the first keys."""
    first = rows[0].shape[1]
    # What all scores of a query have in common has no effect on its attention.
    steps = torch.stack([row - row[:, :1] for row in rows])
    expected = whole.values[:, first : first + STEPS + 1, :first].transpose(0, 1)
    expected = expected - expected[..., :1]
    if not _is_clear(trial, whole, torch.cat([steps, expected])):
        return UNTRIED
    far = 1e-3 * float(steps.abs().max().maximum(expected.abs().max()))
    if _near(steps, expected[:STEPS], far):
        return KEPT
    if _near(steps[0], steps[-1], far):
        return LOST
    return AHEAD if _near(steps, expected[1:], far) else OTHER


def _is_clear(trial: Trial, whole: Scores, differences: Tensor) -> bool:
    """Say whether differences of scores are finite, and larger than rounding could make them."""
    size = float(whole.values.masked_fill(~whole.seen, 0).abs().max())
    clear = float(differences.abs().max()) > 100 * SURE * trial.epsilon() * size
    return clear and bool(differences.isfinite().all())


# Where keys drop out


def widest(reach: int) -> int:
    """Return up to how many keys a window is found where so many tokens are read."""
    return reach - CROSSING[0].stop - 1


def _windows(trial: Trial, caches: Caches, length: int) -> tuple[int, tuple[int, ...]]:
    """Return how many tokens were read, and to how many keys the last of them is attending.

    Those that are attending to all are left out. If no cache can be used, or its scores are not
    those of as many heads, 0 tokens were read.
    """
    asked = {2 * length - widest(length), length}  # in the first, windows of this length are found
    for reach in sorted({*REACHES, *(n for n in asked if n > REACHES[-1])}, reverse=True):
        with suppressed():
            tokens = trial.tokens(1, reach)
            step = [*_steps(trial, tokens, range(reach - 1, reach), caches, rows=False)]
            if not step:
                return 0, ()
            whole = ScoreRun(reach, reach, None, last=1)
            with whole:
                trial.call(tokens)
            pairs = [(one, single[0]) for one, single in _paired(whole, step)]
            if not pairs:
                return 0, ()
            counts = {_visible(one, -1).shape[1] for pair in pairs for one in pair}
            return reach, tuple(n for n in sorted(counts) if FEWEST < n <= widest(reach))
    return 0, ()


def _past_window(trial: Trial, window: int, caches: Caches) -> Iterator[str]:
    """Yield for each attention where positions go once there are more keys than a window holds.

    Tokens are read one by one until there are, and again after more than those in one call.
    """
    # No size of the model, since another axis than that of tokens might be as long.
    length = next(n for n in count(window + CROSSING[0].stop + 1) if n not in trial.sizes)
    tokens, known = one_token(trial, length)
    whole = ScoreRun(length, length, known, last=length - window - CROSSING[0].start)
    with whole:
        trial.call(tokens)
    crossed: list[list[tuple[Scores, dict[int, Scores]]]] = []
    for crossing in CROSSING:
        places = range(window + crossing.start, window + crossing.stop)
        pairs = _paired(whole, [*_steps(trial, tokens, places, caches)])
        crossed += [[(one, dict(zip(places, steps, strict=True))) for one, steps in pairs]]
    for (scores, across), (_, beyond) in zip(*crossed, strict=False):
        yield _offset_past_window(trial, scores, across, beyond)


def _offset_past_window(
    trial: Trial, whole: Scores, across: dict[int, Scores], beyond: dict[int, Scores]
) -> str:
    """Return where positions go, given the scores of the query at each place."""
    found = [_agrees(trial, whole, place, step) for place, step in across.items()]
    found += [_agrees(trial, whole, place, step) for place, step in beyond.items()]
    if None in found:
        return UNTRIED
    if all(found):
        return KEPT
    if all(_agrees(trial, whole, place + 1, step) for place, step in across.items()):
        return AHEAD
    return EVICTED if found[0] else OTHER


def _agrees(trial: Trial, whole: Scores, place: int, step: Scores) -> bool | None:
    """Say whether a query has the scores that it has in one call, or None where all are alike.

    Of the one call, the scores of the last queries are enough.

    A cache may hold its keys in a ring, beginning anywhere. Where it holds fewer than a query sees
    in one call, it may have kept some far ones, and numbered them anew: the nearer half counts.
    """
    held, expected = _visible(step, 0), _visible(whole, place - whole.values.shape[-1])
    size, most = held.shape[1], expected.shape[1]
    nearest = expected[:, -((size + 1) // 2) if size < most else 0 :]
    nearest = nearest - nearest[:, -1:]
    if not _is_clear(trial, whole, nearest):
        return None
    far = 1e-3 * float(nearest.abs().max())
    rings = (held.roll(turn, dims=1) for turn in range(size if size == most else 1))
    ends = (ring[:, -nearest.shape[1] :] for ring in rings)
    return any(_near(end - end[:, -1:], nearest, far) for end in ends)
