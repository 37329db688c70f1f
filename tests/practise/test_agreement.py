"""The solutions compute what the package computes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

import posenc
from posenc import nn
from scripts.practise.judge import run
from scripts.practise.read import exercises

X = np.random.default_rng(0).normal(size=(5, 8))
PLACES = np.array([0, 1, 7, 300, 4095])
BATCH = torch.randn(2, 3, 5, 8, generator=torch.Generator().manual_seed(0))
STARTS = torch.tensor([[0, 1, 2, 3, 4], [7, 8, 9, 10, 11]])
MASK = np.array([[0, 0, 1, 1, 1]])


@cache
def solution(name: str) -> dict[str, Any]:
    """Return the names that a solution defines."""
    names: dict[str, Any] = {}
    (found,) = [one for one in exercises() if one.name == name]
    run(found.solution, names)
    return names


def of(name: str, function: str) -> Any:
    """Return a function of a solution."""
    return solution(name)[function]


def learned() -> tuple[Any, Any]:
    """Return what a solution and the package make of the same learned table."""
    mine = of("learned", "LearnedPositions")(9, 8)
    theirs = nn.LearnedPositionalEmbedding(9, 8)
    with torch.no_grad():
        next(theirs.parameters()).copy_(mine.rows.weight)
    x = BATCH[:, 0]
    return mine(x, 2).detach(), (x + theirs(torch.arange(2, 7))).detach()


SAME: dict[str, Callable[[], tuple[Any, Any]]] = {
    "one-row": lambda: (of("one-row", "row")(4, 8), posenc.sinusoidal_encoding(5, 8)[4]),
    "speeds": lambda: (
        of("speeds", "frequencies")(64, 500.0),
        posenc.frequencies(64, base=500.0),
    ),
    "whole-table": lambda: (
        of("whole-table", "table")(PLACES, 64),
        posenc.sinusoidal_encoding(PLACES, 64),
    ),
    "shift": lambda: (of("shift", "shift_matrix")(7, 8), posenc.shift_matrix(7, 8)),
    "buffer": lambda: (
        of("buffer", "SinusoidalPositions")(8, 9)(BATCH[:, 0]),
        nn.SinusoidalPositionalEncoding(8)(BATCH[:, 0]),
    ),
    "rope": lambda: (of("rope", "rotate")(X, PLACES), posenc.apply_rope(X, PLACES)),
    "rope-half": lambda: (
        of("rope-half", "rotate")(X, PLACES),
        posenc.apply_rope(X, PLACES, layout="half"),
    ),
    "score": lambda: (
        of("score", "score")(X[0], X[1], -3),
        posenc.apply_rope(X[0], 10) @ posenc.apply_rope(X[1], 7),
    ),
    "convert": lambda: (
        of("convert", "to_half")(np.arange(48.0).reshape(8, 6), 2),
        posenc.convert_projection(
            np.arange(48.0).reshape(8, 6), heads=2, source="interleaved", target="half"
        ),
    ),
    "rope-batch": lambda: (
        of("rope-batch", "rotate")(BATCH, STARTS),
        posenc.apply_rope(BATCH.numpy(), STARTS.numpy()[:, np.newaxis]),
    ),
    "relative": lambda: (
        of("relative", "relative")(3, 5, 2),
        posenc.relative_positions(3, 5, query_offset=2),
    ),
    "shaw": lambda: (
        of("shaw", "index")(np.arange(-9, 9), 4),
        posenc.shaw_index(np.arange(-9, 9), max_distance=4),
    ),
    "slopes": lambda: (of("slopes", "slopes")(16), posenc.alibi_slopes(16)),
    "alibi": lambda: (
        of("alibi", "bias")(posenc.alibi_slopes(4), 6),
        posenc.alibi_bias(4, 6),
    ),
    "t5": lambda: (
        of("t5", "buckets")(np.arange(-300, 300)),
        posenc.t5_buckets(np.arange(-300, 300), bidirectional=False),
    ),
    "alibi-sdpa": lambda: (
        of("alibi-sdpa", "attend")(
            BATCH, BATCH, BATCH, torch.tensor(posenc.alibi_slopes(2)[:, None][[0, 1, 1], 0]).float()
        ),
        posenc.attention(
            *(BATCH.numpy() for _ in range(3)), bias=posenc.alibi_bias(2, 5)[[0, 1, 1]]
        )[0],
    ),
    "interpolate": lambda: (
        of("interpolate", "angles")(PLACES, 8, 4.0),
        PLACES[:, np.newaxis] * posenc.interpolated_frequencies(8, 4.0),
    ),
    "ntk": lambda: (
        posenc.frequencies(64, base=of("ntk", "new_base")(64, 8.0)),
        posenc.ntk_frequencies(64, 8.0),
    ),
    "llama3": lambda: (
        of("llama3", "scaled")(posenc.frequencies(128, base=5e5), 8.0, 8192),
        posenc.llama3_frequencies(128, factor=8.0, trained_length=8192, base=5e5),
    ),
    "dynamic": lambda: (
        of("dynamic", "frequencies")(5000, 64, 2.0, 4096),
        posenc.dynamic_frequencies(64, 5000, factor=2.0, trained_length=4096),
    ),
    "learned": learned,
    "causal": lambda: (of("causal", "mask")(2, 5), posenc.causal_mask(2, query_offset=3)),
    "attend": lambda: (
        of("attend", "attend")(X, X, X, posenc.causal_mask(5)),
        posenc.attention(X, X, X, mask=posenc.causal_mask(5))[0],
    ),
    "rope-cache": lambda: (
        of("rope-cache", "Keys")(8).scores(X, X),
        posenc.apply_rope(X, range(5)) @ posenc.apply_rope(X, range(5)).T,
    ),
    "bug-table": lambda: (of("bug-table", "table")(6, 10), posenc.sinusoidal_encoding(6, 10)),
}


@pytest.mark.parametrize("name", SAME)
def test_solutions_agree_with_the_package(name: str) -> None:
    mine, theirs = SAME[name]()
    near = 1e-5 if isinstance(mine, torch.Tensor) else 1e-12
    assert np.shape(mine) == np.shape(theirs)
    np.testing.assert_allclose(np.asarray(mine), np.asarray(theirs), rtol=near, atol=near)
