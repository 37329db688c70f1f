"""Do positions drown the tokens? `drowned_tokens` compares how long the rows of each are."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from posenc._arguments import _shown, as_reals
from posenc.diagnose.answers import ABSENT, HEALTHY, ILL, Diagnosis, answer
from posenc.diagnose.ask import ask
from posenc.diagnose.recording import by_position, paired_operations, varies
from posenc.diagnose.trial import Example, Trial


def drowned_tokens(
    model: nn.Module, example: Example = None, *, limit: float = 10.0, axis: int | None = None
) -> Diagnosis:
    """Return whether the rows of the positions are too long beside those of the tokens.

    Wherever rows that depend on tokens alone are added to rows that depend on positions alone, the
    lengths of both are measured; of several such sums, the worst is judged. Nothing is assumed
    about the kind of either. At a ratio of 10 the tokens make 1/(1 + 10²), about one per cent, of
    the sum's squared length.

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
    judge = partial(_judge_rows, limit=limit)
    return ask("Do positions drown the tokens?", judge, model, example, axis=axis)


def _as_limit(value: object) -> float:
    limit = as_reals("limit", value, allowed="a number above 0")
    if limit.ndim:
        raise TypeError(f"limit must be a number above 0; got {_shown(value)}")
    if limit <= 0:
        raise ValueError(f"limit must be a number above 0; got {limit}")
    return float(limit)


class _Lengths(NamedTuple):
    """The mean lengths of the rows of tokens and of positions that are added, and their width."""

    tokens: float
    positions: float
    width: float

    @property
    def ratio(self) -> float:
        """The length of positions as a multiple of that of tokens."""
        return self.positions / max(self.tokens, torch.finfo(torch.float64).tiny)


def _judge_rows(trial: Trial, *, limit: float) -> Diagnosis:
    trial.demand_three_tokens()
    lengths = [_Lengths(_mean_length(x), _mean_length(y), x.shape[1]) for x, y in sums(trial)]
    if not lengths:
        why = "Nothing that depends on positions alone is added to what depends on one token alone."
        return answer(ABSENT, "no positions are added to tokens", why)
    worst = max(lengths, key=lambda one: one.ratio)
    scaled = worst.ratio / math.sqrt(worst.width)
    numbers = {
        "ratio": worst.ratio,
        "tokens": worst.tokens,
        "positions": worst.positions,
        "scaled": scaled,
    }
    why = (
        f"Rows of positions have norm {worst.positions:.3g} on average, rows of tokens"
        f" {worst.tokens:.3g}: a ratio of {worst.ratio:.3g}, where {limit:.3g} is the limit."
    )
    if worst.ratio <= limit:
        return answer(HEALTHY, "positions do not drown the tokens", why, numbers)
    remedy = _remedy(math.sqrt(worst.width), scaled, enough=scaled <= limit)
    return answer(ILL, "positions drown the tokens", why, numbers, remedy)


def _remedy(root: float, scaled: float, *, enough: bool) -> str:
    """Return what helps; `enough` says whether tokens √d_model = `root` times as long do."""
    if enough:
        return (
            f"multiply the tokens' rows by √d_model = {root:.3g}, or initialise them with a"
            f" standard deviation that many times as large; the ratio is then {scaled:.3g}."
        )
    return (
        "make the rows of positions shorter: use bounded ones, or multiply them by a factor. Tokens"
        f" √d_model = {root:.3g} times as long are not enough: the ratio would still be"
        f" {scaled:.3g}."
    )


def sums(trial: Trial) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield rows of tokens and of positions, (length, width) each, wherever the two are added.

    Rows are of tokens if exactly the one row changes whose token is replaced, and of positions if
    none changes and they are not all equal.
    """
    tokens = trial.tokens(1, trial.length)
    replaced, place = tokens.clone(), trial.length // 2
    replaced[:, place] = trial.other(tokens)[:, place]
    here = torch.arange(trial.length) == place
    for _, given, changed in paired_operations(
        trial, tokens, replaced, partial(_summands, trial.length)
    ):
        rows = [by_position(x, trial.length) for x in given]
        moved = [
            (by_position(y, trial.length) != x).any(dim=1)
            for x, y in zip(rows, changed, strict=True)
        ]
        for i, j in ((0, 1), (1, 0)):
            apart = torch.equal(moved[i], here) and not moved[j].any()
            if apart and varies(rows[j]):
                yield rows[i], rows[j]


def _summands(length: int, name: str, given: list[Tensor]) -> list[Tensor]:
    """Return the two arguments of an addition, if each has one row for each position."""
    rows = all(x.shape.count(length) == 1 and x.shape[-1] != length for x in given)
    return given if name == "add" and len(given) == 2 and rows else []


def _mean_length(rows: Tensor) -> float:
    return float(rows.norm(dim=1).mean())
