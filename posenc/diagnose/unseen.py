"""Were all positions met in training? `unseen_positions` compares a length with the trained one."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from posenc._angles import never_round, unseen_pairs
from posenc._arguments import as_base, as_integer
from posenc.diagnose.answers import (
    ABSENT,
    HEALTHY,
    ILL,
    CannotTellError,
    Diagnosis,
    ForwardError,
    answer,
)
from posenc.diagnose.ask import ask
from posenc.diagnose.collisions import comparable_length
from posenc.diagnose.drowned import sums
from posenc.diagnose.indirect import find_scores
from posenc.diagnose.labels import visible_keys
from posenc.diagnose.meetings import BIAS, Meeting, meetings
from posenc.diagnose.order import SEEING, judge_order
from posenc.diagnose.recording import by_position, paired_operations, varies
from posenc.diagnose.rotation import as_rotated, places_of, rate, rates
from posenc.diagnose.trial import Example, Trial, tokens_in_words
from posenc.frequency import frequencies
from posenc.rotary.scaling import yarn_temperature

QUESTION = "Were all positions met in training?"

Frequencies = NDArray[np.float64]


def unseen_positions(
    model: nn.Module,
    example: Example = None,
    *,
    trained: int,
    length: int,
    base: float | None = None,
    axis: int | None = None,
) -> Diagnosis:
    """Return what sequences of `length` tokens bring that sequences of `trained` tokens did not.

    In a rotary model pair i is rotated by pω_i at position p. A pair whose wavelength 2π/ω_i is at
    most `trained` has met every angle in training. A slower one has met those below trained·ω_i,
    and meets new ones from there on. Sinusoidal rows that are added behave the same way.

    The frequencies are measured: from one position to the next, in a short sequence and in one of
    `length` tokens. They may have been slowed since training, by interpolation or YaRN for example.
    Those of training are

    - those of `base`, if it is given;
    - those of the short sequence, if the long one has others, as with dynamic NTK;
    - otherwise a geometric sequence, if the first three pairs or more are on one that begins at 1,
      or the last three are on any: what departs from it is taken as set after training, unless it
      slows pairs that complete a turn as much as the others, as if for a shorter length;
    - otherwise those that are measured.

    A larger base, as NTK-aware scaling has, looks like one of training: give `base` there. Where a
    window hides distant keys, their angles count all the same.

    Rows that are added, and biases, are compared with those of the first `trained` positions or
    distances. Biases in proportion to the distance, such as ALiBi's, need not be met in training.

    Args:
        model: see `diagnose`.
        example: see `diagnose`.
        trained: how many tokens a sequence had in training; in that before its frequencies were
            scaled, if they are.
        length: how many tokens a sequence is to have.
        base: of the frequencies in training, of all if there are several sets; None to measure it.
        axis: see `diagnose`.

    Returns:
        A `Diagnosis`. Verdicts: "the sequence is not longer than in training"; "every angle was met
        in training", also with ", if its frequencies were slowed afterwards"; "… of … pairs meet
        angles that they were never trained on", ill; "all rows were met in training", or "all
        biases"; "… of … positions have rows that were never trained", or "… of … distances have
        biases …", ill; "its biases fall evenly with the distance and need no training"; "its biases
        grow with the distance", ill; "no positions reach the model", absent.
        Measured: `trained`, `length` and `unseen`, how many pairs, positions or distances are new;
        of angles also `pairs`, `slow`, how many complete no turn within `trained` tokens,
        `factor`, by how much the slowest pair is slower than in training, and `base`, if known. Of
        several sets of frequencies, the one with the most unseen angles is reported.

    Raises:
        TypeError: see `diagnose`; `trained` or `length` is not an integer, `base` not a number.
        ValueError: see `diagnose`; `trained` or `length` is below 1; `base` is below 1e-300, above
            1e300, or 1.

    Source:
        Peng et al., "YaRN" (2023), section 3.2, for pairs that complete no turn in training.

    Examples:
        >>> import torch
        >>> from posenc import nn
        >>> model = nn.GPTModel(50, 64, 64, heads=2, layers=1, pos_type="rope")
        >>> nn.unseen_positions(model, trained=64, length=128).verdict
        '11 of 16 pairs meet angles that they were never trained on'
    """
    trained = as_integer("trained", trained, least=1)
    length = as_integer("length", length, least=1)
    base = None if base is None else as_base(base)
    judge = partial(_judge, asked=_Lengths(trained, length), base=base)
    return ask(QUESTION, judge, model, example, axis=axis)


class _Lengths(NamedTuple):
    """How many tokens a sequence had in training, and how many it is to have."""

    trained: int
    length: int


def _judge(trial: Trial, *, asked: _Lengths, base: float | None) -> Diagnosis:
    if asked.length <= asked.trained:
        why = f"{tokens_in_words(asked.length)} are no more than the {asked.trained} in training."
        return answer(HEALTHY, "the sequence is not longer than in training", why, asked._asdict())
    trial.demand_three_tokens()
    short = rates(trial, trial.length)
    if short:
        sets = _pairs_as_trained(short, _rates_at(trial, asked.length, short), base)
        return _worst_diagnosis([_judge_angles(one, asked, SLOWED) for one in sets])
    waves = _waves(trial)
    if waves:
        sets = _pairs_as_trained(waves, waves, base)
        return _worst_diagnosis([_judge_angles(one, asked, DIVIDED) for one in sets])
    return _judge_others(trial, asked)


# Angles

SLOWED = (
    "divide the frequencies of the pairs that complete no turn by {factor:g}. Without training, use"
    ' yarn_frequencies({d}, {factor:g}, {trained}, base={base:.10g}, ramp="pairs"), and multiply'
    " queries and keys by yarn_temperature({factor:g}) = {temperature:.4g};"
    " ntk_frequencies({d}, {factor:g}, base={base:.10g}) is simpler, but helps less with large"
    " factors. With some training, use interpolated_frequencies({d}, {factor:g},"
    " base={base:.10g}). Then ask again, with base={base:.10g}."
)
DIVIDED = (
    "divide positions by {factor:g}, and train a little, or train on sequences of {length} tokens."
)
WITHOUT_BASE = "divide the frequencies of these pairs by {factor:g}, and train a little."


class _Pairs(NamedTuple):
    """The frequencies of a set of pairs, now and in training."""

    now: Frequencies
    trained: Frequencies
    base: float | None  # None if those of training fit no base
    assumed: bool  # whether they are taken to have been scaled since training


def _rates_at(trial: Trial, length: int, short: list[Tensor]) -> list[Tensor]:
    """Return the frequencies in a sequence of this length, given those in a short one.

    They are taken to be the same where the model does not read so many tokens: its table may end
    before, which `longest_input` tells.
    """
    if length <= trial.length:
        return short
    try:
        # A model may compute frequencies when it first reads so many tokens, and not again. Then
        # its operations differ from run to run, and nothing is found at first.
        return rates(trial, length) or rates(trial, length)
    except ForwardError:
        return short


def _waves(trial: Trial) -> list[Tensor]:
    """Return the frequencies of each table of sinusoids that is added to tokens."""
    tables = [as_rotated(rows[None], trial, len(rows)) for _, rows in sums(trial)]
    return [rate(one.angles, places_of(len(one.angles))) for one in tables if one]


def _pairs_as_trained(short: list[Tensor], long: list[Tensor], base: float | None) -> list[_Pairs]:
    """Return sets of pairs, given their frequencies in a short and in a long sequence."""
    if [x.shape for x in short] != [x.shape for x in long]:
        raise CannotTellError("a long sequence and a short one rotate different pairs")
    return [_pairs(x.numpy(), y.numpy(), base) for x, y in zip(short, long, strict=True)]


def _pairs(short: Frequencies, long: Frequencies, base: float | None) -> _Pairs:
    if base is None and not _is_close(short, long):
        return _Pairs(long, short, _base_of(short), assumed=False)
    known = base or _base_of(short)
    trained = short if known is None else frequencies(2 * len(short), base=known)
    return _Pairs(long, trained, known, assumed=base is None and not _is_close(long, trained))


def _is_close(x: Frequencies, y: Frequencies) -> bool:
    return bool(np.allclose(x, y, rtol=1e-4, atol=0))


def _base_of(omega: Frequencies) -> float | None:
    """Return the base of a geometric sequence that the first or the last pairs follow, or None.

    The first follow it if the sequence begins at 1, as in YaRN, which keeps fast pairs; the last
    if they are slowed alike, as by interpolation. Three pairs show it.
    """
    steps = -np.diff(np.log(omega))
    step = (abs(omega[0] - 1) < 1e-4 and _first_step(steps)) or _first_step(steps[::-1])
    return float(f"{math.exp(step * len(omega)):.6g}") if step > 1e-5 else None


def _first_step(steps: Frequencies) -> float:
    """Return the step that the first two or more have in common, or 0."""
    same = np.append(np.abs(steps - steps[:1]) < 1e-5, False)
    alike = int(same.argmin())
    return float(steps[:alike].mean()) if alike > 1 else 0.0


def _judge_angles(pairs: _Pairs, asked: _Lengths, remedy: str) -> Diagnosis:
    """Return the answer about a set of pairs."""
    trained, length = asked
    factors, slow = _factors(pairs), never_round(pairs.trained, trained)
    # YaRN and Llama 3 never slow a pair that completed a turn in training by the whole factor, and
    # they keep the fastest.
    if (
        pairs.assumed
        and factors[0] == 1
        and np.isclose(factors, factors[-1], rtol=1e-4)[~slow].any()
    ):
        return _judge_angles(pairs._replace(trained=pairs.now, assumed=False), asked, remedy)
    new = unseen_pairs(pairs.trained, factors, trained=trained, length=length)
    unseen = np.flatnonzero(new)
    numbers: dict[str, float] = {
        **asked._asdict(),
        "pairs": len(slow),
        "slow": int(slow.sum()),
        "unseen": len(unseen),
        "factor": float(factors[-1]),
        **({} if pairs.base is None else {"base": pairs.base}),
    }
    why = f"{_frequencies(pairs)} {_slow(slow, trained)}"
    if not len(unseen):
        may_be_slow = pairs.assumed and bool(never_round(pairs.now, trained).any())
        condition = ", if its frequencies were slowed afterwards" if may_be_slow else ""
        why += (
            f" In {length} tokens no pair goes beyond its angles in training." if slow.any() else ""
        )
        return answer(HEALTHY, f"every angle was met in training{condition}", why, numbers)
    reach = ", ".join(
        f"pair {i} reaches {(length - 1) * pairs.now[i]:.3g} rad (in training it stayed below"
        f" {trained * pairs.trained[i]:.3g})"
        for i in dict.fromkeys([unseen[0], unseen[-1]])
    )
    verdict = f"{len(unseen)} of {len(slow)} pairs meet angles that they were never trained on"
    why += f" In {length} tokens {reach}."
    factor = math.ceil(100 * length / trained) / 100
    helps = (remedy if _has_base(pairs) else WITHOUT_BASE).format(
        d=2 * len(slow),
        factor=factor,
        temperature=yarn_temperature(factor),
        base=pairs.base,
        **asked._asdict(),
    )
    return answer(ILL, verdict, why, numbers, helps)


def _factors(pairs: _Pairs) -> Frequencies:
    """Return by how much each pair is slower than in training."""
    return np.array([_nearest_fraction(x) for x in pairs.trained / pairs.now])


def _has_base(pairs: _Pairs) -> bool:
    """Say whether the frequencies of training are those of the base."""
    if pairs.base is None:
        return False
    return _is_close(pairs.trained, frequencies(2 * len(pairs.trained), base=pairs.base))


def _frequencies(pairs: _Pairs) -> str:
    """Return in a sentence which frequencies these are."""
    if pairs.base is None:
        return "Its frequencies fit no base, and are taken to be those of training."
    plain = frequencies(2 * len(pairs.now), base=pairs.base)
    factor = _nearest_fraction(float(plain[-1] / pairs.now[-1]))
    slower = "" if factor == 1 else f", the slowest divided by {factor:.4g}"
    before = "" if _has_base(pairs) else ", for a shorter length than that of training"
    return f"Its frequencies are those of base {pairs.base:,.10g}{slower}{before}."


def _slow(slow: NDArray[np.bool_], trained: int) -> str:
    """Return in a sentence how many pairs complete no turn within so many tokens."""
    if not slow.any():
        return f"All {len(slow)} pairs complete a turn within {trained} tokens."
    return f"{slow.sum()} of {len(slow)} pairs complete no turn within {trained} tokens."


def _nearest_fraction(factor: float) -> float:
    """Return the fraction of small numbers that a measured factor stands for, if one is near."""
    near = float(Fraction(factor).limit_denominator(64))
    return near if abs(factor - near) < 2e-5 * factor else factor


def _worst_diagnosis(found: list[Diagnosis]) -> Diagnosis:
    return max(found, key=lambda one: one.measured["unseen"])


# Rows and biases

TABLE = (
    "train on longer sequences, feed shorter ones, or interpolate the table"
    " (LearnedPositionalEmbedding.resized) and train a little."
)
LONGER_SEQUENCES = "train on longer sequences, or use biases that are not trained, such as ALiBi's."
LINEAR = (
    "With every token of distance a bias falls by the same amount, beyond the trained length as"
    " before. ALiBi's biases do so, and models with them kept their perplexity where it was"
    " measured."
)
RISING = "With every token of distance a bias rises: the farther the key, the larger its score."
SIGN = "make its biases fall with the distance, as −slope·|query − key| does."
NOTHING = (
    "Nothing that depends on positions alone meets the tokens, so there is nothing new. How well"
    " longer sequences are read is another question."
)


def _judge_others(trial: Trial, asked: _Lengths) -> Diagnosis:
    """Return the answer where no angles are found."""
    length = comparable_length(trial, asked.length)
    if length <= asked.trained:
        raise CannotTellError(
            f"no sequence of more than {tokens_in_words(asked.trained)} could be compared"
        )
    met = meetings(trial, length)
    mingled = [] if met else find_scores(trial, length).scores
    if not met and not mingled:
        return _judge_without_positions(trial)
    kinds = met or [Meeting(BIAS, 2, labels) for labels in mingled]
    unseen, where = max((_unseen(one, asked.trained), one.where) for one in kinds)
    kind, places = ("biases", "distances") if where == BIAS else ("rows", "positions")
    numbers = {"trained": asked.trained, "length": length, "unseen": unseen}
    if not unseen:
        why = f"The {kind} of {length} {places} all occur among the first {asked.trained}, {where}."
        return answer(HEALTHY, f"all {kind} were met in training", why, numbers)
    if mingled:
        raise CannotTellError("positions are mingled with tokens in its scores, and may be new")
    slopes = _slopes(trial) if where == BIAS else []
    if slopes and max(slopes) < 0:
        return answer(ILL, "its biases grow with the distance", RISING, numbers, SIGN)
    if slopes:
        verdict = "its biases fall evenly with the distance and need no training"
        return answer(HEALTHY, verdict, LINEAR, numbers)
    verdict = f"{unseen} of {length} {places} have {kind} that were never trained"
    why = f"They are equal to none of the first {asked.trained}, {where}."
    return answer(ILL, verdict, why, numbers, LONGER_SEQUENCES if where == BIAS else TABLE)


def _judge_without_positions(trial: Trial) -> Diagnosis:
    if judge_order(trial).verdict in SEEING:
        raise CannotTellError("order reaches the model, but not where positions meet tokens")
    return answer(ABSENT, "no positions reach the model", NOTHING)


def _unseen(meeting: Meeting, trained: int) -> int:
    """Return how many positions, or distances, are equal to none of the first in a meeting."""
    labels = meeting.labels[meeting.labels >= 0]  # others are hidden
    labels = labels if meeting.axes == 1 else labels.flip(0)  # from the nearest key to the farthest
    return int((~torch.isin(labels[trained:], labels[:trained])).sum())


def _slopes(trial: Trial) -> list[float]:
    """Return how far biases fall with every token of distance, if all change evenly, or []."""
    tokens = trial.repeated(trial.length)
    other = trial.other(tokens[:, :1]).repeat_interleave(trial.length, dim=1)
    biases = [
        -rows if name == "sub" and x is given[-1] else rows
        for name, given, changed in paired_operations(trial, tokens, other, _score_operands)
        for x in _position_operands(given, changed)
        if varies(rows := _biases_by_distance(x, trial.length).cpu().double())
    ]
    even = all(_has_equal_steps(rows) for rows in biases)
    return [step for rows in biases for step in (rows[1] - rows[0]).tolist()] if even else []


def _score_operands(name: str, given: list[Tensor]) -> list[Tensor]:
    """Return the arguments of an operation that may add biases to scores."""
    return given if name in ("add", "sub", "baddbmm") or "attention" in name else []


def _position_operands(given: list[Tensor], changed: list[Tensor]) -> list[Tensor]:
    """Return those of an operation's arguments that depend on positions alone, if others do not."""
    same = [torch.equal(x, y) for x, y in zip(given, changed, strict=True)]
    return [] if all(same) else [x for x, equal in zip(given, same, strict=True) if equal]


def _biases_by_distance(x: Tensor, length: int) -> Tensor:
    """Return the biases of one query, (key, …), given those of all queries or of one."""
    axes = [axis for axis, size in enumerate(x.shape) if size == length]
    if len(axes) == 2:
        return visible_keys(x.movedim(axes, (0, 1)).reshape(length, length, -1))[1]
    return by_position(x, length)


def _has_equal_steps(biases: Tensor) -> bool:
    """Say whether rows, (key, …), have equal differences, up to rounding."""
    steps = biases.diff(dim=0)
    return bool((steps - steps[:1]).abs().max() <= 1e-4 * steps.abs().max())
