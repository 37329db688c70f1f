"""The solutions compute what the package computes."""

from __future__ import annotations

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
POSITIONS = np.array([0, 1, 7, 300, 4095])
BATCH = torch.randn(2, 3, 5, 8, generator=torch.Generator().manual_seed(0))
STARTS = torch.tensor([[0, 1, 2, 3, 4], [7, 8, 9, 10, 11]])


SLOPES = posenc.alibi_slopes(2)[[0, 1, 1]]
WEIGHT = np.arange(48.0).reshape(8, 6)
OMEGA = posenc.frequencies(128, base=5e5)

# For each exercise its function, arguments, and what the package computes from them.
SAME: dict[str, tuple[str, tuple[Any, ...], Any]] = {
    "one-row": ("row", (4, 8), posenc.sinusoidal_encoding(5, 8)[4]),
    "speeds": ("frequencies", (64, 500.0), posenc.frequencies(64, base=500.0)),
    "whole-table": ("table", (POSITIONS, 64), posenc.sinusoidal_encoding(POSITIONS, 64)),
    "shift": ("shift_matrix", (7, 8), posenc.shift_matrix(7, 8)),
    "rope": ("rotate", (X, POSITIONS), posenc.apply_rope(X, POSITIONS)),
    "rope-half": ("rotate", (X, POSITIONS), posenc.apply_rope(X, POSITIONS, layout="half")),
    "score": ("score", (X[0], X[1], -3), posenc.apply_rope(X[0], 10) @ posenc.apply_rope(X[1], 7)),
    "convert": (
        "to_half",
        (WEIGHT, 2),
        posenc.convert_projection(WEIGHT, heads=2, source="interleaved", target="half"),
    ),
    "rope-batch": (
        "rotate",
        (BATCH, STARTS),
        torch.tensor(posenc.apply_rope(BATCH.numpy(), STARTS.numpy()[:, np.newaxis])),
    ),
    "relative": ("relative", (3, 5, 2), posenc.relative_positions(3, 5, query_offset=2)),
    "shaw": (
        "index",
        (np.arange(-9, 9), 4),
        posenc.shaw_index(np.arange(-9, 9), max_distance=4),
    ),
    "slopes": ("slopes", (16,), posenc.alibi_slopes(16)),
    "alibi": ("bias", (posenc.alibi_slopes(4), 6), posenc.alibi_bias(4, 6)),
    "t5": (
        "buckets",
        (np.arange(-300, 300),),
        posenc.t5_buckets(np.arange(-300, 300), bidirectional=False),
    ),
    "alibi-sdpa": (
        "attend",
        (BATCH, BATCH, BATCH, torch.tensor(SLOPES).float()),
        posenc.attention(*[BATCH.numpy()] * 3, bias=posenc.alibi_bias(2, 5)[[0, 1, 1]])[0],
    ),
    "interpolate": (
        "angles",
        (POSITIONS, 8, 4.0),
        POSITIONS[:, np.newaxis] * posenc.interpolated_frequencies(8, 4.0),
    ),
    "ntk": ("new_base", (64, 8.0), posenc.ntk_frequencies(64, 8.0)[1] ** -32),
    "llama3": (
        "scaled",
        (OMEGA, 8.0, 8192),
        posenc.llama3_frequencies(128, factor=8.0, trained_length=8192, base=5e5),
    ),
    "dynamic": (
        "frequencies",
        (5000, 64, 2.0, 4096),
        posenc.dynamic_frequencies(64, 5000, factor=2.0, trained_length=4096),
    ),
    "causal": ("mask", (2, 5), posenc.causal_mask(2, query_offset=3)),
    "attend": (
        "attend",
        (X, X, X, posenc.causal_mask(5)),
        posenc.attention(X, X, X, mask=posenc.causal_mask(5))[0],
    ),
    "bug-table": ("table", (6, 10), posenc.sinusoidal_encoding(6, 10)),
}


@cache
def solution(name: str) -> dict[str, Any]:
    """Return the names that a solution defines."""
    names: dict[str, Any] = {}
    (found,) = [one for one in exercises() if one.name == name]
    run(found.given + found.solution, names)
    return names


@pytest.mark.parametrize("name", SAME)
def test_solutions_agree_with_the_package(name: str) -> None:
    function, arguments, expected = SAME[name]
    assert_close(solution(name)[function](*arguments), expected)


def test_layers_of_solutions_agree_with_the_package() -> None:
    x = BATCH[:, 0]
    buffer = solution("buffer")["SinusoidalPositions"](8, 9)(x)
    assert_close(buffer, nn.SinusoidalPositionalEncoding(8)(x))
    learned = solution("learned")["LearnedPositions"](9, 8)
    ours = nn.LearnedPositionalEmbedding(9, 8)
    ours.load_state_dict(dict.fromkeys(ours.state_dict(), learned.rows.weight))
    assert_close(learned(x, 2).detach(), (x + ours(torch.arange(2, 7))).detach())
    cached = solution("rope-cache")["Keys"](8).scores(X, X)
    assert_close(cached, posenc.apply_rope(X, range(5)) @ posenc.apply_rope(X, range(5)).T)


def assert_close(found: Any, expected: Any) -> None:
    """Compare two arrays or tensors of one shape, to the digits of their type."""
    near = 1e-5 if isinstance(found, torch.Tensor) else 1e-12
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=near, atol=near)
