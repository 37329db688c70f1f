"""What `posenc.nn.PoPE` promises beside what `test_schemes.py` tests of every scheme."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from posenc import apply_pope
from posenc.nn import PoPE
from tests.nn.rotations import ROUNDING, every_dtype, random

pytestmark = pytest.mark.filterwarnings("error")

HEADS, LENGTH, D = 3, 9, 7


def pope_with_phases(low: float = -2 * math.pi, high: float = 0.0) -> PoPE:
    """Return a module whose phases are drawn evenly between two numbers."""
    pope = PoPE(HEADS, D)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        pope.phase.uniform_(low, high, generator=generator)
    return pope


def vectors(*, heads: int = HEADS, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """Return queries, and keys of so many heads."""
    return random(2, HEADS, LENGTH, D, dtype=dtype), random(
        2, heads, LENGTH, D, seed=2, dtype=dtype
    )


# Positions


@torch.no_grad()
@pytest.mark.parametrize("shift", [1, 1000, 2**24])
def test_scores_do_not_change_when_all_positions_shift(shift: int) -> None:
    pope, (q, k) = pope_with_phases().double(), vectors()
    scores, shifted = (
        pope(q, role="query", offset=start) @ pope(k, role="key", offset=start).mT
        for start in (0, shift)
    )
    # An angle of a position below 2**25 is off by 2**-28 at most.
    torch.testing.assert_close(shifted, scores, rtol=0, atol=1e-12 if shift < 2**20 else 1e-7)


@torch.no_grad()
@pytest.mark.parametrize("role", ["query", "key"])
def test_every_sequence_may_have_positions_of_its_own(role: str) -> None:
    pope, (x, _) = pope_with_phases().double(), vectors()
    positions = torch.stack([torch.arange(LENGTH) * 5, torch.linspace(-3.5, 2.0, LENGTH)])
    found = pope(x, role=role, positions=positions.double())
    phase = pope.phase.numpy() if role == "key" else None
    expected = apply_pope(x.numpy(), positions.double()[:, None].numpy(), phase=phase)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


@torch.no_grad()
def test_the_base_is_that_of_the_definition() -> None:
    pope, (q, _) = PoPE(HEADS, D, base=500).double(), vectors()
    expected = apply_pope(q.numpy(), range(LENGTH), base=500)
    np.testing.assert_allclose(pope(q, role="query"), expected, rtol=0, atol=1e-13)


@torch.no_grad()
def test_more_query_heads_than_key_heads_share_the_keys() -> None:
    pope, (q, k) = PoPE(1, D).double(), vectors(heads=1)
    torch.nn.init.constant_(pope.phase, -1.5)
    scores = pope(q, role="query") @ pope(k, role="key").mT
    for head in range(HEADS):
        alone = pope(q[:, [head]], role="query") @ pope(k, role="key").mT
        torch.testing.assert_close(scores[:, [head]], alone, rtol=0, atol=1e-12)


# The definition


@torch.no_grad()
@every_dtype
def test_queries_have_no_phases_and_keys_have_those_of_their_head(dtype: torch.dtype) -> None:
    """Whole vectors, not scores: a factor that cancels in scores would be noticed."""
    pope, (q, k) = pope_with_phases(), vectors(dtype=dtype)
    phase = pope.phase.double().numpy()
    exact = ROUNDING[torch.promote_types(dtype, torch.float32)]
    for x, role, delta in ((q, "query", None), (k, "key", phase)):
        expected = apply_pope(x.double().numpy(), np.arange(500, 500 + LENGTH), phase=delta)
        found = pope(x, role=role, offset=500)
        assert found.dtype is dtype
        bound = 32 * exact + 2 * ROUNDING[dtype] * np.abs(expected)
        assert (np.abs(found.double().numpy() - expected) <= bound).all()


@torch.no_grad()
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("role", ["query", "key"])
def test_narrow_vectors_are_computed_in_float32(dtype: torch.dtype, role: str) -> None:
    pope, (x, _) = pope_with_phases(), vectors(dtype=dtype)
    found, exact = (pope(each, role=role, offset=200) for each in (x, x.float()))
    assert torch.equal(found, exact.to(dtype))
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(pope(x, role=role, offset=200), found)


@torch.no_grad()
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_angles_of_narrow_phases_are_computed_in_float64(dtype: torch.dtype) -> None:
    pope, (_, k) = pope_with_phases().to(dtype), vectors()
    expected = apply_pope(k.numpy(), range(LENGTH), phase=pope.phase.double().numpy())
    np.testing.assert_allclose(pope(k, role="key"), expected, rtol=0, atol=1e-13)


@torch.no_grad()
def test_lengths_are_exact_in_float64_wherever_they_are() -> None:
    """Unlike with torch's own threshold, from which softplus(x) is taken for x."""
    x = torch.linspace(-700, 700, 2801, dtype=torch.float64)[None, None, :, None]
    found = PoPE(1, 1).double()(x, role="query", positions=torch.zeros(2801))
    expected = np.logaddexp(0, x[0, 0, :, 0].numpy())
    np.testing.assert_allclose(found[0, 0, :, 0].numpy(), expected, rtol=1e-14)
    assert (found[0, 0, :, 1] == 0).all()


def test_nan_stays_in_its_own_pair() -> None:
    x, _ = vectors()
    x[0, 0, 2, 3] = float("nan")
    for role in ("query", "key"):
        bad = pope_with_phases()(x, role=role).isnan()
        assert bad[0, 0, 2, [3, 3 + D]].all()
        assert bad.sum() == 2


# Phases


@torch.no_grad()
@pytest.mark.parametrize(("beyond", "bound"), [(0.5, 0.0), (-7.0, -2 * math.pi)])
def test_phases_are_clipped_where_they_are_used_and_left_alone(beyond: float, bound: float) -> None:
    (_, k), outside, inside = vectors(), PoPE(HEADS, D).double(), PoPE(HEADS, D).double()
    torch.nn.init.constant_(outside.phase, beyond)
    torch.nn.init.constant_(inside.phase, bound)
    assert torch.equal(outside(k, role="key"), inside(k, role="key"))
    assert (outside.phase == beyond).all()


def gradient_of(pope: PoPE) -> Tensor:
    """Return the gradient of random scores for the phases."""
    q, k = vectors(dtype=pope.phase.dtype)
    scores = pope(q, role="query") @ pope(k, role="key").mT
    scores.mul(random(*scores.shape, seed=3, dtype=scores.dtype)).sum().backward()
    assert pope.phase.grad is not None
    return pope.phase.grad


@pytest.mark.parametrize("low", [-2 * math.pi, 0.0], ids=["phases in one turn", "as they begin"])
def test_gradients_reach_every_phase_within_the_range(low: float) -> None:
    assert (gradient_of(pope_with_phases(low)).abs() > 1e-6).all()


def test_phases_beyond_the_range_get_no_gradient() -> None:
    assert (gradient_of(pope_with_phases(0.1, 3.0)) == 0).all()
    assert (gradient_of(pope_with_phases(-9.0, -6.3)) == 0).all()


def test_gradients_are_those_of_the_definition() -> None:
    pope, (_, k) = pope_with_phases(-6.0, -0.2).double(), vectors()
    few = k[:1, :, :2].clone().requires_grad_()

    def keys(x: Tensor, phase: Tensor) -> Tensor:
        found: Tensor = torch.func.functional_call(pope, {"phase": phase}, (x,), {"role": "key"})
        return found

    assert torch.autograd.gradcheck(keys, (few, pope.phase))


def test_queries_leave_the_phases_alone() -> None:
    q, _ = vectors()
    assert not pope_with_phases()(q, role="query").requires_grad
