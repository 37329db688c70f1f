"""PoPE against x-transformers: queries and keys, and the scores of a whole attention layer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from posenc import apply_pope
from tests.oracles.libraries import library

HEADS, LENGTH, D = 3, 40, 7


def polar(*, outside: bool) -> Any:
    """Return x-transformers' module with learned phases, some of them outside [−2π, 0] or none."""
    module = library("x_transformers.x_transformers", "PolarEmbedding")(D, HEADS)
    low, high = (-9.0, 3.0) if outside else (-2 * np.pi, 0.0)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        module.learned_bias.uniform_(low, high, generator=generator)
    return module


@pytest.mark.parametrize("outside", [False, True], ids=["phases in one turn", "phases beyond it"])
@torch.no_grad()
def test_queries_and_keys_of_pope_in_x_transformers_are_ours(outside: bool) -> None:
    module = polar(outside=outside)
    turn = library("x_transformers.x_transformers", "apply_polar_pos_emb")
    q, k = torch.randn(2, 2, HEADS, LENGTH, D, generator=torch.Generator().manual_seed(1)) * 3
    angles, phase = module(torch.arange(LENGTH))
    unclipped = module.learned_bias.numpy()
    expected = (
        apply_pope(q.double(), range(LENGTH)),
        apply_pope(k.double(), range(LENGTH), phase=unclipped),
    )
    np.testing.assert_allclose(turn(q, angles), expected[0], atol=5e-5)
    np.testing.assert_allclose(turn(k, angles + phase), expected[1], atol=5e-5)


@torch.no_grad()
def test_pope_in_x_transformers_divides_scores_by_the_root_of_half_the_width() -> None:
    """A query has 2d numbers in the product, and the divisor is √d, of the width before."""
    torch.manual_seed(2)
    attention = library("x_transformers.x_transformers", "Attention")
    layer = attention(D * HEADS, heads=HEADS, dim_head=D, causal=True)
    module, x = polar(outside=False), torch.randn(2, LENGTH, D * HEADS)
    _, between = layer(x, polar_pos_emb=module(torch.arange(LENGTH)), return_intermediates=True)
    q, k = (
        project(x).unflatten(-1, (HEADS, D)).transpose(1, 2).double()
        for project in (layer.to_q, layer.to_k)
    )
    phase = module.learned_bias.numpy()
    ours = apply_pope(q, range(LENGTH)) @ apply_pope(k, range(LENGTH), phase=phase).swapaxes(-1, -2)
    visible = np.tril(np.ones((LENGTH, LENGTH), bool))
    scores = between.pre_softmax_attn.numpy()
    np.testing.assert_allclose(scores[..., visible], ours[..., visible] / D**0.5, atol=2e-5)
