"""Order that reaches a model though positions never meet its tokens on their own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from posenc import nn
from posenc.diagnose.answers import ABSENT, UNDETERMINED
from tests.diagnose.models import RelativeKeys, StepByStep, from_tokens


@pytest.mark.parametrize(
    ("kinds", "verdict"),
    [
        (lambda d: d + 600, "all positions differ"),
        (lambda d: d.clamp(-8, 8) + 8, "far positions share a bias, in float64 too"),
        (lambda d: d % 5, "cannot tell"),
    ],
    ids=["each its own", "clipped", "wraps"],
)
def test_positions_mingled_with_tokens_in_scores_are_found(
    kinds: Callable[[Tensor], Tensor], verdict: str
) -> None:
    found = nn.colliding_positions(RelativeKeys(kinds), length=40)
    assert found.verdict == verdict, found


def test_mingled_positions_equal_in_a_narrow_dtype_alone_are_undetermined() -> None:
    class Late(RelativeKeys):
        def forward(self, ids: Tensor) -> Tensor:
            x = self.table(ids)
            if x.dtype == torch.float64:
                self.kinds = lambda d: d + 600
            return super().forward(ids)

    found = nn.colliding_positions(Late(lambda d: d.clamp(-8, 8) + 600), length=40)
    assert found.status == UNDETERMINED


@pytest.mark.parametrize("added", [False, True], ids=["rotated", "added"])
def test_positions_used_step_by_step_are_not_called_absent(added: bool) -> None:
    found = nn.colliding_positions(StepByStep(lost=False, added=added), length=20)
    assert found.status == UNDETERMINED
    assert "order reaches the model" in found.why


@pytest.mark.parametrize("filled", [False, True], ids=["added", "filled"])
def test_window_mask_is_not_a_position(filled: bool) -> None:
    def window_attention(x: Tensor) -> Tensor:
        places = torch.arange(x.shape[1])
        far = (places - places[:, None]).abs() > 2
        mask = torch.zeros(far.shape, dtype=x.dtype).masked_fill(far, -torch.inf)
        scores = (x @ x.mT).masked_fill(far, -torch.inf) if filled else x @ x.mT + mask
        return x + torch.softmax(scores, dim=-1) @ x

    model = from_tokens(window_attention)
    assert nn.sees_order(model).verdict == "it does not tell before from after"
    assert nn.colliding_positions(model, length=40).status == ABSENT


def test_recurrence_is_not_a_position() -> None:
    cell = torch.nn.RNNCell(16, 16)

    def recurrence(x: Tensor) -> Tensor:
        state, states = None, []
        for step in range(x.shape[1]):
            state = cell.to(x.dtype)(x[:, step], state)
            states.append(state)
        return x + torch.stack(states, dim=1)

    found = nn.colliding_positions(from_tokens(recurrence), length=20)
    assert found.verdict == "no positions reach the model"
