"""What a model rotates: heads whose pairs of dimensions keep their length at every position."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from posenc.diagnose.answers import CannotTellError
from posenc.diagnose.recording import by_position, paired_operations, varies
from posenc.diagnose.trial import SURE, Trial

PAIRS = {"interleaved": "dimensions 2i and 2i + 1", "half": "dimensions i and i + d/2"}
NEAR = 16  # of a long sequence, so many positions are kept at its start, and the last one
WIDEST = 1024  # wider than any head: what is wider in a long sequence may be scores


class Rotated(NamedTuple):
    """Heads that are rotated: in which layout, in how many dimensions, and how far."""

    layout: str
    rotary_d: int  # how many dimensions are in pairs
    heads: Tensor  # (heads, d), at position 0, where a rotation changes nothing
    angles: Tensor  # (positions, rotary_d/2), since position 0, from −π to π
    turning: tuple[int, ...]  # the pairs that rotate; others are paired and stand still


def find_rotated(trial: Trial, tokens: Tensor, places: Tensor | None = None) -> list[Rotated]:
    """Return everything that is rotated, given one token repeated.

    `places` are the positions to look at, in a long sequence; None for all.

    Raises:
        CannotTellError: positions are factors of what depends on tokens, and nothing is rotated.
    """
    length = tokens.shape[1]
    other = trial.other(tokens[:, :1]).repeat_interleave(length, dim=1)
    found: list[Rotated] = []
    unclear = False
    select = partial(_heads_or_factors, length) if places is None else partial(_rows_at, places)
    for name, given, changed in paired_operations(trial, tokens, other, select):
        by_token = [not torch.equal(x, y) for x, y in zip(given, changed, strict=True)]
        for x, depends in zip(given, by_token, strict=True):
            if depends:
                rotated = as_rotated(x, trial, length if places is None else len(places))
                found += [rotated] if rotated else []
            elif name == "mul" and any(by_token) and x.shape.count(length) == 1:
                unclear |= varies(by_position(x, length))
    if unclear and not found:
        raise CannotTellError(
            "positions are multiplied into what depends on tokens, but no rotation is seen, as"
            " where they are added to the tokens as well"
        )
    return found


def _heads_or_factors(length: int, name: str, given: list[Tensor]) -> list[Tensor]:
    """Return the arguments that may be rotated, and all factors of products."""
    return [x for x in given if name == "mul" or _may_be_heads(x, length)]


def _rows_at(places: Tensor, name: str, given: list[Tensor]) -> list[Tensor]:
    """Return these positions of the arguments that may be rotated."""
    length = int(places[-1]) + 1
    heads = (x for x in given if _may_be_heads(x, length) and x.shape[-1] <= WIDEST)
    return [x[..., places.to(x.device), :] for x in heads]


def _may_be_heads(x: Tensor, length: int) -> bool:
    """Say whether these may be heads, (…, length, d), of two pairs or more."""
    return (
        x.ndim >= 3
        and x.shape[-2] == length
        and x.shape[-1] >= 4
        and x.shape[-1] % 2 == 0
        and not x.is_complex()
    )


def as_rotated(x: Tensor, trial: Trial, length: int) -> Rotated | None:
    """Return how a tensor, (…, length, d), is rotated from position to position, if it is.

    It is if every pair of dimensions keeps its length, and what is in no pair does not change.
    """
    if not _may_be_heads(x, length):
        return None
    heads = x.cpu().double().reshape(-1, length, x.shape[-1])
    size = float(heads.abs().max())
    moved_by = (heads - heads[:, :1]).abs().amax(dim=(0, 1))
    moves = (moved_by > 1e-6 * size).tolist()
    if not any(moves):
        return None
    # A pair of dimensions that stands still does so to the last bits, however slow others are.
    still = (1e-12 if heads.dtype == x.dtype else 1e-6) * size
    # Unless it is rotated, what moves by m changes its squared length by about size·m.
    slack = max(1e-4, SURE * trial.epsilon()) * size * float(moved_by.max())
    for layout, rotary_d, width in _pairings(moves):
        if any(moves[rotary_d:]):
            continue
        first, second = pairs(heads[..., :width], layout)
        squared = first**2 + second**2
        if _largest(squared - squared[:, :1]) <= slack:
            angles = _angles(first, second)[:, : rotary_d // 2]
            turns = torch.maximum(*pairs(moved_by[:rotary_d], layout)) > still
            turning = tuple(turns.nonzero().flatten().tolist())
            return Rotated(layout, rotary_d, heads[:, 0], angles, turning)
    return None


def _pairings(moves: list[bool]) -> list[tuple[str, int, int]]:
    """Return the pairings to try, given which dimensions move.

    Each is a layout, how many dimensions are rotated, and how many are paired.
    """
    d = len(moves)
    last = max(place for place, moved in enumerate(moves) if moved) // 2 * 2 + 2
    return [
        ("interleaved", last, d),
        *(("half", rotary_d, rotary_d) for rotary_d in range(d, 3, -2)),
    ]


def pairs_in_words(turning: Sequence[int]) -> str:
    """Return the numbers of pairs in words.

    Examples:
        >>> pairs_in_words(range(4)), pairs_in_words((1, 5)), pairs_in_words(())
        ('pairs 0 to 3', 'pairs 1, 5', 'no pairs')
    """
    if len(turning) > 1 and turning[-1] - turning[0] < len(turning):
        return f"pairs {turning[0]} to {turning[-1]}"
    return f"pairs {', '.join(map(str, turning))}" if turning else "no pairs"


def pairs(x: Tensor, layout: str) -> tuple[Tensor, ...]:
    """Return the first and the second dimension of every pair."""
    return (x[..., 0::2], x[..., 1::2]) if layout == "interleaved" else x.chunk(2, dim=-1)


def _largest(x: Tensor) -> float:
    return float(x.abs().max()) if x.numel() else 0.0


# How fast


def _angles(first: Tensor, second: Tensor) -> Tensor:
    """Return by how far pairs, (heads, positions, pairs), are rotated since position 0."""
    z = torch.complex(first, second)
    return (z * z[:, :1].conj()).sum(dim=0).angle()


def rates(trial: Trial, length: int) -> list[Tensor]:
    """Return how far each pair rotates per position, in a sequence of this length.

    One tensor, (pairs,), for each set of frequencies in the model, in radians. Pairs that do not
    rotate are left out.

    Raises:
        CannotTellError: see `find_rotated`; angles are not proportional to positions.
        ForwardError: the model does not read so many tokens.
    """
    places = places_of(length)
    short = len(places) == length
    found = find_rotated(trial, trial.repeated(length), None if short else places)
    kept: list[Tensor] = []
    for rotated in found:
        omega = rate(rotated.angles, places)
        if not any(_has_equal_lengths(omega, other) for other in kept):
            kept.append(omega)
    return kept


def places_of(length: int) -> Tensor:
    """Return the positions to look at in a sequence: the first ones, and the last."""
    return torch.tensor([*range(min(NEAR, length - 1)), length - 1])


def rate(angles: Tensor, places: Tensor) -> Tensor:
    """Return how far each pair rotates per position, (pairs,), without those that do not.

    Raises:
        CannotTellError: the angles, (positions, pairs), are not proportional to the positions.
    """
    neighbours = angles[:-1]  # the last may be far
    omega = wrapped(neighbours.diff(dim=0)).mean(dim=0)
    far = wrapped(angles - places[:, None] * omega).abs().max()
    if far > 0.05 + 1e-6 * int(places[-1]):  # radians; the last digit of float32 counts
        raise CannotTellError("its angles are not proportional to the positions")
    return omega.abs()[omega.abs() > 1e-12]


def wrapped(angles: Tensor) -> Tensor:
    """Return angles from −π to π."""
    return torch.remainder(angles + math.pi, 2 * math.pi) - math.pi


def _has_equal_lengths(x: Tensor, y: Tensor) -> bool:
    return x.shape == y.shape and torch.allclose(x, y, rtol=1e-4, atol=0.0)
