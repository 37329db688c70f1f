"""PoPE against x-transformers: queries, keys, gradients of phases, and a whole attention layer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from posenc import apply_pope
from posenc.nn import PoPE, attention
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


def ours_with_phases_of(module: Any) -> PoPE:
    """Return our module with the phases of x-transformers' one."""
    pope = PoPE(HEADS, D)
    pope.load_state_dict({"phase": module.learned_bias})
    return pope


BOTH_KINDS = pytest.mark.parametrize(
    "outside", [False, True], ids=["phases in one turn", "phases beyond it"]
)


@BOTH_KINDS
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


@BOTH_KINDS
@pytest.mark.parametrize(("dtype", "bound"), [(torch.float32, 5e-5), (torch.bfloat16, 2**-8)])
@torch.no_grad()
def test_our_module_returns_what_pope_in_x_transformers_does(
    outside: bool, dtype: torch.dtype, bound: float
) -> None:
    module = polar(outside=outside)
    turn = library("x_transformers.x_transformers", "apply_polar_pos_emb")
    generator = torch.Generator().manual_seed(1)
    q, k = (3 * torch.randn(2, 2, HEADS, LENGTH, D, generator=generator)).to(dtype)
    angles, phase = module(torch.arange(LENGTH))
    ours = ours_with_phases_of(module)
    for found, theirs in (
        (ours(q, role="query"), turn(q, angles)),
        (ours(k, role="key"), turn(k, angles + phase)),
    ):
        assert found.dtype is theirs.dtype is dtype
        torch.testing.assert_close(found, theirs, rtol=bound, atol=5e-5)


@BOTH_KINDS
def test_phases_get_the_gradients_that_they_get_in_x_transformers(outside: bool) -> None:
    module = polar(outside=outside)
    turn = library("x_transformers.x_transformers", "apply_polar_pos_emb")
    ours = ours_with_phases_of(module)
    q, k = torch.randn(2, 2, HEADS, LENGTH, D, generator=torch.Generator().manual_seed(1))
    angles, phase = module(torch.arange(LENGTH))
    (turn(q, angles) @ turn(k, angles + phase).mT).tril().square().mean().backward()
    (ours(q, role="query") @ ours(k, role="key").mT).tril().square().mean().backward()
    torch.testing.assert_close(ours.phase.grad, module.learned_bias.grad, rtol=1e-4, atol=1e-4)


@torch.no_grad()
def test_our_module_and_attention_give_the_weights_of_a_layer_of_x_transformers() -> None:
    """`attention` divides by √(2d), so queries times √2 give the scores over √d."""
    torch.manual_seed(2)
    layer = library("x_transformers.x_transformers", "Attention")(
        D * HEADS, heads=HEADS, dim_head=D, causal=True
    )
    module, x = polar(outside=False), torch.randn(2, LENGTH, D * HEADS)
    _, between = layer(x, polar_pos_emb=module(torch.arange(LENGTH)), return_intermediates=True)
    q, k, v = (
        project(x).unflatten(-1, (HEADS, D)).transpose(1, 2)
        for project in (layer.to_q, layer.to_k, layer.to_v)
    )
    ours, causal = ours_with_phases_of(module), torch.ones(LENGTH, LENGTH).tril().bool()
    rotated = ours(q, role="query") * 2**0.5, ours(k, role="key")
    _, weights = attention(*rotated, v, mask=causal)
    torch.testing.assert_close(weights, between.post_softmax_attn, rtol=0, atol=2e-5)


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
