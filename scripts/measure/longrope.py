"""LongRoPE's divisors, one for each pair, found by a small evolutionary search.

As in the paper, the search starts from the divisors of other rules; divisors lie between 1 and 1.25
times the factor, in steps of 0.01, and never fall from a pair to the next, slower one. It is far
smaller than the paper's: the constants below against a population of 64 over 40 rounds.

Ding et al., "LongRoPE: Extending LLM Context Window Beyond 2 Million Tokens" (2024), section 3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from posenc import frequencies, interpolated_frequencies, ntk_frequencies, yarn_frequencies

ROUNDS, PARENTS, CHILDREN = 6, 4, 16
MUTATED = 0.3  # probability that a child's divisor changes
STEP = 0.3  # standard deviation of the logarithm of the change
MOST = 1.25  # times the factor: the largest divisor

Divisors: TypeAlias = tuple[float, ...]


def search(
    loss: Callable[[Divisors], float],
    starts: Iterable[Divisors],
    most: float,
    chance: np.random.Generator,
    rounds: int = ROUNDS,
) -> Divisors:
    """Return the divisors with the smallest loss among the starts and their descendants."""
    losses = {start: loss(start) for start in starts}
    for _ in range(rounds):
        parents = sorted(losses, key=losses.__getitem__)[:PARENTS]
        for _ in range(CHILDREN):
            found = child(parents, most, chance)
            losses[found] = loss(found)
    return min(losses, key=losses.__getitem__)


def starts(d: int, factor: float, trained: int) -> list[Divisors]:
    """Return the divisors of interpolation, NTK-aware scaling and YaRN as released."""
    rules = (
        interpolated_frequencies(d, factor),
        ntk_frequencies(d, factor),
        yarn_frequencies(d, factor, trained, ramp="pairs"),
    )
    return [_allowed(frequencies(d) / rule, factor) for rule in rules]


def child(parents: list[Divisors], most: float, chance: np.random.Generator) -> Divisors:
    """Return the divisors of two parents, each from either one, and some of them changed."""
    pairs = len(parents[0])
    one, other = chance.choice(parents, 2)
    crossed = np.where(chance.random(pairs) < 0.5, one, other)
    changes = np.where(chance.random(pairs) < MUTATED, chance.normal(0, STEP, pairs), 0)
    return _allowed(crossed * np.exp(changes), most)


def _allowed(divisors: NDArray[np.float64], most: float) -> Divisors:
    """Return divisors in order, from 1 to the most, and rounded."""
    return tuple(np.sort(np.clip(divisors, 1, most)).round(2).tolist())
