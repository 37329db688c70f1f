"""The scores that a model makes: what its softmax is given, or its fused attention computes."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from posenc.diagnose.answers import CannotTellError
from posenc.diagnose.indirect import known_without_token
from posenc.diagnose.operations import Watcher, name_of, tensors_in
from posenc.diagnose.recording import digest
from posenc.diagnose.trial import Trial

FUSED = "_scaled_dot_product"  # with this begin the names of the fused operations that are known
SOFTMAX = ("softmax", "_softmax", "_safe_softmax")
WEIGHTLESS = 700.0  # a score so far below the largest has a weight below 1e-303
LEVEL = 1e-5  # rows of one token that differ by less, relative to their size, are equal


class Scores(NamedTuple):
    """The scores of one attention: (heads, queries, keys), and which keys have any weight."""

    values: Tensor
    seen: Tensor


class ScoreRun(Watcher, TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Keeps all scores of a run on one token repeated, until rows differ from place to place.

    From there on scores would differ for another reason than their positions.

    Args:
        queries: how many tokens are read.
        keys: how many are attended to, with those that are cached; None for any number of them.
        known: digests of arguments that depend on no token; None to keep scores though rows differ.
        last: of how many queries, the last ones, scores are kept; 0 for all.
    """

    def __init__(
        self, queries: int, keys: int | None, known: Collection[int] | None, *, last: int = 0
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.queries, self.keys, self.known, self.last = queries, keys, known, last
        self.attentions = 0  # how many operations there were that may be one
        self.places: list[int] = []  # of scores that are kept: the number of their operation
        self.found: list[Scores] = []
        self.finite = True
        self.hidden = False  # whether some attention does not show its scores
        self.rows: Tensor | None = None  # (queries, width), the first that differ
        self.single: list[Tensor] = []  # of a run on one token: all that may be its row

    def see(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Keep the scores, or the first rows that differ, and run the operation."""
        name = name_of(func)
        for x in tensors_in(args, kwargs):
            self._look(x)
        fused = name.startswith(FUSED)
        if fused or name in SOFTMAX:
            self.attentions += 1
            if self.rows is None and fused:
                scores = _fused_scores(_named_arguments(func, args, kwargs), self.last)
                # PyTorch reads heads that share their keys as queries, where there is one query.
                self._keep(scores if self.queries > 1 else scores.flatten(1, -2)[..., None, :])
            elif self.rows is None:
                self._keep(_softmax_scores(args[0], args[1], self.queries, self.keys))
        elif "attention" in name or "encoder_layer" in name:
            self.hidden = True
        return func(*args, **kwargs)

    def _look(self, x: Tensor) -> None:
        """Keep rows if they are the first that differ, or, of one token, if they may be its own."""
        if self.known is None or x.is_nested or x.layout is not torch.strided:
            return
        of_tokens = x.shape[:-1] in ((1, self.queries), (self.queries, 1))
        if not of_tokens or not x.is_floating_point() or x.shape[-1] == self.keys:
            return
        rows = x.reshape(self.queries, -1).cpu().double()
        lengths = rows.norm(dim=1)  # which rotation keeps
        if self.queries == 1:
            self.single.append(rows[0])
        elif self.rows is None and (lengths - lengths[0]).abs().max() > LEVEL * lengths.max():
            self.rows = None if digest(x) in self.known else rows

    def _is_of_all(self, scores: Tensor) -> bool:
        of_queries = scores.shape[-2] in (self.queries, self.last)
        return of_queries and self.keys in (None, scores.shape[-1])

    def _keep(self, scores: Tensor | None) -> None:
        """Keep the scores of the last queries, if they are of all queries and keys."""
        if scores is None or not self._is_of_all(scores):
            return
        last = scores[..., -self.last :, :]  # of 0, all of them
        values = last.reshape(-1, *last.shape[-2:]).cpu().double()
        self.finite &= bool((values < torch.inf).all())  # False for nan; -inf hides a key
        seen = values > values.amax(dim=-1, keepdim=True) - WEIGHTLESS
        self.found.append(Scores(values, seen))
        self.places.append(self.attentions)


def find_scores_of(trial: Trial, length: int) -> tuple[Tensor, ScoreRun]:
    """Return one token repeated, and the scores of the model that reads it."""
    tokens = trial.repeated(length)
    return tokens, find_scores_of_token(trial, tokens)


def find_scores_of_token(trial: Trial, tokens: Tensor) -> ScoreRun:
    """Return the scores of the model that reads these tokens, one token repeated."""
    found = ScoreRun(tokens.shape[1], tokens.shape[1], known_without_token(trial, tokens))
    with found:
        trial.call(tokens)
    if not found.finite:
        raise CannotTellError("some of its scores are not finite")
    return found


def _softmax_scores(x: Tensor, axis: int, queries: int, keys: int | None) -> Tensor | None:
    """Return the argument of a softmax along an axis as (…, queries, keys), if it is scores."""
    axis %= x.ndim
    others = [other for other, size in enumerate(x.shape) if size == queries and other != axis]
    if keys not in (None, x.shape[axis]) or not others:
        return None
    return x.movedim((others[-1], axis), (-2, -1))


def _named_arguments(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of an operation by name."""
    names = (x.name for x in func._schema.arguments)
    return dict(zip(names, args, strict=False)) | kwargs


def _fused_scores(given: dict[str, Any], last: int) -> Tensor:
    """Return the scores of a fused attention, given its arguments by name.

    Only those of the `last` queries; 0 for all.
    """
    q, k = given["query"][..., -last:, :].cpu().double(), given["key"].cpu().double()
    k = k.repeat_interleave(q.shape[-3] // k.shape[-3], dim=-3)  # of heads that share their keys
    scale = given.get("scale")
    scores: Tensor = q @ k.mT * (q.shape[-1] ** -0.5 if scale is None else scale)
    bias = given.get("attn_mask", given.get("attn_bias"))
    if given.get("is_causal"):
        bias = torch.ones(given["query"].shape[-2], k.shape[-2], dtype=torch.bool).tril()
    if bias is None:
        return scores
    bias = bias[..., -last:, :] if bias.shape[-2] > 1 else bias
    if bias.dtype is torch.bool:
        return scores.masked_fill(~bias.cpu(), -torch.inf)
    biased: Tensor = scores + bias.cpu().double()
    return biased
