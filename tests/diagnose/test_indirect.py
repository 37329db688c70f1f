"""Order that reaches a model though positions never meet its tokens on their own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from posenc import nn
from posenc.diagnose.answers import ABSENT, UNDETERMINED
from tests.diagnose.models import VOCAB, Mingled, Stepping


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
    found = nn.colliding_positions(Mingled(kinds), length=40)
    assert found.verdict == verdict, found


def test_mingled_positions_equal_in_a_narrow_dtype_alone_are_undetermined() -> None:
    class Late(Mingled):
        def forward(self, ids: Tensor) -> Tensor:
            x = self.table(ids)
            if x.dtype == torch.float64:
                self.kinds = lambda d: d + 600
            return super().forward(ids)

    found = nn.colliding_positions(Late(lambda d: d.clamp(-8, 8) + 600), length=40)
    assert found.status == UNDETERMINED


@pytest.mark.parametrize("added", [False, True], ids=["turned", "added"])
def test_positions_used_step_by_step_are_not_called_absent(added: bool) -> None:
    found = nn.colliding_positions(Stepping(lost=False, added=added), length=20)
    assert found.status == UNDETERMINED
    assert "order reaches the model" in found.why


@pytest.mark.parametrize("lowest", [-torch.inf, None], ids=["added", "filled"])
def test_window_mask_is_not_a_position(lowest: float | None) -> None:
    class Windowed(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = torch.nn.Embedding(VOCAB, 16)

        def forward(self, ids: Tensor) -> Tensor:
            x, places = self.table(ids), torch.arange(ids.shape[1])
            far = (places - places[:, None]).abs() > 2
            scores = x @ x.mT
            if lowest is None:
                scores = scores.masked_fill(far, -torch.inf)
            else:
                scores = scores + torch.zeros(far.shape, dtype=x.dtype).masked_fill(far, lowest)
            out: Tensor = x + torch.softmax(scores, dim=-1) @ x
            return out

    assert nn.sees_order(Windowed()).verdict == "it sees order"
    assert nn.colliding_positions(Windowed(), length=40).status == ABSENT


def test_recurrence_is_not_a_position() -> None:
    class Recurrent(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.cell = torch.nn.Embedding(VOCAB, 16), torch.nn.RNNCell(16, 16)

        def forward(self, ids: Tensor) -> Tensor:
            x, state, out = self.table(ids), None, []
            for step in range(ids.shape[1]):
                state = self.cell(x[:, step], state)
                out.append(state)
            read: Tensor = x + torch.stack(out, dim=1)
            return read

    found = nn.colliding_positions(Recurrent(), length=20)
    assert found.verdict == "no positions reach the model"
